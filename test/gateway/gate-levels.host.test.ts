import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { answerCalls, answerTo, numberedEvent } from '../support/answers.ts'
import { type CalledHost, startCalledHost } from '../support/called-host.ts'
import { agentResponse, call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { reply, stream } from '../support/upstream.ts'

const extension = 'https://extensions.example.com/politeness/v1'
const families = ['capabilities', 'modes', 'extensions', 'version'] as const
type Family = (typeof families)[number]

let called: CalledHost
beforeAll(async () => {
  called = await startCalledHost()
  const { origin } = called.agent
  for (const family of families)
    for (const level of ['enforce', 'warn', 'off']) {
      const extensions = family === 'extensions' ? { extensions: [{ uri: extension, required: true }] } : {}
      const interfaces =
        family === 'version'
          ? [{ url: `${origin}/rpc-1`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
          : undefined
      await called.register(`${family}-${level}`, {
        card: agentCard(origin, {
          capabilities: { streaming: false, pushNotifications: false, ...extensions },
          ...(interfaces && { supportedInterfaces: interfaces }),
        }),
        gate: { [family]: level },
      })
    }
  await called.register('all-warn', {
    card: agentCard(origin, {
      capabilities: { streaming: false, pushNotifications: false, extensions: [{ uri: extension, required: true }] },
    }),
    gate: { capabilities: 'warn', modes: 'warn', extensions: 'warn', version: 'warn' },
  })
  await called.register('closed-warn', { card: agentCard(origin), route: 'closed', gate: { modes: 'warn' } })
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(answerCalls))

const image = { messageId: 'm', role: 'ROLE_USER', parts: [{ raw: 'AA==', mediaType: 'image/png' }] }

/** A gate check, a call that fails it, and its error. */
const failingCalls: [Family, string, number, string, JsonObject][] = [
  ['capabilities', 'a stream', -32004, 'streaming', call('SendStreamingMessage')],
  ['capabilities', 'subscribing to a task', -32004, 'streaming', call('SubscribeToTask', { id: 't' })],
  [
    'capabilities',
    'a push configuration of a task',
    -32003,
    'push-notifications',
    call('ListTaskPushNotificationConfigs', { taskId: 't' }),
  ],
  [
    'capabilities',
    'a push configuration in a message',
    -32003,
    'push-notifications',
    call('SendMessage', message({ configuration: { taskPushNotificationConfig: { url: 'https://x.example' } } })),
  ],
  [
    'capabilities',
    'a push configuration in a message of 0.3',
    -32003,
    'push-notifications',
    call(
      'message/send',
      messageV03({ configuration: { pushNotificationConfig: { url: 'https://x.example' }, blocking: true } }),
    ),
  ],
  [
    'modes',
    'output modes',
    -32005,
    'output-modes',
    call('SendMessage', message({ configuration: { acceptedOutputModes: ['image/png'] } })),
  ],
  ['modes', 'input modes', -32005, 'input-modes', call('SendMessage', { message: image })],
  ['extensions', 'a message', -32008, 'extensions', call()],
  ['extensions', 'a task', -32008, 'extensions', call('GetTask', { id: 't' })],
  ['version', 'a message of 0.3', -32009, 'version', call('message/send', messageV03())],
  ['version', 'a message of 0.3 in a call of 1.0', -32602, 'invalid-params', call('SendMessage', messageV03())],
]

describe.each(failingCalls)('gate.%s: %s', (family, _, code, name, body) => {
  it('rejects the call with enforce', async () => {
    const response = await called.send(`/agents/${family}-enforce/a2a`, { body })
    expect([
      response.status,
      codeOf(response.body),
      response.headers.get('gate-warning'),
      called.agent.requests,
    ]).toEqual([200, code, null, []])
  })

  it('forwards the call with warn, and names the error in the response and the log', async () => {
    // The agent answers with text even if the caller does not accept it.
    const warnings = name === 'output-modes' ? `${name}, unaccepted-output-modes` : name
    const response = await called.send(`/agents/${family}-warn/a2a`, { body })
    expect([
      response.status,
      response.body,
      response.headers.get('gate-warning'),
      called.agent.requests.length,
    ]).toEqual([200, answerTo(body), warnings, 1])
    expect(called.agent.requests.map(({ body }) => JSON.parse(body))).toEqual([body])
    expect(response.headers.get('access-control-expose-headers')).toContain('Gate-Warning')
    await expect.poll(() => called.host.logged().at(-1)).toContain(`"calling_card.warnings":"${warnings}"`)
  })

  it('forwards the call with off', async () => {
    const response = await called.send(`/agents/${family}-off/a2a`, { body })
    expect([
      response.status,
      response.body,
      response.headers.get('gate-warning'),
      called.agent.requests.length,
    ]).toEqual([200, answerTo(body), null, 1])
  })
})

describe('the gate level warn', () => {
  it('names every failed check', async () => {
    const configuration = { acceptedOutputModes: ['image/png'], taskPushNotificationConfig: {} }
    const body = call('SendMessage', { message: image, configuration })
    const response = await called.send('/agents/all-warn/a2a', { body })
    expect([response.headers.get('gate-warning'), response.body]).toEqual([
      'push-notifications, extensions, input-modes, output-modes, unaccepted-output-modes',
      agentResponse,
    ])
  })

  it('sends Gate-Warning over HTTP+JSON, and with a stream', async () => {
    const event = `data: ${JSON.stringify(numberedEvent(1, 'HTTP+JSON', '1.0'))}\n\n`
    called.agent.respond(reply(200, stream, event))
    const response = await called.send('/agents/all-warn/a2a/message:stream', { body: message() })
    expect([response.headers.get('gate-warning'), response.headers.get('content-type'), response.text]).toEqual([
      'streaming, extensions',
      'text/event-stream',
      event,
    ])
  })

  it('sends Gate-Warning when the agent fails', async () => {
    called.agent.respond(reply(200, { 'Content-Type': 'text/html' }, ''))
    const response = await called.send('/agents/all-warn/a2a', { body: call() })
    expect([response.status, response.headers.get('gate-warning')]).toEqual([502, 'extensions'])
  })

  it.each([
    ['a body that is not a call', '[]', 200],
    ['an unknown method', JSON.stringify(call('NoSuchMethod')), 200],
    ['an unknown version', JSON.stringify(call()), 200],
  ])('still rejects %s', async (fault, body, status) => {
    const headers: Record<string, string> = fault.includes('version') ? { 'A2A-Version': '9.9' } : {}
    const response = await called.send('/agents/all-warn/a2a', { body, headers })
    expect([response.status, codeOf(response.body) !== undefined, called.agent.requests]).toEqual([status, true, []])
  })

  it('still rejects a call of a closed agent', async () => {
    const body = call('SendMessage', message({ configuration: { acceptedOutputModes: ['image/png'] } }))
    const response = await called.send('/agents/closed-warn/a2a', { body })
    expect([codeOf(response.body), called.agent.requests]).toEqual([-32004, []])
  })

  it('sends no Gate-Warning for a valid call', async () => {
    const response = await called.send('/agents/modes-warn/a2a', { body: call() })
    expect([response.body, response.headers.get('gate-warning')]).toEqual([agentResponse, null])
  })
})

describe('required extensions', () => {
  it.each([
    ['A2A-Extensions', extension],
    ['A2A-Extensions', `https://other.example/, ${extension}`],
    ['X-A2A-Extensions', extension],
  ])('are read from %s: %s, and forwarded', async (header, value) => {
    const response = await called.send('/agents/extensions-enforce/a2a', { body: call(), headers: { [header]: value } })
    expect([response.body, called.agent.requests.map(({ headers }) => headers['a2a-extensions'])]).toEqual([
      agentResponse,
      [value],
    ])
  })
})
