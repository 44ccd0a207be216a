import type { ServerResponse } from 'node:http'
import { createParser } from 'eventsource-parser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toJsonRpcError, toRestError } from '../../src/a2a/error-response.ts'
import type { CallError } from '../../src/a2a/errors.ts'
import { type CallBinding, type WireVersion, wireVersions } from '../../src/card/model/calls.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { MAX_EVENT_BYTES } from '../../src/limits.ts'
import { answerTo, numberedEvent, resultOf } from '../support/answers.ts'
import { type CalledHost, startCalledHost } from '../support/called-host.ts'
import { call, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { html, json, reply, stream } from '../support/upstream.ts'

let called: CalledHost
beforeAll(async () => {
  called = await startCalledHost()
  const card = agentCard(called.agent.origin, { defaultOutputModes: ['text/plain', 'text/html'] })
  for (const level of ['enforce', 'warn', 'off'])
    await called.register(`answers-${level}`, { card, route: 'gateway', gate: { responses: level } })
  await called.register('answers', { card, route: 'gateway' })
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

describe.each(requests)('an agent that is called in %s', (_, version, binding) => {
  const send = (id = 'answers', headers = {}) =>
    called.send(`/agents/${id}/a2a${pathOf(version, binding)}`, { body: bodyOf(version, binding), headers })

  it.each<[string, number, Record<string, string>, string]>([
    ['an HTTP 500 with a stack trace', 500, json, JSON.stringify({ error: 'boom', stack: secret })],
    ['a stack trace in HTML', 500, html, secret],
    ['no result', 200, json, '{"jsonrpc":"2.0","id":7}'],
    ['another error', 200, json, JSON.stringify({ error: secret })],
    ['its card', 200, json, JSON.stringify({ name: secret, skills: [] })],
    ['a completion of a language model', 200, json, JSON.stringify({ choices: [{ message: { content: secret } }] })],
    ['a task without an id', 200, json, JSON.stringify({ jsonrpc: '2.0', id: 7, result: { status: secret } })],
    ['an empty body', 200, json, ''],
    ['half of its answer', 200, json, `{"jsonrpc":"2.0","id":7,"result":{"message":"${secret}`],
    ['an error with an unknown status', 404, json, JSON.stringify({ detail: secret })],
  ])('and answers with %s is replaced by InvalidAgentResponse', async (_what, status, headers, text) => {
    called.agent.respond(reply(status, headers, text))
    const response = await send()
    expect([response.status, response.body]).toEqual([
      502,
      errorOf({ kind: 'invalid-response', status }, version, binding),
    ])
    expect(response.text).not.toContain('main.py')
  })

  it.each([401, 403, 429])('keeps the status %d, and not a body that is no error of A2A', async status => {
    called.agent.respond(reply(status, { ...json, 'Retry-After': '3' }, JSON.stringify({ detail: secret })))
    const response = await send()
    expect([response.status, response.headers.get('retry-after'), response.body]).toEqual([
      status,
      '3',
      errorOf({ kind: 'agent-refused', status }, version, binding),
    ])
  })

  it('passes what is not A2A with warn and a warning, and with off', async () => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 8, result: { text: 'It rains' } })
    called.agent.respond(reply(200, json, text))
    const warned = await send('answers-warn')
    expect([warned.status, warned.text, warned.headers.get('gate-warning')]).toEqual([200, text, 'invalid-response'])
    await expect.poll(() => called.host.logged().at(-1)).toContain('"calling_card.warnings":"invalid-response"')
    const passed = await send('answers-off')
    expect([passed.status, passed.text, passed.headers.get('gate-warning')]).toEqual([200, text, null])
  })

  it('logs why an answer is not A2A', async () => {
    called.agent.respond(reply(200, json, '[]'))
    await send()
    await expect
      .poll(() => JSON.parse(called.host.logged().at(-1) ?? ''))
      .toMatchObject({
        'error.type': 'invalid-response',
        'calling_card.detail': binding === 'JSONRPC' ? 'the response must be an object' : 'result must be an object',
      })
  })
})

