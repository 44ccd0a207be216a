import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerCalls, answerTo, numberedEvent } from '../support/answers.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { agentResponse, call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { html, reply, stream } from '../support/upstream.ts'

const extension = 'https://extensions.example.com/politeness/v1'
const families = ['capabilities', 'modes', 'extensions', 'version'] as const
type Family = (typeof families)[number]

const sendWith = (configuration: JsonObject) => call('SendMessage', message({ configuration }))
const sendV03With = (configuration: JsonObject) => call('message/send', messageV03({ configuration }))

let called: CalledHost
beforeAll(async () => {
  called = await useSharedHost()
  const { origin } = called.agent
  const capabilities = { streaming: false, pushNotifications: false }
  const demanding = { ...capabilities, extensions: [{ uri: extension, required: true }] }
  const onlyV1 = [{ url: `${origin}/rpc-1`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
  for (const family of families)
    for (const level of ['enforce', 'warn', 'off'])
      await called.register(`gate-${family}-${level}`, {
        card: agentCard(origin, {
          capabilities: family === 'extensions' ? demanding : capabilities,
          ...(family === 'version' && { supportedInterfaces: onlyV1 }),
        }),
        gate: { [family]: level },
      })
  await called.register('gate-all-warn', {
    card: agentCard(origin, { capabilities: demanding }),
    gate: { capabilities: 'warn', modes: 'warn', extensions: 'warn', version: 'warn' },
  })
  await called.register('gate-closed-warn', { card: agentCard(origin), route: 'closed', gate: { modes: 'warn' } })
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(answerCalls))

const send = (id: string, body: Json, headers: Record<string, string> = {}) =>
  called.send(`/agents/gate-${id}/a2a`, { body, headers })
const image = { messageId: 'm', role: 'ROLE_USER', parts: [{ raw: 'AA==', mediaType: 'image/png' }] }
const ofImages = { acceptedOutputModes: ['image/png'] }
const url = 'https://x.example'

/** A gate check, a call that fails it, its error, and the kind of that error. */
const failingCalls: [Family, JsonObject, number, string][] = [
  ['capabilities', call('SendStreamingMessage'), -32004, 'streaming'],
  ['capabilities', call('SubscribeToTask', { id: 't' }), -32004, 'streaming'],
  ['capabilities', call('ListTaskPushNotificationConfigs', { taskId: 't' }), -32003, 'push-notifications'],
  ['capabilities', sendWith({ taskPushNotificationConfig: { url } }), -32003, 'push-notifications'],
  ['capabilities', sendV03With({ pushNotificationConfig: { url }, blocking: true }), -32003, 'push-notifications'],
  ['modes', sendWith(ofImages), -32005, 'output-modes'],
  ['modes', call('SendMessage', { message: image }), -32005, 'input-modes'],
  ['extensions', call(), -32008, 'extensions'],
  ['extensions', call('GetTask', { id: 't' }), -32008, 'extensions'],
  ['version', call('message/send', messageV03()), -32009, 'version'],
  ['version', call('SendMessage', messageV03()), -32602, 'invalid-params'],
]

describe('a call that fails a check', () => {
  it('is rejected with enforce', async () => {
    for (const [family, body, code, kind] of failingCalls) {
      const { status, headers, body: answer } = await send(`${family}-enforce`, body)
      expect([status, codeOf(answer), headers.get('gate-warning')], kind).toEqual([200, code, null])
    }
    expect(called.agent.requests).toEqual([])
  })

  it('is forwarded with warn, which names the error in the response and the log', async () => {
    for (const [family, body, , kind] of failingCalls) {
      // The agent answers with text even if the caller does not accept it.
      const warnings = kind === 'output-modes' ? `${kind}, unaccepted-output-modes` : kind
      const { headers, body: answer } = await send(`${family}-warn`, body)
      expect([answer, headers.get('gate-warning')], kind).toEqual([answerTo(body), warnings])
      expect(called.agent.requests.splice(0).map(({ body }) => JSON.parse(body))).toEqual([body])
      expect(headers.get('access-control-expose-headers')).toContain('Gate-Warning')
      const line = () => called.host.logged().findLast(each => each.includes(`gate-${family}-warn`))
      await expect.poll(line).toContain(`"calling_card.warnings":"${warnings}"`)
    }
  })

  it('is forwarded with off', async () => {
    for (const [family, body, , kind] of failingCalls) {
      const { headers, body: answer } = await send(`${family}-off`, body)
      expect([answer, headers.get('gate-warning')], kind).toEqual([answerTo(body), null])
      expect(called.agent.requests.splice(0), kind).toHaveLength(1)
    }
  })
})

describe('the gate level warn', () => {
  it('names every failed check', async () => {
    const configuration = { ...ofImages, taskPushNotificationConfig: {} }
    const { headers, body } = await send('all-warn', call('SendMessage', { message: image, configuration }))
    const warnings = 'push-notifications, extensions, input-modes, output-modes, unaccepted-output-modes'
    expect([headers.get('gate-warning'), body]).toEqual([warnings, agentResponse])
  })

  it('sends Gate-Warning over HTTP+JSON, and with a stream', async () => {
    const event = `data: ${JSON.stringify(numberedEvent(1, 'HTTP+JSON', '1.0'))}\n\n`
    called.agent.respond(reply(200, stream, event))
    const { headers, text } = await called.send('/agents/gate-all-warn/a2a/message:stream', { body: message() })
    expect([headers.get('gate-warning'), headers.get('content-type'), text]).toEqual([
      ...['streaming, extensions', 'text/event-stream', event],
    ])
  })

  it('sends Gate-Warning when the agent fails, and none for a valid call', async () => {
    const valid = await send('modes-warn', call())
    expect([valid.body, valid.headers.get('gate-warning')]).toEqual([agentResponse, null])
    called.agent.respond(reply(200, html, ''))
    const failed = await send('all-warn', call())
    expect([failed.status, failed.headers.get('gate-warning')]).toEqual([502, 'extensions'])
  })

  it('still rejects what is not a call, and a call of a closed agent', async () => {
    for (const [id, body, version, code] of [
      ['all-warn', '[]', '', -32600],
      ['all-warn', call('NoSuchMethod'), '', -32601],
      ['all-warn', call(), '9.9', -32009],
      ['closed-warn', sendWith(ofImages), '', -32004],
    ] as const)
      expect(codeOf((await send(id, body, { 'A2A-Version': version })).body), `${code}`).toBe(code)
    expect(called.agent.requests).toEqual([])
  })
})

it('reads required extensions from both headers, and forwards them', async () => {
  for (const [header, value] of [
    ['A2A-Extensions', extension],
    ['A2A-Extensions', `https://other.example/, ${extension}`],
    ['X-A2A-Extensions', extension],
  ] as const) {
    expect((await send('extensions-enforce', call(), { [header]: value })).body, header).toEqual(agentResponse)
    expect(called.agent.requests.splice(0).map(({ headers }) => headers['a2a-extensions'])).toEqual([value])
  }
})
