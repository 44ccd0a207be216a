import { beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerTo } from '../support/answers.ts'
import { agentResponse, call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { useRefusedCalls } from '../support/refused-calls.ts'

const { called, path, send, upstreamBodies, expectRejection } = useRefusedCalls('unsupported-calls')
beforeAll(async () => {
  const { origin } = called().agent
  for (const version of ['1.0', '0.3']) {
    const url = `${origin}/rpc-${version[0]}`
    const supportedInterfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: version }]
    await called().register(`unsupported-calls-${version[0]}`, { card: agentCard(origin, { supportedInterfaces }) })
  }
})

const withModes = (acceptedOutputModes: Json) => ({ configuration: { acceptedOutputModes } })
const takeRequests = () => called().agent.requests.splice(0)

describe('the method', () => {
  it('is refused if it does not exist in the version, with its current name', async () => {
    for (const [method, version, currentName] of [
      ['tasks/send', '0.3', 'message/send'],
      ['tasks/sendSubscribe', '0.3', 'message/stream'],
      ['tasks/pushNotification/set', '0.3', 'tasks/pushNotificationConfig/set'],
      ['tasks/pushNotification/get', '0.3', 'tasks/pushNotificationConfig/get'],
      ['tasks/list', '1.0', 'ListTasks'],
      ['tasks/send', '1.0', 'SendMessage'],
      ['message/send', '1.0', 'SendMessage'],
      ['tasks/resubscribe', '1.0', 'SubscribeToTask'],
      ['SendMessage', '0.3', 'message/send'],
      ['SendStreamingMessage', '0.3', 'message/stream'],
      ['TaskSubscription', '1.0', 'SubscribeToTask'],
      ['ListTasks', '0.3'],
      ['sendmessage', '1.0'],
      ['message/Send', '0.3'],
      ['constructor', '1.0'],
      ['__proto__', '0.3'],
      ['rpc.discover', '1.0'],
      ['initialize', '0.3'],
      ['tools/call', '0.3'],
    ] as const)
      expectRejection(await send(call(method), { 'A2A-Version': version }), {
        code: -32601,
        message: currentName === undefined ? 'does not exist' : `"${currentName}"`,
      })
  })

  it('of an extended card is not forwarded to an agent without one', async () => {
    const methods = ['extendedCard', 'authenticatedExtendedCard', 'getAuthenticatedExtendedCard']
    for (const method of [...methods.map(name => `agent/${name}`), 'GetExtendedAgentCard'])
      expectRejection(await send(call(method, {})), { code: -32004 })
  })
})

describe('the version', () => {
  const callOf = (method: string) => (method.includes('/') ? call(method, messageV03()) : call(method))

  // The others: test/a2a/service-parameters.test.ts.
  it('is forwarded in its normal form', async () => {
    for (const [version, method, forwarded] of [
      ['', 'SendMessage', '/rpc-1 1.0'],
      ['', 'message/send', '/rpc-0 0.3'],
      ['0.2.5', 'message/send', '/rpc-0 0.3'],
      ['1.0, 1.0.1', 'SendMessage', '/rpc-1 1.0'],
    ] as const) {
      const { body } = await send(callOf(method), { 'A2A-Version': version })
      expect(body, version).toEqual(answerTo(callOf(method)))
      const requests = takeRequests().map(({ path, headers }) => `${path} ${headers['a2a-version']}`)
      expect(requests, version).toEqual([forwarded])
    }
  })

  it('is refused if this host does not support it', async () => {
    for (const version of ['9.9', '1.0;q=1', '-1.0', "1.0'", '???', '0.3, 1.0']) {
      const { status, body, text } = await send(call(), { 'A2A-Version': version })
      expect([status, codeOf(body), text.includes('0.3 or 1.0')], version).toEqual([200, -32009, true])
    }
    expect(upstreamBodies()).toEqual([])
  })

  it('must agree in two headers', async () => {
    const different = await called().sendLines(path, { 'A2A-Version': ['1.0', '0.3'] }, JSON.stringify(call()))
    expect([codeOf(different.body), upstreamBodies()]).toEqual([-32009, []])
    const equal = await called().sendLines(path, { 'A2A-Version': ['1.0', '1.0.1'] }, JSON.stringify(call()))
    expect([equal.body, upstreamBodies().length]).toEqual([agentResponse, 1])
  })

  it('may stand in the query', async () => {
    for (const [query, version, code] of [
      ['?A2A-Version=1.0', undefined, undefined],
      ['?a2a-version=1.0.2', undefined, undefined],
      ['?A2A-Version=', undefined, undefined],
      ['?A2A-Version=1.0', '1.0', undefined],
      ['?A2A-Version=9.9', undefined, -32009],
      ['?A2A-Version=0.3', '1.0', -32009],
      ['?A2A-Version=1.0&A2A-Version=0.3', undefined, -32009],
      ['?A2A-Version=0.3', undefined, -32601],
    ] as const) {
      const { body } = await send(call(), version && { 'A2A-Version': version }, path + query)
      expect([codeOf(body), takeRequests().length], query).toEqual([code, code === undefined ? 1 : 0])
    }
  })

  it('is rejected if the agent does not support it, with the versions of the agent', async () => {
    for (const [id, method, version, accepted] of [
      ['unsupported-calls-1', 'message/send', '0.3', '1.0'],
      ['unsupported-calls-1', 'message/send', '', '1.0'],
      ['unsupported-calls-0', 'SendMessage', '1.0', '0.3'],
      ['unsupported-calls-0', 'SendMessage', '', '0.3'],
      ['unsupported-calls-0', 'message/send', '1.0', '0.3'],
      ['unsupported-calls-0', 'message/shout', '1.0', '0.3'],
      ['unsupported-calls-0', 'ShoutMessage', '', '0.3'],
      ['unsupported-calls-1', 'message/shout', '0.3', '1.0'],
      ['unsupported-calls-0', 'message/send', '9.9', '`A2A-Version`: 0.3.'],
      ['unsupported-calls-1', 'SendMessage', '9.9', '`A2A-Version`: 1.0.'],
    ] as const) {
      const response = await send(callOf(method), { 'A2A-Version': version }, `/agents/${id}/a2a`)
      expectRejection(response, { code: -32009, message: accepted })
    }
  })
})

