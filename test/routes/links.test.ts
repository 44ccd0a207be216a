import type { IRequest } from 'itty-router'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { agentLink } from '../../src/api/agent-links.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'
import { userAgent } from '../../src/http/headers.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { encodeEnvelope } from '../../src/registry/kv-format.ts'
import { startUpstream, type UpstreamServer } from '../a2a/upstream-server.ts'
import { startHost } from '../host.ts'
import { agentCard, type CalledHost, type Sent, startCalledHost } from './calling.ts'

let called: CalledHost
/** The host by a name that it does not know for its own. */
let front: UpstreamServer
beforeAll(async () => {
  front = await startUpstream()
  called = await startCalledHost({ PUBLIC_URL: 'https://cards.example.com' }, vars =>
    startHost({ ...vars, ALLOWED_ORIGINS: `${vars.ALLOWED_ORIGINS} ${front.origin}` }),
  )
  front.answer(async (response, { url, headers }) => {
    const sent = { redirect: 'manual', headers: { 'User-Agent': `${headers['user-agent']}` } } as const
    response.writeHead((await fetch(new URL(url ?? '', called.host.url), sent)).status).end()
  })
  await register('weather')
  await register('inside', { visibility: 'internal' })
  await register('keyed', { visibility: 'internal' }, key)
})
afterAll(async () => {
  front.close()
  await called.close()
})

/** What the agent's host answers but for its card: a status, headers and a body. */
type Page = [status: number, headers: Record<string, string>, body?: string | Uint8Array]
let page: Page
let card: JsonObject
beforeEach(() => {
  page = [200, { 'Content-Type': 'text/html' }, '<p>Ask for the weather.']
})

const key = {
  securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
  securityRequirements: [{ schemes: { key: { list: [] } } }],
}

/** Registers an agent behind the gateway, whose card names its documentation and its icon on the agent's own host. */
const register = async (id: string, manifest: JsonObject = {}, more: JsonObject = {}): Promise<void> => {
  const { agent } = called
  card = agentCard(agent.origin, { documentationUrl: `${agent.origin}/docs`, iconUrl: `${agent.origin}/icon`, ...more })
  agent.answer((response, { url }) => {
    const isCard = url?.startsWith('/card')
    const [status, headers, body] = isCard ? [200, { 'Content-Type': 'application/json' }, JSON.stringify(card)] : page
    response.writeHead(status, headers).end(body)
  })
  await called.register(id, { ...manifest, route: 'gateway', upstream: { card: `${agent.origin}/card/${id}` } })
}

const get = (path: string, sent: Sent = {}) => called.send(`/agents/${path}`, { method: 'GET', ...sent })
const asked = () => called.agent.asked.filter(({ path }) => !path.startsWith('/card')).length
/** What was asked of the agent's host by what `doing` does. */
const askedBy = async (doing: () => Promise<unknown>): Promise<number> => {
  const before = asked()
  await doing()
  return asked() - before
}
const unreachable = {
  type: 'about:blank',
  title: 'Bad Gateway',
  status: 502,
  code: 'link-unreachable',
  detail: 'The documentation of agent "weather" could not be fetched. Try again later.',
}
const why = (): unknown[] =>
  called.host.logged().flatMap(line => (line.includes('link-unread') ? [JSON.parse(line).why] : []))

describe('GET /agents/{id}/documentation', () => {
  it('shows what the card names on the host of the agent, without its scripts', async () => {
    const { status, headers, text } = await get('weather/documentation')
    expect([status, text, Object.fromEntries(headers)]).toMatchObject([
      200,
      '<p>Ask for the weather.',
      {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'public, max-age=3600',
      },
    ])
  })

  it.each(['text/html; x=127.0.0.1', 'TEXT/PLAIN', 'text/markdown;charset=iso-8859-1'])(
    'says of the type no more than its name: %s',
    async type => {
      page[1] = { 'Content-Type': type }
      const { status, headers } = await get('weather/documentation')
      expect([status, headers.get('Content-Type')]).toEqual([
        200,
        `${type.split(';')[0]?.toLowerCase()}; charset=utf-8`,
      ])
    },
  )

  it.each<[string, Record<string, string>, () => string | Uint8Array, string]>([
    ['the card itself', { 'Content-Type': 'application/json' }, () => JSON.stringify(card), 'type: application/json'],
    ['YAML', { 'Content-Type': 'application/yaml' }, () => 'a: b', 'type: application/yaml'],
    ['a PDF, which cannot be searched', { 'Content-Type': 'application/pdf' }, () => '%PDF', 'type: application/pdf'],
    [
      'a page that names the host of the agent',
      { 'Content-Type': 'text/html' },
      () => `<a href="${called.agent.origin}/docs/more">More</a>`,
      "names the agent's host 127.0.0.1",
    ],
    [
      'a text that names it with references',
      { 'Content-Type': 'text/plain' },
      () => '127&#46;0&#46;0&#46;1',
      "names the agent's host 127.0.0.1",
    ],
    [
      'a page in another encoding, which would read otherwise',
      { 'Content-Type': 'text/html; charset=utf-16' },
      () => new Uint8Array(Buffer.from(`\ufeff${called.agent.origin}`, 'utf16le')),
      'not UTF-8',
    ],
  ])('does not show %s', async (_, headers, body, reason) => {
    page = [200, headers, body()]
    expect((await get('weather/documentation')).body).toEqual(unreachable)
    expect(why().at(-1)).toBe(reason)
  })
})

