import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Source, TrustedKeys } from '../../src/card/manifest/upstream.ts'
import type { Validators } from '../../src/registry/source-record.ts'
import { fetchSource } from '../../src/sources/fetch.ts'
import { makeKey, signAs } from '../support/cards/signed.ts'
import { envWith, sourceAt } from '../support/registrations.ts'
import { html, json, type Responder, reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'

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

/** The result of a fetch whose upstream cannot be reached, for whatever reason. */
const unreachable = {
  failure: {
    ...{ status: 502, code: 'unreachable' },
    message:
      "The card's address cannot be reached. Check that it is correct, public and https; the log of this host has the reason.",
  },
}
const unreadable = (message: string) => ({ failure: { ...unreachable.failure, message } })
const timeout = { failure: { status: 504, code: 'timeout', message: "The card's address did not respond in time." } }

const card = { name: 'Weather', description: 'Tells it', skills: [] }
const path = '/.well-known/agent-card.json?key=hidden'

const get = (changes: Partial<Source> = {}, validators?: Validators, ownOrigin?: string, bindings = {}) => {
  const source = sourceAt(agent.origin + path, changes)
  const known = validators && { source, by: 'fetch' as const, validators }
  return fetchSource(
    source,
    { id: 'a', known, isConditional: true, ownOrigins: ownOrigin === undefined ? [] : [ownOrigin] },
    envWith({ ALLOWED_ORIGINS: `${agent.origin} ${otherServer.origin}`, TOKEN: 's3cret', ...bindings }),
  )
}

describe('fetchSource', () => {
  it('returns a card as it is, which may nest 64 levels deep', async () => {
    const deep = `${'['.repeat(63)}${']'.repeat(63)}`
    for (const document of [card, { a: JSON.parse(deep) }]) {
      agent.respond(reply(200, json, JSON.stringify(document)))
      expect(await get()).toEqual({ card: document, validators: {} })
    }
    expect(logLines).toEqual([])
  })

  it('resolves the relative URLs of a card that it was redirected to, whose signatures then do not apply', async () => {
    agent.respond(reply(302, { Location: `${otherServer.origin}/cards/weather.json` }, ''))
    const relative = { ...card, url: '/a2a', signatures: [{ protected: 'e30', signature: 'c2ln' }] }
    otherServer.respond(reply(200, { ...json, ETag: '"1"' }, JSON.stringify(relative)))
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
})

describe('redirects', () => {
  it('are limited', async () => {
    agent.respond((response, { url = '' }) => reply(302, { Location: `${url}a` }, '')(response))
    expect([await get(), agent.requests.length]).toEqual([
      unreadable("The card's address redirects more than 3 times."),
      4,
    ])
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
  const own = unreadable("The card's address is this host itself. Name the one where the agent publishes its card.")

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
  const url = 'http://weather.internal/card'

  it('receives the request in place of the network, whatever the address', async () => {
    const requests: Request[] = []
    const fetch = async (url: string, init: RequestInit) => {
      requests.push(new Request(url, init))
      return Response.json(card, { headers: { ETag: '"1"' } })
    }
    const bindings = { WEATHER: { fetch } }
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

  it('is reported when it does not exist', async () => {
    expect(await get({ url, service: 'NONE' })).toEqual(unreadable('This Worker has no service binding "NONE".'))
  })
})

describe('a response that is not a card', () => {
  it('is reported as invalid, and logged with its server', async () => {
    const responded = (what: string) => `The card's address responded with ${what}`
    const notJson = /responded with invalid JSON\. This is not JSON\./
    const empty = /responded with invalid JSON\. The body is empty; expected an Agent Card as JSON\.$/
    const of = (what: string) => responded(`${what}; an Agent Card is a JSON object.`)
    const twice =
      'ambiguous JSON. /provider/url is in its object twice, for the second time in line 2: remove one of the two.'
    const body = (text: string | Buffer) => reply(200, json, text)
    const text = reply(200, { 'Content-Type': 'text/plain' }, '{}')
    const noType = "The card's address responded without a Content-Type; a card is application/json."
    for (const [title, respond, message] of [
      ['an HTML page', reply(200, html, '<!doctype html>'), responded('an HTML page; a card is application/json.')],
      ['text', text, responded('text/plain; a card is application/json.')],
      ['no type', reply(200, {}, '{}'), noType],
      ['an empty body', body(''), empty],
      ['a name twice in one object', body('{"name":"A",\n"provider":{"url":1,"url":2}}'), responded(twice)],
      ['a list', body('[{}]'), of('a list')],
      ['null', body('null'), of('null')],
      ['a string', body('"card"'), of('a string')],
      ['truncated JSON', body('{"name":"Weat'), notJson],
      ['Latin-1', body(Buffer.from('{"name":"Bücher"}', 'latin1')), 'The card is not UTF-8 text.'],
      ['a large body', body(' '.repeat(1_048_577)), 'The card has more than 1048576 bytes.'],
    ] as [string, Responder, string | RegExp][]) {
      agent.respond(respond)
      logLines = []
      const expected = typeof message === 'string' ? message : expect.stringMatching(message)
      const failure = { status: 502, code: 'invalid-card', message: expected }
      expect({ title, ...(await get()) }).toEqual({ title, failure })
      expect(logLines, title).toMatchObject([
        { event: 'card-unread', 'server.address': '127.0.0.1', 'server.port': Number(new URL(agent.origin).port) },
      ])
    }
  })

  it('is reported with its status, unless the network sends it', async () => {
    const ofAgent = [204, 206, 404, 500, 504]
    const ofNetwork = [520, 521, 523, 525, 526, 530]
    for (const status of [...ofAgent, ...ofNetwork, 522, 524]) {
      agent.respond(reply(status, json, status === 204 ? '' : '{"name":"a"}'))
      const network = ofNetwork.includes(status) ? unreachable : timeout
      const expected = unreadable(`The card's address responded with HTTP ${status}.`)
      expect([status, await get()]).toEqual([status, ofAgent.includes(status) ? expected : network])
    }
  })

  it('is none after 10 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const reached = Promise.withResolvers<void>()
    agent.respond(() => reached.resolve())
    const fetched = get()
    await reached.promise
    await vi.advanceTimersByTimeAsync(9_999)
    expect(await Promise.race([fetched, 'waiting'])).toBe('waiting')
    await vi.advanceTimersByTimeAsync(1)
    expect(await fetched).toEqual(timeout)
  })
})

it('reports an unreachable upstream with one message for each reason, and logs it without its query and password', async () => {
  for (const url of [
    'http://127.0.0.1:9/card?key=hidden',
    'https://vault.internal/?key=hidden',
    'https://me:hidden@agent.example.com/',
    'https://',
  ]) {
    logLines = []
    const env = envWith({ ALLOWED_ORIGINS: 'http://127.0.0.1:9' })
    expect([url, await fetchSource(sourceAt(url), { id: 'a', ownOrigins: [] }, env)]).toEqual([url, unreachable])
    expect([logLines.length, JSON.stringify(logLines).includes('hidden')], url).toEqual([1, false])
  }
})
