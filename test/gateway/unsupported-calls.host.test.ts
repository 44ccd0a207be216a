import { beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerTo } from '../support/answers.ts'
import { agentResponse, call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { useRefusedCalls } from '../support/refused-calls.ts'

const { called, path, send, upstreamBodies, expectRejection } = useRefusedCalls('unsupported-calls')
beforeAll(async () => {
  const { origin } = called().agent
  const supportOnly = (version: string) => ({
    card: agentCard(origin, {
      supportedInterfaces: [
        { url: `${origin}/rpc-${version[0]}`, protocolBinding: 'JSONRPC', protocolVersion: version },
      ],
    }),
  })
  await called().register('unsupported-calls-1', supportOnly('1.0'))
  await called().register('unsupported-calls-0', supportOnly('0.3'))
})

describe('the method', () => {
  it.each<[string, string, string | undefined]>([
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
    ['ListTasks', '0.3', undefined],
    ['sendmessage', '1.0', undefined],
    ['message/Send', '0.3', undefined],
    ['constructor', '1.0', undefined],
    ['__proto__', '0.3', undefined],
    ['rpc.discover', '1.0', undefined],
    ['initialize', '0.3', undefined],
    ['tools/call', '0.3', undefined],
  ])('%s does not exist in A2A %s (current name: %s)', async (method, version, currentName) => {
    const response = await send(call(method), { 'A2A-Version': version })
    expectRejection(response, {
      code: -32601,
      message: currentName === undefined ? 'does not exist' : `"${currentName}"`,
    })
  })

  it.each([
    ['agent/extendedCard'],
    ['agent/authenticatedExtendedCard'],
    ['agent/getAuthenticatedExtendedCard'],
    ['GetExtendedAgentCard'],
  ])('%s is not forwarded to an agent without an extended card', async method => {
    expectRejection(await send(call(method, {})), { code: -32004 })
  })
})

describe('the version', () => {
  const callOf = (method: string) => (method.includes('/') ? call(method, messageV03()) : call(method))
  it.each<[string, string, string, string]>([
    ['""', '', 'SendMessage', '1.0'],
    ['""', '', 'message/send', '0.3'],
    ['"0.3"', '0.3', 'message/send', '0.3'],
    ['"0.3.0"', '0.3.0', 'message/send', '0.3'],
    ['"0.2.5"', '0.2.5', 'message/send', '0.3'],
    ['"1.0"', '1.0', 'SendMessage', '1.0'],
    ['"1.0.1"', '1.0.1', 'SendMessage', '1.0'],
    ['"1.0", with spaces', ' 1.0 ', 'SendMessage', '1.0'],
    ['"1.0" twice', '1.0, 1.0.1', 'SendMessage', '1.0'],
  ])('%s is forwarded in its normal form', async (_, version, method, forwarded) => {
    expect((await send(callOf(method), { 'A2A-Version': version })).body).toEqual(answerTo(callOf(method)))
    expect(called().agent.requests.map(({ path, headers }) => [path, headers['a2a-version']])).toEqual([
      [`/rpc-${forwarded[0]}`, forwarded],
    ])
  })

  it.each([
    '9.9',
    '2.0',
    '0.1',
    '1',
    '1.1',
    'latest',
    'v1.0',
    '1.0;q=1',
    '1.0, 0.3',
    '0.3, 1.0',
    '1.0, 9.9',
    '-1.0',
    '١.٠',
    "1.0'",
  ])('"%s" is not supported', async version => {
    const { status, body } = await called().sendLines(
      path,
      { 'A2A-Version': encodeURI(version) === version ? version : version.replace(/[^\x20-\x7e]/g, '?') },
      JSON.stringify(call()),
    )
    expect([status, codeOf(body), upstreamBodies()]).toEqual([200, -32009, []])
    expect(JSON.stringify(body)).toContain('0.3 or 1.0')
  })

  it('must agree in two headers', async () => {
    const different = await called().sendLines(path, { 'A2A-Version': ['1.0', '0.3'] }, JSON.stringify(call()))
    expect([codeOf(different.body), upstreamBodies()]).toEqual([-32009, []])
    const equal = await called().sendLines(path, { 'A2A-Version': ['1.0', '1.0.1'] }, JSON.stringify(call()))
    expect([equal.body, upstreamBodies().length]).toEqual([agentResponse, 1])
  })

  it.each<[string, Record<string, string>, number | undefined]>([
    ['?A2A-Version=1.0', {}, undefined],
    ['?a2a-version=1.0.2', {}, undefined],
    ['?A2A-Version=', {}, undefined],
    ['?A2A-Version=1.0', { 'A2A-Version': '1.0' }, undefined],
    ['?A2A-Version=9.9', {}, -32009],
    ['?A2A-Version=0.3', { 'A2A-Version': '1.0' }, -32009],
    ['?A2A-Version=1.0&A2A-Version=0.3', {}, -32009],
    ['?A2A-Version=0.3', {}, -32601],
  ])('may stand in the query: %s with %j', async (query, headers, code) => {
    const { body } = await send(call(), headers, path + query)
    expect([codeOf(body), upstreamBodies().length]).toEqual([code, code === undefined ? 1 : 0])
  })

  it.each([
    ['unsupported-calls-1', 'message/send', '0.3', '1.0'],
    ['unsupported-calls-1', 'message/send', '', '1.0'],
    ['unsupported-calls-0', 'SendMessage', '1.0', '0.3'],
    ['unsupported-calls-0', 'SendMessage', '', '0.3'],
    ['unsupported-calls-0', 'message/send', '1.0', '0.3'],
    ['unsupported-calls-0', 'message/shout', '1.0', '0.3'],
    ['unsupported-calls-0', 'ShoutMessage', '', '0.3'],
    ['unsupported-calls-1', 'message/shout', '0.3', '1.0'],
    // The error lists the versions of the agent, not those of the host.
    ['unsupported-calls-0', 'message/send', '9.9', '`A2A-Version`: 0.3.'],
    ['unsupported-calls-1', 'SendMessage', '9.9', '`A2A-Version`: 1.0.'],
  ])('is rejected if the agent %s does not support it: %s, %j', async (id, method, version, accepted) => {
    const response = await send(callOf(method), { 'A2A-Version': version }, `/agents/${id}/a2a`)
    expectRejection(response, { code: -32009, message: accepted })
  })
})

describe('accepted output modes', () => {
  it.each<[string, Json, string]>([
    ['a string', 'text/plain', 'acceptedOutputModes'],
    ['an object', { 'text/plain': true }, 'acceptedOutputModes'],
    ['a number', 7, 'acceptedOutputModes'],
    ['numbers', [7], 'acceptedOutputModes[0]'],
    ['nulls', ['text/plain', null], 'acceptedOutputModes[1]'],
    ['lists', [['text/plain']], 'acceptedOutputModes[0]'],
    ['not media types', ['text/plain', 'not a/media/type'], 'acceptedOutputModes[1]'],
    ['empty', [''], 'acceptedOutputModes[0]'],
    ['very long', [`text/${'x'.repeat(100_000)}`], 'acceptedOutputModes[0]'],
    ['too many', Array(1001).fill('text/plain'), 'acceptedOutputModes'],
  ])('that are %s are rejected with the path of the field', async (_, acceptedOutputModes, field) => {
    for (const body of [
      call('SendMessage', message({ configuration: { acceptedOutputModes } })),
      call('message/send', messageV03({ configuration: { acceptedOutputModes } })),
    ]) {
      const response = await send(body)
      expectRejection(response, { code: -32602, message: field })
      expect(response.text).toContain(`"field":"configuration.${field}"`)
    }
  })

  it.each<[string, Json]>([
    ['null', null],
    ['an empty list', []],
    ['a wildcard', ['*/*']],
    ['a bare type', ['text']],
    ['in another case', ['TEXT/Plain; charset=utf-8']],
  ])('that are %s are accepted', async (_, acceptedOutputModes) => {
    expect((await send(call('SendMessage', message({ configuration: { acceptedOutputModes } })))).body).toEqual(
      agentResponse,
    )
  })

  it.each<[string, JsonObject, JsonObject]>([
    [
      '1.0',
      call('SendMessage', message({ configuration: { acceptedOutputModes: ['image/png'] } })),
      { offered: 'image/png', accepted: 'text/plain' },
    ],
    [
      '0.3',
      call('message/send', messageV03({ configuration: { acceptedOutputModes: ['image/png'] } })),
      { offered: ['image/png'], accepted: ['text/plain'] } as never,
    ],
  ])(
    'that the agent cannot produce are rejected with the offered and accepted ones, in the form of %s',
    async (version, body, details) => {
      const response = await send(body)
      expectRejection(response, { code: -32005 })
      const { data } = (response.body as { error: { data: JsonObject & { metadata: Json }[] } }).error
      expect(version === '1.0' ? data[0]?.metadata : data).toMatchObject(details)
    },
  )

  it('of an extended skill are accepted only from callers who may read the extended card', async () => {
    const drawing = {
      id: 'draw',
      name: 'Draw',
      description: 'Draws the weather',
      tags: ['art'],
      outputModes: ['image/png'],
    }
    await called().register('unsupported-calls-extended', {
      card: agentCard(called().agent.origin),
      extended: { skills: [drawing] },
    })
    const { token } = await called().issue({ scopes: ['read'], agents: ['unsupported-calls-extended'] })
    const body = call('SendMessage', message({ configuration: { acceptedOutputModes: ['image/png'] } }))
    const reader = await called().send('/agents/unsupported-calls-extended/a2a', { body, token })
    const anonymous = await called().send('/agents/unsupported-calls-extended/a2a', { body })
    expect([reader.body, codeOf(anonymous.body), anonymous.text.includes('image/png, ')]).toEqual([
      agentResponse,
      -32005,
      false,
    ])
  })

  it('do not hide an unsupported input media type', async () => {
    const parts = [{ url: 'https://x.example/a.png', mediaType: 'image/png' }]
    const response = await send(call('SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts } }))
    expectRejection(response, { code: -32005, message: 'image/png' })
  })
})

describe('an error in place of a stream', () => {
  it('is one event to a client of 0.3, JSON to one of 1.0', async () => {
    const configuration = { acceptedOutputModes: ['image/png'] }
    const v03 = await send(call('message/stream', messageV03({ configuration })))
    expect([v03.status, v03.headers.get('content-type'), JSON.parse(v03.text.replace(/^data: /, ''))]).toEqual([
      200,
      'text/event-stream',
      { jsonrpc: '2.0', id: 7, error: expect.objectContaining({ code: -32005 }) },
    ])
    expect(v03.text).toMatch(/^data: .*\n\n$/)
    expectRejection(await send(call('SendStreamingMessage', message({ configuration }))), { code: -32005 })
  })
})

describe('a push notification URL', () => {
  beforeAll(async () => {
    const card = agentCard(called().agent.origin, { capabilities: { streaming: true, pushNotifications: true } })
    // Checked at every gate level, because the agent's network does not belong to its owner alone.
    await called().register('unsupported-calls-pushing', { card, route: 'gateway', gate: { capabilities: 'off' } })
  })
  const pushingAgent = '/agents/unsupported-calls-pushing/a2a'
  const inside = 'http://169.254.169.254/latest/meta-data'
  const withPushUrl = (url: string) => ({ configuration: { pushNotificationConfig: { url } } })

  it.each<[string, string, Json]>([
    ['1.0, of a task', pushingAgent, call('CreateTaskPushNotificationConfig', { taskId: 't', url: inside })],
    [
      '1.0, with a message',
      pushingAgent,
      call('SendStreamingMessage', message({ configuration: { taskPushNotificationConfig: { url: inside } } })),
    ],
    [
      '0.3, of a task',
      pushingAgent,
      call('tasks/pushNotificationConfig/set', { taskId: 't', pushNotificationConfig: { url: inside } }),
    ],
    ['0.3, with a message', pushingAgent, call('message/send', messageV03(withPushUrl(inside)))],
    ['1.0 over HTTP+JSON, of a task', `${pushingAgent}/tasks/t/pushNotificationConfigs`, { url: inside }],
    [
      '0.3 over HTTP+JSON, of a task',
      `${pushingAgent}/v1/tasks/t/pushNotificationConfigs`,
      { config: { pushNotificationConfig: { url: inside } } },
    ],
    ['0.3 over HTTP+JSON, with a message', `${pushingAgent}/v1/message:send`, messageV03(withPushUrl(inside))],
  ])('must not be a private address: %s', async (_, path, body) => {
    const { text } = await send(body, {}, path)
    expect([text, text.includes(inside), upstreamBodies()]).toEqual([
      expect.stringContaining('must be a public https URL'),
      false,
      [],
    ])
  })

  it.each([['https://hook.example.com/'], ["the agent's own origin"]])('may be %s', async url => {
    const hook = url.startsWith('https:') ? url : `${called().agent.origin}/hook`
    const creation = call('CreateTaskPushNotificationConfig', { taskId: 't', url: hook })
    const { body } = await send(creation, {}, pushingAgent)
    expect([body, upstreamBodies().length]).toEqual([answerTo(creation), 1])
  })
})
