import type { ServerResponse } from 'node:http'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Server, startWorkerd } from '../../bench/server.ts'
import { html, json, says } from '../a2a/forwarding.ts'
import { startUpstream, type UpstreamServer } from '../a2a/upstream-server.ts'
import type { Settings } from './fetching-worker.ts'

let worker: Server
let upstream: UpstreamServer
let elsewhere: UpstreamServer
beforeAll(async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: "export { Fetching as default, Upstream } from './fetching-worker.ts'",
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    format: 'esm',
    external: ['cloudflare:*'],
    write: false,
  })
  const modules = { 'worker.js': outputFiles[0]?.text ?? '' }
  worker = await startWorkerd({ services: { worker: { modules } }, sockets: ['worker'] })
  upstream = await startUpstream()
  elsewhere = await startUpstream()
})
afterAll(async () => {
  upstream.close()
  elsewhere.close()
  await worker.stop()
})

const get = async (settings: Partial<Settings> = {}): Promise<unknown> => {
  const headers = { Settings: JSON.stringify({ url: `${upstream.origin}/card`, ...settings }) }
  return (await fetch(`http://127.0.0.1:${worker.ports.worker}/`, { headers })).json()
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
    ['plain', says(200, json, '{"a":"ü"}')],
    ['with a BOM', says(200, json, '\ufeff{"a":"ü"}')],
    ['gzipped', says(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync('{"a":"ü"}'))],
    ['in Brotli', says(200, { ...json, 'Content-Encoding': 'br' }, brotliCompressSync('{"a":"ü"}'))],
  ])('is whole: %s', async (_, how) => {
    upstream.answer(how)
    expect(await get(way)).toEqual({ content: '{"a":"ü"}', redirected: false })
  })

  it.each(bombs)('is not inflated beyond what it may hold: %s', async (encoding, bomb) => {
    upstream.answer(says(200, { ...json, 'Content-Encoding': encoding }, bomb))
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
    upstream.answer(how)
    expect(await get(way)).toEqual(failure)
    await upstream.left()
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
    upstream.answer(how)
    expect(await get({ ...way, timeoutSeconds: 0.2 })).toEqual({ failed: 'timeout', detail: 'more than 0.2 s' })
    await upstream.left()
  })

  it.each([
    ['hangs up', (response: ServerResponse) => void response.destroy()],
    [
      'breaks off',
      (response: ServerResponse) => void response.writeHead(200, json).write('{', () => response.destroy()),
    ],
    ['is not what it says', says(200, { ...json, 'Content-Encoding': 'gzip' }, 'no gzip')],
  ])('is none where it %s', async (_, how) => {
    upstream.answer(how)
    expect(await get(way)).toMatchObject({ failed: 'unreachable' })
  })

  it('is followed within its origin, with what is for it', async () => {
    upstream.answer((response, { url }) =>
      url === '/2' ? says(200, json, '{}')(response) : says(308, { Location: '/2' }, '')(response),
    )
    expect([await get(way), upstream.asked.map(({ path, headers }) => [path, headers.authorization])]).toEqual([
      { content: '{}', redirected: true },
      [
        ['/card', 'Bearer s3cret'],
        ['/2', 'Bearer s3cret'],
      ],
    ])
  })
})

it('is judged by the guard at each step in the real runtime', async () => {
  upstream.answer(says(302, { Location: `${elsewhere.origin}/secrets` }, ''))
  expect([await get(), elsewhere.asked]).toEqual([{ failed: 'blocked', detail: 'not https' }, []])
})
