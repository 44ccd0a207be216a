import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { senderTo } from '../support/called-host.ts'
import { bilingualCard, minimalCard } from '../support/cards/cards.ts'
import { sharedHost, token } from '../support/host.ts'

const host = sharedHost()
const send = senderTo(host)
const get = (path: string, headers: Record<string, string> = {}, as?: string) =>
  send(path, { method: 'GET', headers, token: as })
beforeAll(async () => {
  await host.put('card-minimal', minimalCard)
  await host.put('card-bilingual', { card: bilingualCard, hosts: ['bilingual.cards-test.example'] })
  await host.put('card-hidden', { card: minimalCard, visibility: 'internal', hosts: ['hidden.cards-test.example'] })
})

describe.each([
  ['/agents/card-minimal/.well-known/agent-card.json', 'A2A-Version, Authorization'],
  ['/agents/card-minimal/.well-known/agent.json', 'A2A-Version, Authorization'],
  // Browsers get a page here.
  ['/agents/card-minimal', 'A2A-Version, Authorization, Accept'],
])('GET %s', (path, vary) => {
  it('returns a body whose SHA-256 is its strong entity tag, with the headers of a public card', async () => {
    const response = await host.fetch(path)
    const body = Buffer.from(await response.arrayBuffer())
    const { date: _, 'last-modified': modified, link, ...headers } = Object.fromEntries(response.headers)
    expect({ status: response.status, ...headers }).toEqual({
      status: 200,
      'access-control-allow-origin': '*',
      'access-control-expose-headers': '*',
      'cache-control': 'public, max-age=60, stale-while-revalidate=86400',
      'content-length': String(body.byteLength),
      'content-type': 'application/json',
      etag: `"${createHash('sha256').update(body).digest('hex')}"`,
      vary,
      'x-content-type-options': 'nosniff',
    })
    expect(Math.abs(Date.parse(modified ?? '') - Date.now())).toBeLessThan(60_000)
    expect(link).toBe(path.endsWith('agent.json') ? '<./agent-card.json>; rel="canonical"' : undefined)
  })

  it('returns 304 for its entity tag or its Last-Modified, to GET and HEAD', async () => {
    const { headers } = await get(path)
    const etag = headers.get('etag') ?? ''
    const modified = headers.get('last-modified') ?? ''
    for (const method of ['GET', 'HEAD'])
      for (const [conditions, status] of [
        [{ 'If-None-Match': etag }, 304],
        [{ 'If-Modified-Since': modified }, 304],
        [{ 'If-Modified-Since': modified, 'If-None-Match': '"other"' }, 200],
      ] as const) {
        const response = await send(path, { method, headers: { ...conditions } })
        expect([conditions, response.status, response.headers.get('etag')]).toEqual([conditions, status, etag])
        if (status === 304 || method === 'HEAD') expect(response.text).toBe('')
      }
  })
})

describe('the representation of a card', () => {
  const path = '/agents/card-bilingual/.well-known/agent-card.json'
  const hybrid = { interfaces: 2, url: 'https://bilingual.example.com/v0', protocolVersion: '0.3.0' }
  const v1 = { interfaces: 2, url: undefined, protocolVersion: undefined }
  const v0 = { ...hybrid, interfaces: 0 }
  const gopherhole = { interfaces: 0, url: 'https://bilingual.example.com/v1', protocolVersion: '1.0' }

  it('is chosen by the dialect, then by the version, and its version is in the response', async () => {
    const rows: [query: string, version: string | undefined, expected: object, responded: string | null][] = [
      ['', undefined, hybrid, null],
      ['', '1.0', v1, '1.0'],
      ['', '0.3', v0, '0.3'],
      ['', '9.9', hybrid, null],
      // A property of Object.prototype.
      ['', 'constructor', hybrid, null],
      ['?A2A-Version=1.0', undefined, v1, '1.0'],
      ['?dialect=gopherhole', undefined, gopherhole, null],
      ['?dialect=hybrid', '1.0', hybrid, null],
    ]
    for (const [query, version, expected, responded] of rows) {
      const { headers, body } = await get(path + query, { ...(version !== undefined && { 'A2A-Version': version }) })
      const { supportedInterfaces = [], url, protocolVersion } = body as JsonObject & { supportedInterfaces?: object[] }
      const found = { interfaces: supportedInterfaces.length, url, protocolVersion }
      expect([query, version, found, headers.get('a2a-version')]).toEqual([query, version, expected, responded])
    }
  })

  it('is rejected for an unknown dialect, with the list of dialects', async () => {
    const detail = expect.stringContaining('hybrid, 1.0, superx, telex, shaman, 0.3, gopherhole')
    const body = { code: 'unknown-dialect', detail }
    expect(await get(`${path}?dialect=klingon`)).toMatchObject({ status: 400, body })
  })
})