describe.each(requests)('a stream in %s', (_, version, binding) => {
  const open = (id = 'answers') =>
    called.send(`/agents/${id}/a2a${pathOf(version, binding, true)}`, { body: bodyOf(version, binding, true) })
  const dataOf = (number: number) => numberedEvent(number, binding, version)
  const event = (number: number) => `data: ${JSON.stringify(dataOf(number))}\n\n`
  const parse = (text: string) => {
    const events: object[] = []
    createParser({
      onEvent: each => events.push({ ...(each.event && { event: each.event }), data: JSON.parse(each.data) }),
    }).feed(text)
    return events
  }
  const lastEvent = (error: CallError) => ({
    ...(binding === 'HTTP+JSON' && { event: 'error' }),
    data: errorOf(error, version, binding),
  })

  it.each<[string, string]>([
    ['is not JSON', secret],
    ['is another JSON', JSON.stringify({ text: secret })],
    ['has no result', '{"jsonrpc":"2.0","id":7}'],
    ['has an error in another form', JSON.stringify({ error: secret })],
  ])('ends with an error event in place of an event that %s', async (_what, data) => {
    called.agent.respond(reply(200, stream, `: hi\n\n${event(1)}data: ${data}\n\n${event(2)}`))
    const { text } = await open()
    expect(parse(text)).toEqual([{ data: dataOf(1) }, lastEvent({ kind: 'invalid-response', status: 200 })])
    expect(text.startsWith(`: hi\n\n${event(1)}`)).toBe(true)
    expect(text).not.toContain('main.py')
    await expect.poll(() => called.host.logged().some(line => line.includes('"event":"stream"'))).toBe(true)
  })

  it.each(['', '[DONE]'])('leaves out an event without content: %j', async data => {
    called.agent.respond(reply(200, stream, `: hi\n\n${event(1)}data: ${data}\n\n${event(2)}`))
    const { text } = await open()
    expect(text).toBe(`: hi\n\n${event(1)}${event(2)}`)
    await expect.poll(() => called.host.logged().some(line => line.includes('repaired (end-of-stream)'))).toBe(true)
  })

  it('passes such an event with warn and off, and logs it with warn', async () => {
    const events = `${event(1)}data: {"text":"It rains"}\n\n${event(2)}`
    called.agent.respond(reply(200, stream, events))
    expect((await open('answers-off')).text).toBe(events)
    expect((await open('answers-warn')).text).toBe(events)
    await expect
      .poll(() => called.host.logged().map(line => JSON.parse(line)))
      .toContainEqual(
        expect.objectContaining({
          event: 'stream',
          'gen_ai.agent.id': 'answers-warn',
          'calling_card.binding': binding,
          'a2a.protocol.version': version,
          'calling_card.warnings': 'invalid-response',
        }),
      )
  })

  it('passes errors of the agent, and every byte of events that are A2A', async () => {
    const error = { code: -32001, message: 'No such task', data: [1.0] }
    const restError = version === '0.3' ? error : { error: { code: 404, message: 'No such task', details: [] } }
    const failure = binding === 'JSONRPC' ? { jsonrpc: '2.0', id: 7, error } : restError
    const events = `: a\n\nid: 1\r\ndata:  ${JSON.stringify(dataOf(1))}\r\n\r\nevent: error\ndata: ${JSON.stringify(failure)}\n\n`
    called.agent.respond(reply(200, stream, events))
    expect((await open()).text).toBe(events)
  })

  it('is refused after an event that is larger than MAX_EVENT_BYTES, which off lets pass', async () => {
    const large = event(2).replace('t-1', 'x'.repeat(MAX_EVENT_BYTES))
    called.agent.respond(reply(200, stream, event(1) + large + event(3)))
    const error = lastEvent({ kind: 'response-too-large', maxBytes: MAX_EVENT_BYTES })
    expect(parse((await open()).text)).toEqual([{ data: dataOf(1) }, error])
    expect((await open('answers-off')).text.length).toBe((event(1) + large + event(3)).length)
  })
})

