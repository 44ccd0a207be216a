import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import pMap from 'p-map'
import { beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../src/app.ts'
import { nextAddress } from './support/called-host.ts'
import { minimalCard } from './support/cards/cards.ts'
import { sharedHost, token } from './support/host.ts'
import { combine } from './support/matrix.ts'
import { startNodeHost } from './support/node-host.ts'

const host = sharedHost()

type SentRequest = { method: string; path: string; authorization?: string | undefined }
type Exchange = { request: SentRequest; status: number; headers: Headers }

const pathOf = (path: string, id: string) => path.replace(/:id|:name/, id).replace(':file', 'agent.json')

/** To every route: for a public, an internal, an unknown and an invalid agent id; with a valid, an invalid and no token. */
const routeRequests: SentRequest[] = routes.flatMap(([method, path]) =>
  combine(
    ['app-known', 'app-hidden', 'app-unknown', 'BAD'],
    [undefined, `Bearer ${token}`, 'Bearer wrong'],
    ['', '?dialect=1.0', '?dialect=none', '?limit=0'],
  ).map(([id, authorization, query]) => ({ method, path: pathOf(path, id) + query, authorization })),
)
const otherRequests: SentRequest[] = [
  ...['/', '/nothing', '/agents/app-known/nothing', '/.well-known/nothing'].map(path => ({ method: 'GET', path })),
  ...routes.flatMap(([, path]) =>
    ['OPTIONS', 'PATCH', 'HEAD'].map(method => ({ method, path: pathOf(path, 'app-known') })),
  ),
]
const isRead = ({ method }: SentRequest) => ['GET', 'HEAD', 'OPTIONS'].includes(method)

const exchange = async (request: SentRequest): Promise<Exchange> => {
  const { method, path, authorization } = request
  const response = await host.fetch(path, {
    method,
    headers: {
      ...(authorization && { Authorization: authorization }),
      ...{ 'Content-Type': 'application/json', 'CF-Connecting-IP': nextAddress() },
    },
    ...(method === 'PUT' || method === 'POST' ? { body: '{"not": "a card"}' } : {}),
  })
  // An event stream would not end.
  if (response.headers.get('Content-Type') === 'text/event-stream') await response.body?.cancel()
  else await response.arrayBuffer()
  return { request, status: response.status, headers: response.headers }
}

describe('every response of every route', () => {
  /** The response to each request; duplicate requests are sent once. */
  let exchanges: Exchange[]
  beforeAll(async () => {
    await host.put('app-known', minimalCard)
    await host.put('app-hidden', { card: minimalCard, visibility: 'internal' })
    const all = [...routeRequests, ...otherRequests]
    const requests = [...new Map(all.map(request => [JSON.stringify(request), request])).values()]
    // First the reads, concurrently, while the agents exist; then the writes, in the order of the table.
    exchanges = await pMap(requests.filter(isRead), exchange, { concurrency: 8 })
    for (const request of requests) if (!isRead(request)) exchanges.push(await exchange(request))
  })
  const describeAll = (wrong: Exchange[]) =>
    wrong.map(
      ({ request: { method, path, authorization }, status, headers }) =>
        `${method} ${path} ${authorization}: ${status} ${headers.get('cache-control')}`,
    )

  // Workers Cache stores a response without Cache-Control, so every response needs one.
  it('has a Cache-Control header, which permits shared caches only for successful reads without a token', () => {
    const isWrong = ({ request, status, headers }: Exchange) => {
      const caching = headers.get('cache-control') ?? 'missing'
      if (caching.startsWith('public, max-age=')) return request.authorization || status >= 400 || !isRead(request)
      return caching !== 'no-store' && caching !== 'private, no-store'
    }
    expect(describeAll(exchanges.filter(isWrong))).toEqual([])
    expect(
      exchanges.filter(({ headers }) => headers.get('cache-control')?.startsWith('public')).length,
    ).toBeGreaterThan(20)
  })

  it('has the headers for CORS and against media type sniffing, and a status below 500', () => {
    const isWrong = ({ status, headers }: Exchange) =>
      headers.get('access-control-allow-origin') !== '*' ||
      headers.get('x-content-type-options') !== 'nosniff' ||
      status >= 500
    expect(describeAll(exchanges.filter(isWrong))).toEqual([])
  })
})

describe('a path in an unusual spelling', () => {
  /** Sends a path exactly as it is written: `fetch` and `URL` would normalize it. */
  const sendPath = (method: string, path: string): Promise<{ status: number | undefined; body: string }> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = host.url
      const headers = { 'Content-Length': '0', 'CF-Connecting-IP': nextAddress() }
      httpRequest({ hostname, port, method, path, headers }, async response =>
        resolve({ status: response.statusCode, body: await text(response) }),
      )
        .on('error', reject)
        .end()
    })

  it('is routed alike with and without a query', async () => {
    await host.put('spelled', minimalCard)
    const dots = ['..', '.', '%2e%2e', '%2E', '.%2e', 'spelled\\..', '..\\spelled']
    for (const id of [...dots, 'spelled\\', '%73pelled', 'SPELLED', 'spelled;x', ''])
      for (const end of ['', '/a2a', '/.well-known/agent.json', '/.well-known/agent-card.json'])
        for (const method of ['GET', 'POST']) {
          const path = `/agents/${id}${end}`
          const [plain, withQuery] = await Promise.all([sendPath(method, path), sendPath(method, `${path}?`)])
          expect({ method, path, ...plain }).toEqual({ method, path, ...withQuery })
        }
  })
})

describe('Strict-Transport-Security', () => {
  it('is in every response over https, and in none over http', async () => {
    const secure = await startNodeHost()
    await secure.put('known', { card: minimalCard })
    const etag = (await secure.fetch('/agents/known')).headers.get('ETag') ?? ''
    const get = async (origin: string, path: string, init: RequestInit): Promise<string | null> =>
      (await secure.fetch(`${origin}${path}`, init)).headers.get('Strict-Transport-Security')
    const requests: [path: string, init: RequestInit][] = [
      ['/agents/known/.well-known/agent-card.json', {}],
      ['/agents/known/.well-known/agent-card.json', { headers: { 'If-None-Match': etag } }],
      ['/agents/known', { headers: { Accept: 'text/html' } }],
      ['/nothing', {}],
      ['/agents', { method: 'PATCH' }],
    ]
    for (const [path, init] of requests) {
      const [secured, plain] = [
        await get('https://host.example', path, init),
        await get('http://host.example', path, init),
      ]
      expect([path, secured, plain]).toEqual([path, 'max-age=31536000', null])
    }
  })
})
