import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { AgentCard } from '../../../src/card/model/agent-card.ts'
import { renderBadge } from '../../../src/pages/images/badge.tsx'
import { CARD_STYLE, renderBusinessCard } from '../../../src/pages/images/card-image.tsx'
import { bilingualCard, minimalCard } from '../../support/cards/cards.ts'
import { sharedHost, token } from '../../support/host.ts'
import { parseSvg, textsOf } from './svg.ts'

const host = sharedHost()
const bearer = { Authorization: `Bearer ${token}` }

beforeAll(async () => {
  await host.put('pictured', { card: { ...bilingualCard, name: 'Pictured Agent' } })
  await host.put('pictured-hidden', { card: { ...minimalCard, name: 'Hidden Agent' }, visibility: 'internal' })
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

  it('returns 304 if If-None-Match has its entity tag', async () => {
    const etag = (await host.fetch(path)).headers.get('etag') ?? ''
    const response = await host.fetch(path, { headers: { 'If-None-Match': etag } })
    expect([response.status, response.headers.get('etag'), await response.text()]).toEqual([304, etag, ''])
    expect(response.headers.get('cache-control')).toMatch(/^public, max-age=60/)
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

  it('returns that of an internal agent to a caller that may read it, for no cache', async () => {
    const response = await host.fetch(`/agents/pictured-hidden/${file}`, { headers: bearer })
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
    expect(parseSvg(await response.text())[0]?.name).toBe('svg')
  })
})

describe('a picture', () => {
  it('is as hono/jsx and qr write it, of which the build leaves out parts', async () => {
    const card = await (await host.fetch('/agents/pictured/.well-known/agent-card.json')).json<AgentCard>()
    const url = new URL('/agents/pictured', host.url).href
    const [image, badge] = [renderBusinessCard({ id: 'pictured', card, url }), renderBadge(card)]
    const texts = pictures.map(async file => (await host.fetch(`/agents/pictured/${file}`)).text())
    expect(await Promise.all(texts)).toEqual([image.toString(), badge.toString()])
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
    const badge = await (await host.fetch('/agents/pictured/badge.svg')).text()
    expect(textsOf('text', parseSvg(badge))[1]).toBe('1.0, 0.3')
  })

  it('ignores parameters that it does not know, as READMEs add some to get past caches', async () => {
    const badge = async (query: string) => (await host.fetch(`/agents/pictured/badge.svg${query}`)).text()
    expect(await badge('?v=2&show=other')).toBe(await badge(''))
  })
})
