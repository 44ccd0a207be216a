import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Source } from '../../src/card/manifest/upstream.ts'
import type { TrustedKeys } from '../../src/card/manifest/upstream-keys.ts'
import type { Validators } from '../../src/registry/records.ts'
import { fetchUpstreamCard } from '../../src/sources/upstream-card.ts'
import { makeKey, signAs } from '../support/cards/signed.ts'
import { envWith, sourceAt } from '../support/registrations.ts'
import { json, reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'
import { invalidCard, unreachable } from './fetch-failures.ts'

let agent: UpstreamServer
let otherServer: UpstreamServer
beforeAll(async () => {
  agent = await startUpstream()
  otherServer = await startUpstream()
})
afterAll(() => {
  agent.close()
  otherServer.close()
})

let logLines: { event: string; 'server.port'?: number; 'calling_card.detail'?: string }[] = []
beforeEach(() => {
  logLines = []
  vi.spyOn(console, 'error').mockImplementation(line => void logLines.push(JSON.parse(line)))
})

const card = { name: 'Weather', description: 'Tells it', skills: [] }
const path = '/.well-known/agent-card.json?key=hidden'

const get = (changes: Partial<Source> = {}, known?: Validators, ownOrigin?: string, bindings = {}) =>
  fetchUpstreamCard(
    sourceAt(agent.origin + path, changes),
    { validators: known, ownOrigins: ownOrigin === undefined ? [] : [ownOrigin] },
    envWith({ ALLOWED_ORIGINS: `${agent.origin} ${otherServer.origin}`, TOKEN: 's3cret', ...bindings }),
  )

describe('fetchUpstreamCard', () => {
  it('returns a card as it is, which may nest 64 levels deep', async () => {
    const deep = `${'['.repeat(63)}${']'.repeat(63)}`
    for (const document of [card, { a: JSON.parse(deep) }]) {
      agent.respond(reply(200, json, JSON.stringify(document)))
      expect(await get()).toEqual({ card: document, validators: {} })
    }
    expect(logLines).toEqual([])
  })

  it('returns members such as `__proto__` as data, which validation rejects later', async () => {
    agent.respond(reply(200, json, '{"__proto__":{"polluted":true},"constructor":1}'))
    const fetched = await get()
    expect('card' in fetched && Object.getOwnPropertyNames(fetched.card)).toEqual(['__proto__', 'constructor'])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('resolves the relative URLs of a card that it was redirected to, whose signatures then do not apply', async () => {
    agent.respond(reply(302, { Location: `${otherServer.origin}/cards/weather.json` }, ''))
    const relative = { ...card, url: '/a2a', signatures: [{ protected: 'e30', signature: 'c2ln' }] }
    otherServer.respond(reply(200, json, JSON.stringify(relative)))
    const url = `${otherServer.origin}/a2a`
    expect(await get()).toEqual({
      card: { ...card, url },
      validators: {},
      notes: [
        { pointer: '/url', message: `relative, resolved against the address of the card: ${url}` },
        { pointer: '/signatures', message: 'left out: they do not cover the card with absolute URLs' },
      ],
    })
  })

  it('requests A2A 1.0 with a User-Agent that names this host', async () => {
    agent.respond(reply(200, json, '{}'))
    await get({}, undefined, 'https://cards.example.com')
    const headers = { accept: 'application/json', 'a2a-version': '1.0' }
    const userAgent = 'CallingCard (+https://cards.example.com)'
    expect(agent.requests).toMatchObject([{ method: 'GET', path, headers: { ...headers, 'user-agent': userAgent } }])
  })

  it('returns a changed card with its new validators', async () => {
    let count = 0
    agent.respond(response => reply(200, { ...json, ETag: `"${++count}"` }, `{"count":${count}}`)(response))
    expect([await get(), await get({}, { etag: '"1"' })]).toEqual([
      { card: { count: 1 }, validators: { etag: '"1"' } },
      { card: { count: 2 }, validators: { etag: '"2"' } },
    ])
  })
})

const author = await makeKey('author')

describe('a card that is verified', () => {
  const keySet = () => `${agent.origin}/keys.json`
  const demand = (keys: TrustedKeys): Partial<Source> => ({ verification: { policy: 'require', keys } })

  it('is verified as it was received, also after a redirect that changes its relative URLs', async () => {
    const signed = await signAs({ ...card, url: '/a2a' }, author)
    agent.respond(reply(302, { Location: `${otherServer.origin}/cards/weather.json` }, ''))
    otherServer.respond(reply(200, json, JSON.stringify(signed)))
    expect(await get(demand([author.publicJwk]))).toMatchObject({
      card: { url: `${otherServer.origin}/a2a` },
      verification: { verified: true, rule: 'wire' },
    })
  })

  it('is fetched in full each time, and its keys without credentials', async () => {
    const signed = await signAs(card, author)
    agent.respond((response, { url }) =>
      reply(200, json, JSON.stringify(url === '/keys.json' ? { keys: [author.publicJwk] } : signed))(response),
    )
    const fetched = await get({ ...demand([keySet()]), secret: 'TOKEN' }, { etag: '"1"' })
    expect(fetched).toMatchObject({ verification: { verified: true, key: { from: keySet() } } })
    expect(agent.requests.map(({ headers }) => [headers.authorization, headers['if-none-match']])).toEqual([
      ['Bearer s3cret', undefined],
      [undefined, undefined],
    ])
  })

  it('has its keys fetched through the binding of its agent', async () => {
    const signed = await signAs(card, author)
    const paths: string[] = []
    const fetch = async (url: string) => {
      paths.push(new URL(url).pathname)
      return Response.json(url.endsWith('/keys.json') ? { keys: [author.publicJwk] } : signed)
    }
    const fetched = await get({ ...demand([keySet()]), service: 'AGENT' }, undefined, undefined, { AGENT: { fetch } })
    expect(fetched).toMatchObject({ verification: { verified: true } })
    expect(paths).toEqual(['/.well-known/agent-card.json', '/keys.json'])
  })

  it('has no keys on a private address, which looks like one that does not respond', async () => {
    agent.respond(reply(200, json, JSON.stringify(await signAs(card, author))))
    for (const did of ['did:web:169.254.169.254', 'did:web:localhost%3A8787', 'did:web:vault.internal']) {
      const message = `The card is not verified: its keys cannot be read: ${did} cannot be reached.`
      expect(await get(demand([did]))).toEqual({ failure: { ...unreachable.failure, message } })
    }
  })
})

describe('a conditional request', () => {
  const modified = 'Tue, 03 Nov 2026 10:00:00 GMT'
  const respondConditionally = (response: ServerResponse, headers: Record<string, string | undefined>) =>
    headers['if-none-match'] === 'W/"1"' || headers['if-modified-since'] === modified
      ? reply(304, {}, '')(response)
      : reply(200, { ...json, ETag: 'W/"1"', 'Last-Modified': modified }, '{}')(response)

  it('reports a card that is unchanged', async () => {
    agent.respond((response, { headers }) => respondConditionally(response, headers as never))
    const whole = { card: {}, validators: { etag: 'W/"1"', lastModified: modified } }
    for (const [known, expected] of [
      [undefined, whole],
      [{}, whole],
      [{ etag: 'W/"1"' }, { unchanged: true }],
      [{ lastModified: modified }, { unchanged: true }],
      [{ etag: 'W/"0"', lastModified: modified }, whole],
    ] as const)
      expect([known, await get({}, known)]).toEqual([known, expected])
  })

  it('fails on a 304 to a request without validators', async () => {
    agent.respond(reply(304, {}, ''))
    expect(await get()).toEqual({
      failure: { ...unreachable.failure, message: "The card's address responded with HTTP 304." },
    })
  })

  it('sends no validators to another origin', async () => {
    otherServer.respond((response, { headers }) => respondConditionally(response, headers as never))
    agent.respond(reply(302, { Location: `${otherServer.origin}/card` }, ''))
    expect([await get({}, { etag: 'W/"1"' }), otherServer.requests[0]?.headers['if-none-match']]).toEqual([
      { card: {}, validators: {} },
      undefined,
    ])
  })
})

describe('a secret', () => {
  it('is sent as a bearer token', async () => {
    agent.respond(reply(200, json, '{}'))
    await get({ secret: 'TOKEN' })
    expect(agent.requests[0]?.headers.authorization).toBe('Bearer s3cret')
  })

  it('is not sent to another origin, nor after a redirect back from it', async () => {
    agent.respond((response, { url }) =>
      url === '/back'
        ? reply(200, json, '{}')(response)
        : reply(307, { Location: `${otherServer.origin}/` }, '')(response),
    )
    otherServer.respond(reply(307, { Location: `${agent.origin}/back` }, ''))
    expect(await get({ secret: 'TOKEN' })).toEqual({ card: {}, validators: {} })
    expect(
      [...agent.requests, ...otherServer.requests].map(({ path, headers }) => [path, headers.authorization]),
    ).toEqual([
      [path, 'Bearer s3cret'],
      ['/back', undefined],
      ['/', undefined],
    ])
  })

  it('is reported when it is missing or invalid', async () => {
    agent.respond(reply(200, json, '{}'))
    for (const secret of ['NONE', 'ALLOWED_ORIGINS', 'ADMIN_TOKEN', 'LINES']) {
      const message =
        secret === 'LINES'
          ? 'The secret "LINES" is empty, or contains characters that no header can carry.'
          : `This Worker has no secret "${secret}". Run \`npx wrangler secret put ${secret}\`.`
      const fetched = await get({ secret }, undefined, undefined, { LINES: 'a\r\nHost: b', ADMIN_TOKEN: 'admin' })
      expect(fetched).toEqual({ failure: { status: 502, code: 'unreachable', message } })
    }
    expect(agent.requests).toEqual([])
  })
})

describe('redirects', () => {
  it('are limited', async () => {
    agent.respond((response, { url = '' }) => reply(302, { Location: `${url}a` }, '')(response))
    const failure = { ...unreachable.failure, message: "The card's address redirects more than 3 times." }
    expect([await get(), agent.requests.length]).toEqual([{ failure }, 4])
  })

  it('to private addresses are reported as unreachable', async () => {
    for (const [to, detail] of [
      ['http://127.0.0.1:9/', 'blocked: not https'],
      ['https://vault.internal/', 'blocked: not a public name'],
    ] as const) {
      agent.respond(reply(302, { Location: to }, ''))
      expect([to, await get()]).toEqual([to, unreachable])
      expect(logLines.at(-1)?.['calling_card.detail'], to).toBe(detail)
    }
  })
})

describe('the origin of this host', () => {
  const own = {
    failure: {
      ...unreachable.failure,
      message: "The card's address is this host itself. Name the one where the agent publishes its card.",
    },
  }

  it('is not requested, whichever of its origins a manifest names', async () => {
    agent.respond(reply(200, json, '{}'))
    expect([
      await get({}, undefined, agent.origin),
      await get({}, undefined, `${agent.origin}/`),
      await get({}, undefined, undefined, { PUBLIC_URL: agent.origin }),
      agent.requests,
    ]).toEqual([own, own, own, []])
  })

  it('is not requested through a redirect', async () => {
    agent.respond(reply(302, { Location: `${otherServer.origin}/agents/weather` }, ''))
    otherServer.respond(reply(200, json, '{}'))
    expect([await get({}, undefined, otherServer.origin), otherServer.requests]).toEqual([unreachable, []])
  })
})

describe('a service binding', () => {
  const serviceWith = (respond: (request: Request) => Response) => {
    const requests: Request[] = []
    const fetcher = {
      fetch: async (url: string, init: RequestInit) => {
        const request = new Request(url, init)
        requests.push(request)
        return respond(request)
      },
    }
    return { requests, bindings: { WEATHER: fetcher } }
  }
  const url = 'http://weather.internal/card'

  it('receives the request in place of the network, whatever the address', async () => {
    const { requests, bindings } = serviceWith(() => Response.json(card, { headers: { ETag: '"1"' } }))
    const fetched = await get({ url, service: 'WEATHER', secret: 'TOKEN' }, { etag: '"0"' }, undefined, bindings)
    expect([fetched, requests.map(({ url, method }) => `${method} ${url}`)]).toEqual([
      { card, validators: { etag: '"1"' } },
      [`GET ${url}`],
    ])
    expect([
      requests[0]?.headers.get('Authorization'),
      requests[0]?.headers.get('If-None-Match'),
      requests[0]?.redirect,
    ]).toEqual(['Bearer s3cret', '"0"', 'manual'])
  })

  it('receives redirects to its own origin only', async () => {
    const { requests, bindings } = serviceWith(({ url: requested }) =>
      requested === url ? Response.redirect('http://weather.internal/2') : Response.redirect('http://other.internal/'),
    )
    expect([await get({ url, service: 'WEATHER' }, undefined, undefined, bindings), requests.length]).toEqual([
      unreachable,
      2,
    ])
  })

  it('has the same limits', async () => {
    const headers = { ...json, 'Content-Length': '2' }
    const { bindings } = serviceWith(() => new Response(' '.repeat(2_000_000), { headers }))
    const fetched = await get({ url, service: 'WEATHER' }, undefined, undefined, bindings)
    expect(fetched).toEqual(invalidCard('The card has more than 1048576 bytes.'))
  })

  it('is reported as unreachable when it throws', async () => {
    const { bindings } = serviceWith(() => {
      throw new Error('crashed')
    })
    expect(await get({ url, service: 'WEATHER' }, undefined, undefined, bindings)).toEqual(unreachable)
  })

  it('is reported when it does not exist', async () => {
    expect(await get({ url, service: 'NONE' })).toEqual({
      failure: { status: 502, code: 'unreachable', message: 'This Worker has no service binding "NONE".' },
    })
  })
})
