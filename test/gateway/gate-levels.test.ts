import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { type CalledHost, startCalledHost } from '../support/called-host.ts'
import { answer, call, codeOf, message, message0 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { json, reply, stream } from '../support/upstream.ts'

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
      const spoken =
        family === 'version'
          ? [{ url: `${origin}/rpc-1`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
          : undefined
      await called.register(`${family}-${level}`, {
        card: agentCard(origin, {
          capabilities: { streaming: false, pushNotifications: false, ...extensions },
          ...(spoken && { supportedInterfaces: spoken }),
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
beforeEach(() => called.agent.respond(reply(200, json, JSON.stringify(answer))))

/** A call that each family refuses, with what it is refused as. */
const refused: [Family, string, number, string, JsonObject][] = [
  ['capabilities', 'a stream', -32004, 'streaming', call('SendStreamingMessage')],
  ['capabilities', 'coming back to a stream', -32004, 'streaming', call('SubscribeToTask', { id: 't' })],
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
    'one in a message of 0.3',
    -32003,
    'push-notifications',
    call('message/send', message0({ configuration: { pushNotificationConfig: { url: 'https://x.example' } } })),
  ],
  [
    'modes',
    'what comes out',
    -32005,
    'output-modes',
    call('SendMessage', message({ configuration: { acceptedOutputModes: ['image/png'] } })),
  ],
  [
    'modes',
    'what goes in',
    -32005,
    'input-modes',
    call('SendMessage', { message: { parts: [{ raw: 'AA==', mediaType: 'image/png' }] } }),
  ],
  ['extensions', 'a message', -32008, 'extensions', call()],
  ['extensions', 'a task', -32008, 'extensions', call('GetTask', { id: 't' })],
  ['version', 'a message of 0.3', -32009, 'version', call('message/send', message0())],
]

describe.each(refused)('gate.%s: %s', (family, _, code, name, body) => {
  it('enforce refuses it', async () => {
    const came = await called.send(`/agents/${family}-enforce/a2a`, { body })
    expect([came.status, codeOf(came.body), came.headers.get('gate-warning'), called.agent.requests]).toEqual([
      200,
      code,
      null,
      [],
    ])
  })

  it('warn forwards it and says so, in the answer and in the log', async () => {
    const came = await called.send(`/agents/${family}-warn/a2a`, { body })
    expect([came.status, came.body, came.headers.get('gate-warning'), called.agent.requests.length]).toEqual([
      200,
      answer,
      name,
      1,
    ])
    expect(called.agent.requests.map(({ body }) => JSON.parse(body))).toEqual([body])
    expect(came.headers.get('access-control-expose-headers')).toContain('Gate-Warning')
    await expect.poll(() => called.host.logged().at(-1)).toContain(`"warnings":"${name}"`)
  })

  it('off forwards it', async () => {
    const came = await called.send(`/agents/${family}-off/a2a`, { body })
    expect([came.status, came.body, came.headers.get('gate-warning'), called.agent.requests.length]).toEqual([
      200,
      answer,
      null,
      1,
    ])
  })
})

describe('gate: warn', () => {
  it('names all that it would have refused', async () => {
    const configuration = { acceptedOutputModes: ['image/png'], taskPushNotificationConfig: {} }
    const body = call('SendMessage', { message: { parts: [{ raw: 'AA==', mediaType: 'image/png' }] }, configuration })
    const came = await called.send('/agents/all-warn/a2a', { body })
    expect([came.headers.get('gate-warning'), came.body]).toEqual([
      'push-notifications, extensions, input-modes, output-modes',
      answer,
    ])
  })

  it('says so over HTTP+JSON, and of a stream', async () => {
    called.agent.respond(reply(200, stream, 'data: {}\n\n'))
    const came = await called.send('/agents/all-warn/a2a/message:stream', { body: message() })
    expect([came.headers.get('gate-warning'), came.headers.get('content-type'), came.text]).toEqual([
      'streaming, extensions',
      'text/event-stream',
      'data: {}\n\n',
    ])
  })

  it('says so of an agent that fails, too', async () => {
    called.agent.respond(reply(200, { 'Content-Type': 'text/html' }, ''))
    const came = await called.send('/agents/all-warn/a2a', { body: call() })
    expect([came.status, came.headers.get('gate-warning')]).toEqual([502, 'extensions'])
  })

  it.each([
    ['what is no call', '[]', 400],
    ['a method that there is not', JSON.stringify(call('NoSuchMethod')), 200],
    ['a version that nobody speaks here', JSON.stringify(call()), 200],
  ])('does not let through %s', async (what, body, status) => {
    const headers: Record<string, string> = what.includes('version') ? { 'A2A-Version': '9.9' } : {}
    const came = await called.send('/agents/all-warn/a2a', { body, headers })
    expect([came.status, codeOf(came.body) !== undefined, called.agent.requests]).toEqual([status, true, []])
  })

  it('nor a call of an agent of which this host has the card alone', async () => {
    const body = call('SendMessage', message({ configuration: { acceptedOutputModes: ['image/png'] } }))
    const came = await called.send('/agents/closed-warn/a2a', { body })
    expect([codeOf(came.body), called.agent.requests]).toEqual([-32004, []])
  })

  it('says nothing of a call that all is well with', async () => {
    const came = await called.send('/agents/modes-warn/a2a', { body: call() })
    expect([came.body, came.headers.get('gate-warning')]).toEqual([answer, null])
  })
})

describe('extensions that are required', () => {
  it.each([
    ['A2A-Extensions', extension],
    ['A2A-Extensions', `https://other.example/, ${extension}`],
    ['X-A2A-Extensions', extension],
  ])('are named in %s: %s, and go on to the agent', async (header, value) => {
    const came = await called.send('/agents/extensions-enforce/a2a', { body: call(), headers: { [header]: value } })
    expect([came.body, called.agent.requests.map(({ headers }) => headers['a2a-extensions'])]).toEqual([
      answer,
      [value],
    ])
  })
})
