import { beforeAll, describe, expect, it } from 'vitest'
import { resolveSite } from '../../src/api/site.ts'
import { senderTo } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { token } from '../support/runtime.ts'
import { catalogErrors } from '../support/schemas/catalogs.ts'

const origin = 'https://cards.example.com'
const links = [
  '</.well-known/ai-catalog.json>; rel="ai-catalog"; type="application/ai-catalog+json"',
  '</.well-known/ard.json>; rel="ard"; type="application/json"',
  '</.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json"',
  '</openapi.json>; rel="service-desc"; type="application/json"',
].join(', ')
const paths = [
  '/.well-known/ai-catalog.json',
  '/.well-known/ard.json',
  '/.well-known/api-catalog',
  '/llms.txt',
  '/robots.txt',
  '/sitemap.xml',
] as const

type Entry = { identifier: string; url: string; type: string; description?: string; [name: string]: unknown }
type Manifest = { host: unknown; entries: Entry[] }

const weatherSkills = [
  {
    ...{ id: 'forecast', name: 'Forecast', description: 'Forecasts', tags: ['weather', 'x'.repeat(101)] },
    examples: ['Will it rain in Bern?', 'q'.repeat(300), 'y'.repeat(301)],
  },
  { id: 'history', name: 'History', description: 'Past weather', tags: ['weather', 'archive'] },
]

/** A host with the agents `a`, `b` and `weather`, which claims weather.example.com, and the internal agent `secret`. */
const startCatalogHost = async (options: Parameters<typeof startNodeHost>[0]): Promise<NodeHost> => {
  const host = await startNodeHost(options)
  const card = { ...minimalCard, documentationUrl: 'https://docs.example.com/a' }
  const manifests = [
    ['a', { card: { ...card, name: 'Agent [A]\u202e', description: `One\n\n# ${'long '.repeat(300)}` } }],
    ['b', { card: { ...minimalCard, name: 'Agent B', skills: weatherSkills }, hosts: ['*'], mcp: 'off' }],
    ['secret', { card: { ...minimalCard, name: 'Secret' }, visibility: 'internal' }],
    [
      'weather',
      { card: { ...minimalCard, name: 'Weather', description: 'w'.repeat(1000) }, hosts: ['weather.example.com'] },
    ],
  ] as const
  for (const [id, manifest] of manifests)
    await host.put(id, { ...manifest, hosts: [...('hosts' in manifest ? manifest.hosts : [])] })
  return host
}

let host: NodeHost
beforeAll(async () => {
  host = await startCatalogHost({ vars: { PUBLIC_URL: origin } })
})

const get = (path: string, headers: Record<string, string> = {}) => senderTo(host)(path, { method: 'GET', headers })
const getManifest = async (path: string, at = host) => {
  const manifest = (await (await at.fetch(path)).json()) as Manifest
  expect(catalogErrors(path.includes('ard.json') ? 'ARD manifest' : 'AI Catalog', manifest)).toEqual([])
  return manifest
}
const idsOf = ({ entries }: Manifest, type: string) =>
  entries.flatMap(entry => (entry.type === type && /\/agents\/([^/]+)/.exec(entry.url)?.[1]) || [])
const cardIds = (manifest: Manifest) => idsOf(manifest, 'application/a2a-agent-card+json')
const mcpIds = (manifest: Manifest) => idsOf(manifest, 'application/mcp-server-card+json')

