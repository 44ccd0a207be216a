import { describe, expect, it } from 'vitest'
import { prefersHtml } from '../../src/http/headers.ts'
import { sharedHost } from '../support/host.ts'

const CHROMIUM = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const host = sharedHost()

const registerNamed = async (name: string): Promise<void> => {
  const card = { name, description: 'Negotiates.', url: 'https://agent.test/', skills: [] }
  expect((await host.put('negotiated', card)).ok).toBe(true)
}

describe('a client', () => {
  it.each([
    ['that is a browser', CHROMIUM, true],
    ['that accepts anything', '*/*', false],
    ['that accepts JSON', 'application/json', false],
    ['that accepts JSON as gladly', 'text/html, application/json', false],
    ['that prefers JSON', 'application/json, text/html;q=0.9', false],
    ['that prefers HTML', 'application/json;q=0.5, TEXT/HTML', true],
    ['that excludes HTML', 'text/html;q=0, */*', false],
    ['that accepts any text', 'text/*', false],
    ['whose header is not valid', `text/html;q=${'9'.repeat(8000)}`, true],
  ])('%s', (_, accept, expected) => {
    expect(prefersHtml(new Request('https://host.test/', { headers: { Accept: accept } }))).toBe(expected)
  })

  it('without an Accept header gets no page', () => {
    expect(prefersHtml(new Request('https://host.test/'))).toBe(false)
  })
})

describe.each(['/agents', '/agents/negotiated'])('GET %s', path => {
  it.each([undefined, '*/*', 'application/json'])(
    'is JSON for Accept: %s, and names what it depends on',
    async accept => {
      await registerNamed('Negotiated')
      const response = await host.fetch(path, { headers: accept === undefined ? {} : { Accept: accept } })
      expect(response.status).toBe(200)
      expect(response.headers.get('Content-Type')).toMatch('application/json')
      expect(response.headers.get('Vary')).toMatch(/\bAccept\b/)
    },
  )

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
  it.each(['/nothing/here', '/agents/no-such-agent'])(
    'that follows a dead link to %s learns where to go',
    async path => {
      const response = await host.fetch(path, { headers: { Accept: CHROMIUM } })
      expect(response.status).toBe(404)
      expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('Cache-Control')).toBe('no-store')
      expect(await response.text()).toContain('href="/agents"')
    },
  )
})
