import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toJsonRpcError, toRestError } from '../../src/a2a/error-response.ts'
import type { CallError } from '../../src/a2a/errors.ts'
import { type CallBinding, type WireVersion, wireVersions } from '../../src/card/model/calls.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { MAX_EVENT_BYTES } from '../../src/limits.ts'
import { numberedEvent, resultOf } from '../support/answers.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { call, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { parseEvents } from '../support/event-stream.ts'
import { json, reply, stream } from '../support/upstream.ts'

let called: CalledHost
beforeAll(async () => {
  called = await useSharedHost()
  const card = agentCard(called.agent.origin, { defaultOutputModes: ['text/plain', 'text/html'] })
  for (const level of ['enforce', 'warn', 'off'])
    await called.register(`answers-${level}`, { card, route: 'gateway', gate: { responses: level } })
  for (const id of ['answers', 'answers-logged']) await called.register(id, { card, route: 'gateway' })
  await called.register('answers-modes-off', { card, route: 'gateway', gate: { modes: 'off' } })
  const skill = { id: 'draw', name: 'Draw', description: 'Draws', tags: ['art'], outputModes: ['image/png'] }
  await called.register('answers-extended', { card, route: 'gateway', extended: { skills: [skill] } })
})
afterAll(() => called.close())

/** The secret of an agent that answers with something else than A2A: no part of its body may be shown. */
const secret = 'at handler (/srv/weather/main.py:12)'

/** A message or a stream, in each version and binding: the path below the agent's endpoint, and the body. */
const requests = wireVersions.flatMap(version =>
  (['JSONRPC', 'HTTP+JSON'] as const).map((binding): [string, WireVersion, CallBinding] => [
    `${version} over ${binding}`,
    version,
    binding,
  ]),
)

const pathOf = (version: WireVersion, binding: CallBinding, streams = false): string =>
  binding === 'JSONRPC' ? '' : `/${version === '0.3' ? 'v1/' : ''}message:${streams ? 'stream' : 'send'}`

const bodyOf = (version: WireVersion, binding: CallBinding, streams = false): JsonObject => {
  const params = version === '0.3' ? messageV03() : message()
  const [send, open] = version === '0.3' ? ['message/send', 'message/stream'] : ['SendMessage', 'SendStreamingMessage']
  return binding === 'JSONRPC' ? call(streams ? open : send, params) : params
}

const errorOf = (error: CallError, version: WireVersion, binding: CallBinding): Json =>
  binding === 'JSONRPC'
    ? { jsonrpc: '2.0', id: 7, error: toJsonRpcError(error, version) as never }
    : toRestError(error, version)

/** The lines of the log about an agent, parsed. */
const linesOf = (id: string): JsonObject[] => called.host.events().filter(line => line['gen_ai.agent.id'] === id)
const lastLineOf = (id: string) => linesOf(id).at(-1)

