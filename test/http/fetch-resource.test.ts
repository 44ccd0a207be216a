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
const says =
  (status: number, headers: Record<string, string>, body: string | Buffer = '') =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end(body)

const get = (options: Partial<FetchOptions> = {}) =>
  fetchText(`${server.origin}/a`, { accepts: isJsonType, allowedOrigins: server.origin, ...options })

describe('a text that is fetched', () => {
  it.each<[string, (response: ServerResponse) => void, string]>([
    ['is what was sent', says(200, json, '{"keys":[]}'), '{"keys":[]}'],
    ['may be of any JSON type', says(200, { 'Content-Type': 'application/jwk-set+json; charset=utf-8' }, '1'), '1'],
    ['has no BOM', says(200, json, '\ufeff{}'), '{}'],
    ['may be empty', says(200, json), ''],
    ['is inflated', says(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync('{}')), '{}'],
    [
      'may come in parts that split a character',
      response => {
        response.writeHead(200, json).write(Buffer.from('"ü"').subarray(0, 2))
        setImmediate(() => response.end(Buffer.from('"ü"').subarray(2)))
      },
      '"ü"',
    ],
  ])('%s', async (_, how, content) => {
    server.respond(how)
    expect(await get()).toMatchObject({ content, redirected: false })
  })

  it('comes with the headers of its answer', async () => {
    server.respond(says(200, { ...json, ETag: '"1"' }, '{}'))
    const answer = await get()
    expect('headers' in answer && answer.headers.get('ETag')).toBe('"1"')
  })

  it.each<[string, (response: ServerResponse) => unknown, object]>([
    ['is a page', says(200, { 'Content-Type': 'text/html' }, '{}'), { failed: 'type', type: 'text/html' }],
    ['is of no type', says(200, {}, '{}'), { failed: 'type', type: '' }],
    ['is not UTF-8', says(200, json, Buffer.from([0x22, 0xff, 0x22])), { failed: 'not-text' }],
    ['is elsewhere, without end', says(302, { Location: '?' }), { failed: 'redirect' }],
    ['is nowhere', says(404, json, '{}'), { failed: 'status', status: 404 }],
    ['is only a part', says(206, json, '{}'), { failed: 'status', status: 206 }],
    ['is said to be unchanged, though nobody asked', says(304, {}), { failed: 'status', status: 304 }],
    ['is too large', says(200, json, `"${'x'.repeat(200)}"`), { failed: 'too-large', detail: 'more than 100 bytes' }],
    [
      'is a bomb',
      says(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync(' '.repeat(1_000_000))),
      { failed: 'too-large' },
    ],
    ['is never answered', () => undefined, { failed: 'timeout', detail: 'more than 0.2 s' }],
    ['stops', response => response.writeHead(200, json).write('{"keys":'), { failed: 'timeout' }],
    [
      'breaks off',
      response => {
        response.writeHead(200, json).write('{"keys":')
        setImmediate(() => response.destroy())
      },
      { failed: 'unreachable' },
    ],
    ['is not answered but hung up on', response => response.destroy(), { failed: 'unreachable' }],
  ])('is none where it %s', async (_, how, failure) => {
    server.respond(how)
    expect(await get({ maxBytes: 100, timeoutSeconds: 0.2 })).toMatchObject(failure)
  })

  it('is one time for all: redirects and each part of the body', async () => {
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
    ['a page', 200, { 'Content-Type': 'text/html' }],
    ['of an error', 500, json],
  ])('leaves the rest of what nobody wants: %s', async (_, status, headers) => {
    server.respond(response => void response.writeHead(status, headers).write(' '))
    await get()
    await server.disconnected()
  })

  it('is told apart from an unchanged one by what it was before', async () => {
    server.respond((response, { headers }) => says(headers['if-none-match'] === '"1"' ? 304 : 200, json, '')(response))
    expect([
      await get({ validators: { 'If-None-Match': '"1"' } }),
      await get({ validators: { 'If-None-Match': '"2"' } }),
    ]).toMatchObject([{ failed: 'unchanged' }, { content: '' }])
  })

  it('is not asked for where the guard says no', async () => {
    server.respond(says(200, json, '{}'))
    expect([await get({ allowedOrigins: '' }), server.requests]).toEqual([
      { failed: 'blocked', detail: 'not https' },
      [],
    ])
  })

  it('is none where nobody listens', async () => {
    const nobody = 'http://127.0.0.1:9'
    expect(await fetchText(nobody, { accepts: isJsonType, allowedOrigins: nobody })).toMatchObject({
      failed: 'unreachable',
    })
  })
})
