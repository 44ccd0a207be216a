import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canTranslate } from '../../src/card/model/calls.ts'
import type { Protocol } from '../../src/card/model/versions.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerCalls, numberedEvent, resultOf } from '../support/answers.ts'
import { type CalledHost, nextAddress, useSharedHost } from '../support/called-host.ts'
import { call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { compileCard } from '../support/cards/compile.ts'
import { parseEvents } from '../support/event-stream.ts'
import { json, reply, stream } from '../support/upstream.ts'

let called: CalledHost
beforeAll(async () => {
  called = await useSharedHost()
  for (const to of [v1, v03, restV1])
    await called.register(idOf(to), { card: cardOf(to), route: 'gateway', gate: { modes: 'off', responses: 'warn' } })
})
afterAll(() => called.close())

const v1: Protocol = { binding: 'JSONRPC', version: '1.0' }
const v03: Protocol = { binding: 'JSONRPC', version: '0.3' }
const restV1: Protocol = { binding: 'HTTP+JSON', version: '1.0' }
const nameOf = ({ binding, version }: Protocol): string => `${binding} ${version}`
const idOf = (to: Protocol): string => `bridged-${nameOf(to).toLowerCase().replace(/\W/g, '-')}`
const cardOf = ({ binding, version }: Protocol): JsonObject =>
  agentCard(called.agent.origin, {
    supportedInterfaces: [{ url: called.agent.origin, protocolBinding: binding, protocolVersion: version }],
  })

/** Opens a stream, or sends a message, in the protocol of a caller. */
const open = ({ binding, version }: Protocol, to: Protocol, method: 'stream' | 'send') => {
  const names = version === '0.3' ? ['message/stream', 'message/send'] : ['SendStreamingMessage', 'SendMessage']
  const body = version === '0.3' ? messageV03() : message()
  const isRpc = binding === 'JSONRPC'
  return called.host.fetch(`/agents/${idOf(to)}/a2a${isRpc ? '' : `/message:${method}`}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Accept-Encoding': 'identity', 'CF-Connecting-IP': nextAddress() },
    body: JSON.stringify(isRpc ? call(names[method === 'stream' ? 0 : 1], body) : body),
  })
}

const eventText = (data: Json, type = ''): string => `${type}data: ${JSON.stringify(data)}\n\n`

const ofAgent = (number: number, { binding, version }: Protocol) => eventText(numberedEvent(number, binding, version))

describe('a translated stream', () => {
  it('has events and errors in the form of the caller, where only HTTP+JSON marks an error with a type', async () => {
    const error = { code: -32603, message: 'Out of rain' }
    const errorV1 = { error: { code: 500, status: 'INTERNAL', message: 'Out of rain' } }
    const rpcError = { jsonrpc: '2.0', id: 7, error }
    const restError = { event: 'error', data: { error: { code: 500, message: 'Out of rain' } } }
    for (const [from, to, text, last] of [
      [v03, restV1, eventText(errorV1, 'event: error\n'), { event: undefined, data: rpcError }],
      [restV1, v03, eventText(rpcError), restError],
    ] as const) {
      called.agent.respond(reply(200, stream, ofAgent(0, to) + text))
      const events = parseEvents(await (await open(from, to, 'stream')).text())
      const [first, second] = events.map(each => ({ event: undefined, ...each }))
      expect(first).toEqual({ event: undefined, data: numberedEvent(0, from.binding, from.version) })
      expect(second, nameOf(from)).toMatchObject(last)
    }
  })

  it('ends where the agent sends what is not A2A, whatever the level of `responses`', async () => {
    called.agent.respond(reply(200, stream, ofAgent(0, v1) + eventText({}) + ofAgent(2, v1)))
    const events = parseEvents(await (await open(restV1, v1, 'stream')).text())
    expect([events.length, JSON.stringify(events[1])]).toEqual([2, expect.stringContaining('not A2A')])
    called.agent.respond(reply(200, json, '{}'))
    const response = await open(v03, v1, 'send')
    expect([response.status, codeOf((await response.json()) as Json)]).toEqual([502, -32006])
  })

  it('may be a result, which is no stream then', async () => {
    called.agent.respond(reply(200, json, JSON.stringify(numberedEvent(0, 'HTTP+JSON', '1.0'))))
    const response = await open(v03, restV1, 'stream')
    expect([response.headers.get('content-type'), await response.json()]).toEqual([
      'application/json',
      numberedEvent(0, 'JSONRPC', '0.3'),
    ])
  })

  it('is one event where a client of 0.3 requested it and the agent refuses', async () => {
    const error = { code: -32004, message: 'No streams today' }
    called.agent.respond(reply(200, json, JSON.stringify({ jsonrpc: '2.0', id: 7, error })))
    const response = await open(v03, v1, 'stream')
    expect([response.headers.get('content-type'), parseEvents(await response.text())]).toEqual([
      'text/event-stream',
      [{ data: { jsonrpc: '2.0', id: 7, error } }],
    ])
  })
})

describe('what a translation loses', () => {
  it('is in Gate-Warning, each member once', async () => {
    const parts = [1, 2].map(() => ({ text: 'a', filename: 'a.md', mediaType: 'text/markdown' }))
    const answer = { message: { messageId: 'm', role: 'ROLE_AGENT', parts } }
    called.agent.respond(reply(200, json, JSON.stringify({ jsonrpc: '2.0', id: 7, result: answer })))
    const response = await open(v03, v1, 'send')
    expect(response.headers.get('Gate-Warning')).toBe('lossy (parts[].filename parts[].mediaType)')
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
    expect([received?.path, JSON.parse(received?.body ?? '').method]).toEqual(['/', 'message/send'])
    expect(received?.headers).toMatchObject({
      ...{ 'a2a-version': '0.3', 'x-a2a-extensions': 'urn:rain, urn:sun' },
      ...{ 'content-type': 'application/json', accept: 'application/json' },
    })
    expect(received?.headers).not.toHaveProperty('a2a-extensions')
    const names = ['A2A-Extensions', 'X-A2A-Extensions', 'A2A-Version', 'Content-Type']
    const expected = ['urn:rain', null, '1.0', 'application/a2a+json']
    expect([names.map(name => headers.get(name)), body]).toEqual([expected, resultOf('send', '1.0')])
  })

  it('has the tenant of the card, and not the one of the caller', async () => {
    const supportedInterfaces = [
      { url: called.agent.origin, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: 'north' },
    ]
    const card = agentCard(called.agent.origin, { supportedInterfaces })
    await called.register('bridged-tenant', { card, route: 'gateway' })
    called.agent.respond(answerCalls)
    await called.send('/agents/bridged-tenant/a2a', { body: call('SendMessage', message({ tenant: 'south' })) })
    const [sent] = called.agent.requests
    expect([sent?.path, JSON.parse(sent?.body ?? '')]).toEqual(['/north/message:send', message({ tenant: 'north' })])
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
    expect(called.agent.requests).toEqual([])
  })
})

it('is made as far as the level of `bridge` allows', () => {
  for (const [from, level, expected] of [
    [v03, 'off', false],
    [v03, 'bindings', false],
    [restV1, 'bindings', true],
    [v03, 'versions', true],
    [restV1, 'versions', false],
    [restV1, 'all', true],
  ] as const)
    expect(canTranslate(from, v1, level), level).toBe(expected)
})

it('lists what is lost in the report of a registration', () => {
  const pushes = '/capabilities/pushNotifications'
  for (const [{ binding, version }, manifest, expected] of [
    [v03, {}, ['/supportedInterfaces', pushes, '/defaultInputModes']],
    [v1, {}, [pushes, '/defaultOutputModes']],
    [v03, { bridge: 'off' }, []],
    [v03, { bridge: 'bindings' }, []],
    [v03, { route: 'direct' }, []],
  ] as [Protocol, JsonObject, string[]][]) {
    const card = agentCard('https://agent.example', {
      capabilities: { streaming: true, pushNotifications: true },
      defaultInputModes: ['text/plain', 'text/markdown'],
      defaultOutputModes: ['text/html'],
      supportedInterfaces: [{ url: 'https://agent.example', protocolBinding: binding, protocolVersion: version }],
    })
    const { lossy } = compileCard({ card, route: 'gateway', ...manifest }).report
    const pointers = lossy.map(({ pointer }) => pointer)
    expect(pointers, JSON.stringify([version, manifest])).toEqual(expected)
  }
})
