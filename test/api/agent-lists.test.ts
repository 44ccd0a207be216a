import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { minimalCard } from '../support/cards/cards.ts'
import { type OwnHost, startHost, token } from '../support/host.ts'

let host: OwnHost
beforeAll(async () => {
  host = await startHost({ PUBLIC_URL: 'https://cards.example.com' })
  for (const id of ['c', 'a', 'e', 'b']) await host.put(id, { ...minimalCard, name: id.toUpperCase() })
  await host.put('d', { card: minimalCard, visibility: 'internal' })
})
afterAll(() => host.close())

type Page = { agents: { id: string }[]; cursor?: string }
const page = async (query: string, headers = {}) =>
  (await (await host.fetch(`/agents${query}`, { headers })).json()) as Page
const ids = ({ agents, cursor }: Page) => [agents.map(({ id }) => id).join(''), cursor]

describe('GET /agents', () => {
  it('lists public agents in the order of their ids, each with where its card and its endpoint are', async () => {
    const { agents } = await page('')
    expect(agents.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'e'])
    expect(agents[0]).toEqual({
      id: 'a',
      name: 'A',
      description: 'Does something useful',
      version: '1.0.0',
      card: 'https://cards.example.com/agents/a/.well-known/agent-card.json',
      url: 'https://my-agent.example.com',
    })
  })

  it('walks page by page until there is no cursor', async () => {
    const first = await page('?limit=3')
    expect([ids(first), ids(await page(`?limit=3&cursor=${first.cursor}`))]).toEqual([
      ['abc', 'c'],
      ['e', undefined],
    ])
  })

  it('may be kept by caches, which a write purges by its tag', async () => {
    const { headers } = await host.fetch('/agents')
    expect([headers.get('cache-control'), headers.get('cache-tag')]).toEqual([
      'public, max-age=60, stale-while-revalidate=86400',
      'agents',
    ])
  })

  it('answers 304 to its own ETag, and tells caches that a token makes a difference', async () => {
    const { headers } = await host.fetch('/agents')
    const again = await host.fetch('/agents', { headers: { 'If-None-Match': headers.get('etag') ?? '' } })
    expect([again.status, again.headers.get('vary')]).toEqual([304, 'Authorization'])
  })

  it('lists internal agents too for a reader with a token, and no cache may keep that', async () => {
    const headers = { Authorization: `Bearer ${token}` }
    expect(ids(await page('', headers))).toEqual(['abcde', undefined])
    expect((await host.fetch('/agents', { headers })).headers.get('cache-control')).toBe('private, no-store')
  })

  it.each([
    ['?limit=0', 400, 'bad-limit'],
    ['?limit=101', 400, 'bad-limit'],
    ['?limit=ten', 400, 'bad-limit'],
    ['?cursor=..%2F', 400, 'bad-cursor'],
    ['?colour=red', 400, 'unknown-query'],
  ])('refuses %s', async (query, status, code) => {
    const response = await host.fetch(`/agents${query}`)
    expect([response.status, await response.json()]).toEqual([status, expect.objectContaining({ code })])
  })

  it('refuses a token that it does not know', async () => {
    expect((await host.fetch('/agents', { headers: { Authorization: 'Bearer wrong' } })).status).toBe(401)
  })
})
