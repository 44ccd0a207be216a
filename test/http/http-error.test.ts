import { STATUS_CODES } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { toErrorResponse } from '../../src/http/error-response.ts'
import { problem } from '../../src/http/http-error.ts'
import { type ProblemCode, problems } from '../../src/problems.ts'

describe('the response to an error', () => {
  it('has problem details, with the title that RFC 9110 has for its status', async () => {
    // Node has the names of earlier RFCs.
    const titles: Record<number, string | undefined> = {
      ...STATUS_CODES,
      ...{ 413: 'Content Too Large', 422: 'Unprocessable Content' },
    }
    for (const [code, [status]] of Object.entries(problems)) {
      const error = problem(code as ProblemCode, 'Why.', { headers: { 'Retry-After': '7' } })
      const response = toErrorResponse(error)
      expect([response.status, response.headers.get('Retry-After')]).toEqual([status, '7'])
      expect(response.headers.get('Content-Type')).toBe('application/problem+json')
      const expected = { type: 'about:blank', title: titles[status], status, code, detail: 'Why.' }
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