describe('each catalog', () => {
  it('is cacheable, with a tag by which a write purges it, leads to the catalogs, and ignores slashes at its end', async () => {
    for (const path of paths) {
      const { status, headers, text } = await get(path)
      expect(Object.fromEntries(headers), path).toMatchObject({
        ...{ 'cache-control': 'public, max-age=60, stale-while-revalidate=86400', 'cache-tag': 'agents', link: links },
        etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
      })
      expect([status, (await get(`${path}//`)).text], path).toEqual([200, text])
      const again = await get(path, { 'If-None-Match': headers.get('etag') ?? '' })
      expect([again.status, again.text, again.headers.get('content-type')], path).toEqual([304, '', null])
    }
    for (const path of ['/', '/agents']) expect((await get(path)).headers.get('link')).toContain(links)
  })

  it('never has an internal agent, whatever the token, and is private to a caller with one', async () => {
    for (const path of paths) {
      const { headers, text } = await get(path, { Authorization: `Bearer ${token}` })
      expect(headers.get('Cache-Control')).toBe('private, no-store')
      expect(text).not.toMatch(/secret/i)
    }
  })

  it('rejects pages that it does not have, and unknown parameters', async () => {
    for (const path of paths) {
      // A sitemap has pages of its own kind.
      const [badLimit, badCursor] =
        path === '/sitemap.xml' ? ['unknown-query', 'unknown-query'] : ['bad-limit', 'bad-cursor']
      for (const [query, code] of [
        ['limit=501', badLimit],
        ['cursor=..%2F', badCursor],
        ['owner=secret', 'unknown-query'],
      ])
        expect(await get(`${path}?${query}`), path).toMatchObject({ status: 400, body: { code } })
    }
  })
})

