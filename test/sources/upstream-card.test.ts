import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Source } from '../../src/card/manifest/upstream.ts'
import type { Validators } from '../../src/registry/records.ts'
import { fetchUpstreamCard } from '../../src/sources/upstream-card.ts'
import { envWith, sourceAt } from '../support/registrations.ts'
import { reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'

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

let logLines: { event: string; origin?: string; why?: string }[] = []
beforeEach(() => {
  logLines = []
  vi.spyOn(console, 'error').mockImplementation(line => void logLines.push(JSON.parse(line)))
})

const json = { 'Content-Type': 'application/json' }
const card = { name: 'Weather', description: 'Tells it', skills: [] }
const path = '/.well-known/agent-card.json?key=hidden'

const get = (changes: Partial<Source> = {}, known?: Validators, ownOrigin?: string, bindings = {}) =>
  fetchUpstreamCard(
    sourceAt(agent.origin + path, changes),
    known,
    envWith({ ALLOWED_ORIGINS: `${agent.origin} ${otherServer.origin}`, TOKEN: 's3cret', ...bindings }),
    ownOrigin === undefined ? [] : [ownOrigin],
  )

const unreachable = {
  failure: {
    status: 502,
    code: 'unreachable',
    message:
      "The card's address cannot be reached. Check that it is correct, public and https; the log of this host has the reason.",
  },
}
const invalid = (message: string) => ({ failure: { status: 502, code: 'invalid-card', message } })

describe('fetchUpstreamCard', () => {
  it.each<[string, (response: ServerResponse) => void, object]>([
    ['a card', reply(200, json, JSON.stringify(card)), card],
    [
      'a card with another JSON media type',
      reply(200, { 'Content-Type': 'application/a2a+json; charset=utf-8' }, '{"a":1}'),
      { a: 1 },
    ],
    ['a card with a BOM', reply(200, json, '\ufeff{"a":1}'), { a: 1 }],
    ['a compressed card', reply(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync('{"a":1}')), { a: 1 }],
    [
      'a card that nests 63 levels deep',
      reply(200, json, `{"a":${'['.repeat(63)}${']'.repeat(63)}}`),
      { a: expect.any(Array) },
    ],
  ])('returns %s', async (_, respond, expected) => {
    agent.respond(respond)
    expect(await get()).toEqual({ card: expected, validators: {} })
    expect(logLines).toEqual([])
  })

  it('returns members such as `__proto__` as data, which validation rejects later', async () => {
    agent.respond(reply(200, json, '{"__proto__":{"polluted":true},"constructor":1}'))
    const fetched = await get()
    expect('card' in fetched && Object.getOwnPropertyNames(fetched.card)).toEqual(['__proto__', 'constructor'])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('requests A2A 1.0 with a User-Agent that names this host', async () => {
    agent.respond(reply(200, json, '{}'))
    await get({}, undefined, 'https://cards.example.com')
    expect(agent.requests).toMatchObject([
      {
        method: 'GET',
        path,
        headers: {
          accept: 'application/json',
          'a2a-version': '1.0',
          'user-agent': 'CallingCard (+https://cards.example.com)',
        },
      },
    ])
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

describe('a conditional request', () => {
  const modified = 'Tue, 03 Nov 2026 10:00:00 GMT'
  const respondConditionally = (response: ServerResponse, headers: Record<string, string | undefined>) =>
    headers['if-none-match'] === 'W/"1"' || headers['if-modified-since'] === modified
      ? reply(304, {}, '')(response)
      : reply(200, { ...json, ETag: 'W/"1"', 'Last-Modified': modified }, '{}')(response)

  it('reports a card that is unchanged', async () => {
    agent.respond((response, { headers }) => respondConditionally(response, headers as never))
    expect([
      await get(),
      await get({}, {}),
      await get({}, { etag: 'W/"1"' }),
      await get({}, { lastModified: modified }),
      await get({}, { etag: 'W/"0"', lastModified: modified }),
    ]).toEqual([
      { card: {}, validators: { etag: 'W/"1"', lastModified: modified } },
      { card: {}, validators: { etag: 'W/"1"', lastModified: modified } },
      { unchanged: true },
      { unchanged: true },
      { card: {}, validators: { etag: 'W/"1"', lastModified: modified } },
    ])
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

  it.each([
    ['NONE', 'This Worker has no secret "NONE".'],
    ['ALLOWED_ORIGINS', 'This Worker has no secret "ALLOWED_ORIGINS".'],
    ['ADMIN_TOKEN', 'This Worker has no secret "ADMIN_TOKEN".'],
    ['LINES', 'The secret "LINES" is empty, or contains characters that no header can carry.'],
  ])('is reported when it is missing or invalid: %s', async (secret, message) => {
    agent.respond(reply(200, json, '{}'))
    const fetched = await get({ secret }, undefined, undefined, { LINES: 'a\r\nHost: b', ADMIN_TOKEN: 'admin' })
    expect([fetched, agent.requests]).toEqual([{ failure: { status: 502, code: 'unreachable', message } }, []])
  })
})

describe('a response that is not a card', () => {
  it.each<[string, (response: ServerResponse) => void, string | RegExp]>([
    [
      'an HTML page',
      reply(200, { 'Content-Type': 'text/html; charset=utf-8' }, '<!doctype html>'),
      "The card's address responded with an HTML page; a card is application/json.",
    ],
    [
      'an HTML page with the type of JSON',
      reply(200, json, '<!doctype html>'),
      /responded with invalid JSON\. This is HTML or XML, not JSON\./,
    ],
    [
      'a plain text',
      reply(200, { 'Content-Type': 'text/plain' }, '{}'),
      "The card's address responded with text/plain; a card is application/json.",
    ],
    [
      'a body without a type',
      reply(200, {}, '{}'),
      "The card's address responded without a Content-Type; a card is application/json.",
    ],
    [
      'an empty body',
      reply(200, json, ''),
      /responded with invalid JSON\. The body is empty; expected an Agent Card as JSON\.$/,
    ],
    [
      'whitespace',
      reply(200, json, ' \n'),
      /responded with invalid JSON\. The body is empty; expected an Agent Card as JSON\.$/,
    ],
    ['a list', reply(200, json, '[{}]'), "The card's address responded with a list; an Agent Card is a JSON object."],
    ['null', reply(200, json, 'null'), "The card's address responded with null; an Agent Card is a JSON object."],
    [
      'a string',
      reply(200, json, '"card"'),
      "The card's address responded with a string; an Agent Card is a JSON object.",
    ],
    ['a number', reply(200, json, '7'), "The card's address responded with a number; an Agent Card is a JSON object."],
    ['NaN', reply(200, json, '{"version":NaN}'), /responded with invalid JSON\. This is not JSON\./],
    ['Infinity', reply(200, json, '{"version":-Infinity}'), /responded with invalid JSON\. This is not JSON\./],
    ['truncated JSON', reply(200, json, '{"name":"Weat'), /responded with invalid JSON\. This is not JSON\./],
    ['a BOM before invalid JSON', reply(200, json, '\ufeffcard'), /responded with invalid JSON\. This is not JSON\./],
    ['Latin-1', reply(200, json, Buffer.from('{"name":"Bücher"}', 'latin1')), 'The card is not UTF-8 text.'],
    ['UTF-16', reply(200, json, Buffer.from('\ufeff{}', 'utf16le')), 'The card is not UTF-8 text.'],
    [
      '10,000 levels of lists',
      reply(200, json, '['.repeat(10_000) + ']'.repeat(10_000)),
      /responded with invalid JSON\. The document nests deeper than 64 levels\.$/,
    ],
    [
      '10,000 levels of objects',
      reply(200, json, `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`),
      /responded with invalid JSON\. The document nests deeper than 64 levels\.$/,
    ],
    [
      '10,000 levels that are never closed',
      reply(200, json, '{"a":'.repeat(10_000)),
      /responded with invalid JSON\. The document nests deeper than 64 levels\.$/,
    ],
    [
      'a decompression bomb',
      reply(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync(' '.repeat(50_000_000))),
      'The card has more than 1048576 bytes.',
    ],
    [
      'a body whose Content-Length is too large',
      reply(200, { ...json, 'Content-Length': '100000000' }, Buffer.alloc(2_000_000, ' ')),
      'The card has more than 1048576 bytes.',
    ],
  ])('is reported as invalid: %s', async (_, respond, message) => {
    agent.respond(respond)
    expect(await get()).toEqual(
      invalid(typeof message === 'string' ? message : (expect.stringMatching(message) as never)),
    )
    expect(logLines).toMatchObject([{ event: 'card-unread', origin: agent.origin }])
  })

  it('is aborted after the first of its 100 MB', async () => {
    let sent = 0
    agent.respond(response => {
      response.writeHead(200, json)
      const chunk = Buffer.alloc(64 * 1024, ' ')
      const more = () => {
        while (sent < 100_000_000 && !response.destroyed) {
          sent += chunk.byteLength
          if (!response.write(chunk)) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    })
    expect(await get()).toEqual(invalid('The card has more than 1048576 bytes.'))
    await agent.disconnected()
    expect(sent).toBeLessThan(20_000_000)
  })

  const statuses = [400, 401, 403, 404, 405, 406, 410, 418, 429, 451, 500, 501, 502, 503, 504, 505, 511, 204, 206]
  it.each(statuses)('is reported with its status: HTTP %i', async status => {
    agent.respond(reply(status, json, status === 204 ? '' : '{"name":"a"}'))
    expect(await get()).toEqual({
      failure: { ...unreachable.failure, message: `The card's address responded with HTTP ${status}.` },
    })
  })

  it.each([520, 521, 523, 525, 526, 530])(
    'is reported as unreachable when the network sends it: HTTP %i',
    async status => {
      agent.respond(reply(status, {}, 'error code: 1016'))
      expect(await get()).toEqual(unreachable)
    },
  )
})

describe('a slow upstream', () => {
  it.each<[string, (response: ServerResponse) => void]>([
    ['never responds', () => undefined],
    ['stops sending', response => void response.writeHead(200, json).write('{')],
    [
      'sends a byte at a time',
      response => {
        response.writeHead(200, json)
        const timer = setInterval(() => response.write(' '), 5)
        response.on('close', () => clearInterval(timer))
      },
    ],
    [
      'redirects slowly',
      response => void setTimeout(() => response.writeHead(302, { Location: '?a' }).flushHeaders(), 20),
    ],
  ])('fails after 10 seconds when it %s', async (_, respond) => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const reached = Promise.withResolvers<void>()
    agent.respond(response => {
      respond(response)
      reached.resolve()
    })
    const fetched = get()
    await reached.promise
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await fetched).toEqual({
      failure: { status: 504, code: 'timeout', message: "The card's address did not respond in time." },
    })
  })

  it.each([522, 524])('is reported as a timeout when the network sends HTTP %i', async status => {
    agent.respond(reply(status, {}, ''))
    expect(await get()).toMatchObject({ failure: { status: 504, code: 'timeout' } })
  })
})

describe('redirects', () => {
  it.each([
    ['four', (url: string) => `${url}a`, 4, 'more than 3 times'],
    ['a loop of two', (url: string) => (url === '/1' ? '/2' : '/1'), 3, 'in a circle'],
    ['a redirect to itself', (url: string) => url, 1, 'in a circle'],
    ['a redirect to an invalid URL', () => 'https://', 1, 'to no address'],
  ])('are limited: %s', async (_, next, requests, problem) => {
    agent.respond((response, { url = '' }) => reply(302, { Location: next(url) }, '')(response))
    expect([await get(), agent.requests.length]).toEqual([
      { failure: { ...unreachable.failure, message: `The card's address redirects ${problem}.` } },
      requests,
    ])
  })

  it('to private addresses are reported as unreachable', async () => {
    const results = []
    for (const to of ['http://127.0.0.1:9/', 'https://10.0.0.1/', 'https://vault.internal/', 'file:///etc/passwd']) {
      agent.respond(reply(302, { Location: to }, ''))
      results.push(await get())
    }
    expect(results).toEqual(results.map(() => unreachable))
    expect(logLines.map(({ why }) => why)).toEqual([
      'blocked: not https',
      'blocked: an IP address',
      'blocked: not a public name',
      'blocked: not https',
    ])
  })
})

describe('an unreachable upstream', () => {
  it.each([
    ['a closed port', 'http://127.0.0.1:9/card?key=hidden', 'http://127.0.0.1:9'],
    ['a blocked scheme', 'http://agent.example.com/?key=hidden', ''],
    ['a blocked address', 'https://2130706433/?key=hidden', ''],
    ['a blocked host name', 'https://vault.internal/?key=hidden', ''],
    ['a blocked port', 'https://agent.example.com:22/?key=hidden', ''],
    ['a URL with a password', 'https://me:hidden@agent.example.com/', ''],
    ['an invalid URL', 'https://', ''],
  ])('is reported with the same message, and logged without its query and password: %s', async (_, url, allowed) => {
    const fetched = await fetchUpstreamCard(sourceAt(url), undefined, envWith({ ALLOWED_ORIGINS: allowed }))
    expect([fetched, logLines.length, JSON.stringify(logLines).includes('hidden')]).toEqual([unreachable, 1, false])
  })

  it.each<[string, (response: ServerResponse) => void]>([
    ['closes the connection', response => void response.destroy()],
    [
      'closes the connection during the body',
      response => void response.writeHead(200, json).write('{', () => response.destroy()),
    ],
    ['does not speak HTTP', response => void response.socket?.end('220 smtp.example.com ESMTP\r\n')],
    ['sends an invalid gzip body', reply(200, { ...json, 'Content-Encoding': 'gzip' }, 'no gzip')],
  ])('may be one that %s', async (_, respond) => {
    agent.respond(respond)
    expect(await get()).toEqual(unreachable)
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

  it.each([
    ['a body that is too large', new Response(' '.repeat(2_000_000), { headers: json }), /more than 1048576 bytes/],
    ['an HTML page', new Response('<h1>', { headers: { 'Content-Type': 'text/html' } }), /an HTML page/],
    [
      'a body larger than its Content-Length',
      new Response(' '.repeat(2_000_000), { headers: { ...json, 'Content-Length': '2' } }),
      /more than 1048576 bytes/,
    ],
    ['JSON that nests too deeply', new Response('['.repeat(10_000), { headers: json }), /nests deeper/],
  ])('has the same limits: %s', async (_, response, message) => {
    const { bindings } = serviceWith(() => response)
    expect(await get({ url, service: 'WEATHER' }, undefined, undefined, bindings)).toEqual(
      invalid(expect.stringMatching(message) as never),
    )
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
