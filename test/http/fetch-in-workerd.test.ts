import type { ServerResponse } from 'node:http'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startWorker } from '../support/host.ts'
import type { Runtime } from '../support/runtime.ts'
import { html, json, reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'
import type { Settings } from '../support/workers/fetching.ts'

let worker: Runtime
let upstream: UpstreamServer
let elsewhere: UpstreamServer
beforeAll(async () => {
  worker = await startWorker("export { Fetching as default, Upstream } from './workers/fetching.ts'")
  upstream = await startUpstream()
  elsewhere = await startUpstream()
})
afterAll(async () => {
  upstream.close()
  elsewhere.close()
  await worker.close()
})

const get = async (settings: Partial<Settings> = {}): Promise<unknown> => {
  const headers = { Settings: JSON.stringify({ url: `${upstream.origin}/card`, ...settings }) }
  return (await fetch(worker.urls.main, { headers })).json()
}

/** An answer that begins and goes on as it is asked for, and never ends. */
const endless = (headers: Record<string, string>) => (response: ServerResponse) => {
  response.writeHead(200, headers)
  const chunk = Buffer.alloc(64 * 1024, ' ')
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more)
  }
  more()
}

const spaces = Buffer.alloc(50_000_000, ' ')
/** Brotli at its best takes two seconds to make them no smaller. */
const bombs: [encoding: string, bomb: Buffer][] = [
  ['gzip', gzipSync(spaces)],
  ['br', brotliCompressSync(spaces, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })],
]

describe.each([
  ['the network', {}],
  ['a service', { service: true }],
] as const)('what is fetched by way of %s in the real runtime', (_, way) => {
  it.each([
    ['plain', reply(200, json, '{"a":"ü"}')],
    ['with a BOM', reply(200, json, '\ufeff{"a":"ü"}')],
    ['gzipped', reply(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync('{"a":"ü"}'))],
    ['in Brotli', reply(200, { ...json, 'Content-Encoding': 'br' }, brotliCompressSync('{"a":"ü"}'))],
  ])('is whole: %s', async (_, how) => {
    upstream.respond(how)
    expect(await get(way)).toEqual({ content: '{"a":"ü"}', redirected: false })
  })

  it.each(bombs)('is not inflated beyond what it may hold: %s', async (encoding, bomb) => {
    upstream.respond(reply(200, { ...json, 'Content-Encoding': encoding }, bomb))
    expect(await get(way)).toEqual({ failed: 'too-large', detail: 'more than 1048576 bytes' })
  })

  it.each([
    ['without end', endless(json), { failed: 'too-large', detail: 'more than 1048576 bytes' }],
    ['of a page without end', endless(html), { failed: 'type', type: 'text/html', detail: 'text/html' }],
    [
      'of an error that does not end',
      (response: ServerResponse) => void response.writeHead(500, json).write('{'),
      { failed: 'status', status: 500, detail: '500' },
    ],
  ])('is left there, and its connection ends: one %s', async (_, how, failure) => {
    upstream.respond(how)
    expect(await get(way)).toEqual(failure)
    await upstream.disconnected()
  })

  it.each([
    ['says nothing', () => undefined],
    ['stops', (response: ServerResponse) => void response.writeHead(200, json).write('{')],
    [
      'drips',
      (response: ServerResponse) => {
        response.writeHead(200, json)
        const drip = setInterval(() => response.write(' '), 10)
        response.on('close', () => clearInterval(drip))
      },
    ],
    [
      'drips, inflated',
      (response: ServerResponse) => {
        response.writeHead(200, { ...json, 'Content-Encoding': 'gzip' })
        const zipped = gzipSync('{"a":1}')
        let at = 0
        const drip = setInterval(() => response.write(zipped.subarray(at, ++at)), 100)
        response.on('close', () => clearInterval(drip))
      },
    ],
  ])('is waited for only so long, and its connection ends: an upstream that %s', async (_, how) => {
    upstream.respond(how)
    expect(await get({ ...way, timeoutSeconds: 0.2 })).toEqual({ failed: 'timeout', detail: 'more than 0.2 s' })
    await upstream.disconnected()
  })

  it.each([
    ['hangs up', (response: ServerResponse) => void response.destroy()],
    [
      'breaks off',
      (response: ServerResponse) => void response.writeHead(200, json).write('{', () => response.destroy()),
    ],
    ['is not what it says', reply(200, { ...json, 'Content-Encoding': 'gzip' }, 'no gzip')],
  ])('is none where it %s', async (_, how) => {
    upstream.respond(how)
    expect(await get(way)).toMatchObject({ failed: 'unreachable' })
  })

  it('is followed within its origin, with what is for it', async () => {
    upstream.respond((response, { url }) =>
      url === '/2' ? reply(200, json, '{}')(response) : reply(308, { Location: '/2' }, '')(response),
    )
    expect([await get(way), upstream.requests.map(({ path, headers }) => [path, headers.authorization])]).toEqual([
      { content: '{}', redirected: true },
      [
        ['/card', 'Bearer s3cret'],
        ['/2', 'Bearer s3cret'],
      ],
    ])
  })
})

it('is judged by the guard at each step in the real runtime', async () => {
  upstream.respond(reply(302, { Location: `${elsewhere.origin}/secrets` }, ''))
  expect([await get(), elsewhere.requests]).toEqual([{ failed: 'blocked', detail: 'not https' }, []])
})
