import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { completeCards } from '../support/cards/complete.ts'
import { emptyHost, sharedHost } from '../support/host.ts'

const host = sharedHost('examples')
beforeAll(async () => {
  const cards = Array.from({ length: 30 }, (_, index) => ({
    ...minimalCard,
    name: `Fresco ${index}`,
    description: 'Paints walls.',
    capabilities: { streaming: index % 2 === 0 },
    skills: [{ id: 'paint', name: 'Paint', description: 'P.', tags: ['fresco', index === 7 ? 'oil & canvas' : 'ink'] }],
  }))
  for (const [index, card] of cards.entries()) expect((await host.put(`fresco-${index}`, card)).status).toBe(201)
  const secret = { card: { ...minimalCard, name: 'Fresco in secret' }, visibility: 'internal' }
  expect((await host.put('fresco-secret', secret)).status).toBe(201)
})

const get = (path: string) => host.fetch(path, { headers: { Accept: 'text/html' } })
const getText = async (path: string): Promise<string> => (await get(path)).text()
const idsIn = (page: string): string[] =>
  [...page.matchAll(/<a href="\/agents\/([a-z0-9-]+)"/g)].map(([, id = '']) => id)
const nextIn = (page: string): string | undefined =>
  /rel="next" href="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&')

describe('the catalog page', () => {
  it('has the public agents, page by page, never the internal ones, and links the catalogs for machines', async () => {
    const page = await getText('/')
    expect(idsIn(page)).toHaveLength(24)
    expect(page).toContain('<link rel="ai-catalog" href="/.well-known/ai-catalog.json"')
    expect(page).toContain('<link rel="service-desc" href="/openapi.json"')
    const ids: string[] = []
    for (let path: string | undefined = '/agents'; path !== undefined; ) {
      const page = await getText(path)
      expect(page).not.toContain('fresco-secret')
      ids.push(...idsIn(page).filter(id => id.startsWith('fresco-')))
      path = nextIn(page)
    }
    expect([ids.length, new Set(ids).size]).toEqual([30, 30])
  })

  it('marks an agent that is not signed where others are, and nothing where none is', async () => {
    await host.put('sealed-one', { card: { ...(completeCards['1.0'] as JsonObject), name: 'Sealed with wax' } })
    await host.put('sealed-two', { ...minimalCard, name: 'Sealed with words' })
    const unsigned = (page: string) => page.match(/<li class="badge">Not signed<\/li>/g)?.length
    expect(unsigned(await getText('/agents?q=sealed'))).toBe(1)
    expect(unsigned(await getText('/agents?q=fresco'))).toBeUndefined()
  })

  it('shows how to add the first agent', async () => {
    const empty = await emptyHost()
    const page = await (await empty.fetch('/', { headers: { Accept: 'text/html' } })).text()
    for (const way of ['<a href="/manage">register an agent</a>', 'npx sync-card init</code>'])
      expect(page).toContain(way)
  })

  it('weighs at most 20 KiB with its style sheet', async () => {
    const page = await getText('/agents?q=fresco')
    const [, style = ''] = /rel="stylesheet" href="([^"]+)"/.exec(page) ?? []
    const sizes = [page, await getText(style)].map(text => gzipSync(text).byteLength)
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(20 * 1024)
  })

  it('says what it is for, in which order the results are, and which agents run elsewhere', async () => {
    const all = await getText('/agents?tag=fresco')
    expect(all).toContain('<a href="/manage">register an agent</a>')
    expect(all).toContain('24 or more agents found, in the order of their registration')
    expect(all).toContain(`Runs at <bdi>${new URL(minimalCard.url).host}</bdi>`)
    expect(await getText('/agents?q=fresco')).toContain('24 or more agents found, best match first')
  })

  it('keeps search and filters on the next page', async () => {
    const next = nextIn(await getText('/agents?q=walls&tag=ink'))
    expect(next).toMatch(/^\/agents\?q=walls&tag=ink&cursor=/)
    const second = await getText(next ?? '')
    expect(idsIn(second)).toHaveLength(29 - 24)
    expect(second).toContain('href="/agents?q=walls&amp;tag=ink">First page</a>')
  })

  it('finds agents by words, with the search in the field, and shows what each declares', async () => {
    const page = await getText('/agents?q=fresco+12')
    expect(idsIn(page)[0]).toBe('fresco-12')
    expect(page).toContain('value="fresco 12"')
    expect(page).toContain('<li class="badge">Streaming</li>')
    expect(page).toMatch(/<li class="badge">A2A [01]\.\d/)
    expect(page).toMatch(/<a href="\/agents\?tag=fresco"[^>]*>fresco<\/a>/)
  })

  it('finds agents by a question, whose other words it passes over, unless there are no others', async () => {
    expect(idsIn(await getText('/agents?q=an+agent+that+paints+the+walls'))).toHaveLength(24)
    expect(await getText('/agents?q=agent')).toContain('value="agent"')
  })

  it('filters by what the form sends, and ignores empty fields and parameters of others', async () => {
    const page = await getText('/agents?q=&tag=oil+%26+canvas&utm_source=elsewhere&set=')
    expect(idsIn(page)).toEqual(['fresco-7'])
    expect(page).toMatch(/name="tag" value="oil &amp; canvas"\s+checked/)
  })

  it('shows a filter that nobody offers as it was written, whatever JavaScript means by its name', async () => {
    const page = await getText('/agents?capability=constructor&capability=__proto__')
    expect(page).toContain('<span dir="auto">constructor</span>')
    expect(page).toContain('<span dir="auto">__proto__</span>')
  })

  it('says that nothing was found, and leads back', async () => {
    const page = await getText('/agents?q=sculptor')
    expect(page).toContain('No agent matches')
    expect(page).toMatch(/<details id="filters"[^>]* hidden="">/)
    expect(page).toContain('href="/agents"')
  })

  it('explains what is wrong with a search, and keeps its form', async () => {
    const tooMany = Array.from({ length: 20 }, (_, index) => `tag=${index}`).join('&')
    for (const query of [`q=${'x'.repeat(10_000)}`, 'cursor=%3Cscript%3E', tooMany]) {
      const response = await get(`/agents?${query}`)
      const page = await response.text()
      expect([response.status, response.headers.get('Cache-Control')], query.slice(0, 30)).toEqual([400, 'no-store'])
      expect(page).toContain('role="alert"')
      expect(page).toContain('<form class="catalog"')
      expect(page).not.toContain('<script>')
    }
  })
})

describe('the icon of a host', () => {
  it('is an image that caches keep for a day, and is found by browsers where a document names none', async () => {
    const { status, headers } = await host.fetch('/favicon.svg')
    const values = ['Content-Type', 'Cache-Control', 'X-Content-Type-Options'].map(name => headers.get(name))
    expect([status, ...values]).toEqual([200, 'image/svg+xml', 'public, max-age=86400', 'nosniff'])
    const other = await host.fetch('/favicon.ico')
    expect([other.status, other.headers.get('Location')]).toEqual([302, '/favicon.svg'])
  })
})
