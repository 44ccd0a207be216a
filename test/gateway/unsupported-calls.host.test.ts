import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { answerTo, numberedEvent } from '../support/answers.ts'
import { agentResponse, call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { useRefusedCalls } from '../support/refused-calls.ts'
import { html, reply, stream } from '../support/upstream.ts'

const { called, path, send, upstreamBodies, expectRejection } = useRefusedCalls('unsupported-calls')
const ofImages = { acceptedOutputModes: ['image/png'] }
const image = { messageId: 'm', role: 'ROLE_USER', parts: [{ raw: 'AA==', mediaType: 'image/png' }] }

describe('a call that the card does not allow', () => {
  beforeAll(async () => {
    const { origin } = called().agent
    const extensions = [{ uri: 'https://extensions.example.com/politeness/v1', required: true }]
    const card = agentCard(origin, { capabilities: { streaming: false, pushNotifications: false, extensions } })
    const gate = { capabilities: 'warn', modes: 'warn', extensions: 'warn', version: 'warn' }
    await called().register('unsupported-calls-enforce', { card })
    await called().register('unsupported-calls-warn', { card, gate })
  })
  const configuration = { ...ofImages, taskPushNotificationConfig: { url: 'https://x.example' } }
  const failing = call('SendMessage', { message: image, configuration })

  it('is refused by default', async () => {
    for (const [body, code] of [
      [failing, -32003],
      [call(), -32008],
    ] as const)
      expectRejection(await send(body, {}, '/agents/unsupported-calls-enforce/a2a'), { code })
  })

  it('is forwarded with the level warn, which names every failed check in the response and the log', async () => {
    const { headers, body } = await send(failing, {}, '/agents/unsupported-calls-warn/a2a')
    // The agent answers with text, which the caller does not accept.
    const warnings = 'push-notifications, extensions, input-modes, output-modes, unaccepted-output-modes'
    expect([headers.get('gate-warning'), body]).toEqual([warnings, agentResponse])
    expect(headers.get('access-control-expose-headers')).toContain('Gate-Warning')
    expect(upstreamBodies().map(text => JSON.parse(text))).toEqual([failing])
    const line = () =>
      called()
        .host.logged()
        .findLast(each => each.includes('unsupported-calls-warn'))
    await expect.poll(line).toContain(`"calling_card.warnings":"${warnings}"`)
  })

  it('has warnings over HTTP+JSON too, with a stream, and when the agent fails', async () => {
    const event = `data: ${JSON.stringify(numberedEvent(1, 'HTTP+JSON', '1.0'))}\n\n`
    called().agent.respond(reply(200, stream, event))
    const { headers, text } = await send(message(), {}, '/agents/unsupported-calls-warn/a2a/message:stream')
    expect([headers.get('gate-warning'), text]).toEqual(['streaming, extensions', event])
    called().agent.respond(reply(200, html, ''))
    const failed = await send(call(), {}, '/agents/unsupported-calls-warn/a2a')
    expect([failed.status, failed.headers.get('gate-warning')]).toEqual([502, 'extensions'])
  })
})

describe('the method and the version', () => {
  const only = (version: string) => `/agents/unsupported-calls-${version}/a2a`
  beforeAll(async () => {
    for (const version of ['1', '0']) {
      const url = `${called().agent.origin}/rpc-${version}`
      const supportedInterfaces = [
        { url, protocolBinding: 'JSONRPC', protocolVersion: version === '1' ? '1.0' : '0.3' },
      ]
      const card = agentCard(called().agent.origin, { supportedInterfaces })
      await called().register(`unsupported-calls-${version}`, { card })
    }
  })

  // The others: test/a2a/operations.test.ts and test/a2a/service-parameters.test.ts.
  it('are refused if this host or the agent does not support them', async () => {
    for (const [target, method, version, code, text] of [
      [path, 'tasks/send', '0.3', -32601, '"message/send"'],
      [path, 'ListTasks', '0.3', -32601, 'does not exist'],
      [`${path}?A2A-Version=0.3`, 'SendMessage', '', -32601, '"message/send"'],
      [path, 'SendMessage', '9.9', -32009, '0.3 or 1.0'],
      [only('1'), 'message/send', '', -32009, '1.0'],
      [only('0'), 'ShoutMessage', '', -32009, '0.3'],
      [only('1'), 'SendMessage', '9.9', -32009, '`A2A-Version`: 1.0.'],
    ] as const)
      expectRejection(await send(call(method), version === '' ? {} : { 'A2A-Version': version }, target), {
        ...{ code, message: text },
      })
  })
})

it('accepts output modes of an extended skill only from callers who may read the extended card', async () => {
  const skill = { id: 'draw', name: 'Draw', description: 'Draws', tags: ['art'], outputModes: ['image/png'] }
  const id = 'unsupported-calls-extended'
  await called().register(id, { card: agentCard(called().agent.origin), extended: { skills: [skill] } })
  const { token } = await called().issue({ scopes: ['read'], agents: [id] })
  const body = call('SendMessage', message({ configuration: ofImages }))
  const reader = await called().send(`/agents/${id}/a2a`, { body, token })
  const anonymous = await called().send(`/agents/${id}/a2a`, { body })
  expect([reader.body, codeOf(anonymous.body)]).toEqual([agentResponse, -32005])
  const metadata = { offered: 'image/png', accepted: 'text/plain' }
  expect(anonymous.body).toMatchObject({ error: { data: [{ metadata }] } })
})

// The rules: test/gateway/push-callbacks.test.ts.
it("accepts push notification URLs that are public or at the agent's own origin, and no private ones", async () => {
  const pushing = '/agents/unsupported-calls-pushing/a2a'
  const card = agentCard(called().agent.origin, { capabilities: { streaming: true, pushNotifications: true } })
  await called().register('unsupported-calls-pushing', { card, route: 'gateway', gate: { capabilities: 'off' } })
  const url = 'http://169.254.169.254/latest/meta-data'
  const inMessage: JsonObject = { configuration: { pushNotificationConfig: { url } } }
  for (const [below, body] of [
    ['', call('CreateTaskPushNotificationConfig', { taskId: 't', url })],
    ['', call('message/send', messageV03(inMessage))],
    ['/tasks/t/pushNotificationConfigs', { url }],
    ['/v1/message:send', messageV03(inMessage)],
  ] as const) {
    const { text } = await send(body, {}, pushing + below)
    expect([text, text.includes(url)]).toEqual([expect.stringContaining('must be a public https URL'), false])
  }
  expect(upstreamBodies()).toEqual([])
  for (const url of ['https://hook.example.com/', `${called().agent.origin}/hook`]) {
    const creation = call('CreateTaskPushNotificationConfig', { taskId: 't', url })
    expect((await send(creation, {}, pushing)).body).toEqual(answerTo(creation))
  }
})
