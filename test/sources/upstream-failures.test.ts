import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { fetchUpstreamCard } from '../../src/sources/upstream-card.ts'
import { envWith, sourceAt } from '../support/registrations.ts'
import { json, reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'
import { invalidCard, unreachable } from './fetch-failures.ts'

let agent: UpstreamServer
beforeAll(async () => {
  agent = await startUpstream()
})
afterAll(() => agent.close())

let logLines: { event: string; 'server.port'?: number; 'calling_card.detail'?: string }[] = []
beforeEach(() => {
  logLines = []
  vi.spyOn(console, 'error').mockImplementation(line => void logLines.push(JSON.parse(line)))
})

const get = () => fetchUpstreamCard(sourceAt(`${agent.origin}/card`), {}, envWith({ ALLOWED_ORIGINS: agent.origin }))

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
    [
      'a card with a name twice in one object',
      reply(200, json, '{"name":"A",\n"provider":{"url":1,"url":2}}'),
      "The card's address responded with ambiguous JSON. /provider/url is in its object twice, for the second time in line 2: remove one of the two.",
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
      invalidCard(typeof message === 'string' ? message : (expect.stringMatching(message) as never)),
    )
    expect(logLines).toMatchObject([
      { event: 'card-unread', 'server.address': '127.0.0.1', 'server.port': Number(new URL(agent.origin).port) },
    ])
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
    expect(await get()).toEqual(invalidCard('The card has more than 1048576 bytes.'))
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
    const fetched = await fetchUpstreamCard(sourceAt(url), {}, envWith({ ALLOWED_ORIGINS: allowed }))
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