describe('GET /agents/{id}/icon', () => {
  it('shows a picture as it is', async () => {
    page = [200, { 'Content-Type': 'image/png' }, Buffer.from([0x89, 0x50])]
    const { status, headers } = await get('weather/icon')
    expect([status, headers.get('Content-Type')]).toEqual([200, 'image/png'])
  })

  it('shows no drawing that names the host of the agent', async () => {
    page = [200, { 'Content-Type': 'image/svg+xml' }, `<svg><image href="${called.agent.origin}/i.png"/></svg>`]
    expect((await get('weather/icon')).status).toBe(502)
    page = [200, { 'Content-Type': 'image/svg+xml' }, '<svg/>']
    expect((await get('weather/icon')).headers.get('Content-Type')).toBe('image/svg+xml; charset=utf-8')
  })
})

describe('a link that leads back to this host', () => {
  it('is followed once, by whatever name', async () => {
    page = [302, { Location: `${front.origin}/agents/weather/documentation` }]
    expect(await askedBy(async () => expect((await get('weather/documentation')).body).toEqual(unreachable))).toBe(1)
    expect(why().at(-1)).toBe('status: 508')
  })

  it('is fetched for no host like this one', async () => {
    const headers = { 'User-Agent': 'CallingCard (+https://other.example.com)' }
    const asking = () => get('weather/documentation', { headers })
    expect(await askedBy(async () => expect((await asking()).body).toMatchObject({ status: 508, code: 'loop' }))).toBe(
      0,
    )
  })
})

describe('a link of an internal agent', () => {
  it('is there for who may read the agent, by an API key of the card too', async () => {
    const { token } = await called.issue({ scopes: ['read'], agents: ['inside', 'keyed'] })
    const asking: [string, Sent][] = [
      ['inside', {}],
      ['inside', { token }],
      ['inside', { headers: { 'X-Key': token } }],
      ['keyed', { headers: { 'X-Key': 'none' } }],
      ['keyed', { headers: { 'X-Key': token } }],
    ]
    const answers = await Promise.all(asking.map(([id, sent]) => get(`${id}/documentation`, sent)))
    expect(answers.map(({ status, headers }) => [status, headers.get('Cache-Control')])).toEqual([
      [404, 'no-store'],
      [200, 'private, no-store'],
      [404, 'no-store'],
      [404, 'no-store'],
      [200, 'private, no-store'],
    ])
  })
})

describe('a link', () => {
  const profile: Partial<CallProfile> = {
    visibility: 'public',
    targets: [],
    apiKeyHeaders: [],
    openIdConnectUrls: [],
    links: { documentation: 'https://worker.internal/admin' },
  }
  const envelope = (more: Partial<CallProfile>) =>
    encodeEnvelope({
      seq: 1,
      modified: '',
      representations: {
        profile: { etag: '"1"', bytes: new Uint8Array(Buffer.from(JSON.stringify({ ...profile, ...more }))) },
      },
    }).buffer
  const ask = async (id: string, bindings: object) => {
    const limited = { limit: async () => ({ success: true }) }
    const env = { CALL_LIMIT: limited, PUBLIC_URL: '', ALLOWED_ORIGINS: '', ...bindings } as unknown as Env
    const url = `https://cards.example.com/agents/${id}/documentation`
    const request = Object.assign(new Request(url), { params: { id } }) as unknown as IRequest
    return agentLink('documentation')(request as never, env, { waitUntil: () => undefined } as never)
  }

  it.each(['https://cards.example.com', 'https://public.example.com'])(
    'is not followed to this host itself: %s',
    async origin => {
      const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
      const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.redirect(`${origin}/x`))
      const CARDS = { get: async () => envelope({ links: { documentation: 'https://agent.example.com/docs' } }) }
      await expect(ask('around', { CARDS, PUBLIC_URL: 'https://public.example.com/' })).rejects.toMatchObject({
        code: 'link-unreachable',
      })
      expect(fetched.mock.calls).toMatchObject([
        ['https://agent.example.com/docs', { headers: { 'User-Agent': userAgent('https://public.example.com') } }],
      ])
      expect(logged.mock.calls).toMatchObject([[expect.stringContaining('blocked: this host itself')]])
      vi.restoreAllMocks()
    },
  )

  it('is not fetched through a service binding, where writers of cards could read all', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const ECHO = { fetch: vi.fn() }
    const CARDS = { get: async () => envelope({ service: 'ECHO' }) }
    await expect(ask('bound', { ECHO, CARDS })).rejects.toMatchObject({
      status: 404,
      code: 'not-found',
      message: 'The documentation of agent "bound" is not shown here.',
    })
    expect(ECHO.fetch).not.toHaveBeenCalled()
    vi.restoreAllMocks()
  })

  it('is for later while nobody can tell whether there is such an agent', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const CARDS = { get: () => Promise.reject(new Error('KV is away')) }
    await expect(ask('unknown', { CARDS })).rejects.toMatchObject({
      status: 503,
      code: 'unavailable',
      headers: { 'Retry-After': '10' },
    })
    vi.restoreAllMocks()
  })
})
