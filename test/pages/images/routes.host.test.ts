import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { CARD_STYLE } from '../../../src/pages/images/card-image.ts'
import { bilingualCard, minimalCard } from '../../support/cards/cards.ts'
import { sharedHost, token } from '../../support/host.ts'
import { parseSvg, textsOf } from './svg.ts'

const host = sharedHost()
const bearer = { Authorization: `Bearer ${token}` }
const hostile = '</text><script>alert(1)</script>\u202e&"\''

beforeAll(async () => {
  await host.put('pictured', { card: { ...bilingualCard, name: 'Pictured Agent' } })
  await host.put('pictured-hidden', { card: { ...minimalCard, name: 'Hidden Agent' }, visibility: 'internal' })
  await host.put('pictured-closed', { card: minimalCard, route: 'closed' })
  const { status } = await host.put('pictured-hostile', {
    card: {
      ...bilingualCard,
      name: `${hostile}${'𝕎👨‍👩‍👧‍👦W'.repeat(1000)}`,
      description: `${'\u0007'.repeat(99)}${hostile}`,
      skills: [{ ...bilingualCard.skills[0], name: hostile }],
    },
  })
  expect(status).toBe(201)
})

const sha256 = (data: Uint8Array | string, encoding: 'hex' | 'base64') =>
  createHash('sha256').update(data).digest(encoding)

const pictures = ['card.svg', 'badge.svg'] as const

