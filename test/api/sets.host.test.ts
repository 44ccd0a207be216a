import { beforeAll, describe, expect, it } from 'vitest'
import { minimalCard } from '../support/cards/cards.ts'
import { token as adminToken, sharedHost } from '../support/host.ts'

const host = sharedHost()
const set = 'set-of-two-teams'
const ids = ['set1-a', 'set1-b', 'set2-c', 'set2-d']
beforeAll(async () => {
  for (const id of ids)
    await host.put(id, { card: minimalCard, set, visibility: id < 'set1-b' ? 'public' : 'internal' })
  await host.put('set1-other', { card: minimalCard, set: 'another-set' })
  await host.put('set1-none', minimalCard)
})

type Page = { agents: { id: string; visibility?: string; set?: string }[]; cursor?: string; code?: string }
const get = (path: string, token?: string) =>
  host.fetch(path, token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } })
const getPage = async (query: string, token?: string) => (await (await get(`/agents?${query}`, token)).json()) as Page
const idsOf = ({ agents }: Page) => agents.map(({ id }) => id)
const issue = async (scopes: string[], agents: string[]) => (await host.issue({ scopes, agents })).token

describe('GET /agents?set=', () => {
  it('lists the agents of the set, internal ones included, each as in the list of all and with the set', async () => {
    const { agents } = await getPage(`set=${set}`, adminToken)
    expect(agents.map(({ id }) => id)).toEqual(ids)
    expect(agents[3]).toEqual({
      id: 'set2-d',
      name: minimalCard.name,
      description: minimalCard.description,
      version: '1.0.0',
      card: expect.stringMatching(/\/agents\/set2-d\/\.well-known\/agent-card\.json$/),
      url: minimalCard.url,
      visibility: 'internal',
      set,
      etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
    })
    expect((await get(`/agents?set=${set}`, adminToken)).headers.get('cache-control')).toBe('private, no-store')
  })

  it.each([
    ['read', ['read']],
    ['write', ['write']],
  ])('lists what a token may %s, and neither public nor internal agents of others', async (_, scopes) => {
    expect(idsOf(await getPage(`set=${set}`, await issue(scopes, ['set1-*', 'other'])))).toEqual(['set1-a', 'set1-b'])
    expect(idsOf(await getPage(`set=${set}`, await issue(scopes, ['nothing-*'])))).toEqual([])
  })

  it('has pages, none of whose cursors is an agent that the token does not cover', async () => {
    const token = await issue(['write'], ['set1-b', 'set2-d'])
    const first = await getPage(`set=${set}&limit=1`, token)
    const last = await getPage(`set=${set}&limit=1&cursor=${first.cursor}`, token)
    expect([idsOf(first), first.cursor, idsOf(last), last.cursor]).toEqual([
      ['set1-b'],
      'set1-b',
      ['set2-d'],
      undefined,
    ])
  })

  it('is the same for a set without agents and for one whose agents a token does not cover', async () => {
    const token = await issue(['read', 'write'], ['nothing-*'])
    for (const name of [set, 'no-such-set'])
      expect(await (await get(`/agents?set=${name}`, token)).text()).toBe('{"agents":[]}')
  })

  it.each([
    ['no token', `set=${set}`, undefined, 401, 'no-token'],
    ['an unknown token', `set=${set}`, 'cc_wrong', 401, 'bad-token'],
    ['no name of a set', 'set=', adminToken, 400, 'bad-set'],
    ['a name that no set has', 'set=A%20b', adminToken, 400, 'bad-set'],
    ['a wrong cursor', `set=${set}&cursor=..`, adminToken, 400, 'bad-cursor'],
    ['another parameter', `set=${set}&a=b`, adminToken, 400, 'unknown-query'],
  ])('rejects %s', async (_, query, token, status, code) => {
    const response = await get(`/agents?${query}`, token)
    expect([response.status, ((await response.json()) as Page).code]).toEqual([status, code])
  })

  it.each(['/.well-known/a2a/agents', '/tokens'])('is no parameter of %s', async path => {
    expect((await get(`${path}?set=${set}`, adminToken)).status).toBe(400)
  })

  it('follows a registration under another set, and a removal', async () => {
    await host.put('set3-moving', { card: minimalCard, set: 'set-moved-from' })
    await host.put('set3-moving', { card: minimalCard, set: 'set-moved-to' })
    expect(idsOf(await getPage('set=set-moved-from', adminToken))).toEqual([])
    expect(idsOf(await getPage('set=set-moved-to', adminToken))).toEqual(['set3-moving'])
    await host.fetch('/agents/set3-moving', { method: 'DELETE', headers: { Authorization: `Bearer ${adminToken}` } })
    expect(idsOf(await getPage('set=set-moved-to', adminToken))).toEqual([])
  })
})