describe.each(requests)('an agent that is called in %s', (_, version, binding) => {
  const send = (id = 'answers') =>
    called.send(`/agents/${id}/a2a${pathOf(version, binding)}`, { body: bodyOf(version, binding) })

  it('and answers with something else than A2A is replaced by InvalidAgentResponse', async () => {
    for (const [status, headers, text] of [
      [500, json, JSON.stringify({ error: 'boom', stack: secret })],
      [200, json, '{"jsonrpc":"2.0","id":7}'],
      [200, json, JSON.stringify({ error: secret })],
      [200, json, ''],
      [200, json, `{"jsonrpc":"2.0","id":7,"result":{"message":"${secret}`],
      [404, json, JSON.stringify({ detail: secret })],
    ] as const) {
      called.agent.respond(reply(status, headers, text))
      const response = await send()
      const error = errorOf({ kind: 'invalid-response', status }, version, binding)
      expect([response.status, response.body], text).toEqual([502, error])
      expect(response.text).not.toContain('main.py')
    }
  })

  it('and refuses keeps its status, and not a body that is no error of A2A', async () => {
    for (const status of [401, 403, 429]) {
      called.agent.respond(reply(status, { ...json, 'Retry-After': '3' }, JSON.stringify({ detail: secret })))
      const { status: actual, headers, body } = await send()
      const error = errorOf({ kind: 'agent-refused', status }, version, binding)
      expect([actual, headers.get('retry-after'), body]).toEqual([status, '3', error])
    }
  })

  it('passes what is not A2A with warn and a warning, and with off', async () => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 8, result: { text: 'It rains' } })
    called.agent.respond(reply(200, json, text))
    const warned = await send('answers-warn')
    expect([warned.status, warned.text, warned.headers.get('gate-warning')]).toEqual([200, text, 'invalid-response'])
    const warnings = { 'calling_card.warnings': 'invalid-response' }
    await expect.poll(() => lastLineOf('answers-warn')).toMatchObject(warnings)
    const passed = await send('answers-off')
    expect([passed.status, passed.text, passed.headers.get('gate-warning')]).toEqual([200, text, null])
  })

  it('logs why an answer is not A2A', async () => {
    called.agent.respond(reply(200, json, '[]'))
    await send()
    const detail = binding === 'JSONRPC' ? 'the response must be an object' : 'result must be an object'
    const reason = { 'error.type': 'invalid-response', 'calling_card.detail': detail }
    await expect.poll(() => lastLineOf('answers')).toMatchObject(reason)
  })
})

describe.each(requests)('a stream in %s', (_, version, binding) => {
  const open = (id = 'answers') =>
    called.send(`/agents/${id}/a2a${pathOf(version, binding, true)}`, { body: bodyOf(version, binding, true) })
  const dataOf = (number: number) => numberedEvent(number, binding, version)
  const event = (number: number) => `data: ${JSON.stringify(dataOf(number))}\n\n`
  const lastEvent = (error: CallError) => ({
    ...(binding === 'HTTP+JSON' && { event: 'error' }),
    data: errorOf(error, version, binding),
  })

  it('ends with an error event in place of an event that is not A2A', async () => {
    for (const data of [
      secret,
      JSON.stringify({ text: secret }),
      '{"jsonrpc":"2.0","id":7}',
      JSON.stringify({ error: secret }),
    ]) {
      called.agent.respond(reply(200, stream, `: hi\n\n${event(1)}data: ${data}\n\n${event(2)}`))
      const { text } = await open()
      const error = lastEvent({ kind: 'invalid-response', status: 200 })
      expect(parseEvents(text), data).toEqual([{ data: dataOf(1) }, error])
      expect(text.startsWith(`: hi\n\n${event(1)}`)).toBe(true)
      expect(text).not.toContain('main.py')
    }
    await expect.poll(() => linesOf('answers').some(line => line.event === 'stream')).toBe(true)
  })

  it('leaves out an event without content', async () => {
    for (const data of ['', '[DONE]']) {
      called.agent.respond(reply(200, stream, `: hi\n\n${event(1)}data: ${data}\n\n${event(2)}`))
      expect((await open()).text, data).toBe(`: hi\n\n${event(1)}${event(2)}`)
    }
    const warnings = () => linesOf('answers').map(line => line['calling_card.warnings'])
    await expect.poll(warnings).toContain('repaired (end-of-stream)')
  })

  it('passes such an event with warn and off, and logs it with warn', async () => {
    const events = `${event(1)}data: {"text":"It rains"}\n\n${event(2)}`
    called.agent.respond(reply(200, stream, events))
    expect((await open('answers-off')).text).toBe(events)
    expect((await open('answers-warn')).text).toBe(events)
    await expect
      .poll(() => linesOf('answers-warn'))
      .toContainEqual(
        expect.objectContaining({
          ...{ event: 'stream', 'calling_card.binding': binding, 'a2a.protocol.version': version },
          'calling_card.warnings': 'invalid-response',
        }),
      )
  })

  it('passes errors of the agent, and every byte of events that are A2A', async () => {
    const error = { code: -32001, message: 'No such task', data: [1.0] }
    const restError = version === '0.3' ? error : { error: { code: 404, message: 'No such task', details: [] } }
    const failure = JSON.stringify(binding === 'JSONRPC' ? { jsonrpc: '2.0', id: 7, error } : restError)
    const events = `: a\n\nid: 1\r\ndata:  ${JSON.stringify(dataOf(1))}\r\n\r\nevent: error\ndata: ${failure}\n\n`
    called.agent.respond(reply(200, stream, events))
    expect((await open()).text).toBe(events)
  })

  it('is refused after an event that is larger than MAX_EVENT_BYTES, which off lets pass', async () => {
    const large = event(2).replace('t-1', 'x'.repeat(MAX_EVENT_BYTES))
    called.agent.respond(reply(200, stream, event(1) + large + event(3)))
    const error = lastEvent({ kind: 'response-too-large', maxBytes: MAX_EVENT_BYTES })
    expect(parseEvents((await open()).text)).toEqual([{ data: dataOf(1) }, error])
    expect((await open('answers-off')).text.length).toBe((event(1) + large + event(3)).length)
  })
})

