import { describe, expect, it } from 'vitest'
import { prefersHtml } from '../../src/http/headers.ts'
import { HttpError } from '../../src/http/http-error.ts'
import { errorPage } from '../../src/pages/layout/page.tsx'
import { nextAddress } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { sharedHost } from '../support/host.ts'

const CHROMIUM = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const host = sharedHost()

const registerNamed = async (name: string): Promise<void> => {
  const card = { name, description: 'Negotiates.', url: 'https://agent.test/', skills: [] }
  expect((await host.put('negotiated', card)).ok).toBe(true)
}

describe('a client', () => {
  it('gets a page if it prefers HTML to JSON', () => {
    for (const [name, accept, expected] of [
      ['that is a browser', CHROMIUM, true],
      ['that accepts anything', '*/*', false],
      ['that accepts JSON', 'application/json', false],
      ['that accepts any application type as gladly', 'text/*, application/*', false],
      ['that prefers HTML', 'application/json;q=0.5, TEXT/HTML', true],
      ['that excludes HTML', 'text/html;q=0, */*', false],
      ['that prefers anything else to HTML', 'text/html;q=0.1, */*;q=0.9', false],
      ['that prefers any application type', 'text/html; q=0.5, application/*', false],
      ['that prefers HTML to text, and text to anything', 'text/html, text/*;q=0.5, */*;q=0.1', true],
      ['that accepts no JSON, and anything else', 'application/json;q=0, */*;q=0.1', true],
      ['that is an old browser, which names HTML and accepts anything', 'text/html, application/xhtml+xml, */*', true],
      ['whose header is not valid', `text/html;q=${'9'.repeat(8000)}`, true],
    ] as const)
      expect(prefersHtml(new Request('https://host.test/', { headers: { Accept: accept } })), name).toBe(expected)
  })
})

describe.each(['/agents', '/agents/negotiated'])('GET %s', path => {
  it('is JSON for another client, and names what it depends on', async () => {
    await registerNamed('Negotiated')
    const { status, headers } = await host.fetch(path)
    expect([status, headers.get('Content-Type')]).toEqual([200, expect.stringContaining('application/json')])
    expect(headers.get('Vary')).toMatch(/\bAccept\b/)
  })

  it('is a page for a browser, under a policy that runs nothing of a card', async () => {
    await registerNamed('<script>alert(1)</script>')
    const response = await host.fetch(path, { headers: { Accept: CHROMIUM } })
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('Vary')).toMatch(/\bAccept\b/)
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff')
    const policy = response.headers.get('Content-Security-Policy')
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*/)
    expect(await response.text()).not.toContain('<script>alert')
  })
})

describe('a browser', () => {
  it('that follows a dead link learns where to go', async () => {
    const response = await host.fetch('/agents/no-such-agent', { headers: { Accept: CHROMIUM } })
    expect(response.status).toBe(404)
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    const text = await response.text()
    expect(text).toContain('href="/agents"')
    // The build leaves out parts of hono/jsx, which has written this page here.
    const { detail } = await (await host.fetch('/agents/no-such-agent')).json<{ detail: string }>()
    const page = await errorPage(new HttpError('agent-not-found', detail), new Request(host.url))
    expect(text.replace(/-[\w-]{8}(?=\.css")/, '')).toBe(await page.text())
  })
})

describe('the limit of pages and pictures', () => {
  const rows: [path: string, accept: string, counted: number][] = [
    ['/', CHROMIUM, 1],
    ['/agents', CHROMIUM, 1],
    ['/agents/counted', CHROMIUM, 1],
    ['/lint', '*/*', 1],
    ['/manage', '*/*', 1],
    ['/nothing/here', CHROMIUM, 1],
    ['/agents/counted/card.svg', '*/*', 1],
    ['/agents/counted/badge.svg', '*/*', 1],
    ['/', '*/*', 0],
    ['/agents', 'application/json', 0],
    ['/agents/counted/.well-known/agent-card.json', CHROMIUM, 0],
    ['/nothing/here', '*/*', 0],
  ]

  it('counts each page and each picture once for its client address, and no document', async () => {
    const limited = sharedHost('limited')
    await limited.put('counted', { card: minimalCard })
    for (const [path, Accept, counted] of rows) {
      const headers = { Accept, 'CF-Connecting-IP': nextAddress() }
      // One more than the limit.
      const responses = await Promise.all(Array.from({ length: 6 }, () => limited.fetch(path, { headers })))
      const rejected = responses.filter(({ status }) => status === 429)
      const isPicture = path.endsWith('.svg')
      const type = isPicture ? 'application/problem+json' : 'text/html; charset=utf-8'
      const found = rejected.map(each =>
        ['Retry-After', 'Cache-Control', 'Content-Type'].map(name => each.headers.get(name)),
      )
      expect(found, `${path} ${Accept}`).toEqual(Array(counted).fill(['60', 'no-store', type]))
      const text = isPicture ? '"code":"too-many-requests"' : '<h1>Too many requests</h1>'
      for (const each of rejected) expect(await each.text()).toContain(text)
    }
  })
})
