import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FetchOptions, fetchText } from '../../src/http/fetch-resource.ts'
import { isJsonType } from '../../src/http/media-type.ts'
import { startUpstream, type UpstreamServer } from '../support/upstream.ts'

let server: UpstreamServer
beforeAll(async () => {
  server = await startUpstream()
})
afterAll(() => server.close())

const json = { 'Content-Type': 'application/json' }
const respondWith =
  (status: number, headers: Record<string, string>, body: string | Buffer = '') =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end(body)

const get = (options: Partial<FetchOptions> = {}) =>
  fetchText(`${server.origin}/a`, { accepts: isJsonType, allowedOrigins: server.origin, ...options })

describe('fetchText', () => {
  it.each<[string, (response: ServerResponse) => void, string]>([
    ['returns the body', respondWith(200, json, '{"keys":[]}'), '{"keys":[]}'],
    [
      'accepts any JSON media type',
      respondWith(200, { 'Content-Type': 'application/jwk-set+json; charset=utf-8' }, '1'),
      '1',
    ],
    ['removes a byte order mark', respondWith(200, json, '\ufeff{}'), '{}'],
    ['accepts an empty body', respondWith(200, json), ''],
    ['decompresses the body', respondWith(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync('{}')), '{}'],
    [
      'decodes a character that is split between chunks',
      response => {
        response.writeHead(200, json).write(Buffer.from('"ü"').subarray(0, 2))
        setImmediate(() => response.end(Buffer.from('"ü"').subarray(2)))
      },
      '"ü"',
    ],
  ])('%s', async (_, respond, content) => {
    server.respond(respond)
    expect(await get()).toMatchObject({ content, redirected: false })
  })

  it('returns the headers of the response', async () => {
    server.respond(respondWith(200, { ...json, ETag: '"1"' }, '{}'))
    const result = await get()
    expect('headers' in result && result.headers.get('ETag')).toBe('"1"')
  })

  it.each<[string, (response: ServerResponse) => unknown, object]>([
    ['HTML', respondWith(200, { 'Content-Type': 'text/html' }, '{}'), { failed: 'type', type: 'text/html' }],
    ['a response without a media type', respondWith(200, {}, '{}'), { failed: 'type', type: '' }],
    ['invalid UTF-8', respondWith(200, json, Buffer.from([0x22, 0xff, 0x22])), { failed: 'not-text' }],
    ['endless redirects', respondWith(302, { Location: '?' }), { failed: 'redirect' }],
    ['404', respondWith(404, json, '{}'), { failed: 'status', status: 404 }],
    ['206', respondWith(206, json, '{}'), { failed: 'status', status: 206 }],
    ['304 for an unconditional request', respondWith(304, {}), { failed: 'status', status: 304 }],
    [
      'a body that is too large',
      respondWith(200, json, `"${'x'.repeat(200)}"`),
      { failed: 'too-large', detail: 'more than 100 bytes' },
    ],
    [
      'a decompression bomb',
      respondWith(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync(' '.repeat(1_000_000))),
      { failed: 'too-large' },
    ],
    ['a server that never responds', () => undefined, { failed: 'timeout', detail: 'more than 0.2 s' }],
    ['a body that never ends', response => response.writeHead(200, json).write('{"keys":'), { failed: 'timeout' }],
    [
      'an interrupted body',
      response => {
        response.writeHead(200, json).write('{"keys":')
        setImmediate(() => response.destroy())
      },
      { failed: 'unreachable' },
    ],
    ['a closed connection', response => response.destroy(), { failed: 'unreachable' }],
  ])('returns a failure for %s', async (_, respond, failure) => {
    server.respond(respond)
    expect(await get({ maxBytes: 100, timeoutSeconds: 0.2 })).toMatchObject(failure)
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

  it.each([
    ['HTML', 200, { 'Content-Type': 'text/html' }],
    ['an error', 500, json],
  ])('cancels the body of a response that it rejects: %s', async (_, status, headers) => {
    server.respond(response => void response.writeHead(status, headers).write(' '))
    await get()
    await server.disconnected()
  })

  it('returns "unchanged" for a 304 to its validators', async () => {
    server.respond((response, { headers }) =>
      respondWith(headers['if-none-match'] === '"1"' ? 304 : 200, json, '')(response),
    )
    expect([
      await get({ validators: { 'If-None-Match': '"1"' } }),
      await get({ validators: { 'If-None-Match': '"2"' } }),
    ]).toMatchObject([{ failed: 'unchanged' }, { content: '' }])
  })

  it('makes no request for a blocked URL', async () => {
    server.respond(respondWith(200, json, '{}'))
    expect([await get({ allowedOrigins: '' }), server.requests]).toEqual([
      { failed: 'blocked', detail: 'not https' },
      [],
    ])
  })

  it('returns "unreachable" if nothing listens', async () => {
    const closedPort = 'http://127.0.0.1:9'
    expect(await fetchText(closedPort, { accepts: isJsonType, allowedOrigins: closedPort })).toMatchObject({
      failed: 'unreachable',
    })
  })
})
