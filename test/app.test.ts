import pMap from 'p-map'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../src/app.ts'
import { minimalCard } from './support/cards/cards.ts'
import { type OwnHost, startHost, token } from './support/host.ts'

let host: OwnHost
/** What came back for each request, each sent once. */
let answers: Answered[]
beforeAll(async () => {
  host = await startHost()
  await host.put('known', minimalCard)
  await host.put('hidden', { card: minimalCard, visibility: 'internal' })
  const asked = [...requests, ...others, ...methods]
  const once = [...new Map(asked.map(request => [JSON.stringify(request), request])).values()]
  // Reads together, while there is something to read; then what may change it, in the order of the table.
  answers = [
    ...(await pMap(once.filter(isRead), answered, { concurrency: 8 })),
    ...(await pMap(
      once.filter(request => !isRead(request)),
      answered,
      { concurrency: 1 },
    )),
  ]
})
afterAll(() => host.close())

type Asked = { method: string; path: string; authorization: string | undefined }
type Answered = { request: Asked; status: number; headers: Headers }

const isRead = ({ method }: Asked) => ['GET', 'HEAD', 'OPTIONS'].includes(method)

/** Every endpoint as a client may ask for it: a known, an internal, an unknown and an impossible agent; good, bad and no token. */
const requests: Asked[] = routes.flatMap(([method, path]) =>
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
const others: Asked[] = ['/', '/nothing', '/agents/known/nothing', '/.well-known/nothing'].map(path => ({
  method: 'GET',
  path,
  authorization: undefined,
}))
const methods: Asked[] = routes.flatMap(([, path]) =>
  ['OPTIONS', 'PATCH', 'HEAD'].map(method => ({
    method,
    path: path.replace(/:id|:name/, 'known'),
    authorization: undefined,
  })),
)

let sent = 0
/** From many addresses, so that no rate limit answers in an endpoint's place. */
const send = ({ method, path, authorization }: Asked) =>
  host.fetch(path, {
    method,
    headers: {
      ...(authorization && { Authorization: authorization }),
      'Content-Type': 'application/json',
      'CF-Connecting-IP': `203.0.113.${sent++ % 250}`,
    },
    ...(method === 'PUT' || method === 'POST' ? { body: '{"not": "a card"}' } : {}),
  })

const answered = async (request: Asked): Promise<Answered> => {
  const response = await send(request)
  await response.arrayBuffer()
  return { request, status: response.status, headers: response.headers }
}

describe('every response of every route', () => {
  // Workers Cache keeps a response that says nothing of caching, so each must.
  it('says who may cache it, and nothing read with a token, nor any error, is for a shared cache', () => {
    const wrong = answers.flatMap(({ request, status, headers }) => {
      const { method, path, authorization } = request
      const caching = headers.get('cache-control') ?? 'missing'
      const shared = caching.startsWith('public, max-age=')
      const mayShare = !authorization && status < 400 && isRead(request)
      const sound = shared ? mayShare : caching === 'no-store' || caching === 'private, no-store'
      return sound ? [] : [`${method} ${path} ${authorization}: ${status} ${caching}`]
    })
    expect(wrong).toEqual([])
  })

  it('can be read by a page of any origin, and its type is not guessed', () => {
    const wrong = answers.filter(
      ({ headers }) =>
        headers.get('access-control-allow-origin') !== '*' || headers.get('x-content-type-options') !== 'nosniff',
    )
    expect(wrong.map(({ request: { method, path }, status }) => `${method} ${path}: ${status}`)).toEqual([])
  })

  it('is one that the table foresees: nothing answers 500', () => {
    expect(answers.filter(({ status }) => status >= 500).map(({ request }) => request)).toEqual([])
  })
})
