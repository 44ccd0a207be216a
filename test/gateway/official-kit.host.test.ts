import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { call, codeOf, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import type { Host } from '../support/host.ts'
import { reply } from '../support/upstream.ts'

/** What the mandatory category of a2aproject/a2a-tck for A2A 0.3 sends over JSON-RPC, and what it expects. */
let called: CalledHost<Host>
beforeAll(async () => {
  called = await useSharedHost()
  const card = agentCard(called.agent.origin, { capabilities: { streaming: true, pushNotifications: false } })
  await called.register('official-kit', { card, route: 'gateway' })
  called.agent.respond(reply(500, {}, 'must not be called'))
})
afterAll(() => called.close())

const send = (body: Json) => called.send('/agents/official-kit', { body })
const without = (name: string, body: JsonObject = call('message/send', messageV03(), 'kit-1')): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([each]) => each !== name))

describe('the mandatory category of the official kit for 0.3', () => {
  it.each<[string, Json, number, Json]>([
    ['another jsonrpc, no id', { jsonrpc: 'aaa', method: 'message/send', params: {} }, -32600, null],
    ['no method, no id', { jsonrpc: '2.0', params: {} }, -32600, null],
    ['an unknown method, no id', { jsonrpc: '2.0', method: 'message/ssend', params: {} }, -32601, null],
    [
      'an id that is an object',
      { jsonrpc: '2.0', method: 'message/send', params: {}, id: { bad: 'type' } },
      -32600,
      null,
    ],
    ['no message, no id', { jsonrpc: '2.0', method: 'message/send', params: { '': 'not_a_dict' } }, -32602, null],
    ['an unknown method', call('nonexistent/method', {}, 'kit-1'), -32601, 'kit-1'],
    ['another jsonrpc', { ...call('message/send', messageV03(), 'kit-1'), jsonrpc: '1.0' }, -32600, 'kit-1'],
    ['no method', without('method'), -32600, 'kit-1'],
    [
      'a push configuration, which is not supported',
      call(
        'tasks/pushNotificationConfig/set',
        { taskId: 't', pushNotificationConfig: { url: 'https://x.example/' } },
        'p',
      ),
      -32003,
      'p',
    ],
  ])('rejects %s with HTTP 200', async (_, body, code, id) => {
    const { status, body: answer } = await send(body)
    expect([status, codeOf(answer), (answer as JsonObject).id, called.agent.requests]).toEqual([200, code, id, []])
  })

  it('rejects truncated JSON with a parse error', async () => {
    const { status, body } = await send('{"jsonrpc": "2.0", "method": "message/send", "params": {"foo": "bar"}')
    expect([status, codeOf(body)]).toEqual([400, -32700])
  })

  it('reads in the message of -32003 that push notifications are not supported', async () => {
    const { text } = await send(call('tasks/pushNotificationConfig/get', { id: 't' }))
    for (const word of ['push', 'notification', 'not', 'supported']) expect(text.toLowerCase()).toContain(word)
  })
})

describe('a call without an id', () => {
  it.each<[string, JsonObject, number]>([
    ['is not forwarded', without('id'), -32600],
    ['is not forwarded if it needs no message', { jsonrpc: '2.0', method: 'tasks/get', params: { id: 't' } }, -32600],
    [
      'has wrong parameters first',
      { jsonrpc: '2.0', method: 'message/send', params: { Message: messageV03().message ?? null } },
      -32602,
    ],
  ])('%s', async (_, body, code) => {
    const { status, body: answer } = await send(body)
    expect([status, codeOf(answer), called.agent.requests]).toEqual([200, code, []])
  })
})
