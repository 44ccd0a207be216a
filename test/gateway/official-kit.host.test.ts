import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { call, codeOf, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { reply } from '../support/upstream.ts'

/** What the mandatory category of a2aproject/a2a-tck for A2A 0.3 sends over JSON-RPC, and what it expects. */
let called: CalledHost
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

const expectRejected = async (rows: [body: Json, code: number, id?: Json][]) => {
  for (const [body, code, id = null] of rows) {
    const { status, body: answer } = await send(body)
    expect([status, codeOf(answer), (answer as JsonObject).id], JSON.stringify(body)).toEqual([200, code, id])
  }
  expect(called.agent.requests).toEqual([])
}

describe('the mandatory category of the official kit for 0.3', () => {
  it('rejects invalid calls with HTTP 200', async () => {
    const pushConfig = { taskId: 't', pushNotificationConfig: { url: 'https://x.example/' } }
    await expectRejected([
      [{ jsonrpc: 'aaa', method: 'message/send', params: {} }, -32600],
      [{ jsonrpc: '2.0', params: {} }, -32600],
      [{ jsonrpc: '2.0', method: 'message/ssend', params: {} }, -32601],
      [{ jsonrpc: '2.0', method: 'message/send', params: {}, id: { bad: 'type' } }, -32600],
      [{ jsonrpc: '2.0', method: 'message/send', params: { '': 'not_a_dict' } }, -32602],
      [call('nonexistent/method', {}, 'kit-1'), -32601, 'kit-1'],
      [{ ...call('message/send', messageV03(), 'kit-1'), jsonrpc: '1.0' }, -32600, 'kit-1'],
      [without('method'), -32600, 'kit-1'],
      // Not supported by the agent.
      [call('tasks/pushNotificationConfig/set', pushConfig, 'p'), -32003, 'p'],
    ])
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

it('forwards no call without an id, whose wrong parameters are reported first', () =>
  expectRejected([
    [without('id'), -32600],
    [{ jsonrpc: '2.0', method: 'tasks/get', params: { id: 't' } }, -32600],
    [{ jsonrpc: '2.0', method: 'message/send', params: { Message: messageV03().message ?? null } }, -32602],
  ]))