describe('GET /.well-known/ai-catalog.json', () => {
  const path = '/.well-known/ai-catalog.json'

  it('is an AI Catalog of the public agents, in the form of its schema', async () => {
    const response = await host.fetch(path)
    expect(response.headers.get('Content-Type')).toBe('application/ai-catalog+json')
    const catalog = (await response.json()) as Manifest
    expect(catalogErrors('AI Catalog', catalog)).toEqual([])
    expect(cardIds(catalog)).toEqual(['a', 'b', 'weather'])
    expect(catalog.host).toEqual({ displayName: 'cards.example.com', identifier: 'cards.example.com' })
    expect(catalog.entries[1]).toEqual({
      identifier: 'urn:air:cards.example.com:agent:b',
      displayName: 'Agent B',
      type: 'application/a2a-agent-card+json',
      url: `${origin}/agents/b/.well-known/agent-card.json`,
      description: 'Does something useful',
      version: '1.0.0',
      updatedAt: expect.any(String),
      tags: ['weather', 'archive'],
    })
    expect(catalog.entries[0]?.description).toMatch(/^One\n\n# (long )+long…$/)
    expect(catalog.entries[0]?.description?.length).toBeLessThanOrEqual(1000)
    expect(catalog.entries[2]?.description).toBe('w'.repeat(1000))
    expect(catalog.entries[4]).toEqual({
      identifier: 'urn:air:cards.example.com:mcp:weather',
      displayName: 'Weather',
      type: 'application/mcp-server-card+json',
      url: `${origin}/agents/weather/mcp/server-card`,
    })
    expect(catalog.entries.at(-1)).toEqual({
      identifier: 'urn:air:cards.example.com:mcp:calling_card',
      displayName: 'Agents of cards.example.com',
      type: 'application/mcp-server-card+json',
      url: `${origin}/mcp/server-card`,
    })
  })

  it('has pages, each with an entry and a link for the next', async () => {
    const first = await host.fetch(`${path}?limit=2`)
    const page = (await first.clone().json()) as Manifest
    const next = page.entries.at(-1)
    expect(catalogErrors('AI Catalog', page)).toEqual([])
    expect([cardIds(page), mcpIds(page)]).toEqual([['a', 'b'], ['a']])
    expect(next).toMatchObject({ type: 'application/ai-catalog+json', url: `${origin}${path}?limit=2&cursor=b` })
    expect(first.headers.get('Link')).toBe(`${links}, <${path}?limit=2&cursor=b>; rel="next"`)
    const last = await host.fetch(next?.url ?? '')
    expect([cardIds((await last.clone().json()) as Manifest), last.headers.get('Link')]).toEqual([['weather'], links])
  })
})

it('GET /.well-known/ard.json is an ARD manifest of the public agents and of the search', async () => {
  const path = '/.well-known/ard.json'
  const response = await host.fetch(path)
  expect(response.headers.get('Content-Type')).toBe('application/json')
  const manifest = (await response.json()) as Manifest
  expect(catalogErrors('ARD manifest', manifest)).toEqual([])
  expect(cardIds(manifest)).toEqual(['a', 'b', 'weather'])
  expect(mcpIds(manifest)).toEqual(['a', 'weather'])
  expect(manifest.entries.at(-2)).toMatchObject({ type: 'application/ai-registry+json', url: `${origin}/ard/` })
  // ARD indexes an agent by its skills, and its examples if there are two.
  const { entries } = manifest
  expect(entries[0]).not.toHaveProperty('representativeQueries')
  expect(entries[1]).toMatchObject({
    capabilities: ['forecast', 'history'],
    representativeQueries: ['Will it rain in Bern?', 'q'.repeat(300)],
  })
})

describe('GET /.well-known/api-catalog', () => {
  const path = '/.well-known/api-catalog'
  const getLinkSet = async (query = '') => {
    const { headers, body: linkSet } = await get(`${path}${query}`)
    const profile = 'https://www.rfc-editor.org/info/rfc9727'
    expect(headers.get('content-type')).toBe(`application/linkset+json; profile="${profile}"`)
    expect(catalogErrors('link set', linkSet)).toEqual([])
    return (linkSet as { linkset: Record<string, unknown>[] }).linkset
  }

  it('links each address of an agent to the cards and the documentation of its agents', async () => {
    const endpoint = 'https://my-agent.example.com'
    const card = (id: string, title: string) => ({
      href: `${origin}/agents/${id}/.well-known/agent-card.json`,
      type: 'application/json',
      title,
    })
    expect(await getLinkSet()).toEqual([
      { anchor: `${origin}${path}`, item: [{ href: `${origin}/` }, { href: endpoint }] },
      {
        anchor: `${origin}/`,
        'service-desc': [{ href: `${origin}/openapi.json`, type: 'application/json', title: 'OpenAPI' }],
        status: [{ href: `${origin}/health`, type: 'application/json' }],
      },
      {
        anchor: endpoint,
        'service-desc': [card('a', 'Agent [A]\u202e'), card('b', 'Agent B'), card('weather', 'Weather')],
        'service-doc': [{ href: 'https://docs.example.com/a' }],
      },
    ])
  })

  it('links to the next page as another catalog', async () => {
    expect((await getLinkSet('?limit=1'))[0]).toMatchObject({
      'api-catalog': [{ href: `${origin}${path}?limit=1&cursor=a` }],
    })
    // Agent B has no documentation.
    expect((await getLinkSet('?limit=1&cursor=a')).at(-1)).not.toHaveProperty('service-doc')
  })
})

describe('GET /llms.txt', () => {
  it('is Markdown with a line for each agent, in which no text of a card is a link or a heading', async () => {
    const response = await host.fetch('/llms.txt')
    expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    const lines = (await response.text()).split('\n')
    expect(lines.slice(0, 7)).toEqual([
      '# Agents of cards.example.com',
      '',
      '> A2A agents and what they do. Each link is the Agent Card of an agent: its skills, its address, and how to call it.',
      '',
      `MCP clients find and call all of these agents at ${origin}/mcp, and each of them at /agents/{id}/mcp.`,
      '',
      '## Agents',
    ])
    expect(lines[8]).toMatch(
      /^- \[Agent \\\[A\\\]\]\(https:\/\/cards\.example\.com\/agents\/a\/\.well-known\/agent-card\.json\): One # (long )+long…$/,
    )
    expect(lines[9]).toBe(`- [Agent B](${origin}/agents/b/.well-known/agent-card.json): Does something useful`)
    expect(lines).toContain(`- [AI Catalog](${origin}/.well-known/ai-catalog.json): the same agents for programs`)
  })

  it('links to its next page', async () => {
    expect(await (await host.fetch('/llms.txt?limit=1')).text()).toContain(
      `\n- [More agents](${origin}/llms.txt?limit=1&cursor=a): the next page of this list\n`,
    )
  })
})

it('GET /robots.txt lets crawlers read everything, names the ARD manifest, and has no pages', async () => {
  const response = await host.fetch('/robots.txt?limit=1')
  expect(response.headers.get('Link')).toBe(links)
  expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
  expect(await response.text()).toBe(
    `User-agent: *\nAllow: /\n\nAgentmap: ${origin}/.well-known/ard.json\nSitemap: ${origin}/sitemap.xml\n`,
  )
})

it('the catalogs of a host name list the agent that claims the name, and nothing else', async () => {
  const path = '/.well-known/ai-catalog.json'
  const catalog = await getManifest(`https://weather.example.com${path}`)
  expect(catalog.entries.map(({ url }) => url)).toEqual([
    `${origin}/agents/weather/.well-known/agent-card.json`,
    `${origin}/agents/weather/mcp/server-card`,
  ])
  expect(await (await host.fetch('https://weather.example.com/llms.txt')).text()).not.toContain('MCP')
  expect(catalog.host).toMatchObject({ identifier: 'weather.example.com' })
})

describe('the origin of the links of a catalog', () => {
  const siteOf = (url: string, PUBLIC_URL: string, owners: Record<string, string> = {}) => {
    const getWithMetadata = async (key: string) => ({ value: owners[key] ?? null, metadata: null })
    const env = { PUBLIC_URL, CARDS: { getWithMetadata } } as unknown as Env
    const ctx = { waitUntil: () => undefined } as unknown as ExecutionContext
    return resolveSite({ request: new Request(url), env, ctx })
  }

  it('is that of PUBLIC_URL, else of the request', async () => {
    const unclaimed = 'https://any.example/llms.txt'
    expect(await siteOf(unclaimed, 'https://cards.example.com/')).toEqual({ origin, isOwn: true })
    expect(await siteOf(unclaimed, 'cards.example.com')).toEqual({ origin: 'https://any.example', isOwn: false })
    expect(await siteOf(unclaimed, '')).toEqual({ origin: 'https://any.example', isOwn: false })
  })

  it('is https at a name that an agent claims, but for one of this machine', async () => {
    const owners = { 'host:claimed-1.example': 'a', 'host:claimed-2.localhost': 'a' }
    const claimed = { isOwn: true, owner: 'a' }
    expect(await siteOf('http://claimed-1.example:8080/llms.txt', '', owners)).toEqual({
      ...{ origin: 'https://claimed-1.example', ...claimed },
    })
    expect(await siteOf('http://claimed-2.localhost:8787/llms.txt', '', owners)).toEqual({
      ...{ origin: 'http://claimed-2.localhost:8787', ...claimed },
    })
  })
})

describe('a host without PUBLIC_URL', () => {
  const local = 'http://127.0.0.1:8787'
  let own: NodeHost
  beforeAll(async () => {
    own = await startCatalogHost({ origin: local })
  })
  const path = '/.well-known/ai-catalog.json'

  it('names agents of a development machine as ARD proposes, and links to the origin they are registered with', async () => {
    const catalog = await getManifest(path, own)
    expect(catalogErrors('ARD manifest', catalog)).toEqual([])
    expect(catalog.entries.map(({ identifier }) => identifier)).toEqual([
      'urn:air:agent.localhost:agent:a',
      'urn:air:agent.localhost:agent:b',
      'urn:air:weather.example.com:agent:weather',
      'urn:air:agent.localhost:mcp:a',
      'urn:air:weather.example.com:mcp:weather',
      'urn:air:agent.localhost:registry:search',
      'urn:air:agent.localhost:mcp:calling_card',
    ])
    expect((await getManifest(`${path}?limit=1`, own)).entries.at(-1)?.url).toBe(`${local}${path}?limit=1&cursor=a`)
  })

  it('never builds a link from a host name that is not its own', async () => {
    for (const each of paths) {
      const response = await own.fetch(`https://unknown.example${each}?limit=1`)
      expect(`${response.headers.get('Link')} ${await response.text()}`).not.toContain('unknown.example')
    }
  })
})
