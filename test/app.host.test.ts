import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import pMap from 'p-map'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../src/app.ts'
import { nextAddress } from './support/called-host.ts'
import { minimalCard } from './support/cards/cards.ts'
import { type OwnHost, startHost, token } from './support/host.ts'
import { startNodeHost } from './support/node-host.ts'

let host: OwnHost
/** The response to each request; duplicate requests are sent once. */
let exchanges: Exchange[]
beforeAll(async () => {
  host = await startHost()
  await host.put('known', minimalCard)
  await host.put('hidden', { card: minimalCard, visibility: 'internal' })
  const all = [...routeRequests, ...unknownPaths, ...otherMethods]
  const requests = [...new Map(all.map(request => [JSON.stringify(request), request])).values()]
  // First the reads, concurrently, while the agents exist; then the writes, in the order of the table.
  exchanges = [
    ...(await pMap(requests.filter(isRead), exchange, { concurrency: 8 })),
    ...(await pMap(
      requests.filter(request => !isRead(request)),
      exchange,
      { concurrency: 1 },
    )),
  ]
})
afterAll(() => host.close())

type SentRequest = { method: string; path: string; authorization: string | undefined }
type Exchange = { request: SentRequest; status: number; headers: Headers }

const isRead = ({ method }: SentRequest) => ['GET', 'HEAD', 'OPTIONS'].includes(method)

/** Requests to every route: for a public, an internal, an unknown and an invalid agent id; with a valid, an invalid and no token. */
const routeRequests: SentRequest[] = routes.flatMap(([method, path]) =>
  ['known', 'hidden', 'unknown', 'BAD'].flatMap(id =>
    [undefined, `Bearer ${token}`, 'Bearer wrong'].flatMap(authorization =>
      ['', '?dialect=1.0', '?dialect=none', '?limit=0'].map(query => ({
        method,
        path: path.replace(/:id|:name/, id).replace(':file', 'agent.json') + query,
        authorization,
      })),
    ),
  ),
)
const unknownPaths: SentRequest[] = ['/', '/nothing', '/agents/known/nothing', '/.well-known/nothing'].map(path => ({
  method: 'GET',
  path,
  authorization: undefined,
}))
const otherMethods: SentRequest[] = routes.flatMap(([, path]) =>
  ['OPTIONS', 'PATCH', 'HEAD'].map(method => ({
    method,
    path: path.replace(/:id|:name/, 'known'),
    authorization: undefined,
  })),
)

/** Sends requests from many addresses, so that no rate limit applies. */
const send = ({ method, path, authorization }: SentRequest) =>
  host.fetch(path, {
    method,
    headers: {
      ...(authorization && { Authorization: authorization }),
      'Content-Type': 'application/json',
      'CF-Connecting-IP': nextAddress(),
    },
    ...(method === 'PUT' || method === 'POST' ? { body: '{"not": "a card"}' } : {}),
  })

const exchange = async (request: SentRequest): Promise<Exchange> => {
  const response = await send(request)
  // An event stream would not end.
  if (response.headers.get('Content-Type') === 'text/event-stream') await response.body?.cancel()
  else await response.arrayBuffer()
  return { request, status: response.status, headers: response.headers }
}

describe('every response of every route', () => {
  // Workers Cache stores a response without Cache-Control, so every response needs one.
  it('has a Cache-Control header, which permits shared caches only for successful reads without a token', () => {
    const wrong = exchanges.flatMap(({ request, status, headers }) => {
      const { method, path, authorization } = request
      const caching = headers.get('cache-control') ?? 'missing'
      const isShared = caching.startsWith('public, max-age=')
      const canBeShared = !authorization && status < 400 && isRead(request)
      const isValid = isShared ? canBeShared : caching === 'no-store' || caching === 'private, no-store'
      return isValid ? [] : [`${method} ${path} ${authorization}: ${status} ${caching}`]
    })
    expect(wrong).toEqual([])
  })

  it('has the headers for CORS and against media type sniffing', () => {
    const wrong = exchanges.filter(
      ({ headers }) =>
        headers.get('access-control-allow-origin') !== '*' || headers.get('x-content-type-options') !== 'nosniff',
    )
    expect(wrong.map(({ request: { method, path }, status }) => `${method} ${path}: ${status}`)).toEqual([])
  })

  it('has a status below 500', () => {
    expect(exchanges.filter(({ status }) => status >= 500).map(({ request }) => request)).toEqual([])
  })
})

describe('a path in an unusual spelling', () => {
  /** Sends a path exactly as it is written: `fetch` and `URL` would normalize it. */
  const sendPath = (method: string, path: string): Promise<{ status: number | undefined; body: string }> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = host.url
      httpRequest({ hostname, port, method, path, headers: { 'Content-Length': '0' } }, async response =>
        resolve({ status: response.statusCode, body: await text(response) }),
      )
        .on('error', reject)
        .end()
    })

  it.each(['..', '.', '%2e%2e', '%2E', '.%2e', 'known\\..', '..\\known', 'known\\', '%6bnown', 'KNOWN', 'known;x', ''])(
    'is routed alike with and without a query: /agents/%s',
    async id => {
      const paths = ['', '/a2a', '/.well-known/agent.json', '/.well-known/agent-card.json'].map(
        end => `/agents/${id}${end}`,
      )
      for (const path of paths)
        for (const method of ['GET', 'POST'])
          expect({ method, path, ...(await sendPath(method, path)) }).toEqual({
            ...{ method, path },
            ...(await sendPath(method, `${path}?`)),
          })
    },
  )
})

describe('Strict-Transport-Security', () => {
  it('is in every response over https, and in none over http', async () => {
    const secure = await startNodeHost()
    await secure.put('known', { card: minimalCard })
    const etag = (await secure.fetch('/agents/known')).headers.get('ETag') ?? ''
    const get = async (origin: string, path: string, init: RequestInit): Promise<string | null> =>
      (await secure.fetch(`${origin}${path}`, init)).headers.get('Strict-Transport-Security')
    const requests: [path: string, init: RequestInit][] = [
      ...routes.map(([method, path]): [string, RequestInit] => [path.replace(/:id|:name/, 'known'), { method }]),
      ['/agents/known/.well-known/agent-card.json', {}],
      ['/agents/known/.well-known/agent-card.json', { headers: { 'If-None-Match': etag } }],
      ['/agents/known', { headers: { Accept: 'text/html' } }],
      ['/agents/BAD', {}],
      ['/nothing', {}],
      ['/agents', { method: 'OPTIONS' }],
      ['/agents', { method: 'PATCH' }],
    ]
    for (const [path, init] of requests)
      expect([
        path,
        await get('https://host.example', path, init),
        await get('http://host.example', path, init),
      ]).toEqual([path, 'max-age=31536000', null])
  })
})
