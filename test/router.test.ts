import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../src/router.ts'
import { minimalCard } from './cards.ts'
import { type Host, startHost, token } from './host.ts'

let host: Host
beforeAll(async () => {
  host = await startHost()
  await host.put('known', minimalCard)
  await host.put('hidden', { card: minimalCard, visibility: 'internal' })
})
afterAll(() => host.close())

/** Every endpoint as a client may ask for it: a known, an internal, an unknown and an impossible agent; good, bad and no token. */
const requests = routes.flatMap(([method, path]) =>
  ['known', 'hidden', 'unknown', 'BAD'].flatMap(id =>
    [undefined, `Bearer ${token}`, 'Bearer wrong'].flatMap(authorization =>
      ['', '?dialect=1.0', '?dialect=none', '?limit=0'].map(query => ({
        method,
        path: path.replace(':id', id).replace(':file', 'agent.json') + query,
        authorization,
      })),
    ),
  ),
)
const others = ['/', '/nothing', '/agents/known/nothing', '/.well-known/nothing'].map(path => ({
  method: 'GET',
  path,
  authorization: undefined,
}))
const methods = routes.flatMap(([, path]) =>
  ['OPTIONS', 'PATCH', 'HEAD'].map(method => ({
    method,
    path: path.replace(':id', 'known'),
    authorization: undefined,
  })),
)

const send = ({ method, path, authorization }: (typeof requests)[number] | (typeof others)[number]) =>
  host.fetch(path, {
    method,
    headers: { ...(authorization && { Authorization: authorization }), 'Content-Type': 'application/json' },
    ...(method === 'PUT' || method === 'POST' ? { body: '{"not": "a card"}' } : {}),
  })

describe('every response of every route', () => {
  // Workers Cache keeps a response that says nothing of caching, so each must.
  it('says who may cache it, and nothing read with a token, nor any error, is for a shared cache', async () => {
    const wrong: string[] = []
    for (const request of [...requests, ...others, ...methods]) {
      const response = await send(request)
      await response.arrayBuffer()
      const caching = response.headers.get('cache-control') ?? 'missing'
      const shared = caching.startsWith('public, max-age=')
      const mayShare =
        !request.authorization && response.status < 400 && ['GET', 'HEAD', 'OPTIONS'].includes(request.method)
      const sound = shared ? mayShare : caching === 'no-store' || caching === 'private, no-store'
      if (!sound)
        wrong.push(`${request.method} ${request.path} ${request.authorization}: ${response.status} ${caching}`)
    }
    expect(wrong).toEqual([])
  })

  it('can be read by a page of any origin, and its type is not guessed', async () => {
    const wrong: string[] = []
    for (const request of [...requests, ...others, ...methods]) {
      const response = await send(request)
      await response.arrayBuffer()
      const { headers } = response
      if (headers.get('access-control-allow-origin') !== '*' || headers.get('x-content-type-options') !== 'nosniff')
        wrong.push(`${request.method} ${request.path}: ${response.status}`)
    }
    expect(wrong).toEqual([])
  })

  it('is one that the table foresees: nothing answers 500', async () => {
    const statuses = new Set<number>()
    for (const request of requests) {
      const response = await send(request)
      await response.arrayBuffer()
      statuses.add(response.status)
    }
    expect([...statuses].filter(status => status >= 500)).toEqual([])
  })
})