describe('the id of the caller', () => {
  it.each<[Json, Json]>([
    [7, 8],
    [7, '7'],
    ['a', null],
  ])('is restored: %j instead of %j', async (id, answered) => {
    called.agent.respond(reply(200, json, JSON.stringify({ ...answerTo(call()), id: answered })))
    const response = await called.send('/agents/answers/a2a', { body: call('SendMessage', message(), id) })
    expect(response.body).toEqual({ ...answerTo(call()), id })
  })

  it('is restored in every event of a stream', async () => {
    const data = (id: number) => `data: ${JSON.stringify({ ...numberedEvent(1, 'JSONRPC', '1.0'), id })}\n\n`
    let connection: ServerResponse | undefined
    called.agent.respond(response => {
      connection = response
      response.writeHead(200, stream).write(data(1))
      connection.end(data(7) + data(2))
    })
    const { text } = await called.send('/agents/answers/a2a', { body: call('SendStreamingMessage') })
    expect(text).toBe(data(7).repeat(3))
  })
})

describe('the media types of an answer', () => {
  const answerWith = (mediaType: string) => {
    const { message: text } = resultOf('send', '1.0') as { message: JsonObject }
    const result = { message: { ...text, parts: [{ text: 'It rains' }, { url: 'https://a.example/f', mediaType }] } }
    called.agent.respond(reply(200, json, JSON.stringify({ jsonrpc: '2.0', id: 7, result })))
  }
  const warningsOf = async (id: string, configuration: JsonObject = {}, token?: string) => {
    const { headers } = await called.send(`/agents/${id}/a2a`, {
      body: call('SendMessage', message({ configuration })),
      token,
    })
    return headers.get('gate-warning')
  }

  it.each<[string, string, JsonObject, string | null]>([
    ['declared and accepted', 'text/plain;charset=utf-8', { acceptedOutputModes: ['text/*'] }, null],
    ['not declared', 'image/png', {}, 'undeclared-output-modes'],
    [
      'not declared and not accepted',
      'image/png',
      { acceptedOutputModes: ['text/plain'] },
      'undeclared-output-modes, unaccepted-output-modes',
    ],
    ['not accepted', 'text/html', { acceptedOutputModes: ['text/html'] }, 'unaccepted-output-modes'],
  ])('are reported if they are %s', async (_, mediaType, configuration, expected) => {
    answerWith(mediaType)
    expect(await warningsOf('answers', configuration)).toBe(expected)
  })

  it.each(['answers-off', 'answers-modes-off'])('are not reported where the gate does not check them: %s', async id => {
    answerWith('image/png')
    expect(await warningsOf(id)).toBeNull()
  })

  it('may be those of the extended card that the caller reads', async () => {
    answerWith('image/png')
    const { token } = await called.issue({ scopes: ['read'], agents: ['answers-extended'] })
    expect(await warningsOf('answers-extended', {}, token)).toBeNull()
    expect(await warningsOf('answers-extended')).toBe('undeclared-output-modes')
  })

  it('are logged for a stream, once', async () => {
    const part = { url: 'https://a.example/f', mediaType: 'image/gif' }
    const result = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [part] } }
    const event = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 7, result })}\n\n`
    called.agent.respond(reply(200, stream, event + event))
    const before = called.host.logged().length
    const { text } = await called.send('/agents/answers/a2a', { body: call('SendStreamingMessage') })
    expect(text).toBe(event + event)
    const lines = () =>
      called.host
        .logged()
        .slice(before)
        .filter(line => line.includes('"event":"stream"'))
        .map(line => JSON.parse(line))
    await expect.poll(lines).toEqual([
      {
        event: 'stream',
        'gen_ai.agent.id': 'answers',
        'a2a.method.name': 'SendStreamingMessage',
        'calling_card.binding': 'JSONRPC',
        'a2a.protocol.version': '1.0',
        'calling_card.warnings': 'undeclared-output-modes',
      },
    ])
  })
})
