import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FetchOptions, fetchText } from '../../src/http/fetch-resource.ts'
import { isJsonType } from '../../src/http/media-type.ts'
import { html, json, type Responder, reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'

let server: UpstreamServer
beforeAll(async () => {
  server = await startUpstream()
})
afterAll(() => server.close())

const get = (options: Partial<FetchOptions> = {}) =>
  fetchText(`${server.origin}/a`, { accepts: isJsonType, allowedOrigins: server.origin, ...options })
const gzip = { ...json, 'Content-Encoding': 'gzip' }
const begin: Responder = response => void response.writeHead(200, json).write('{"keys":')

describe('fetchText', () => {
  it('returns a complete text of an accepted type, decompressed and without a byte order mark', async () => {
    for (const [title, respond, content] of [
      ['a body', reply(200, json, '{"keys":[]}'), '{"keys":[]}'],
      ['any JSON media type', reply(200, { 'Content-Type': 'application/jwk-set+json; charset=utf-8' }, '1'), '1'],
      ['a byte order mark', reply(200, json, '\ufeff{}'), '{}'],
      ['an empty body', reply(200, json, ''), ''],
      ['a compressed body', reply(200, gzip, gzipSync('{}')), '{}'],
      [
        'a character that is split between chunks',
        response => {
          response.writeHead(200, json).write(Buffer.from('"ü"').subarray(0, 2))
          setImmediate(() => response.end(Buffer.from('"ü"').subarray(2)))
        },
        '"ü"',
      ],
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
      ['404', reply(404, json, '{}'), { failed: 'status', status: 404 }],
      ['206', reply(206, json, '{}'), { failed: 'status', status: 206 }],
      ['an unconditional 304', reply(304, {}, ''), { failed: 'status', status: 304 }],
      ['a large body', reply(200, json, `"${'x'.repeat(99)}"`), { failed: 'too-large', detail: 'more than 100 bytes' }],
      ['a decompression bomb', reply(200, gzip, gzipSync(' '.repeat(1_000_000))), { failed: 'too-large' }],
      ['no response', () => undefined, { failed: 'timeout', detail: 'more than 0.1 s' }, atOnce],
      ['an endless body', begin, { failed: 'timeout' }, atOnce],
      ['a closed connection', response => void response.destroy(), { failed: 'unreachable' }],
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

  it('makes no request for a blocked URL, and returns "unreachable" if nothing listens', async () => {
    server.respond(reply(200, json, '{}'))
    expect(await get({ allowedOrigins: '' })).toEqual({ failed: 'blocked', detail: 'not https' })
    expect(server.requests).toEqual([])
    const closed = 'http://127.0.0.1:9'
    expect(await fetchText(closed, { accepts: isJsonType, allowedOrigins: closed })).toMatchObject({
      failed: 'unreachable',
    })
  })
})
