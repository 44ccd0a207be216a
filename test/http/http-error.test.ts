import { STATUS_CODES } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { HttpError, toErrorResponse } from '../../src/http/http-error.ts'

describe('the response to an error', () => {
  it('has problem details, with the title that RFC 9110 has for its status', async () => {
    // Node has the names of earlier RFCs.
    const titles: Record<number, string | undefined> = {
      ...STATUS_CODES,
      ...{ 413: 'Content Too Large', 422: 'Unprocessable Content' },
    }
    for (const status of [400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 422, 424, 429, 502, 503, 504, 507]) {
      const response = toErrorResponse(new HttpError(status, 'a-code', 'Why.', { headers: { 'Retry-After': '7' } }))
      expect([response.status, response.headers.get('Retry-After')]).toEqual([status, '7'])
      expect(response.headers.get('Content-Type')).toBe('application/problem+json')
      const expected = { type: 'about:blank', title: titles[status], status, code: 'a-code', detail: 'Why.' }
      expect(await response.json()).toEqual(expected)
    }
  })

  it('is a 503 while a Durable Object is unavailable, a 507 where it is full, and else a blank 500, all but one logged', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue()
    const full =
      'Nothing was written: the storage of this host is full. Cards and calls still work. Remove agents to make room.'
    const unavailable = 'The storage of this host does not respond right now. Try again in a moment.'
    for (const [error, status, code, detail, event] of [
      [{ retryable: true }, 503, 'unavailable', unavailable, 'storage-unavailable'],
      [{ overloaded: true }, 503, 'unavailable', unavailable, 'storage-unavailable'],
      [{ durableObjectReset: true }, 503, 'unavailable', unavailable, 'storage-unavailable'],
      [{ message: 'database or disk is full: SQLITE_FULL' }, 507, 'storage-full', full, ''],
      [{ retryable: false }, 500, undefined, undefined, 'unexpected'],
    ] as const) {
      logged.mockClear()
      const response = toErrorResponse(Object.assign(new Error('failed'), error))
      const text = await response.text()
      const { code: sent, detail: message } = text === '' ? {} : JSON.parse(text)
      expect([error, response.status, sent, message]).toEqual([error, status, code, detail])
      expect(response.headers.get('Cache-Control')).toBe('no-store')
      expect(logged.mock.calls.map(([line]) => JSON.parse(line).event).join()).toBe(event)
    }
  })
})
