import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { guardedJson } from '../../src/http/guarded-json.ts'

const json = { 'Content-Type': 'application/json' }
const answers: Record<string, (response: ServerResponse) => unknown> = {
  '/keys': response => response.writeHead(200, json).end('{"keys":[]}'),
  '/charset': response =>
    response.writeHead(200, { 'Content-Type': 'application/jwk-set+json; charset=utf-8' }).end('1'),
  '/parts': response => {
    response.writeHead(200, json).write('{"name":"Bü')
    setImmediate(() => response.end('cher"}'))
  },
  '/bom': response => response.writeHead(200, json).end('\ufeff{}'),
  '/html': response => response.writeHead(200, { 'Content-Type': 'text/html' }).end('{}'),
  '/untyped': response => response.writeHead(200).end('{}'),
  '/lie': response => response.writeHead(200, json).end('<html>'),
  '/empty': response => response.writeHead(200, json).end(),
  '/not-utf-8': response => response.writeHead(200, json).end(Buffer.from([0x22, 0xff, 0x22])),
  '/moved': response => response.writeHead(302, { Location: '/keys' }).end(),
  '/gone': response => response.writeHead(404, json).end('{}'),
  '/large': response => response.writeHead(200, json).end(`"${'x'.repeat(200)}"`),
  '/bomb': response =>
    response.writeHead(200, { ...json, 'Content-Encoding': 'gzip' }).end(gzipSync(`"${'x'.repeat(100_000)}"`)),
  '/silent': () => undefined,
  '/stalls': response => response.writeHead(200, json).write('{"keys":'),
  '/breaks': response => {
    response.writeHead(200, json).write('{"keys":')
    setImmediate(() => response.destroy())
  },
}

describe('guardedJson', () => {
  const server = createServer(({ url = '' }, response) => void answers[url]?.(response))
  let origin: string
  beforeAll(async () => {
    await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  it.each([
    ['/keys', { keys: [] }],
    ['/charset', 1],
    ['/parts', { name: 'Bücher' }],
    ['/bom', {}],
  ])('reads %s', async (path, value) => {
    expect(await guardedJson(origin + path, { allowedOrigins: origin })).toEqual({ value })
  })

  it.each([
    ['/html', 'not-json'],
    ['/untyped', 'not-json'],
    ['/lie', 'not-json'],
    ['/empty', 'not-json'],
    ['/not-utf-8', 'not-json'],
    ['/moved', 'redirect'],
    ['/gone', 'status'],
    ['/large', 'too-large'],
    ['/bomb', 'too-large'],
    ['/silent', 'timeout'],
    ['/stalls', 'timeout'],
    ['/breaks', 'unreachable'],
  ])('tells what is wrong with %s: %s', async (path, failed) => {
    const limits = { allowedOrigins: origin, maxBytes: 100, seconds: 0.2 }
    expect(await guardedJson(origin + path, limits)).toMatchObject({ failed })
  })

  it('does not ask where the guard says no', async () => {
    expect(await guardedJson(`${origin}/keys`)).toEqual({ failed: 'blocked', detail: 'not https' })
  })

  it('tells that nobody answers', async () => {
    const nobody = 'http://127.0.0.1:9'
    expect(await guardedJson(nobody, { allowedOrigins: nobody })).toMatchObject({ failed: 'unreachable' })
  })
})
