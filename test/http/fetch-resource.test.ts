import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FetchOptions, fetchText } from '../../src/http/fetch-resource.ts'
import { html, json, type Responder, reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'

let server: UpstreamServer
beforeAll(async () => {
  server = await startUpstream()
})
afterAll(() => server.close())

const get = (options: Partial<FetchOptions> = {}) =>
  fetchText(`${server.origin}/a`, { allowedOrigins: new Set([server.origin]), ...options })

describe('fetchText', () => {
  it('returns a complete text of an accepted type, without a byte order mark', async () => {
    for (const [title, respond, content] of [
      ['a body', reply(200, json, '{"keys":[]}'), '{"keys":[]}'],
      ['a byte order mark', reply(200, json, '\ufeff{}'), '{}'],
      ['an empty body', reply(200, json, ''), ''],
    ] as [string, Responder, string][]) {
      server.respond(respond)
      expect({ title, ...(await get()) }).toMatchObject({ title, content, redirected: false })
    }
  })

  it('returns the headers of the response, and "unchanged" for a 304 to its validators', async () => {
    server.respond((response, { headers }) =>
      reply(headers['if-none-match'] === '"1"' ? 304 : 200, { ...json, ETag: '"1"' }, '')(response),
    )
    expect(await get({ validators: { 'If-None-Match': '"1"' } })).toMatchObject({ failed: 'unchanged' })
    const result = await get({ validators: { 'If-None-Match': '"2"' } })
    expect('headers' in result && result.headers.get('ETag')).toBe('"1"')
  })

  it('returns why there is no such text', async () => {
    const atOnce = { timeoutSeconds: 0.1 }
    for (const [title, respond, failure, options] of [
      ['HTML', reply(200, html, '{}'), { failed: 'type', type: 'text/html' }],
      ['no media type', reply(200, {}, '{}'), { failed: 'type', type: '' }],
      ['invalid UTF-8', reply(200, json, Buffer.from([0x22, 0xff, 0x22])), { failed: 'not-text' }],
      ['endless redirects', reply(302, { Location: '?' }, ''), { failed: 'redirect' }],
      ['206', reply(206, json, '{}'), { failed: 'status', status: 206 }],
      ['an unconditional 304', reply(304, {}, ''), { failed: 'status', status: 304 }],
      ['a large body', reply(200, json, `"${'x'.repeat(99)}"`), { failed: 'too-large', detail: 'more than 100 bytes' }],
      ['no response', () => undefined, { failed: 'timeout', detail: 'more than 0.1 s' }, atOnce],
      [
        'an interrupted body',
        response => {
          response.writeHead(200, json).write('{"keys":')
          setImmediate(() => response.destroy())
        },
        { failed: 'unreachable' },
      ],
    ] as [string, Responder, object, object?][]) {
      server.respond(respond)
      expect({ title, ...(await get({ maxBytes: 100, ...options })) }).toMatchObject({ title, ...failure })
    }
  })

  it('applies one timeout to redirects and the whole body', async () => {
    server.respond((response, { url }) => {
      if (url === '/a') return void setTimeout(() => response.writeHead(302, { Location: '/b' }).end(), 150)
      response.writeHead(200, json).write('"')
      const drip = setInterval(() => response.write('x'), 10)
      response.on('close', () => clearInterval(drip))
    })
    expect(await get({ timeoutSeconds: 0.3 })).toMatchObject({ failed: 'timeout' })
    await server.disconnected()
  })

  it('cancels the body of a response that it rejects', async () => {
    for (const [status, headers] of [
      [200, html],
      [500, json],
    ] as const) {
      server.respond(response => void response.writeHead(status, headers).write(' '))
      await get()
      await server.disconnected()
    }
  })

  it('makes no request for a blocked URL', async () => {
    server.respond(reply(200, json, '{}'))
    expect(await get({ allowedOrigins: new Set() })).toEqual({ failed: 'blocked', detail: 'not https' })
    expect(server.requests).toEqual([])
  })
})
