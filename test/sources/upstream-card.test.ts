import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Source } from '../../src/card/manifest/upstream.ts'
import type { Validators } from '../../src/registry/records.ts'
import { fetchUpstreamCard } from '../../src/sources/upstream-card.ts'
import { envWith, sourceAt } from '../support/registrations.ts'
import { reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'

let agent: UpstreamServer
let elsewhere: UpstreamServer
beforeAll(async () => {
  agent = await startUpstream()
  elsewhere = await startUpstream()
})
afterAll(() => {
  agent.close()
  elsewhere.close()
})

let logged: { event: string; origin?: string; why?: string }[] = []
beforeEach(() => {
  logged = []
  vi.spyOn(console, 'error').mockImplementation(line => void logged.push(JSON.parse(line)))
})

const json = { 'Content-Type': 'application/json' }
const card = { name: 'Weather', description: 'Tells it', skills: [] }
const path = '/.well-known/agent-card.json?key=hidden'

const get = (changes: Partial<Source> = {}, known?: Validators, ownOrigin?: string, bindings = {}) =>
  fetchUpstreamCard(
    sourceAt(agent.origin + path, changes),
    known,
    envWith({ ALLOWED_ORIGINS: `${agent.origin} ${elsewhere.origin}`, TOKEN: 's3cret', ...bindings }),
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

describe('the card of an upstream', () => {
  it.each<[string, (response: ServerResponse) => void, object]>([
    ['as it was sent', reply(200, json, JSON.stringify(card)), card],
    [
      'of another JSON type',
      reply(200, { 'Content-Type': 'application/a2a+json; charset=utf-8' }, '{"a":1}'),
      { a: 1 },
    ],
    ['without its BOM', reply(200, json, '\ufeff{"a":1}'), { a: 1 }],
    ['inflated', reply(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync('{"a":1}')), { a: 1 }],
    ['63 levels deep', reply(200, json, `{"a":${'['.repeat(63)}${']'.repeat(63)}}`), { a: expect.any(Array) }],
  ])('is read %s', async (_, how, expected) => {
    agent.respond(how)
    expect(await get()).toEqual({ card: expected, validators: {} })
    expect(logged).toEqual([])
  })

  it('keeps a member that is named like a prototype as data, for the bounds of a card to refuse', async () => {
    agent.respond(reply(200, json, '{"__proto__":{"polluted":true},"constructor":1}'))
    const fetched = await get()
    expect('card' in fetched && Object.getOwnPropertyNames(fetched.card)).toEqual(['__proto__', 'constructor'])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('is asked for in the version that has most to say, by a host that says who it is', async () => {
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

  it('is what comes each time, though it be another', async () => {
    let count = 0
    agent.respond(response => reply(200, { ...json, ETag: `"${++count}"` }, `{"count":${count}}`)(response))
    expect([await get(), await get({}, { etag: '"1"' })]).toEqual([
      { card: { count: 1 }, validators: { etag: '"1"' } },
      { card: { count: 2 }, validators: { etag: '"2"' } },
    ])
  })
})

describe('a card that was had before', () => {
  const modified = 'Tue, 03 Nov 2026 10:00:00 GMT'
  const versioned = (response: ServerResponse, headers: Record<string, string | undefined>) =>
    headers['if-none-match'] === 'W/"1"' || headers['if-modified-since'] === modified
      ? reply(304, {}, '')(response)
      : reply(200, { ...json, ETag: 'W/"1"', 'Last-Modified': modified }, '{}')(response)

  it('is not sent again', async () => {
    agent.respond((response, { headers }) => versioned(response, headers as never))
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

  it('cannot be unchanged where none was', async () => {
    agent.respond(reply(304, {}, ''))
    expect(await get()).toEqual({
      failure: { ...unreachable.failure, message: "The card's address responded with HTTP 304." },
    })
  })

  it('says nothing of one that is elsewhere now', async () => {
    elsewhere.respond((response, { headers }) => versioned(response, headers as never))
    agent.respond(reply(302, { Location: `${elsewhere.origin}/card` }, ''))
    expect([await get({}, { etag: 'W/"1"' }), elsewhere.requests[0]?.headers['if-none-match']]).toEqual([
      { card: {}, validators: {} },
      undefined,
    ])
  })
})

describe('a secret', () => {
  it('goes along as a bearer token', async () => {
    agent.respond(reply(200, json, '{}'))
    await get({ secret: 'TOKEN' })
    expect(agent.requests[0]?.headers.authorization).toBe('Bearer s3cret')
  })

  it('stays on the way to another origin, and on the way back', async () => {
    agent.respond((response, { url }) =>
      url === '/back'
        ? reply(200, json, '{}')(response)
        : reply(307, { Location: `${elsewhere.origin}/` }, '')(response),
    )
    elsewhere.respond(reply(307, { Location: `${agent.origin}/back` }, ''))
    expect(await get({ secret: 'TOKEN' })).toEqual({ card: {}, validators: {} })
    expect(
      [...agent.requests, ...elsewhere.requests].map(({ path, headers }) => [path, headers.authorization]),
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
  ])('is told of where it is none: %s', async (secret, message) => {
    agent.respond(reply(200, json, '{}'))
    const fetched = await get({ secret }, undefined, undefined, { LINES: 'a\r\nHost: b', ADMIN_TOKEN: 'admin' })
    expect([fetched, agent.requests]).toEqual([{ failure: { status: 502, code: 'unreachable', message } }, []])
  })
})

describe('an upstream that answers no card', () => {
  it.each<[string, (response: ServerResponse) => void, string | RegExp]>([
    [
      'a page',
      reply(200, { 'Content-Type': 'text/html; charset=utf-8' }, '<!doctype html>'),
      "The card's address responded with an HTML page; a card is application/json.",
    ],
    [
      'a page that says that it is JSON',
      reply(200, json, '<!doctype html>'),
      /responded with invalid JSON\. This is HTML or XML, not JSON\./,
    ],
    [
      'a plain text',
      reply(200, { 'Content-Type': 'text/plain' }, '{}'),
      "The card's address responded with text/plain; a card is application/json.",
    ],
    [
      'no type',
      reply(200, {}, '{}'),
      "The card's address responded without a Content-Type; a card is application/json.",
    ],
    [
      'nothing',
      reply(200, json, ''),
      /responded with invalid JSON\. The body is empty; expected an Agent Card as JSON\.$/,
    ],
    [
      'spaces',
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
    ['half of it', reply(200, json, '{"name":"Weat'), /responded with invalid JSON\. This is not JSON\./],
    ['a BOM and nothing good', reply(200, json, '\ufeffcard'), /responded with invalid JSON\. This is not JSON\./],
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
      '10,000 levels that do not end',
      reply(200, json, '{"a":'.repeat(10_000)),
      /responded with invalid JSON\. The document nests deeper than 64 levels\.$/,
    ],
    [
      'a bomb',
      reply(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync(' '.repeat(50_000_000))),
      'The card has more than 1048576 bytes.',
    ],
    [
      'what says to be too large',
      reply(200, { ...json, 'Content-Length': '100000000' }, Buffer.alloc(2_000_000, ' ')),
      'The card has more than 1048576 bytes.',
    ],
  ])('but %s is told so', async (_, how, message) => {
    agent.respond(how)
    expect(await get()).toEqual(
      invalid(typeof message === 'string' ? message : (expect.stringMatching(message) as never)),
    )
    expect(logged).toMatchObject([{ event: 'card-unread', origin: agent.origin }])
  })

  it('but 100 MB is left after the first of them', async () => {
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

  const refusals = [400, 401, 403, 404, 405, 406, 410, 418, 429, 451, 500, 501, 502, 503, 504, 505, 511, 204, 206]
  it.each(refusals)('but HTTP %i is told so', async status => {
    agent.respond(reply(status, json, status === 204 ? '' : '{"name":"a"}'))
    expect(await get()).toEqual({
      failure: { ...unreachable.failure, message: `The card's address responded with HTTP ${status}.` },
    })
  })

  it.each([520, 521, 523, 525, 526, 530])('but HTTP %i of the network is what nobody could be', async status => {
    agent.respond(reply(status, {}, 'error code: 1016'))
    expect(await get()).toEqual(unreachable)
  })
})

describe('an upstream that takes its time', () => {
  it.each<[string, (response: ServerResponse) => void]>([
    ['says nothing', () => undefined],
    ['stops', response => void response.writeHead(200, json).write('{')],
    [
      'drips',
      response => {
        response.writeHead(200, json)
        const drip = setInterval(() => response.write(' '), 5)
        response.on('close', () => clearInterval(drip))
      },
    ],
    [
      'redirects slowly',
      response => void setTimeout(() => response.writeHead(302, { Location: '?a' }).flushHeaders(), 20),
    ],
  ])('is left after 10 seconds where it %s', async (_, how) => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const reached = Promise.withResolvers<void>()
    agent.respond(response => {
      how(response)
      reached.resolve()
    })
    const fetched = get()
    await reached.promise
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await fetched).toEqual({
      failure: { status: 504, code: 'timeout', message: "The card's address did not respond in time." },
    })
  })

  it.each([522, 524])('is that, too, where the network says so: HTTP %i', async status => {
    agent.respond(reply(status, {}, ''))
    expect(await get()).toMatchObject({ failure: { status: 504, code: 'timeout' } })
  })
})

describe('redirects', () => {
  it.each([
    ['four', (url: string) => `${url}a`, 4, 'more than 3 times'],
    ['a circle', (url: string) => (url === '/1' ? '/2' : '/1'), 3, 'in a circle'],
    ['one to itself', (url: string) => url, 1, 'in a circle'],
    ['one to nowhere', () => 'https://', 1, 'to no address'],
  ])('are not followed without end: %s', async (_, next, asked, how) => {
    agent.respond((response, { url = '' }) => reply(302, { Location: next(url) }, '')(response))
    expect([await get(), agent.requests.length]).toEqual([
      { failure: { ...unreachable.failure, message: `The card's address redirects ${how}.` } },
      asked,
    ])
  })

  it('are not told apart from silence where they lead inside', async () => {
    const answers = []
    for (const to of ['http://127.0.0.1:9/', 'https://10.0.0.1/', 'https://vault.internal/', 'file:///etc/passwd']) {
      agent.respond(reply(302, { Location: to }, ''))
      answers.push(await get())
    }
    expect(answers).toEqual(answers.map(() => unreachable))
    expect(logged.map(({ why }) => why)).toEqual([
      'blocked: not https',
      'blocked: an IP address',
      'blocked: not a public name',
      'blocked: not https',
    ])
  })
})

describe('an upstream that cannot be reached', () => {
  it.each([
    ['nobody listens', 'http://127.0.0.1:9/card?key=hidden', 'http://127.0.0.1:9'],
    ['it is blocked by its scheme', 'http://agent.example.com/?key=hidden', ''],
    ['it is blocked by its address', 'https://2130706433/?key=hidden', ''],
    ['it is blocked by its name', 'https://vault.internal/?key=hidden', ''],
    ['it is blocked by its port', 'https://agent.example.com:22/?key=hidden', ''],
    ['it is blocked by its password', 'https://me:hidden@agent.example.com/', ''],
    ['it is no address', 'https://', ''],
  ])('is told in the same words, and nothing hidden is logged: %s', async (_, url, allowed) => {
    const fetched = await fetchUpstreamCard(sourceAt(url), undefined, envWith({ ALLOWED_ORIGINS: allowed }))
    expect([fetched, logged.length, JSON.stringify(logged).includes('hidden')]).toEqual([unreachable, 1, false])
  })

  it.each<[string, (response: ServerResponse) => void]>([
    ['hangs up', response => void response.destroy()],
    ['breaks off', response => void response.writeHead(200, json).write('{', () => response.destroy())],
    ['sends no HTTP', response => void response.socket?.end('220 smtp.example.com ESMTP\r\n')],
    ['sends what does not inflate', reply(200, { ...json, 'Content-Encoding': 'gzip' }, 'no gzip')],
  ])('is one that %s, too', async (_, how) => {
    agent.respond(how)
    expect(await get()).toEqual(unreachable)
  })
})

describe('this host itself', () => {
  const own = {
    failure: {
      ...unreachable.failure,
      message: "The card's address is this host itself. Name the one where the agent publishes its card.",
    },
  }

  it('is asked for no card, by whichever of its origins', async () => {
    agent.respond(reply(200, json, '{}'))
    expect([
      await get({}, undefined, agent.origin),
      await get({}, undefined, `${agent.origin}/`),
      await get({}, undefined, undefined, { PUBLIC_URL: agent.origin }),
      agent.requests,
    ]).toEqual([own, own, own, []])
  })

  it('is not asked by way of another, either', async () => {
    agent.respond(reply(302, { Location: `${elsewhere.origin}/agents/weather` }, ''))
    elsewhere.respond(reply(200, json, '{}'))
    expect([await get({}, undefined, elsewhere.origin), elsewhere.requests]).toEqual([unreachable, []])
  })
})

describe('a service in place of the network', () => {
  const service = (answer: (request: Request) => Response) => {
    const asked: Request[] = []
    const fetcher = {
      fetch: async (url: string, init: RequestInit) => {
        const request = new Request(url, init)
        asked.push(request)
        return answer(request)
      },
    }
    return { asked, bindings: { WEATHER: fetcher } }
  }
  const url = 'http://weather.internal/card'

  it('is asked in its stead, whatever the address', async () => {
    const { asked, bindings } = service(() => Response.json(card, { headers: { ETag: '"1"' } }))
    const fetched = await get({ url, service: 'WEATHER', secret: 'TOKEN' }, { etag: '"0"' }, undefined, bindings)
    expect([fetched, asked.map(({ url, method }) => `${method} ${url}`)]).toEqual([
      { card, validators: { etag: '"1"' } },
      [`GET ${url}`],
    ])
    expect([
      asked[0]?.headers.get('Authorization'),
      asked[0]?.headers.get('If-None-Match'),
      asked[0]?.redirect,
    ]).toEqual(['Bearer s3cret', '"0"', 'manual'])
  })

  it('is followed by itself alone', async () => {
    const { asked, bindings } = service(({ url: asked }) =>
      asked === url ? Response.redirect('http://weather.internal/2') : Response.redirect('http://other.internal/'),
    )
    expect([await get({ url, service: 'WEATHER' }, undefined, undefined, bindings), asked.length]).toEqual([
      unreachable,
      2,
    ])
  })

  it.each([
    ['too much', new Response(' '.repeat(2_000_000), { headers: json }), /more than 1048576 bytes/],
    ['a page', new Response('<h1>', { headers: { 'Content-Type': 'text/html' } }), /an HTML page/],
    [
      'more than it says',
      new Response(' '.repeat(2_000_000), { headers: { ...json, 'Content-Length': '2' } }),
      /more than 1048576 bytes/,
    ],
    ['what nests too deep', new Response('['.repeat(10_000), { headers: json }), /nests deeper/],
  ])('is held to the same: %s', async (_, response, message) => {
    const { bindings } = service(() => response)
    expect(await get({ url, service: 'WEATHER' }, undefined, undefined, bindings)).toEqual(
      invalid(expect.stringMatching(message) as never),
    )
  })

  it('is unreachable where it throws', async () => {
    const { bindings } = service(() => {
      throw new Error('crashed')
    })
    expect(await get({ url, service: 'WEATHER' }, undefined, undefined, bindings)).toEqual(unreachable)
  })

  it('is told of where there is none of that name', async () => {
    expect(await get({ url, service: 'NONE' })).toEqual({
      failure: { status: 502, code: 'unreachable', message: 'This Worker has no service binding "NONE".' },
    })
  })
})
