import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { renderSitemap } from '../../src/api/catalogs/catalog-documents.ts'
import { remove } from '../../src/registry/store/registrations.ts'
import { selectSitemap } from '../../src/registry/tables/agent-table.ts'
import { createTables } from '../../src/registry/tables/create.ts'
import { appendRevision } from '../../src/registry/tables/revision-table.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { registration } from '../support/registrations.ts'
import { openSql } from '../support/storage.ts'

const origin = 'https://cards.example.com'

const read = async (host: NodeHost, path = '/sitemap.xml') => {
  const response = await host.fetch(path)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const locations = ({ text }: { text: string }): string[] =>
  [...text.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, location = '']) => location)

/** Starts a host with a public agent, one of a host name of its own, and an internal one. */
const startHostWithAgents = async (vars: Record<string, string>): Promise<NodeHost> => {
  const host = await startNodeHost({ vars, origin: 'https://host.example' })
  await host.put('map-a', { card: minimalCard, hosts: ['*'] })
  await host.put('map-weather', { card: { ...minimalCard, name: 'Weather' }, hosts: ['weather.example.com'] })
  await host.put('map-secret', { card: { ...minimalCard, name: 'Secret' }, visibility: 'internal' })
  return host
}

describe('GET /sitemap.xml', () => {
  let host: NodeHost
  let plain: NodeHost
  let card: Response
  beforeAll(async () => {
    host = await startHostWithAgents({ PUBLIC_URL: origin })
    // Before the other host registers an agent of the same id: hosts of one process share its memory.
    card = await host.fetch('/agents/map-a/.well-known/agent-card.json')
    plain = await startHostWithAgents({})
  })

  it('has the page of the catalog and those of public agents, with the time of their last change', async () => {
    const { status, headers, text } = await read(host)
    expect([status, headers.get('Content-Type')]).toEqual([200, 'application/xml; charset=utf-8'])
    expect(text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')).toBe(
      `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>${origin}/</loc></url>
<url><loc>${origin}/agents/map-a</loc><lastmod>TIME</lastmod></url>
<url><loc>${origin}/agents/map-weather</loc><lastmod>TIME</lastmod></url>
</urlset>
`,
    )
    const [modified = ''] = /(?<=<lastmod>)[^<]+/.exec(text) ?? []
    expect(new Date(modified).toUTCString()).toBe(card.headers.get('Last-Modified'))
  })

  it('has only pages of its own host name', async () => {
    // Without PUBLIC_URL, an agent belongs to the first host name that it claims.
    expect(locations(await read(plain))).toEqual(['https://host.example/', 'https://host.example/agents/map-a'])
    const own = 'https://weather.example.com'
    expect(locations(await read(plain, `${own}/sitemap.xml`))).toEqual([`${own}/agents/map-weather`])
    // With it, the pages of all agents are at its host.
    expect(locations(await read(host, `${own}/sitemap.xml`))).toEqual([])
  })

  it('has nothing for a host name that a client may have made up', async () => {
    expect(locations(await read(plain, 'https://other.example/sitemap.xml'))).toEqual([])
    expect(await (await plain.fetch('https://other.example/robots.txt')).text()).not.toContain('Sitemap')
  })

  it('has the pages that its index names, and no other parameters', async () => {
    expect((await read(host, '/sitemap.xml?page=1')).status).toBe(200)
    for (const [query, status, code] of [
      ['page=2', 404, 'not-found'],
      ['page=0', 400, 'bad-page'],
      ['page=50001', 400, 'bad-page'],
      ['page=a', 400, 'bad-page'],
      ['limit=1', 400, 'unknown-query'],
      ['origin=https://evil.example', 400, 'unknown-query'],
    ] as const) {
      const response = await read(host, `/sitemap.xml?${query}`)
      expect([query, response.status, JSON.parse(response.text)]).toMatchObject([query, status, { code }])
    }
  })
})

describe('a sitemap of more agents than one document may have', () => {
  let sql: SqlStorage
  beforeEach(() => {
    sql = openSql()
    createTables(sql)
    for (const id of ['a', 'b', 'c', 'd', 'e'])
      appendRevision(sql, registration(id, id.toUpperCase(), { origin }), Date.UTC(2026, 10, 23))
    appendRevision(sql, registration('hidden', 'H', { origin, visibility: 'internal' }), 0)
    appendRevision(sql, registration('never-fetched', undefined, { origin }), 0)
    appendRevision(sql, registration('other', 'O', { origin: 'https://other.example' }), 0)
  })

  /** Renders a page of the sitemap, with two agents in a document. */
  const render = async (query: string, size = 2) => {
    const registry = { sitemap: async (query: Parameters<typeof selectSitemap>[1]) => selectSitemap(sql, query) }
    const env = { REGISTRY: { getByName: () => registry } } as unknown as Env
    const url = new URL(`https://catalog/sitemap.xml?${query}`)
    return { text: await (await renderSitemap(url, env, size)).text() }
  }
  const site = new URLSearchParams({ origin, isOwn: 'true' })

  it('is an index of pages, which together have every agent once', async () => {
    const index = await render(`${site}`)
    expect(index.text).toContain('<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">')
    const pages = locations(index)
    expect(pages).toEqual([1, 2, 3].map(page => `${origin}/sitemap.xml?page=${page}`))
    const found = await Promise.all(pages.map(page => render(`${site}&${new URL(page).searchParams}`)))
    expect(found.flatMap(locations)).toEqual([
      `${origin}/`,
      ...['a', 'b', 'c', 'd', 'e'].map(id => `${origin}/agents/${id}`),
    ])
    await expect(render(`${site}&page=4`)).rejects.toMatchObject({ code: 'not-found' })
  })

  it('is one document as long as it fits', async () => {
    expect((await render(`${site}`, 5)).text).toContain('<urlset')
    expect((await render(`${site}`, 4)).text).toContain('<sitemapindex')
    remove(sql, 'e', {}, 'admin')
    expect((await render(`${site}`, 4)).text).toContain('<urlset')
  })

  it('escapes the name of a host', async () => {
    const ampersand = 'https://a&b.example'
    appendRevision(sql, registration('f', 'F', { origin: ampersand }), 0)
    expect(locations(await render(`${new URLSearchParams({ origin: ampersand })}`))).toEqual([
      'https://a&amp;b.example/',
      'https://a&amp;b.example/agents/f',
    ])
  })
})
