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
const expectProblem = async (response: Response, status: number, code: string) =>
  expect([response.status, await response.json()]).toMatchObject([status, { code }])
const issue = async (scopes: string[], agents: string[]) => (await host.issue({ scopes, agents })).token

describe('GET /agents?set=', () => {
  it('lists the agents of the set, internal ones included, each as in the list of all and with the set', async () => {
    const { agents } = await getPage(`set=${set}`, adminToken)
    expect(agents.map(({ id }) => id)).toEqual(ids)
    const etag = expect.stringMatching(/^"[0-9a-f]{64}"$/)
    const card = expect.stringMatching(/\/agents\/set2-d\/\.well-known\/agent-card\.json$/)
    const hosting = { visibility: 'internal', set, etag }
    expect(agents[3]).toEqual({ id: 'set2-d', ...minimalCard, version: '1.0.0', card, ...hosting })
    expect((await get(`/agents?set=${set}`, adminToken)).headers.get('cache-control')).toBe('private, no-store')
  })

  it('lists what a token may read or write, and neither public nor internal agents of others', async () => {
    for (const scopes of [['read'], ['write']]) {
      expect(idsOf(await getPage(`set=${set}`, await issue(scopes, ['set1-*', 'other'])))).toEqual(['set1-a', 'set1-b'])
      expect(idsOf(await getPage(`set=${set}`, await issue(scopes, ['nothing-*'])))).toEqual([])
    }
  })

  it('is the same for a set without agents and for one whose agents a token does not cover', async () => {
    const token = await issue(['read', 'write'], ['nothing-*'])
    for (const name of [set, 'no-such-set'])
      expect(await (await get(`/agents?set=${name}`, token)).text()).toBe('{"agents":[]}')
  })

  it('rejects requests without a token or a valid query', async () => {
    for (const [query, token, status, code] of [
      [`set=${set}`, undefined, 401, 'no-token'],
      [`set=${set}`, 'cc_wrong', 401, 'bad-token'],
      ['set=', adminToken, 400, 'bad-set'],
      ['set=A%20b', adminToken, 400, 'bad-set'],
      [`set=${set}&cursor=..`, adminToken, 400, 'bad-cursor'],
      [`set=${set}&a=b`, adminToken, 400, 'unknown-query'],
    ] as const)
      await expectProblem(await get(`/agents?${query}`, token), status, code)
    for (const path of ['/.well-known/a2a/agents', '/tokens'])
      await expectProblem(await get(`${path}?set=${set}`, adminToken), 400, 'unknown-query')
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

  it('can be searched, with cursors of its own, and narrowed to a set', async () => {
    const token = await issue(['read', 'write'], ['set1-b', 'set2-*'])
    expect(idsOf(await getPage('writable=true&q=agent', token)).sort()).toEqual(['set1-b', 'set2-c', 'set2-d'])
    expect(idsOf(await getPage(`writable=true&set=${set}`, token))).toEqual(['set1-b', 'set2-c', 'set2-d'])
    const { cursor } = await getPage('writable=true&q=agent&limit=1', token)
    await expectProblem(await get(`/agents?q=agent&cursor=${cursor}`), 400, 'bad-cursor')
  })

  it('rejects requests without a token with the scope `write`, and any other value', async () => {
    const [reader, writer] = [await issue(['read'], ['set1-*']), await issue(['write'], ['set1-*'])]
    await expectProblem(await get('/agents?writable=true'), 401, 'no-token')
    await expectProblem(await get('/agents?writable=true', reader), 403, 'forbidden')
    await expectProblem(await get('/agents?writable=false', writer), 400, 'bad-query')
  })
})

describe('the set of an agent', () => {
  it('is in the manifest, for those who may write it, and in nothing public', async () => {
    const manifest = await get('/agents/set1-a/manifest', adminToken)
    expect(await manifest.json()).toMatchObject({ set })
    const dialects = ['hybrid', '1.0', 'shaman']
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

  it('is refused to a token that may not write all of them, and for anything but a page of ids', async () => {
    const [reader, covering] = [await issue(['read'], ['*']), await issue(['write'], ['*'])]
    const many = Array.from({ length: 101 }, (_, index) => `id=a${index}`).join('&')
    for (const [query, token, status, code] of [
      ['id=set1-a', undefined, 401, 'no-token'],
      ['id=set1-a', reader, 403, 'forbidden'],
      ['id=set1-a&id=set2-c', await issue(['write'], ['set1-*']), 403, 'forbidden'],
      ['id=set1-a&id=', covering, 400, 'bad-agent-id'],
      [many, covering, 400, 'bad-query'],
      ['id=set1-a&q=a', covering, 400, 'unknown-query'],
    ] as const)
      await expectProblem(await get(`/agents?${query}`, token), status, code)
  })
})
