import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bilingualCard, minimalCard } from '../support/cards/cards.ts'
import { type OwnHost, startHost, token } from '../support/host.ts'

let host: OwnHost
beforeAll(async () => {
  host = await startHost()
  await host.put('minimal', minimalCard)
  await host.put('bilingual', { card: bilingualCard, hosts: ['bilingual.example.com'] })
  await host.put('hidden', { card: minimalCard, visibility: 'internal', hosts: ['hidden.example.com'] })
})
afterAll(() => host.close())

const getJson = async (path: string, init?: RequestInit) =>
  (await host.fetch(path, init)).json() as Promise<Record<string, unknown>>

describe.each([
  ['/agents/minimal/.well-known/agent-card.json', 'A2A-Version, Authorization'],
  ['/agents/minimal/.well-known/agent.json', 'A2A-Version, Authorization'],
  // Browsers get a page here.
  ['/agents/minimal', 'A2A-Version, Authorization, Accept'],
])('GET %s', (path, vary) => {
  it('returns a body whose SHA-256 is its strong entity tag, with the headers of a public card', async () => {
    const response = await host.fetch(path)
    const body = Buffer.from(await response.arrayBuffer())
    const { date: _, 'last-modified': modified, link, ...headers } = Object.fromEntries(response.headers)
    expect({ status: response.status, ...headers }).toEqual({
      status: 200,
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'ETag, Last-Modified, A2A-Version, Link, Retry-After, Age, Warning',
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

  it('returns the same bytes every time', async () => {
    expect(await (await host.fetch(path)).text()).toBe(await (await host.fetch(path)).text())
  })

  it.each([
    ['304 for its entity tag', (etag: string) => etag, 304],
    ['304 for a list with its entity tag', (etag: string) => `"other", ${etag}`, 304],
    ['304 for the weak form of its entity tag', (etag: string) => `W/${etag}`, 304],
    ['304 for *', () => '*', 304],
    ['200 for another entity tag', () => '"other"', 200],
  ])('returns %s in If-None-Match', async (_, header, status) => {
    const etag = (await host.fetch(path)).headers.get('etag') ?? ''
    const response = await host.fetch(path, { headers: { 'If-None-Match': header(etag) } })
    expect([response.status, response.headers.get('etag')]).toEqual([status, etag])
    expect(status === 304 ? await response.text() : '').toBe('')
  })

  it.each(['GET', 'HEAD'])('returns 304 for its Last-Modified in If-Modified-Since: %s', async method => {
    const modified = (await host.fetch(path)).headers.get('last-modified') ?? ''
    const get = async (headers: HeadersInit) => (await host.fetch(path, { method, headers })).status
    expect([
      await get({ 'If-Modified-Since': modified }),
      await get({ 'If-Modified-Since': 'Sun, 06 Nov 1994 08:49:37 GMT' }),
      await get({ 'If-Modified-Since': modified, 'If-None-Match': '"other"' }),
    ]).toEqual([304, 200, 200])
  })

  it('responds to HEAD with the headers of GET and no body', async () => {
    const [get, head] = await Promise.all([host.fetch(path), host.fetch(path, { method: 'HEAD' })])
    expect(await head.text()).toBe('')
    expect([head.status, head.headers.get('etag'), head.headers.get('content-type')]).toEqual([
      200,
      get.headers.get('etag'),
      'application/json',
    ])
  })
})

describe('the representation of a card', () => {
  const path = '/agents/bilingual/.well-known/agent-card.json'
  const v1 = 'https://bilingual.example.com/v1'
  const v0 = 'https://bilingual.example.com/v0'
  it.each([
    ['no version and no dialect', '', {}, { interfaces: 2, url: v0, protocolVersion: '0.3.0' }],
    ['A2A-Version: 1.0', '', { 'A2A-Version': '1.0' }, { interfaces: 2, url: undefined, protocolVersion: undefined }],
    [
      'A2A-Version: 1.0.1',
      '',
      { 'A2A-Version': '1.0.1' },
      { interfaces: 2, url: undefined, protocolVersion: undefined },
    ],
    ['A2A-Version: 0.3', '', { 'A2A-Version': '0.3' }, { interfaces: 0, url: v0, protocolVersion: '0.3.0' }],
    ['A2A-Version: 0.3.0', '', { 'A2A-Version': '0.3.0' }, { interfaces: 0, url: v0, protocolVersion: '0.3.0' }],
    ['an unknown version', '', { 'A2A-Version': '9.9' }, { interfaces: 2, url: v0, protocolVersion: '0.3.0' }],
    [
      'a version that is a property of Object.prototype',
      '',
      { 'A2A-Version': 'constructor' },
      { interfaces: 2, url: v0, protocolVersion: '0.3.0' },
    ],
    ['an empty version', '', { 'A2A-Version': '' }, { interfaces: 2, url: v0, protocolVersion: '0.3.0' }],
    ['the version in the query', '?A2A-Version=1.0', {}, { interfaces: 2, url: undefined, protocolVersion: undefined }],
    ['dialect 1.0', '?dialect=1.0', {}, { interfaces: 2, url: undefined, protocolVersion: undefined }],
    ['dialect 0.3', '?dialect=0.3', {}, { interfaces: 0, url: v0, protocolVersion: '0.3.0' }],
    ['dialect gopherhole', '?dialect=gopherhole', {}, { interfaces: 0, url: v1, protocolVersion: '1.0' }],
    [
      'dialect hybrid, which takes precedence over the header',
      '?dialect=hybrid',
      { 'A2A-Version': '1.0' },
      { interfaces: 2, url: v0, protocolVersion: '0.3.0' },
    ],
    ['an unknown query parameter', '?utm=1', {}, { interfaces: 2, url: v0, protocolVersion: '0.3.0' }],
  ])('is the right one for %s', async (_, query, headers, expected) => {
    const card = await getJson(path + query, { headers })
    const { supportedInterfaces, url, protocolVersion } = card
    expect({ interfaces: (supportedInterfaces as unknown[] | undefined)?.length ?? 0, url, protocolVersion }).toEqual(
      expected,
    )
  })

  it('differs between the two well-known paths only in protocolVersion', async () => {
    const [current, legacy] = await Promise.all([getJson(path), getJson('/agents/bilingual/.well-known/agent.json')])
    expect(legacy).toEqual({ ...current, protocolVersion: '1.0' })
  })

  it('is rejected for an unknown dialect, with the list of dialects', async () => {
    const response = await host.fetch(`${path}?dialect=klingon`)
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({
        code: 'unknown-dialect',
        detail: expect.stringContaining('hybrid, 1.0, superx, telex, shaman, 0.3, gopherhole'),
      }),
    ])
  })
})

describe('GET /.well-known/agent-card.json', () => {
  it.each([
    ['the agent of the host name', 'https://bilingual.example.com/.well-known/agent-card.json', 'Bilingual'],
    [
      'the agent of the host name, which ends with a dot',
      'https://bilingual.example.com./.well-known/agent-card.json',
      'Bilingual',
    ],
    [
      'the agent of the host name, at the older path',
      'https://bilingual.example.com/.well-known/agent.json',
      'Bilingual',
    ],
    ['the root agent, for any other host name', 'https://other.example.com/.well-known/agent-card.json', 'My Agent'],
  ])('returns the card of %s', async (_, url, name) => {
    expect(await getJson(url)).toMatchObject({ name })
  })

  it('responds to a preflight request, which a browser may cache for a day', async () => {
    const response = await host.fetch('/.well-known/agent-card.json', {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://app.example.com',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'a2a-version',
      },
    })
    expect([response.status, response.headers.get('access-control-max-age')]).toEqual([204, '86400'])
    expect(response.headers.get('access-control-allow-headers')).toBe(
      'Authorization, Content-Type, A2A-Version, A2A-Extensions, If-None-Match, If-Match, *',
    )
  })
})

describe('the A2A-Version of a response', () => {
  it.each([
    ['?dialect=1.0', '1.0'],
    ['?dialect=0.3', '0.3'],
    ['?dialect=gopherhole', null],
    ['', null],
  ])('with the query "%s" is %s', async (query, version) => {
    expect((await host.fetch(`/agents/bilingual${query}`)).headers.get('a2a-version')).toBe(version)
  })
})

describe('an internal agent', () => {
  const path = '/agents/hidden/.well-known/agent-card.json'
  it('looks like an unknown agent without a token, and is in no list', async () => {
    const [hidden, unknown] = await Promise.all([host.fetch(path), host.fetch('/agents/unknown')])
    expect([hidden.status, unknown.status]).toEqual([404, 404])
    expect(JSON.stringify(await getJson('/agents'))).not.toContain('hidden')
  })

  it('is served with a token, as a private response that no cache stores', async () => {
    const response = await host.fetch(path, { headers: { Authorization: `Bearer ${token}` } })
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
  })

  it('has no card in KV', async () => {
    const stored = (await (await host.env()).CARDS.get('card:hidden')) ?? ''
    expect(stored).toMatch(/^\{"seq":1,.*"parts":\[\[\["profile"\],[^[]*\]\]\}\n/)
  })

  it('looks like an unknown agent at its host name too, and is served there with a token', async () => {
    const url = 'https://hidden.example.com/.well-known/agent-card.json'
    const anonymous = await host.fetch(url)
    expect([anonymous.status, await anonymous.text()]).toEqual([404, expect.not.stringContaining('"hidden"')])
    expect((await host.fetch(url, { headers: { Authorization: `Bearer ${token}` } })).status).toBe(200)
  })
})

describe('a public card requested with credentials', () => {
  it.each([`Bearer ${token}`, 'Bearer wrong', 'Basic eDp5'])(
    'is not stored by shared caches: %s',
    async authorization => {
      const response = await host.fetch('/agents/minimal', { headers: { Authorization: authorization } })
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
    },
  )
})

describe('an unknown path', () => {
  it.each([
    ['/agents/unknown', 'agent-not-found', 'GET /agents lists'],
    ['/agents/MINIMAL', 'agent-not-found', 'Ids are lower case'],
    ['/agents/mini%6dal', 'agent-not-found', 'GET /agents lists'],
    ['/agents/.well-known/agent-card.json', 'agent-not-found', 'ends in a slash'],
    ['/agents/.well-known/agent.json', 'agent-not-found', 'ends in a slash'],
    [`/agents/${'a'.repeat(64)}`, 'agent-not-found', 'GET /agents lists'],
    ['/', 'not-found', '/agents/{id}/.well-known/agent-card.json'],
    ['/.well-known/agents.json', 'not-found', 'GET /agents'],
  ])('gets 404 with a hint: GET %s', async (path, code, detail) => {
    const response = await host.fetch(path)
    expect([response.status, response.headers.get('content-type'), await response.json()]).toEqual([
      404,
      'application/problem+json',
      expect.objectContaining({ status: 404, code, detail: expect.stringContaining(detail) }),
    ])
  })

  it('may end in a slash after an agent id', async () => {
    expect((await host.fetch('/agents/minimal/')).status).toBe(200)
  })
})

describe('a host without agents', () => {
  it('returns 404 with the path of cards', async () => {
    const empty = await startHost()
    const response = await empty.fetch('/.well-known/agent-card.json')
    expect([response.status, await response.json()]).toEqual([
      404,
      expect.objectContaining({
        code: 'no-root-agent',
        detail: expect.stringContaining('/agents/{id}/.well-known/agent-card.json'),
      }),
    ])
    await empty.close()
  })
})

describe('ROOT_AGENT, PUBLIC_URL and the cache settings', () => {
  it('override the defaults', async () => {
    const configured = await startHost({
      ROOT_AGENT: 'second',
      PUBLIC_URL: 'https://cards.example.com/',
      CACHE_MAX_AGE: '5',
      CACHE_STALE_WHILE_REVALIDATE: 'nonsense',
    })
    await configured.put('first', minimalCard)
    const receipt = (await (await configured.put('second', { ...minimalCard, name: 'Second' })).json()) as {
      urls: object
    }
    await configured.fetch('/.well-known/agent-card.json')
    const response = await configured.fetch('/.well-known/agent-card.json')
    expect(await response.json()).toMatchObject({ name: 'Second' })
    expect(response.headers.get('cache-control')).toBe('public, max-age=5, stale-while-revalidate=86400')
    expect(receipt.urls).toEqual({
      card: 'https://cards.example.com/agents/second/.well-known/agent-card.json',
      agent: 'https://cards.example.com/agents/second',
    })
    await configured.close()
  })
})
