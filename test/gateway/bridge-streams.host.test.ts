import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callBindings, isSameProtocol, type Protocol, wireVersions } from '../../src/card/model/calls.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { MAX_EVENT_BYTES } from '../../src/limits.ts'
import { answerCalls, numberedEvent, resultOf } from '../support/answers.ts'
import { type CalledHost, nextAddress, useSharedHost } from '../support/called-host.ts'
import { call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { parseEvents } from '../support/event-stream.ts'
import { combine } from '../support/matrix.ts'
import { json, reply, stream } from '../support/upstream.ts'

let called: CalledHost
beforeAll(async () => {
  called = await useSharedHost()
  for (const to of protocols)
    await called.register(idOf(to), { card: cardOf(to), route: 'gateway', gate: { modes: 'off', responses: 'warn' } })
})
afterAll(() => called.close())

const protocols: Protocol[] = wireVersions.flatMap(version => callBindings.map(binding => ({ binding, version })))
const nameOf = ({ binding, version }: Protocol): string => `${binding} ${version}`
const idOf = (to: Protocol): string => `bridged-${nameOf(to).toLowerCase().replace(/\W/g, '-')}`
const cardOf = ({ binding, version }: Protocol): JsonObject =>
  agentCard(called.agent.origin, {
    supportedInterfaces: [{ url: called.agent.origin, protocolBinding: binding, protocolVersion: version }],
  })

/** Opens a stream, or sends a message, in the protocol of a caller. */
const open = ({ binding, version }: Protocol, to: Protocol, method: 'stream' | 'send', init: RequestInit = {}) => {
  const isV03 = version === '0.3'
  const names = isV03 ? { stream: 'message/stream', send: 'message/send' } : undefined
  const rpcMethod = names?.[method] ?? (method === 'stream' ? 'SendStreamingMessage' : 'SendMessage')
  const body = isV03 ? messageV03() : message()
  const path = binding === 'JSONRPC' ? '' : `/${isV03 ? 'v1/' : ''}message:${method}`
  return called.host.fetch(`/agents/${idOf(to)}/a2a${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Accept-Encoding': 'identity', 'CF-Connecting-IP': nextAddress() },
    body: JSON.stringify(binding === 'JSONRPC' ? call(rpcMethod, body) : body),
    ...init,
  })
}

const eventText = (data: Json, type = ''): string => `${type}data: ${JSON.stringify(data)}\n\n`

/** Returns an event as callers get it. */
const expectedEvent = (number: number, { binding, version }: Protocol): JsonObject => {
  const event = numberedEvent(number, binding, version)
  if (version === '0.3' && binding === 'HTTP+JSON')
    return { statusUpdate: { ...(event.statusUpdate as JsonObject), final: false } }
  return event
}

describe.each(protocols.map(to => [nameOf(to), to] as const))('a translated stream from an agent over %s', (_, to) => {
  const ofAgent = (number: number) => eventText(numberedEvent(number, to.binding, to.version))
  const callers = protocols.filter(from => !isSameProtocol(from, to))

  it('delivers each event before the agent sends the next, and is closed at the agent with the caller', async () => {
    for (const from of callers) {
      let connection: ServerResponse | undefined
      called.agent.respond(response => {
        connection = response
        response.writeHead(200, stream).write(ofAgent(0))
      })
      const response = await open(from, to, 'stream')
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      for (let n = 0; n < 3; n++) {
        const { value = new Uint8Array() } = await reader.read()
        expect(parseEvents(Buffer.from(value).toString()), nameOf(from)).toEqual([{ data: expectedEvent(n, from) }])
        connection?.write(ofAgent(n + 1))
      }
      const sending = setInterval(() => connection?.write(ofAgent(0)), 5)
      await reader.cancel()
      await called.agent.disconnected()
      clearInterval(sending)
    }
  })

  it('ends with the error of the agent', async () => {
    const error = { code: -32603, message: 'Out of rain' }
    const errorV1 = { error: { code: 500, status: 'INTERNAL', message: 'Out of rain' } }
    const text =
      to.binding === 'JSONRPC'
        ? eventText({ jsonrpc: '2.0', id: 7, error })
        : eventText(to.version === '1.0' ? errorV1 : error, 'event: error\n')
    called.agent.respond(reply(200, stream, ofAgent(0) + text))
    const expected: Record<string, object> = {
      'JSONRPC 0.3': { event: undefined, data: { jsonrpc: '2.0', id: 7, error } },
      'JSONRPC 1.0': { event: undefined, data: { jsonrpc: '2.0', id: 7, error } },
      'HTTP+JSON 0.3': { event: 'error', data: error },
      'HTTP+JSON 1.0': { event: 'error', data: { error: { code: 500, message: 'Out of rain' } } },
    }
    for (const from of callers) {
      const [, last] = parseEvents(await (await open(from, to, 'stream')).text())
      expect({ event: undefined, ...last }, nameOf(from)).toMatchObject(expected[nameOf(from)] ?? {})
    }
  })

  /** Answers that are not A2A in the version of the agent. */
  const badEvents = (): [string, JsonObject][] => {
    const ids = { taskId: 't-1', contextId: 'c-1' }
    const status = { state: 'TASK_STATE_RAINING' }
    const update =
      nameOf(to) === 'JSONRPC 0.3'
        ? { kind: 'status-update', ...ids, status, final: false }
        : { statusUpdate: { ...ids, status } }
    const other = numberedEvent(1, to.binding, to.version === '1.0' ? '0.3' : '1.0')
    return [
      ['an unknown state', to.binding === 'JSONRPC' ? { jsonrpc: '2.0', id: 7, result: update } : update],
      // Over HTTP, both versions have the same form of an update.
      ['nothing, or the other version', to.binding === 'JSONRPC' ? other : {}],
    ]
  }

  it('ends where the agent sends what is not A2A, whatever the level of `responses`', async () => {
    for (const [name, bad] of badEvents()) {
      called.agent.respond(reply(200, stream, ofAgent(0) + eventText(bad) + ofAgent(2)))
      for (const from of callers) {
        const events = parseEvents(await (await open(from, to, 'stream')).text())
        const refusal = JSON.stringify(events[1])
        expect([events.length, refusal], `${name}, ${nameOf(from)}`).toEqual([2, expect.stringContaining('not A2A')])
      }
    }
  })

  it('is refused with -32006 where an answer is not A2A', async () => {
    for (const [name, bad] of badEvents()) {
      called.agent.respond(reply(200, json, JSON.stringify(bad)))
      for (const from of callers) {
        const response = await open(from, to, 'send')
        const code = codeOf((await response.json()) as Json)
        const expected = nameOf(from) === 'HTTP+JSON 1.0' ? 502 : -32006
        expect([response.status, code], `${name}, ${nameOf(from)}`).toEqual([502, expected])
      }
    }
  })
})

const v1: Protocol = { binding: 'JSONRPC', version: '1.0' }
const v03: Protocol = { binding: 'JSONRPC', version: '0.3' }

it('ends a stream with an event that is too large to be translated', async () => {
  const large = numberedEvent(1, 'JSONRPC', '1.0')
  const text = eventText({ ...large, padding: 'x'.repeat(MAX_EVENT_BYTES) })
  called.agent.respond(reply(200, stream, eventText(numberedEvent(0, 'JSONRPC', '1.0')) + text))
  const events = parseEvents(await (await open(v03, v1, 'stream')).text())
  expect(events).toMatchObject([{ data: expectedEvent(0, v03) }, { data: { error: { code: -32006 } } }])
})

it('passes a result in place of a stream as one, without a stream', async () => {
  for (const [from, to] of combine(protocols, protocols)) {
    called.agent.respond(reply(200, json, JSON.stringify(numberedEvent(0, to.binding, to.version))))
    const response = await open(from, to, 'stream')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, expect.stringContaining('json')])
    const sent = isSameProtocol(from, to) ? numberedEvent(0, to.binding, to.version) : expectedEvent(0, from)
    expect(await response.json(), `${nameOf(from)} from ${nameOf(to)}`).toEqual(sent)
  }
})

it('answers with one event where a client of 0.3 requested a stream and the agent refuses', async () => {
  const error = { code: -32004, message: 'No streams today' }
  called.agent.respond(reply(200, json, JSON.stringify({ jsonrpc: '2.0', id: 7, error })))
  const response = await open(v03, v1, 'stream')
  expect([response.headers.get('content-type'), parseEvents(await response.text())]).toEqual([
    'text/event-stream',
    [{ data: { jsonrpc: '2.0', id: 7, error } }],
  ])
})

describe('what a translation loses', () => {
  it('is in Gate-Warning and in the log, each member once', async () => {
    const parts = [1, 2].map(() => ({ text: 'a', filename: 'a.md', mediaType: 'text/markdown' }))
    const answer = { message: { messageId: 'm', role: 'ROLE_AGENT', parts } }
    called.agent.respond(reply(200, json, JSON.stringify({ jsonrpc: '2.0', id: 7, result: answer })))
    const response = await open(v03, v1, 'send')
    expect(response.headers.get('Gate-Warning')).toBe('lossy (parts[].filename parts[].mediaType)')
    const log = () => called.host.logged().filter(line => line.includes(idOf(v1)))
    await expect
      .poll(() => log().at(-1))
      .toContain('"calling_card.warnings":"lossy (parts[].filename parts[].mediaType)"')
  })

  it('is in the log for an event of a stream', async () => {
    const status = { state: 'working', timestamp: 'yesterday' }
    const event = { kind: 'status-update', taskId: 't', contextId: 'c', status, final: true }
    const text = eventText({ jsonrpc: '2.0', id: 7, result: event })
    called.agent.respond(reply(200, stream, text + text))
    expect(parseEvents(await (await open(v1, v03, 'stream')).text())).toHaveLength(2)
    const log = () => called.host.logged().filter(line => line.includes(idOf(v03)) && line.includes('lossy'))
    await expect.poll(() => log().length).toBe(1)
    expect(log()[0]).toContain('"calling_card.warnings":"lossy (status.timestamp final)"')
  })
})

describe('a call in the protocol of its agent', () => {
  it('has the headers of its version and binding, and so has the answer', async () => {
    called.agent.respond((response, request, body) => {
      response.setHeader('X-A2A-Extensions', 'urn:rain')
      response.setHeader('A2A-Version', '0.3')
      answerCalls(response, request, body)
    })
    const { headers, body } = await called.send(`/agents/${idOf(v03)}/a2a/message:send`, {
      headers: { 'Content-Type': 'application/a2a+json', 'A2A-Version': '1.0', 'A2A-Extensions': 'urn:rain, urn:sun' },
      body: message(),
    })
    const [received] = called.agent.requests
    expect([received?.method, received?.path, JSON.parse(received?.body ?? '').method]).toEqual([
      'POST',
      '/',
      'message/send',
    ])
    expect(received?.headers).toMatchObject({
      'a2a-version': '0.3',
      'x-a2a-extensions': 'urn:rain, urn:sun',
      'content-type': 'application/json',
      accept: 'application/json',
    })
    expect(received?.headers).not.toHaveProperty('a2a-extensions')
    expect([headers.get('A2A-Extensions'), headers.get('X-A2A-Extensions'), headers.get('A2A-Version')]).toEqual([
      'urn:rain',
      null,
      '1.0',
    ])
    expect([headers.get('Content-Type'), body]).toEqual(['application/a2a+json', resultOf('send', '1.0')])
  })

  it('has the tenant of the card, and not the one of the caller', async () => {
    const supportedInterfaces = [
      { url: called.agent.origin, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: 'north' },
    ]
    await called.register('bridged-tenant', {
      card: agentCard(called.agent.origin, { supportedInterfaces }),
      route: 'gateway',
    })
    called.agent.respond(answerCalls)
    for (const [method, params] of [
      ['SendMessage', message({ tenant: 'south' })],
      ['GetTask', { id: 't-1', tenant: 'south' }],
    ] as const)
      expect((await called.send('/agents/bridged-tenant/a2a', { body: call(method, params) })).status).toBe(200)
    const [sent, got] = called.agent.requests
    expect([sent?.path, JSON.parse(sent?.body ?? ''), got?.path]).toEqual([
      '/north/message:send',
      message({ tenant: 'north' }),
      '/north/tasks/t-1',
    ])
  })

  it('reaches the tasks of its caller only, if they are kept apart', async () => {
    await called.register('bridged-owner', { card: cardOf(v1), route: 'gateway', gate: { tasks: 'owner' } })
    const task = (resultOf('resubscribe', '1.0') as { task: JsonObject }).task
    called.agent.respond((response, _, body) => {
      const { id, method } = JSON.parse(body.toString())
      const result = method === 'SendMessage' ? { task } : task
      response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
    const [mine, theirs] = await Promise.all([1, 2].map(() => called.issue({ scopes: ['read'] })))
    const path = '/agents/bridged-owner/a2a'
    const started = await called.send(path, { body: call('message/send', messageV03()), token: mine?.token })
    expect(started.body).toMatchObject({ result: { kind: 'task', id: 't-1' } })
    const get = (token: string | undefined) => called.send(path, { body: call('tasks/get', { id: 't-1' }), token })
    expect((await get(mine?.token)).body).toMatchObject({ result: { kind: 'task', id: 't-1' } })
    called.agent.requests.length = 0
    expect((await get(theirs?.token)).body).toMatchObject({ error: { code: -32001 } })
    const other = await called.send(`${path}/v1/tasks/t-1`, { method: 'GET', token: theirs?.token })
    expect([other.status, called.agent.requests]).toEqual([404, []])
  })
})

it('refuses what the level of `bridge` does not translate', async () => {
  called.agent.respond(reply(500, {}, 'must not be called'))
  for (const [bridge, path, body, code] of [
    ['off', '', call('message/send', messageV03()), -32009],
    ['versions', '/message:send', message(), 400],
    ['bindings', '', call('message/send', messageV03()), -32009],
  ] as const) {
    const id = `${idOf(v1)}-${bridge}`
    await called.register(id, { card: cardOf(v1), route: 'gateway', bridge })
    expect(codeOf((await called.send(`/agents/${id}/a2a${path}`, { body })).body), bridge).toBe(code)
  }
  expect(called.agent.requests).toEqual([])
})

it('lists what is lost in the report of a registration', async () => {
  const pushes = '/capabilities/pushNotifications'
  for (const [{ binding, version }, manifest, expected] of [
    [v03, {}, ['/supportedInterfaces', pushes, '/defaultInputModes']],
    [v1, {}, [pushes, '/defaultOutputModes']],
    [v03, { bridge: 'off' }, []],
    [v03, { bridge: 'bindings' }, []],
    [v03, { route: 'direct' }, []],
  ] as [Protocol, JsonObject, string[]][]) {
    const card = agentCard(called.agent.origin, {
      capabilities: { streaming: true, pushNotifications: true },
      defaultInputModes: ['text/plain', 'text/markdown'],
      defaultOutputModes: ['text/html'],
      supportedInterfaces: [{ url: called.agent.origin, protocolBinding: binding, protocolVersion: version }],
    })
    const { report } = await called.register('bridged-report', { card, route: 'gateway', ...manifest })
    const { lossy } = report as { lossy: { pointer: string }[] }
    expect(
      lossy.map(({ pointer }) => pointer),
      JSON.stringify([version, manifest]),
    ).toEqual(expected)
  }
})
