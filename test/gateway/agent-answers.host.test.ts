import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toJsonRpcError } from '../../src/a2a/error-response.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { answerCalls, numberedEvent, resultOf } from '../support/answers.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { agentResponse, call, codeOf, expectJsonRpcError, message, messageV03, toRestError } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { parseEvents } from '../support/event-stream.ts'
import { html, json, reply, stream } from '../support/upstream.ts'

let called: CalledHost
let shortTimeouts: CalledHost
beforeAll(async () => {
  called = await useSharedHost()
  shortTimeouts = await useSharedHost('short-timeouts')
  const card = agentCard(called.agent.origin, { defaultOutputModes: ['text/plain', 'text/html'] })
  const skill = { id: 'draw', name: 'Draw', description: 'Draws', tags: ['art'], outputModes: ['image/png'] }
  for (const [id, manifest] of Object.entries<JsonObject>({
    answers: {},
    'answers-warn': { gate: { responses: 'warn' } },
    'answers-off': { gate: { responses: 'off' } },
    'answers-modes-off': { gate: { modes: 'off' } },
    'answers-extended': { extended: { skills: [skill] } },
  }))
    await called.register(id, { card, route: 'gateway', ...manifest })
  await shortTimeouts.register('answers', { card: agentCard(shortTimeouts.agent.origin), route: 'gateway' })
})
afterAll(() => Promise.all([called.close(), shortTimeouts.close()]))

/** The secret of an agent that answers with something else than A2A: no part of its body may be shown. */
const secret = 'at handler (/srv/weather/main.py:12)'

/** The lines of the log about an agent, parsed. */
const linesOf = (id: string): JsonObject[] => called.host.events().filter(line => line['gen_ai.agent.id'] === id)
const lastLineOf = (id: string) => linesOf(id).at(-1)

const send = (id = 'answers', headers: Record<string, string> = {}) =>
  called.send(`/agents/${id}/a2a`, { body: call(), headers })

// All that can be wrong: responses/response-check.test.ts and test/a2a/read-result.test.ts.
describe('an answer that is not A2A', () => {
  it('is replaced by an error without its text, and the log explains it', async () => {
    called.agent.respond(reply(200, json, JSON.stringify({ error: secret })))
    const response = await send()
    expectJsonRpcError(response, { status: 502, code: -32006 })
    expect(response.text).not.toContain('main.py')
    const reason = { 'error.type': 'invalid-response', 'calling_card.detail': 'jsonrpc must be "2.0"' }
    await expect.poll(() => lastLineOf('answers')).toMatchObject(reason)
  })

  it('passes with warn and a warning, and with off', async () => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 8, result: { text: 'It rains' } })
    called.agent.respond(reply(200, json, text))
    const warned = await send('answers-warn')
    expect([warned.status, warned.text, warned.headers.get('gate-warning')]).toEqual([200, text, 'invalid-response'])
    const warnings = { 'calling_card.warnings': 'invalid-response' }
    await expect.poll(() => lastLineOf('answers-warn')).toMatchObject(warnings)
    const passed = await send('answers-off')
    expect([passed.status, passed.text, passed.headers.get('gate-warning')]).toEqual([200, text, null])
  })
})

it('replaces an event that is not A2A by an error without its text, which ends the stream', async () => {
  const first = numberedEvent(1, 'HTTP+JSON', '0.3')
  const event = `: hi\n\ndata: ${JSON.stringify(first)}\n\n`
  called.agent.respond(reply(200, stream, `${event}data: ${JSON.stringify({ text: secret })}\n\n${event}`))
  const { text } = await called.send('/agents/answers/a2a/v1/message:stream', { body: messageV03() })
  const data = toRestError({ kind: 'invalid-response', status: 200 }, '0.3')
  expect(parseEvents(text)).toEqual([{ data: first }, { event: 'error', data }])
  expect([text.startsWith(event), text.includes('main.py')]).toEqual([true, false])
  const line = { event: 'stream', 'error.type': 'invalid-response' }
  await expect.poll(() => linesOf('answers')).toContainEqual(expect.objectContaining(line))
})

