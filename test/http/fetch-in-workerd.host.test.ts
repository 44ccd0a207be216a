import type { ServerResponse } from 'node:http'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startWorker } from '../support/host.ts'
import type { Runtime } from '../support/runtime.ts'
import { json, reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'
import type { Settings } from '../support/workers/fetching.ts'

let worker: Runtime
let upstream: UpstreamServer
beforeAll(async () => {
  worker = await startWorker("export { Fetching as default, Upstream } from './workers/fetching.ts'")
  upstream = await startUpstream()
})
afterAll(async () => {
  upstream.close()
  await worker.close()
})

const get = async (settings: Partial<Settings> = {}): Promise<unknown> => {
  const headers = { Settings: JSON.stringify({ url: `${upstream.origin}/card`, ...settings }) }
  return (await fetch(worker.urls.main, { headers })).json()
}

/** Sends a body without end, as fast as it is read. */
const endless = (response: ServerResponse) => {
  response.writeHead(200, json)
  const chunk = Buffer.alloc(64 * 1024, ' ')
  const write = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', write)
  }
  write()
}

const spaces = Buffer.alloc(50_000_000, ' ')
/** At its highest quality Brotli takes two seconds and compresses them no further. */
const bombs: [encoding: string, bomb: Buffer][] = [
  ['gzip', gzipSync(spaces)],
  ['br', brotliCompressSync(spaces, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })],
]

describe.each([
  ['the network', {}],
  ['a service binding', { service: true }],
] as const)('fetchText in workerd over %s', (_, settings) => {
  it.each([
    ['a gzip body', reply(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync('{"a":"ü"}'))],
    ['a Brotli body', reply(200, { ...json, 'Content-Encoding': 'br' }, brotliCompressSync('{"a":"ü"}'))],
  ])('returns %s', async (_, respond) => {
    upstream.respond(respond)
    expect(await get(settings)).toEqual({ content: '{"a":"ü"}', redirected: false })
  })

  it.each(bombs)('stops decompressing past the limit: %s', async (encoding, bomb) => {
    upstream.respond(reply(200, { ...json, 'Content-Encoding': encoding }, bomb))
    expect(await get(settings)).toEqual({ failed: 'too-large', detail: 'more than 1048576 bytes' })
  })

  it('closes the connection of a body without end', async () => {
    upstream.respond(endless)
    expect(await get(settings)).toEqual({ failed: 'too-large', detail: 'more than 1048576 bytes' })
    await upstream.disconnected()
  })

  it.each([
    ['never responds', () => undefined],
    [
      'sends one byte of gzip at a time',
      (response: ServerResponse) => {
        response.writeHead(200, { ...json, 'Content-Encoding': 'gzip' })
        const zipped = gzipSync('{"a":1}')
        let at = 0
        const drip = setInterval(() => response.write(zipped.subarray(at, ++at)), 100)
        response.on('close', () => clearInterval(drip))
      },
    ],
  ])('gives up after the timeout, and closes the connection, if the upstream %s', async (_, respond) => {
    upstream.respond(respond)
    expect(await get({ ...settings, timeoutSeconds: 0.2 })).toEqual({ failed: 'timeout', detail: 'more than 0.2 s' })
    await upstream.disconnected()
  })

  it('returns "unreachable" if the upstream interrupts the body', async () => {
    upstream.respond(response => void response.writeHead(200, json).write('{', () => response.destroy()))
    expect(await get(settings)).toMatchObject({ failed: 'unreachable' })
  })
})
