import { beforeAll, describe, expect, it } from 'vitest'
import { minimalCard } from '../support/cards/cards.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { token } from '../support/runtime.ts'
import { catalogErrors } from '../support/schemas/catalogs.ts'

const origin = 'https://host.example'
const skill = (id: string, description: string, tags: string[]) => ({ id, name: id, description, tags })

let host: NodeHost
beforeAll(async () => {
  host = await startNodeHost({ origin })
  const cards = {
    flights: { name: 'Flight booking', skills: [skill('book', 'Books a flight and a seat', ['travel', 'Finance'])] },
    hotels: { name: 'Hotels', skills: [skill('stay', 'Booking of rooms', ['travel'])] },
    weather: { name: 'Wetterbericht', skills: [skill('forecast', 'Sagt das Wetter für Zürich voraus', ['weather'])] },
  }
  for (const [id, card] of Object.entries(cards))
    await host.put(id, { card: { ...minimalCard, ...card }, ...(id === 'hotels' && { mcp: 'off' }) })
  const secret = { ...minimalCard, name: 'Secret flight booking' }
  await host.put('secret', { card: secret, visibility: 'internal' })
})

type Found = { results: { url: string; score: number; source: string; [name: string]: unknown }[]; pageToken?: string }

const post = (body: unknown, headers = {}): Promise<Response> =>
  host.fetch('/ard/search', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const search = async (text: string, more: object = {}, filter?: object): Promise<Found> => {
  const response = await post({ query: { text, ...(filter && { filter }) }, ...more })
  const found = await response.json()
  expect([response.status, catalogErrors('search response', found)]).toEqual([200, []])
  return found as Found
}
const expectError = async (response: Response, status: number, errorCode: string) => {
  const error = await response.json()
  expect([response.status, catalogErrors('search error', error), error]).toMatchObject([status, [], { errorCode }])
  return (error as { message: string }).message
}
const ids = ({ results }: Found) => results.map(({ url }) => /\/agents\/([^/]+)/.exec(url)?.[1])

describe('POST /ard/search', () => {
  it('finds agents by a request in natural language, best first', async () => {
    const found = await search('find me a flight booking agent')
    expect(ids(found)).toEqual(['flights', 'hotels'])
    const [best, other] = found.results
    expect(best).toMatchObject({
      score: 100,
      source: `${origin}/ard/`,
      capabilities: ['book'],
      tags: ['travel', 'Finance'],
    })
    expect(other?.score).toBeLessThan(100)
  })

  it('finds words in other languages, and none that only begins with a short one', async () => {
    expect(ids(await search('Wie wird das Wetter in Zürich?'))).toEqual(['weather'])
    expect(ids(await search('a flight to s'))).toEqual(['flights'])
  })

  it('returns no internal agent, whatever the token', async () => {
    const response = await post({ query: { text: 'secret flight' } }, { Authorization: `Bearer ${token}` })
    expect(ids((await response.json()) as Found)).toEqual(['flights'])
  })

  it('filters by tags, capabilities and types', async () => {
    const rows: [filter: object, found: string[]][] = [
      [{ tags: ['travel'] }, ['flights', 'hotels']],
      [{ tags: ['finance', 'weather'] }, ['flights']],
      [{ tags: 'finance' }, ['flights']],
      [{ tags: ['travel'], capabilities: ['stay'] }, ['hotels']],
      [{ type: ['application/a2a-agent-card+json', 'text/plain'] }, ['flights', 'hotels']],
      [{ type: ['application/mcp-server-card+json'] }, ['flights']],
      [{ type: ['application/json'] }, []],
    ]
    for (const [filter, found] of rows)
      expect([filter, ids(await search('booking', {}, filter))]).toEqual([filter, found])
  })

  it('has pages, whose scores are in proportion to the best of all', async () => {
    const first = await search('booking', { pageSize: 1, federation: 'none' })
    const second = await search('booking', { pageSize: 1, pageToken: first.pageToken })
    expect([ids(first), ids(second), second.pageToken]).toEqual([['flights'], ['hotels'], undefined])
    expect(second.results[0]?.score).toBeLessThan(100)
  })

  it('rejects invalid requests in the form of ARD, with the reason', async () => {
    const query = { text: 'a' }
    const withFilter = (filter: unknown) => ({ query: { ...query, filter } })
    const invalidTags = [[], [1], [' '], ['x'.repeat(201)], Array(17).fill('a')]
    const tagsRule = '/query/filter/tags must be 1 to 16 texts of 1 to 200 characters.'
    const sizeRule = 'pageSize must be a whole number from 1 to 100.'
    const rows: [body: unknown, message: string][] = [
      ['{', 'JSON'],
      [[], 'The body must be an object.'],
      [{ query, colour: 1 }, 'colour is not a known field here. Known fields: query, federation, pageSize, pageToken.'],
      [{}, 'query is missing.'],
      [
        { query: { ...query, colour: 1 } },
        '/query/colour is not a known field here. Known fields: @context, text, filter.',
      ],
      [{ query: {} }, '/query/text is missing.'],
      [{ query: { text: 'a '.repeat(5000) } }, '/query/text must be a string of at most'],
      [{ query: { text: ' *"() ' } }, '/query/text must have at least one letter or digit.'],
      [withFilter([]), '/query/filter must be an object.'],
      [
        withFilter({ 'metadata.a': 'b' }),
        '/query/filter/metadata.a is not a known field here. Known fields: type, tags, capabilities.',
      ],
      ...invalidTags.map((tags): [unknown, string] => [withFilter({ tags }), tagsRule]),
      ...[0, -1, 1.5, 101, '1'].map((pageSize): [unknown, string] => [{ query, pageSize }, sizeRule]),
      [{ query, federation: 'all' }, 'federation must be auto, referrals or none.'],
      [{ query, pageToken: 1 }, '/pageToken must be a string.'],
      [{ query, pageToken: '1~x' }, 'pageToken must be that of the previous page.'],
      // The token of another search.
      [{ query, pageToken: '1~0123456789ab.1_1.1_1' }, 'cursor'],
    ]
    for (const [body, message] of rows)
      expect(await expectError(await post(body), 400, 'INVALID_ARGUMENT')).toContain(message)
  })

  it('accepts all members and bounds of ARD', async () => {
    const filter = { tags: Array(16).fill('travel'), capabilities: ['x'.repeat(200)] }
    const query = { '@context': 'https://schema.org', text: 'booking', filter }
    for (const federation of ['auto', 'referrals', 'none'])
      expect((await post({ query, federation, pageSize: 100, pageToken: '' })).status).toBe(200)
  })
})

describe('GET /ard/agents/{identifier}', () => {
  const get = (identifier: string, headers = {}) =>
    host.fetch(`/ard/agents/${encodeURIComponent(identifier)}`, { headers })

  it('returns one whole entry of the ARD manifest, and 304 for its entity tag', async () => {
    const identifier = 'urn:air:host.example:agent:flights'
    const response = await get(identifier)
    const entry = await response.json()
    const { entries } = (await (await host.fetch('/.well-known/ard.json')).json()) as {
      entries: { identifier: string }[]
    }
    expect([response.status, catalogErrors('ARD entry', entry)]).toEqual([200, []])
    expect(entry).toEqual(entries.find(each => each.identifier === identifier))
    expect((await get(identifier, { 'If-None-Match': response.headers.get('ETag') ?? '' })).status).toBe(304)
  })

  it('returns the entry of an agent as an MCP server, unless its owner does not want that', async () => {
    expect(await (await get('urn:air:host.example:mcp:flights')).json()).toEqual({
      identifier: 'urn:air:host.example:mcp:flights',
      displayName: 'Flight booking',
      type: 'application/mcp-server-card+json',
      url: `${origin}/agents/flights/mcp/server-card`,
    })
    await expectError(await get('urn:air:host.example:mcp:hotels'), 404, 'NOT_FOUND')
  })

  it('decodes the identifier once, and refuses what cannot be decoded', async () => {
    for (const segment of ['urn%253Aair%253Ahost.example%253Aagent%253Aflights', 'urn%3Aair%3', '%ff'])
      expect((await host.fetch(`/ard/agents/${segment}`)).status).toBe(400)
  })

  it('returns an error for an entry that is not here, and for what is no identifier', async () => {
    for (const name of ['host.example:agent:none', 'host.example:agent:secret', 'HOST.example:agent:flights'])
      await expectError(await get(`urn:air:${name}`), 404, 'NOT_FOUND')
    await expectError(await get('urn:air:other.example:agent:flights'), 404, 'NOT_FOUND')
    for (const identifier of ['urn:air:host.example', 'urn:isbn:1', 'flights'])
      await expectError(await get(identifier), 400, 'INVALID_ARGUMENT')
  })
})

describe('GET /ard/agents', () => {
  const list = async (query = '') => {
    const response = await host.fetch(`/ard/agents${query}`)
    const found = (await response.json()) as { items: { identifier: string }[]; pageToken?: string }
    expect([response.status, catalogErrors('ARD list', found)]).toEqual([200, []])
    return [found.items.map(({ identifier }) => identifier.split(':').at(-1)), found.pageToken]
  }

  it('lists the whole entries of the public agents, a page at a time', async () => {
    expect(await list()).toEqual([['flights', 'hotels', 'weather'], undefined])
    expect(await list('?pageSize=2')).toEqual([['flights', 'hotels'], 'hotels'])
    expect(await list('?pageSize=2&pageToken=hotels')).toEqual([['weather'], undefined])
  })

  it('rejects other pages and parameters', async () => {
    for (const query of ['pageSize=0', 'pageSize=101', 'pageToken=../', 'filter=a', 'limit=1'])
      await expectError(await host.fetch(`/ard/agents?${query}`), 400, 'INVALID_ARGUMENT')
  })
})
