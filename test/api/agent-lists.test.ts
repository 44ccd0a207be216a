import { beforeAll, describe, expect, it } from 'vitest'
import { minimalCard } from '../support/cards/cards.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { token } from '../support/runtime.ts'

let host: NodeHost
beforeAll(async () => {
  host = await startNodeHost({ origin: 'https://cards.example.com' })
  for (const id of ['c', 'a', 'e', 'b']) await host.put(id, { ...minimalCard, name: id.toUpperCase() })
  await host.put('d', { card: minimalCard, visibility: 'internal' })
})

type Page = { agents: { id: string }[]; cursor?: string }
const getPage = async (query: string, headers = {}) =>
  (await (await host.fetch(`/agents${query}`, { headers })).json()) as Page
const summarize = ({ agents, cursor }: Page) => [agents.map(({ id }) => id).join(''), cursor]

describe('GET /agents', () => {
  it('lists public agents in the order of their ids, with the URLs of their cards and endpoints', async () => {
    const { agents } = await getPage('')
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

  it('returns pages until there is no cursor', async () => {
    const first = await getPage('?limit=3')
    expect([summarize(first), summarize(await getPage(`?limit=3&cursor=${first.cursor}`))]).toEqual([
      ['abc', 'c'],
      ['e', undefined],
    ])
  })

  it('is cacheable, with a tag by which a write purges it, and varies by credentials and Accept', async () => {
    const { headers } = await host.fetch('/agents')
    expect([headers.get('cache-control'), headers.get('cache-tag')]).toEqual([
      'public, max-age=60, stale-while-revalidate=86400',
      'agents',
    ])
    const again = await host.fetch('/agents', { headers: { 'If-None-Match': headers.get('etag') ?? '' } })
    expect([again.status, again.headers.get('vary')]).toEqual([304, 'Authorization, Accept'])
  })

  it('lists internal agents too for a token with the scope read, in a response that no cache stores', async () => {
    const headers = { Authorization: `Bearer ${token}` }
    expect(summarize(await getPage('', headers))).toEqual(['abcde', undefined])
    const received = (await host.fetch('/agents', { headers })).headers
    expect([received.get('cache-control'), received.get('vary')]).toEqual([
      'private, no-store',
      'Authorization, Accept',
    ])
  })
})

it('counts the lists of an address or a token against the rate limit, those of a set too', async () => {
  const limited = await startNodeHost()
  const body = JSON.stringify({ scopes: ['read'] })
  const admin = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const issued = await limited.fetch('/tokens', { method: 'POST', headers: admin, body })
  const headers = { Authorization: `Bearer ${((await issued.json()) as { token: string }).token}` }
  Object.assign(limited.env, { CALL_LIMIT: { limit: async () => ({ success: false }) } })
  for (const path of ['/agents', '/agents?set=a', '/.well-known/a2a/agents'])
    expect((await limited.fetch(path, { headers })).status, path).toBe(429)
  for (const path of ['/agents', '/.well-known/a2a/agents', '/llms.txt']) {
    const refused = await limited.fetch(path, { headers: { 'CF-Connecting-IP': '192.0.2.1' } })
    expect([refused.status, refused.headers.get('retry-after')], path).toEqual([429, '60'])
  }
})