describe('GET /agents?writable=true', () => {
  it('lists the agents that a token may write, internal ones included, and no others', async () => {
    await host.put('set4-public', minimalCard)
    const token = await issue(['write'], ['set1-*'])
    const { agents } = await getPage('writable=true', token)
    expect(agents.map(({ id, visibility }) => [id, visibility])).toEqual([
      ['set1-a', 'public'],
      ['set1-b', 'internal'],
      ['set1-none', 'public'],
      ['set1-other', 'public'],
    ])
    expect(agents[1]).toMatchObject({ set, etag: expect.stringMatching(/^"[0-9a-f]{64}"$/) })
  })

  it('can be searched, and narrowed to a set', async () => {
    const token = await issue(['read', 'write'], ['set1-b', 'set2-*'])
    expect(idsOf(await getPage('writable=true&q=agent', token)).sort()).toEqual(['set1-b', 'set2-c', 'set2-d'])
    expect(idsOf(await getPage(`writable=true&set=${set}`, token))).toEqual(['set1-b', 'set2-c', 'set2-d'])
    expect(idsOf(await getPage('writable=true&set=another-set', token))).toEqual([])
  })

  it('has cursors that belong to its searches', async () => {
    const { cursor } = await getPage('writable=true&q=agent&limit=1', await issue(['write'], ['set1-*']))
    const response = await get(`/agents?q=agent&cursor=${cursor}`)
    expect([response.status, ((await response.json()) as Page).code]).toEqual([400, 'bad-cursor'])
  })

  it.each([
    ['no token', 'writable=true', [], 401, 'no-token'],
    ['a token without `write`', 'writable=true', ['read'], 403, 'forbidden'],
    ['any other value', 'writable=false', ['write'], 400, 'bad-query'],
  ])('rejects %s', async (_, query, scopes, status, code) => {
    const response = await get(`/agents?${query}`, scopes.length === 0 ? undefined : await issue(scopes, ['set1-*']))
    expect([response.status, ((await response.json()) as Page).code]).toEqual([status, code])
  })
})

describe('the set of an agent', () => {
  it('is in the manifest, for those who may write it, and in nothing public', async () => {
    const manifest = await get('/agents/set1-a/manifest', adminToken)
    expect(await manifest.json()).toMatchObject({ set })
    const dialects = ['hybrid', '1.0', '0.3', 'gopherhole', 'superx', 'shaman', 'telex']
    const paths = [
      ...dialects.map(dialect => `/agents/set1-a/.well-known/agent-card.json?dialect=${dialect}`),
      '/agents/set1-a/.well-known/agent.json',
      '/agents',
      '/.well-known/a2a/agents',
      '/a2a/v1/agents/set1-a',
    ]
    for (const path of paths) expect(await (await get(path)).text()).not.toContain(set)
  })

  it('is in the list of all agents where the token covers the agent, beside its visibility', async () => {
    const hostingOf = async (token?: string) => {
      // A page of this host has no room for the agents of all files before.
      const page = await getPage('cursor=set0', token)
      return page.agents.filter(({ id }) => ids.includes(id)).map(({ id, visibility, set }) => [id, visibility, set])
    }
    expect(await hostingOf(await issue(['read'], ['set1-b', 'set2-*']))).toEqual([
      ['set1-a', 'public', undefined],
      ['set1-b', 'internal', set],
      ['set2-c', 'internal', set],
      ['set2-d', 'internal', set],
    ])
    expect(await hostingOf()).toEqual([['set1-a', undefined, undefined]])
  })
})

describe('GET /agents?id=', () => {
  it('lists the named agents that are registered, with the entity tags of their manifests', async () => {
    const response = await get('/agents?id=set2-d&id=set1-nobody&id=set1-a&id=set1-a', await issue(['write'], ['set*']))
    const { agents } = (await response.json()) as { agents: { id: string; etag: string }[] }
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
    expect(agents).toMatchObject([{ id: 'set1-a' }, { id: 'set2-d', visibility: 'internal', set }])
    for (const { id, etag } of agents)
      expect(etag).toBe((await get(`/agents/${id}/manifest`, adminToken)).headers.get('etag'))
  })

  it('shows no entity tag to a token that may only read', async () => {
    const { agents } = await getPage(`set=${set}`, await issue(['read'], ['*']))
    expect(agents).toHaveLength(4)
    for (const agent of agents) expect(agent).not.toHaveProperty('etag')
  })

  it.each([
    ['no token', undefined, 'id=set1-a', 401, 'no-token'],
    ['a token that may only read', ['read', '*'], 'id=set1-a', 403, 'forbidden'],
    ['an agent that the token does not cover', ['write', 'set1-*'], 'id=set1-a&id=set2-c', 403, 'forbidden'],
    ['what is no id', ['write', '*'], 'id=set1-a&id=', 400, 'bad-agent-id'],
    ['more than a page', ['write', '*'], Array.from({ length: 101 }, (_, n) => `id=a${n}`).join('&'), 400, 'bad-query'],
    ['a search', ['write', '*'], 'id=set1-a&q=a', 400, 'unknown-query'],
  ])('is refused with %s', async (_, [scope, agents] = [], query, status, code) => {
    const response = await get(`/agents?${query}`, scope && (await issue([scope], [agents ?? ''])))
    expect([response.status, await response.json()]).toEqual([status, expect.objectContaining({ code })])
  })
})