it('restores the id of the caller in every event of a stream', async () => {
  const data = (id: number) => `data: ${JSON.stringify({ ...numberedEvent(1, 'JSONRPC', '1.0'), id })}\n\n`
  called.agent.respond(response => {
    response.writeHead(200, stream).write(data(1))
    response.end(data(7) + data(2))
  })
  const { text } = await called.send('/agents/answers/a2a', { body: call('SendStreamingMessage') })
  expect(text).toBe(data(7).repeat(3))
})

describe('the media types of an answer', () => {
  const answerWith = (mediaType: string) => {
    const { message: text } = resultOf('send', '1.0') as { message: JsonObject }
    const result = { message: { ...text, parts: [{ text: 'It rains' }, { url: 'https://a.example/f', mediaType }] } }
    called.agent.respond(reply(200, json, JSON.stringify({ jsonrpc: '2.0', id: 7, result })))
  }
  const warningsOf = async (id: string, acceptedOutputModes?: string[], token?: string) => {
    const body = call('SendMessage', message(acceptedOutputModes && { configuration: { acceptedOutputModes } }))
    return (await called.send(`/agents/${id}/a2a`, { body, token })).headers.get('gate-warning')
  }

  it('are reported if they are not declared or not accepted, where the gate checks them', async () => {
    for (const [id, mediaType, accepted, expected] of [
      ['answers', 'text/plain;charset=utf-8', ['text/*'], null],
      ['answers', 'image/png', undefined, 'undeclared-output-modes'],
      ['answers', 'image/png', ['text/plain'], 'undeclared-output-modes, unaccepted-output-modes'],
      ['answers', 'text/html', ['text/html'], 'unaccepted-output-modes'],
      ['answers-off', 'image/png', undefined, null],
      ['answers-modes-off', 'image/png', undefined, null],
    ] as [string, string, string[] | undefined, string | null][]) {
      answerWith(mediaType)
      expect(await warningsOf(id, accepted), `${id}: ${mediaType} ${accepted}`).toBe(expected)
    }
  })

  it('may be those of the extended card that the caller reads', async () => {
    answerWith('image/png')
    const { token } = await called.issue({ scopes: ['read'], agents: ['answers-extended'] })
    expect(await warningsOf('answers-extended', undefined, token)).toBeNull()
    expect(await warningsOf('answers-extended')).toBe('undeclared-output-modes')
  })

  it('are logged for a stream, once', async () => {
    const part = { url: 'https://a.example/f', mediaType: 'image/gif' }
    const result = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [part] } }
    const event = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 7, result })}\n\n`
    called.agent.respond(reply(200, stream, event + event))
    const { text } = await called.send('/agents/answers-logged/a2a', { body: call('SendStreamingMessage') })
    expect(text).toBe(event + event)
    await expect
      .poll(() => linesOf('answers-logged').filter(line => line.event === 'stream'))
      .toEqual([
        {
          event: 'stream',
          'gen_ai.agent.id': 'answers-logged',
          'a2a.method.name': 'SendStreamingMessage',
          'calling_card.binding': 'JSONRPC',
          'a2a.protocol.version': '1.0',
          'calling_card.warnings': 'undeclared-output-modes',
        },
      ])
  })
})
