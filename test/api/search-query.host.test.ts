import { beforeAll, describe, expect, it } from 'vitest'
import { senderTo } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { sharedHost } from '../support/host.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { token } from '../support/runtime.ts'

const skill = (id: string, tags: string[]) => ({ id, name: `Skill ${id}`, description: `Does ${id}`, tags })
const authorization = { Authorization: `Bearer ${token}` }

let host: NodeHost
beforeAll(async () => {
  host = await startNodeHost({ origin: 'https://cards.example.com' })
  await host.put('weather', {
    ...{ ...minimalCard, name: 'Weather Agent', description: 'Forecasts the weather' },
    provider: { organization: 'Example', url: 'https://example.com' },
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain', 'image/*'],
    skills: [skill('forecast', ['rain', 'sun'])],
  })
  await host.put('chinese', {
    ...minimalCard,
    name: '天气助手',
    description: '提供北京的天气预报',
    skills: [skill('z', ['rain'])],
  })
  await host.put('german', {
    ...minimalCard,
    name: 'Übersetzer',
    description: 'Übersetzt große Verträge und Wettervorhersagen',
  })
  await host.put('hidden', { card: { ...minimalCard, name: 'Weather inside' }, visibility: 'internal', set: 'team' })
})

type Hit = { id: string; score?: number }
type Page = { agents: Hit[]; cursor?: string; facets?: object; code?: string; detail?: string }
const get = (query: string, headers = {}) => host.fetch(`/agents?${query}`, { headers })
const getPage = async (query: string, headers = {}) => (await (await get(query, headers)).json()) as Page
const ids = async (query: string, headers = {}) => (await getPage(query, headers)).agents.map(({ id }) => id)

describe('GET /agents?q=', () => {
  it('returns what a client needs to choose an agent', async () => {
    expect(await getPage('q=weather')).toEqual({
      agents: [
        {
          ...{ id: 'weather', name: 'Weather Agent', description: 'Forecasts the weather', version: '1.0.0' },
          card: 'https://cards.example.com/agents/weather/.well-known/agent-card.json',
          ...{ url: 'https://my-agent.example.com', skills: ['forecast'], tags: ['rain', 'sun'] },
          ...{ capabilities: ['streaming'], protocolVersions: ['0.3'], signed: false, provider: 'Example' },
          score: expect.any(Number),
        },
      ],
    })
  })

  it('finds agents by words of any language, and by what their cards declare', async () => {
    const rows: [query: string, ids: string[]][] = [
      ['q=天气', ['chinese']],
      ['q=京北', []],
      ['q=ubersetzer', ['german']],
      ['q=forec wea', ['weather']],
      ['name=agent weather', ['weather']],
      ['name=forecasts', []],
      ['tag=RAIN', ['weather', 'chinese']],
      ['skill=forecast', ['weather']],
      ['capability=streaming&provider=example', ['weather']],
      ['inputMode=image/png', ['weather']],
      ['inputMode=application/*', ['chinese', 'german']],
      ['inputMode=*/*&q=weather', ['weather']],
      ['inputMode=IMAGE/png;q=1&outputMode=text/plain', ['weather']],
      ['outputMode=text/*&q=weather', ['weather']],
      ['q=weather&name=agent&tag=rain&skill=Skill forecast&limit=1', ['weather']],
    ]
    for (const [query, expected] of rows) expect(await ids(encodeURI(query)), query).toEqual(expected)
  })

  it('finds the same in the runtime, whose SQLite is another one', async () => {
    const deployed = sharedHost()
    await deployed.put('searched', { ...minimalCard, name: 'Größter Quallenzüchter', description: '水母养殖' })
    for (const query of ['q=QUALLENZUCHT', 'name=grosster', 'q=养殖', 'q=quallenzüchter&tag=GENERAL']) {
      const { agents } = (await (await deployed.fetch(encodeURI(`/agents?${query}`))).json()) as Page
      expect(agents).toMatchObject([{ id: 'searched', score: expect.any(Number) }])
    }
  })

  it('finds internal agents for a token that may read them, and says how they are hosted', async () => {
    const page = await getPage('q=weather', authorization)
    expect(page.agents.map(({ id }) => id).toSorted()).toEqual(['hidden', 'weather'])
    expect(page.agents.find(({ id }) => id === 'hidden')).toMatchObject({ visibility: 'internal', set: 'team' })
    expect(await ids('q=weather&set=team', authorization)).toEqual(['hidden'])
    expect(await ids('tag=general&set=team', authorization)).toEqual(['hidden'])
    const body = { scopes: ['read'], agents: ['other-*'] }
    const issued = (await senderTo(host)('/tokens', { token, body })).body as { token: string }
    expect(await ids('q=weather', { Authorization: `Bearer ${issued.token}` })).toEqual(['weather'])
  })

  it('is cached for everybody with the tag of lists, and private for tokens', async () => {
    const [open, own] = [await get('q=weather'), await get('q=weather', authorization)]
    expect([open, own].map(({ headers }) => [headers.get('cache-control'), headers.get('cache-tag')])).toEqual([
      ['public, max-age=60, stale-while-revalidate=86400', 'agents'],
      ['private, no-store', null],
    ])
    expect((await get('q=weather', { 'If-None-Match': open.headers.get('etag') ?? '' })).status).toBe(304)
  })

  it('counts facets on request', async () => {
    expect((await getPage('facets=tag,capability&tag=rain')).facets).toMatchObject({
      tag: [
        { value: 'rain', count: 2 },
        { value: 'sun', count: 1 },
      ],
      capability: expect.arrayContaining([expect.objectContaining({ value: 'streaming' })]),
    })
    expect((await getPage('q=weather')).facets).toBeUndefined()
  })

  it('has pages, whose cursor belongs to the search', async () => {
    const first = await getPage('q=weather&limit=1', authorization)
    const last = await getPage(`q=weather&limit=1&cursor=${first.cursor}`, authorization)
    expect([...first.agents, ...last.agents].map(({ id }) => id).toSorted()).toEqual(['hidden', 'weather'])
    expect(last.cursor).toBeUndefined()
    expect(await ids(`q=weather&cursor=${first.cursor}`)).not.toContain('hidden')
    expect(await getPage(`q=wetter&cursor=${first.cursor}`)).toMatchObject({ code: 'bad-cursor' })
    const filtered = await getPage('tag=rain&limit=1')
    expect(filtered.agents[0]).not.toHaveProperty('score')
    expect([filtered.cursor, await ids(`tag=rain&cursor=${filtered.cursor}`)]).toEqual(['1', ['chinese']])
  })

  it('rejects invalid queries, pages and cursors', async () => {
    const letters = 'abcdefghijklmnopq'.split('').join('+')
    const texts = ['q=', 'q=%22%2A', `q=${'x'.repeat(201)}`, `q=${letters}`]
    const filters = ['tag=', `tag=${'x'.repeat(201)}`, 'tag=a&'.repeat(17), 'facets=tag,colour']
    const cursors = ['q=a&cursor=weather', 'q=a&cursor=000000000000.1_5.2_5', 'tag=a&cursor=weather']
    for (const [code, rejected] of [
      ['bad-query', [...texts, ...filters]],
      ['bad-limit', ['q=a&limit=0']],
      ['bad-cursor', cursors],
    ] as const)
      for (const query of rejected) {
        const response = await get(query)
        expect([query, response.status, await response.json()]).toMatchObject([query, 400, { code }])
      }
  })

  it('names every unknown parameter', async () => {
    expect(await getPage('q=a&colour=red&size=2')).toMatchObject({
      code: 'unknown-query',
      detail: expect.stringContaining('"colour", "size". It accepts limit, cursor, q, name, tag, skill,'),
    })
  })
})