describe.each(pictures)('GET /agents/{id}/%s', file => {
  const path = `/agents/pictured/${file}`

  it('returns SVG whose SHA-256 is its strong entity tag, cached as a card, that can load and run nothing', async () => {
    const [response, card] = await Promise.all([host.fetch(path), host.fetch('/agents/pictured')])
    const body = Buffer.from(await response.arrayBuffer())
    const { date: _, ...headers } = Object.fromEntries(response.headers)
    expect({ status: response.status, ...headers }).toEqual({
      status: 200,
      'access-control-allow-origin': '*',
      'access-control-expose-headers': card.headers.get('access-control-expose-headers'),
      'cache-control': card.headers.get('cache-control'),
      'content-length': String(body.byteLength),
      'content-security-policy': `default-src 'none'; style-src 'sha256-${sha256(CARD_STYLE, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      'content-type': 'image/svg+xml',
      'cross-origin-resource-policy': 'cross-origin',
      etag: `"${sha256(body, 'hex')}"`,
      vary: 'Authorization',
      'x-content-type-options': 'nosniff',
    })
    expect(parseSvg(body.toString()).at(0)?.attributes.role).toBe('img')
  })

  it('returns the same bytes every time, whatever the dialect, version and query', async () => {
    const texts = await Promise.all(
      ['', '?dialect=0.3', '?dialect=klingon', `?utm=${'a'.repeat(9000)}`].map(async query =>
        (await host.fetch(path + query, { headers: { 'A2A-Version': '0.3', Accept: 'text/html' } })).text(),
      ),
    )
    expect(new Set(texts)).toEqual(new Set([await (await host.fetch(path)).text()]))
  })

  it('returns 304 if If-None-Match has its entity tag', async () => {
    for (const [name, header, status] of [
      ['304 for its entity tag', (etag: string) => etag, 304],
      ['304 for a list with the weak form of its entity tag', (etag: string) => `"other", W/${etag}`, 304],
      ['304 for *', () => '*', 304],
      ['200 for another entity tag', () => '"other"', 200],
    ] as const) {
      const etag = (await host.fetch(path)).headers.get('etag') ?? ''
      const response = await host.fetch(path, { headers: { 'If-None-Match': header(etag) } })
      expect([response.status, response.headers.get('etag')], name).toEqual([status, etag])
      expect(response.headers.get('cache-control')).toMatch(/^public, max-age=60/)
      if (status === 304) expect([await response.text(), response.headers.get('content-type')]).toEqual(['', null])
    }
  })

  it('has another entity tag after a change that it shows', async () => {
    const id = `pictured-changed-${file.slice(0, 4)}`
    const getTag = async () => (await host.fetch(`/agents/${id}/${file}`)).headers.get('etag')
    await host.put(id, { card: { ...bilingualCard, name: 'Before' } })
    const before = await getTag()
    const supportedInterfaces = bilingualCard.supportedInterfaces.slice(0, 1)
    await host.put(id, { card: { ...bilingualCard, name: 'After', supportedInterfaces } })
    expect(await getTag()).not.toBe(before)
  })

  it('responds to HEAD with the headers of GET and no body', async () => {
    const [get, head] = await Promise.all([host.fetch(path), host.fetch(path, { method: 'HEAD' })])
    const names = ['etag', 'content-type', 'content-security-policy', 'cache-control']
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(names.map(name => head.headers.get(name))).toEqual(names.map(name => get.headers.get(name)))
  })

  it('is no method but GET', async () => {
    const response = await host.fetch(path, { method: 'POST' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })

  it('returns the same 404 for an internal agent as for an unknown one', async () => {
    const get = async (id: string, headers = {}) => {
      const response = await host.fetch(`/agents/${id}/${file}`, { headers })
      const { date: _, ...fields } = Object.fromEntries(response.headers)
      return [response.status, JSON.stringify(fields), (await response.text()).replaceAll(id, 'ID')]
    }
    const [hidden, unknown] = [await get('pictured-hidden'), await get('pictured-absent')]
    expect(hidden).toEqual(unknown)
    expect([hidden[0], hidden[2]]).toEqual([404, expect.stringContaining('agent-not-found')])
    expect(await get('pictured-hidden', { Authorization: 'Bearer wrong' })).toEqual(
      await get('pictured-absent', { Authorization: 'Bearer wrong' }),
    )
  })

  it('returns 404 for what is no id', async () => {
    for (const id of ['.well-known', 'Pictured', 'a'.repeat(64), '%00', '%3Cscript%3E']) {
      const response = await host.fetch(`/agents/${id}/${file}`)
      expect([response.status, response.headers.get('content-type')], id).toEqual([404, 'application/problem+json'])
    }
  })

  it('returns that of an internal agent to a caller that may read it, for no cache', async () => {
    const response = await host.fetch(`/agents/pictured-hidden/${file}`, { headers: bearer })
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
    expect(parseSvg(await response.text())[0]?.name).toBe('svg')
  })

  it('is well-formed and harmless for a hostile card', async () => {
    const response = await host.fetch(`/agents/pictured-hostile/${file}`)
    const text = await response.text()
    expect(parseSvg(text).map(({ name }) => name)).not.toContain('script')
    expect(text).not.toContain('\u202e')
    expect(text.length).toBeLessThan(20_000)
  })

  it('exists for an agent that cannot be called', async () => {
    expect((await host.fetch(`/agents/pictured-closed/${file}`)).status).toBe(200)
  })
})

describe('the business card', () => {
  const describeCard = async (response: Response) => textsOf('desc', parseSvg(await response.text()))[0]

  it('leads to the page of the agent at the host name of the request', async () => {
    expect(await describeCard(await host.fetch('https://pictures.example/agents/pictured/card.svg'))).toMatch(
      /QR code: https?:\/\/pictures\.example\/agents\/pictured$/,
    )
  })

  it('leads to PUBLIC_URL where that is set', async () => {
    const configured = sharedHost('public')
    await configured.put('pictured', minimalCard)
    expect(await describeCard(await configured.fetch('/agents/pictured/card.svg'))).toMatch(
      /QR code: https:\/\/cards\.example\.com\/agents\/pictured$/,
    )
  })

  it('shows the extended card to a caller that may read it only', async () => {
    await host.put('pictured-tiers', { card: { ...bilingualCard, name: 'Public' }, extended: { name: 'Extended' } })
    const nameFor = async (headers: Record<string, string>) =>
      textsOf('title', parseSvg(await (await host.fetch('/agents/pictured-tiers/card.svg', { headers })).text()))
    expect([await nameFor({}), await nameFor(bearer)]).toEqual([['Public'], ['Extended']])
  })
})

describe('the badge', () => {
  it('shows the versions of A2A that the card declares', async () => {
    const getVersions = async (id: string) =>
      textsOf('text', parseSvg(await (await host.fetch(`/agents/${id}/badge.svg`)).text()))[1]
    expect([await getVersions('pictured'), await getVersions('pictured-hostile')]).toEqual(['1.0, 0.3', '1.0, 0.3'])
  })
})
