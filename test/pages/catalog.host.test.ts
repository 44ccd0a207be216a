import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nextAddress } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { type OwnHost, sharedHost, startHost } from '../support/host.ts'

let host: OwnHost
beforeAll(async () => {
  host = await startHost()
  const cards = Array.from({ length: 30 }, (_, index) => ({
    ...minimalCard,
    name: `Painter ${index}`,
    description: 'Paints pictures.',
    capabilities: { streaming: index % 2 === 0 },
    skills: [{ id: 'paint', name: 'Paint', description: 'Paints.', tags: [index === 7 ? 'oil & canvas' : 'ink'] }],
  }))
  for (const [index, card] of cards.entries()) expect((await host.put(`painter-${index}`, card)).status).toBe(201)
  const secret = { card: { ...minimalCard, name: 'Painter in secret' }, visibility: 'internal' }
  expect((await host.put('secret', secret)).status).toBe(201)
})
afterAll(() => host.close())

const get = (path: string): Promise<Response> => host.fetch(path, { headers: { Accept: 'text/html' } })
const getText = async (path: string): Promise<string> => (await get(path)).text()
const idsIn = (page: string): string[] =>
  [...page.matchAll(/<a href="\/agents\/([a-z0-9-]+)"/g)].map(([, id = '']) => id)
const nextIn = (page: string): string | undefined =>
  /rel="next" href="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&')

describe('the catalog page', () => {
  it.each(['/', '/agents'])('at %s has the public agents, and never the internal ones', async path => {
    const page = await getText(path)
    expect(idsIn(page)).toHaveLength(24)
    expect(page).not.toContain('secret')
  })

  it('leads to every agent, page by page', async () => {
    const ids = new Set<string>()
    for (let path: string | undefined = '/agents'; path !== undefined; ) {
      const page = await getText(path)
      for (const id of idsIn(page)) ids.add(id)
      path = nextIn(page)
    }
    expect(ids.size).toBe(30)
  })

  it('keeps search and filters on the next page', async () => {
    const next = nextIn(await getText('/agents?q=paints&tag=ink'))
    expect(next).toMatch(/^\/agents\?q=paints&tag=ink&cursor=/)
    const second = await getText(next ?? '')
    expect(idsIn(second)).toHaveLength(29 - 24)
    expect(second).toContain('href="/agents?q=paints&amp;tag=ink">First page</a>')
  })

  it('finds agents by words, with the search in the field', async () => {
    const page = await getText('/agents?q=painter+12')
    expect(idsIn(page)[0]).toBe('painter-12')
    expect(page).toContain('value="painter 12"')
  })

  it('filters by what the form sends, and ignores empty fields and parameters of others', async () => {
    const page = await getText('/agents?q=&tag=oil+%26+canvas&utm_source=elsewhere&set=')
    expect(idsIn(page)).toEqual(['painter-7'])
    expect(page).toMatch(/name="tag" value="oil &amp; canvas"\s+checked/)
  })

  it('shows a filter that nobody offers as it was written, whatever JavaScript means by its name', async () => {
    const page = await getText('/agents?capability=constructor&capability=__proto__')
    expect(page).toContain('<span dir="auto">constructor</span>')
    expect(page).toContain('<span dir="auto">__proto__</span>')
  })

  it('shows what each agent declares', async () => {
    const page = await getText('/agents?q=painter+12')
    expect(page).toContain('<li class="badge">Streaming</li>')
    expect(page).toMatch(/<li class="badge">A2A [01]\.\d/)
  })

  it('says that nothing was found, and leads back', async () => {
    const page = await getText('/agents?q=sculptor')
    expect(page).toContain('No agent matches')
    expect(page).toMatch(/<details id="filters"[^>]* hidden>/)
    expect(page).toContain('href="/agents"')
  })

  it.each([
    ['a search of 10 kB', `q=${'x'.repeat(10_000)}`],
    ['a search without a letter', 'q=%00%3C%3E'],
    ['a malformed cursor', 'cursor=%3Cscript%3E'],
    ['too many filters', Array.from({ length: 20 }, (_, index) => `tag=${index}`).join('&')],
  ])('explains what is wrong with %s, and keeps its form', async (_, query) => {
    const response = await get(`/agents?${query}`)
    const page = await response.text()
    expect(response.status).toBe(400)
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    expect(page).toContain('role="alert"')
    expect(page).toContain('<form class="catalog"')
    expect(page).not.toContain('<script>')
  })

  it('explains the rate limit of pages', async () => {
    const headers = { Accept: 'text/html', 'CF-Connecting-IP': nextAddress() }
    const send = () => sharedHost('limited').fetch('/agents?q=painter', { headers })
    // Twice the limit of 5: a minute may end in between.
    const responses = await Promise.all(Array.from({ length: 11 }, send))
    const rejected = responses.find(({ status }) => status === 429)
    expect(rejected?.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(await rejected?.text()).toContain('<h1>Too many requests</h1>')
  })

  it('has an entity tag, and 304 for it', async () => {
    const etag = (await get('/agents')).headers.get('ETag') ?? ''
    const again = await host.fetch('/agents', { headers: { Accept: 'text/html', 'If-None-Match': etag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  it('links the catalogs for machines', async () => {
    const page = await getText('/')
    expect(page).toContain('<link rel="ai-catalog" href="/.well-known/ai-catalog.json"')
    expect(page).toContain('<link rel="service-desc" href="/openapi.json"')
  })
})