describe('accepted output modes', () => {
  it('that are no media types are rejected with the path of the field', async () => {
    for (const [modes, field] of [
      ['text/plain', 'acceptedOutputModes'],
      [['text/plain', 'not a/media/type'], 'acceptedOutputModes[1]'],
      [Array(1001).fill('text/plain'), 'acceptedOutputModes'],
    ])
      for (const body of [
        call('SendMessage', message(withModes(modes as Json))),
        call('message/send', messageV03(withModes(modes as Json))),
      ]) {
        const response = await send(body)
        expectRejection(response, { code: -32602, message: field as string })
        expect(response.text).toContain(`"field":"configuration.${field}"`)
      }
  })

  it('that the agent can produce, or that are no constraint, are accepted', async () => {
    for (const modes of [null, [], ['*/*'], ['text'], ['TEXT/Plain; charset=utf-8']])
      expect((await send(call('SendMessage', message(withModes(modes))))).body, `${modes}`).toEqual(agentResponse)
  })

  it('that the agent cannot produce are rejected with the offered and accepted ones', async () => {
    const v1 = await send(call('SendMessage', message(withModes(['image/png']))))
    const v03 = await send(call('message/send', messageV03(withModes(['image/png']))))
    for (const response of [v1, v03]) expectRejection(response, { code: -32005 })
    const metadata = { offered: 'image/png', accepted: 'text/plain' }
    expect(v1.body).toMatchObject({ error: { data: [{ metadata }] } })
    expect(v03.body).toMatchObject({ error: { data: { offered: ['image/png'], accepted: ['text/plain'] } } })
  })

  it('of an extended skill are accepted only from callers who may read the extended card', async () => {
    const skill = { id: 'draw', name: 'Draw', description: 'Draws', tags: ['art'], outputModes: ['image/png'] }
    const id = 'unsupported-calls-extended'
    await called().register(id, { card: agentCard(called().agent.origin), extended: { skills: [skill] } })
    const { token } = await called().issue({ scopes: ['read'], agents: [id] })
    const body = call('SendMessage', message(withModes(['image/png'])))
    const reader = await called().send(`/agents/${id}/a2a`, { body, token })
    const anonymous = await called().send(`/agents/${id}/a2a`, { body })
    const isShown = anonymous.text.includes('image/png, ')
    expect([reader.body, codeOf(anonymous.body), isShown]).toEqual([agentResponse, -32005, false])
  })

  it('do not hide an unsupported input media type', async () => {
    const parts = [{ url: 'https://x.example/a.png', mediaType: 'image/png' }]
    const response = await send(call('SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts } }))
    expectRejection(response, { code: -32005, message: 'image/png' })
  })
})

it('answers with an error in place of a stream: one event to a client of 0.3, JSON to one of 1.0', async () => {
  const v03 = await send(call('message/stream', messageV03(withModes(['image/png']))))
  expect([v03.status, v03.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  expect(v03.text).toMatch(/^data: .*\n\n$/)
  expect(JSON.parse(v03.text.slice(6))).toMatchObject({ jsonrpc: '2.0', id: 7, error: { code: -32005 } })
  expectRejection(await send(call('SendStreamingMessage', message(withModes(['image/png'])))), { code: -32005 })
})

describe('a push notification URL', () => {
  const pushing = '/agents/unsupported-calls-pushing/a2a'
  beforeAll(async () => {
    const card = agentCard(called().agent.origin, { capabilities: { streaming: true, pushNotifications: true } })
    // Checked at every gate level, because the agent's network does not belong to its owner alone.
    await called().register('unsupported-calls-pushing', { card, route: 'gateway', gate: { capabilities: 'off' } })
  })

  it('must not be a private address', async () => {
    const url = 'http://169.254.169.254/latest/meta-data'
    const inTask: JsonObject = { configuration: { taskPushNotificationConfig: { url } } }
    const inMessage: JsonObject = { configuration: { pushNotificationConfig: { url } } }
    for (const [below, body] of [
      ['', call('CreateTaskPushNotificationConfig', { taskId: 't', url })],
      ['', call('SendStreamingMessage', message(inTask))],
      ['', call('tasks/pushNotificationConfig/set', { taskId: 't', pushNotificationConfig: { url } })],
      ['', call('message/send', messageV03(inMessage))],
      ['/tasks/t/pushNotificationConfigs', { url }],
      ['/v1/tasks/t/pushNotificationConfigs', { config: { pushNotificationConfig: { url } } }],
      ['/v1/message:send', messageV03(inMessage)],
    ] as const) {
      const { text } = await send(body, {}, pushing + below)
      expect([text, text.includes(url)]).toEqual([expect.stringContaining('must be a public https URL'), false])
    }
    expect(upstreamBodies()).toEqual([])
  })

  it("may be public, or at the agent's own origin", async () => {
    for (const url of ['https://hook.example.com/', `${called().agent.origin}/hook`]) {
      const creation = call('CreateTaskPushNotificationConfig', { taskId: 't', url })
      const { body } = await send(creation, {}, pushing)
      expect([body, takeRequests().length]).toEqual([answerTo(creation), 1])
    }
  })
})