// The runtime needs more room than it fills, at some lengths.
it('a card of any length is served', async () => {
  const description = 'Tells the weather. '.repeat(200)
  for (const count of [1, 2, 4, 8, 12, 16, 32, 64]) {
    const skills = Array.from({ length: count }, (_, index) => ({
      id: `s${index}`,
      name: 'S',
      description,
      tags: ['x'],
    }))
    const { status } = await host.put('card-long', { ...bilingualCard, skills })
    expect([status, (await get('/agents/card-long')).text.length > count * description.length], `${count}`).toEqual([
      ...[count === 1 ? 201 : 200, true],
    ])
  }
})

describe('GET /.well-known/agent-card.json', () => {
  it('returns the card of the agent of the host name', async () => {
    for (const url of [
      'https://bilingual.cards-test.example./.well-known/agent-card.json',
      'https://bilingual.cards-test.example/.well-known/agent.json',
    ])
      expect((await get(url)).body, url).toMatchObject({ name: 'Bilingual' })
  })

  it('responds to a preflight request, which a browser may cache for a day', async () => {
    const { status, headers } = await send('/.well-known/agent-card.json', {
      method: 'OPTIONS',
      headers: { Origin: 'https://app.example.com', 'Access-Control-Request-Method': 'GET' },
    })
    expect([status, headers.get('access-control-max-age'), headers.get('access-control-allow-headers')]).toEqual([
      ...[204, '86400'],
      'Authorization, Content-Type, A2A-Version, A2A-Extensions, If-None-Match, If-Match, *',
    ])
  })
})

describe('an internal agent', () => {
  const paths = [
    '/agents/card-hidden/.well-known/agent-card.json',
    'https://hidden.cards-test.example/.well-known/agent-card.json',
  ]

  it('looks like an unknown agent without a token, and is in no list', async () => {
    for (const path of paths)
      expect(await get(path)).toMatchObject({ status: 404, text: expect.not.stringContaining('"card-hidden"') })
    expect((await get('/agents?cursor=card-a')).text).not.toContain('card-hidden')
  })

  it('is served with a token, as a private response that no cache stores', async () => {
    for (const path of paths) {
      const { status, headers } = await get(path, {}, token)
      expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-store'])
    }
  })
})

it('an unknown path gets 404 with a hint', async () => {
  for (const [path, code, detail] of [
    ['/agents/card-unknown', 'agent-not-found', 'GET /agents lists'],
    ['/agents/CARD-MINIMAL', 'agent-not-found', 'Ids are lower case'],
    ['/agents/.well-known/agent-card.json', 'agent-not-found', 'ends in a slash'],
    ['/', 'not-found', '/agents/{id}/.well-known/agent-card.json'],
    ['/.well-known/agents.json', 'not-found', 'GET /agents'],
  ] as const) {
    const { status, headers, text } = await get(path)
    expect([status, headers.get('content-type'), JSON.parse(text)], path).toEqual([
      ...[404, 'application/problem+json'],
      expect.objectContaining({ status: 404, code, detail: expect.stringContaining(detail) }),
    ])
  }
})
