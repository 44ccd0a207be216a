import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { fetchUpstreamCard } from '../../src/sources/upstream-card.ts'
import { envWith, sourceAt } from '../support/registrations.ts'
import { html, json, type Responder, reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'
import { invalidCard, unreachable } from './fetch-failures.ts'

let agent: UpstreamServer
beforeAll(async () => {
  agent = await startUpstream()
})
afterAll(() => agent.close())

let logLines: { event: string; 'server.port'?: number }[] = []
beforeEach(() => {
  logLines = []
  vi.spyOn(console, 'error').mockImplementation(line => void logLines.push(JSON.parse(line)))
})

const get = () => fetchUpstreamCard(sourceAt(`${agent.origin}/card`), {}, envWith({ ALLOWED_ORIGINS: agent.origin }))
const withMessage = (message: string) => ({ failure: { ...unreachable.failure, message } })
const timeout = { failure: { status: 504, code: 'timeout', message: "The card's address did not respond in time." } }

describe('a response that is not a card', () => {
  it('is reported as invalid, and logged with its server', async () => {
    const responded = (what: string) => `The card's address responded with ${what}`
    const notJson = /responded with invalid JSON\. This is not JSON\./
    const empty = /responded with invalid JSON\. The body is empty; expected an Agent Card as JSON\.$/
    const tooDeep = /responded with invalid JSON\. The document nests deeper than 64 levels\.$/
    const tooLarge = 'The card has more than 1048576 bytes.'
    const of = (what: string) => responded(`${what}; an Agent Card is a JSON object.`)
    const twice =
      'ambiguous JSON. /provider/url is in its object twice, for the second time in line 2: remove one of the two.'
    const levels = 10_000
    const body = (text: string | Buffer) => reply(200, json, text)
    for (const [title, respond, message] of [
      ['an HTML page', reply(200, html, '<!doctype html>'), responded('an HTML page; a card is application/json.')],
      ['HTML of type JSON', body('<!doctype html>'), /responded with invalid JSON\. This is HTML or XML, not JSON\./],
      [
        'text',
        reply(200, { 'Content-Type': 'text/plain' }, '{}'),
        responded('text/plain; a card is application/json.'),
      ],
      [
        'no type',
        reply(200, {}, '{}'),
        "The card's address responded without a Content-Type; a card is application/json.",
      ],
      ['an empty body', body(''), empty],
      ['a name twice in one object', body('{"name":"A",\n"provider":{"url":1,"url":2}}'), responded(twice)],
      ['a list', body('[{}]'), of('a list')],
      ['null', body('null'), of('null')],
      ['a string', body('"card"'), of('a string')],
      ['truncated JSON', body('{"name":"Weat'), notJson],
      ['Latin-1', body(Buffer.from('{"name":"Bücher"}', 'latin1')), 'The card is not UTF-8 text.'],
      ['deep lists', body('['.repeat(levels) + ']'.repeat(levels)), tooDeep],
      ['a bomb', reply(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync(' '.repeat(9_000_000))), tooLarge],
    ] as [string, Responder, string | RegExp][]) {
      agent.respond(respond)
      logLines = []
      const expected = typeof message === 'string' ? message : (expect.stringMatching(message) as never)
      expect({ title, ...(await get()) }).toEqual({ title, ...invalidCard(expected) })
      expect(logLines, title).toMatchObject([
        { event: 'card-unread', 'server.address': '127.0.0.1', 'server.port': Number(new URL(agent.origin).port) },
      ])
    }
  })

  it('is reported with its status, unless the network sends it', async () => {
    const ofAgent = [400, 401, 403, 404, 405, 406, 410, 418, 429, 451, 500, 501, 502, 503, 504, 505, 511, 204, 206]
    const ofNetwork = [520, 521, 523, 525, 526, 530]
    for (const status of [...ofAgent, ...ofNetwork, 522, 524]) {
      agent.respond(reply(status, json, status === 204 ? '' : '{"name":"a"}'))
      const message = `The card's address responded with HTTP ${status}.`
      const network = ofNetwork.includes(status) ? unreachable : timeout
      expect([status, await get()]).toEqual([status, ofAgent.includes(status) ? withMessage(message) : network])
    }
  })
})

describe('a slow upstream', () => {
  it('fails after 10 seconds', async () => {
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

describe('an unreachable upstream', () => {
  it('is reported with the same message for each reason, and logged without its query and password', async () => {
    for (const [url, ALLOWED_ORIGINS = ''] of [
      ['http://127.0.0.1:9/card?key=hidden', 'http://127.0.0.1:9'],
      ['http://agent.example.com/?key=hidden'],
      ['https://vault.internal/?key=hidden'],
      ['https://me:hidden@agent.example.com/'],
      ['https://'],
    ] as [string, string?][]) {
      logLines = []
      expect([url, await fetchUpstreamCard(sourceAt(url), {}, envWith({ ALLOWED_ORIGINS }))]).toEqual([
        url,
        unreachable,
      ])
      expect([logLines.length, JSON.stringify(logLines).includes('hidden')], url).toEqual([1, false])
    }
  })
})