it('warns of media types that are not declared or not accepted, where the gate checks them', async () => {
  const { message: text } = resultOf('send', '1.0') as { message: JsonObject }
  const { token } = await called.issue({ scopes: ['read'], agents: ['answers-extended'] })
  for (const [id, mediaType, acceptedOutputModes, expected, caller] of [
    ['answers', 'image/png', ['text/plain'], 'undeclared-output-modes, unaccepted-output-modes'],
    ['answers', 'text/html', ['text/html'], 'unaccepted-output-modes'],
    ['answers-modes-off', 'image/png', undefined, null],
    ['answers-extended', 'image/png', undefined, 'undeclared-output-modes'],
    // The caller reads the extended card, which declares more.
    ['answers-extended', 'image/png', undefined, null, token],
  ] as [string, string, string[] | undefined, string | null, string?][]) {
    const result = { message: { ...text, parts: [{ text: 'It rains' }, { url: 'https://a.example/f', mediaType }] } }
    called.agent.respond(reply(200, json, JSON.stringify({ jsonrpc: '2.0', id: 7, result })))
    const body = call('SendMessage', message(acceptedOutputModes && { configuration: { acceptedOutputModes } }))
    const { headers } = await called.send(`/agents/${id}/a2a`, { body, token: caller })
    expect(headers.get('gate-warning'), `${id}: ${mediaType} ${acceptedOutputModes}`).toBe(expected)
  }
})

// All that can be wrong: responses/client-response.test.ts and, in the real runtime, send.host.test.ts.
describe('an agent that fails', () => {
  it('is reported as faulty, without what it has sent, and called again', async () => {
    for (const [respond, code] of [
      [reply(500, html, '<h1>Stack trace'), -32006],
      // A decompression bomb, and more than 4 MiB.
      [reply(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync(Buffer.alloc(16 * 1024 * 1024, ' '))), -32006],
      [reply(200, json, JSON.stringify({ a: 'x'.repeat(4_200_000) })), -32006],
      [response => void response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n'), -32603],
    ] as [ReturnType<typeof reply>, number][]) {
      called.agent.respond(respond)
      const response = await send()
      expectJsonRpcError(response, { status: 502, code })
      expect(response.text).not.toMatch(/Stack trace|127\.0\.0\.1|OpenSSH/)
    }
    called.agent.respond(answerCalls)
    expect((await send()).body).toEqual(agentResponse)
  })

  it('to respond in time is reported, and disconnected', async () => {
    shortTimeouts.agent.respond(response => response.writeHead(200, json).flushHeaders())
    const response = await shortTimeouts.send('/agents/answers/a2a', { body: call() })
    expectJsonRpcError(response, { status: 504, code: -32603, message: '0.5 seconds' })
    await shortTimeouts.agent.disconnected()
  })

  it('to go on with a stream is reported in an event, and disconnected', async () => {
    const event = numberedEvent(1, 'JSONRPC', '1.0')
    shortTimeouts.agent.respond(response => {
      response.writeHead(200, { ...stream, 'Set-Cookie': 'a=1' }).write(`data: ${JSON.stringify(event)}\n\n`)
    })
    const sent = { body: call('SendStreamingMessage') }
    const { headers, text } = await shortTimeouts.send('/agents/answers/a2a', sent)
    const names = ['content-type', 'cache-control', 'set-cookie']
    expect(names.map(name => headers.get(name))).toEqual(['text/event-stream', 'no-store', null])
    const error = toJsonRpcError({ kind: 'silent', seconds: 1 }, '1.0')
    expect(parseEvents(text)).toEqual([{ data: event }, { data: { jsonrpc: '2.0', id: 7, error } }])
    await shortTimeouts.agent.disconnected()
  })
})

it('rejects a loop with 508, but not a call from one agent of the host to another', async () => {
  called.agent.respond(answerCalls)
  await send()
  const via = String(called.agent.requests.splice(0)[0]?.headers.via)
  const response = await send('answers', { Via: via })
  expect([response.status, codeOf(response.body), called.agent.requests]).toEqual([508, -32603, []])
  expect((await send('answers-warn', { Via: via })).body).toEqual(agentResponse)
})
