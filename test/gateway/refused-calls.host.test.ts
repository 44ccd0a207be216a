import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerCalls, answerTo, numberedEvent } from '../support/answers.ts'
import { type CalledHost, type Received, useSharedHost } from '../support/called-host.ts'
import {
  agentResponse,
  call,
  codeOf,
  type ExpectedError,
  expectJsonRpcError,
  message,
  messageV03,
} from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { html, reply, stream } from '../support/upstream.ts'

const path = '/agents/refused-calls/a2a'

let called: CalledHost
beforeAll(async () => {
  called = await useSharedHost()
  await called.register('refused-calls', { card: agentCard(called.agent.origin), route: 'gateway' })
})
afterAll(() => called.close())
const respond = () => called.agent.respond(answerCalls)
beforeEach(respond)
// Whatever was refused, the host still serves a valid call.
afterEach(async () => {
  respond()
  expect((await send(call())).body).toEqual(agentResponse)
})

const send = (body: Json | Uint8Array, headers: Record<string, string> = {}, target = path) =>
  called.send(target, { body, headers })
const upstreamBodies = () => called.agent.requests.map(({ body }) => body)
/** Expects a JSON-RPC error, and no request to the agent. */
const expectRejection = (response: Received, expected: ExpectedError) => {
  expectJsonRpcError(response, expected)
  expect(upstreamBodies()).toEqual([])
}
const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
const raw = (members: string) => `{"jsonrpc":"2.0","id":7,${members}}`
/** A text just beyond the limit of a body. */
const tooLarge = `{"a":"${'x'.repeat(4_194_300)}"}`
const takeBodies = () => called.agent.requests.splice(0).map(({ body }) => JSON.parse(body))

// The others: test/a2a/jsonrpc.test.ts.
it('rejects a body that is no call, before the agent is looked up', async () => {
  const rows: [body: string | Uint8Array, status: number, code: number, message: string, id?: 7][] = [
    ['', 400, -32700, 'empty'],
    ['hello', 400, -32700, ''],
    [new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]), 400, -32700, 'UTF-8'],
    [JSON.stringify([call(), call()]), 200, -32600, 'batch'],
    [raw(`"method":"SendMessage","params":${deep}`), 200, -32600, '64'],
    [tooLarge, 413, -32600, '4194304'],
    [JSON.stringify({ ...call(), jsonrpc: '1.0' }), 200, -32600, '', 7],
    [JSON.stringify({ ...call(), params: null }), 200, -32602, '', 7],
  ]
  for (const [body, status, code, message, id = null] of rows)
    expectRejection(await send(body as never), { status, code, id: id as never, message })
  expectRejection(await send({ ...call(), jsonrpc: '1.0' }, {}, '/agents/nobody/a2a'), { status: 200, code: -32600 })
})

it('keeps the id in the response and in the request to the agent', async () => {
  for (const id of ['"\\u0000\\ud83d\\ude00\\"</script>"', '1e3', '12345678901234567890', 'null']) {
    const text = (method: string) => `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{}}`
    // Strings may be escaped in another way. Numbers keep their form: a client may compare them as text.
    const expected = `"id":${id.startsWith('"') ? JSON.stringify(JSON.parse(id)) : id},`
    const { status, text: responseText } = await send(text('NoSuchMethod'))
    expect([status, responseText, upstreamBodies()], id).toEqual([200, expect.stringContaining(expected), []])
    await send(text('GetTask'))
    expect(called.agent.requests.splice(0)[0]?.body, id).toContain(expected)
  }
})

it('forwards what the gate checked: the last of two members, and only members of JSON-RPC', async () => {
  for (const [body, params] of [
    [raw('"method":"ListTasks","\\u006dethod":"GetTask","params":{}'), '{}'],
    [raw('"method":"GetTask","params":{"id":"a"},"params":{"id":"b"}'), '{"id":"b"}'],
    [raw('"method":"GetTask","params":{},"Method":"CancelTask","extra":1'), '{}'],
    [`\ufeff${raw('"method":"GetTask","params":{"__proto__":{"a":1}}')}`, '{"__proto__":{"a":1}}'],
  ] as const) {
    const { status } = await send(body)
    expect([status, upstreamBodies()[0]?.match(/"method"/g)?.length], body).toEqual([200, 1])
    expect(takeBodies(), body).toEqual([{ jsonrpc: '2.0', id: 7, method: 'GetTask', params: JSON.parse(params) }])
  }
  const twice = '"method":"GetTask","method":"CreateTaskPushNotificationConfig","params":{}'
  expectRejection(await send(raw(twice)), { code: -32003 })
})

// The rules: test/a2a/sent-message.test.ts.
describe('a message in the form of the other version', () => {
  it('is the mistake of the caller', async () => {
    const description = 'must be ROLE_USER in A2A 1.0, not "user"'
    const content = { messageId: 'm', role: 'user', content: [{ text: 'a' }] }
    for (const [below, body, status, expected] of [
      ['', call('SendMessage', messageV03()), 200, { error: { message: `\`message.role\` ${description}.` } }],
      ['/message:send', messageV03(), 400, { error: { code: 400 } }],
      ['/v1/message:send', { message: content }, 400, { code: -32602 }],
    ] as const) {
      const response = await send(body, {}, path + below)
      expect(response, below).toMatchObject({ status, body: expected })
    }
    expect(upstreamBodies()).toEqual([])
  })

  it('may name its kinds in 1.0, which are removed with a warning', async () => {
    const parts = [{ kind: 'text', text: 'Does it rain?' }]
    const named = { message: { kind: 'message', messageId: 'm', role: 'ROLE_USER', parts } }
    for (const [below, body, sent] of [
      ['', call('SendMessage', named), call()],
      ['/message:send', named, message()],
    ] as const) {
      const { status, headers } = await send(body, {}, path + below)
      expect([status, headers.get('gate-warning'), takeBodies()]).toEqual([200, 'repaired (kind)', [sent]])
    }
  })
})

it('accepts JSON of any type, and a form with credentials, which a page cannot send without CORS', async () => {
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  for (const type of ['text/plain', 'application/json-seq', form['Content-Type']]) {
    const headers = { 'Content-Type': type }
    expectRejection(await send(JSON.stringify(call()), headers), {
      status: 415,
      code: -32005,
      id: null,
      message: 'json',
    })
    const rest = await send(JSON.stringify(message()), headers, `${path}/message:send`)
    expect([rest.status, upstreamBodies()], type).toEqual([415, []])
  }
  // Without a type.
  const body = new TextEncoder().encode(JSON.stringify(call()))
  const response = await fetch(new URL(path, called.host.url), { method: 'POST', body })
  expect([response.status, codeOf((await response.json()) as Json), upstreamBodies()]).toEqual([415, -32005, []])
  for (const headers of [
    { 'Content-Type': 'APPLICATION/JSON; charset=latin1' },
    { 'Content-Type': 'application/vnd.api+json' },
    { ...form, Authorization: 'Bearer of-the-agent' },
  ]) {
    const { body } = await send(JSON.stringify(call()), headers as never)
    const types = called.agent.requests.splice(0).map(request => request.headers['content-type'])
    expect([body, types]).toEqual([agentResponse, ['application/json']])
  }
})

it('names the type of a file without a media type that the agent does not accept', async () => {
  const sent = { messageId: 'm', role: 'ROLE_USER', parts: [{ raw: 'AA==' }] }
  const text = 'text/plain. A file without a media type counts as application/octet-stream.'
  expectRejection(await send(call('SendMessage', { message: sent })), { code: -32005, message: text })
})

it('rejects a call over HTTP+JSON as google.rpc.Status, and in 0.3 as a bare error', async () => {
  const rows: [below: string, body: string, status: number, name: string, headers?: Record<string, string>][] = [
    ['message:send', 'hello', 400, 'INVALID_ARGUMENT'],
    ['message:send', '[]', 400, 'INVALID_ARGUMENT'],
    ['message:send', deep, 400, 'INVALID_ARGUMENT'],
    ['message:send', tooLarge, 413, 'INVALID_ARGUMENT'],
    ['message:send', JSON.stringify(message()), 400, 'FAILED_PRECONDITION', { 'A2A-Version': '9.9' }],
    ['tasks/t/pushNotificationConfigs', '{}', 400, 'FAILED_PRECONDITION'],
  ]
  for (const [below, body, status, name, headers] of rows) {
    const v1 = await send(body, headers, `${path}/${below}`)
    const info = expect.objectContaining({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo' })
    const error = { code: status, status: name, message: expect.any(String), details: [info] }
    expect([v1.status, v1.body], body.slice(0, 99)).toEqual([status, { error }])
    const v03 = await send(body, headers, `${path}/v1/${below}`)
    expect([v03.status, v03.body]).toMatchObject([status, { code: expect.any(Number), message: expect.any(String) }])
  }
  expect(upstreamBodies()).toEqual([])
})

const ofImages = { acceptedOutputModes: ['image/png'] }
const image = { messageId: 'm', role: 'ROLE_USER', parts: [{ raw: 'AA==', mediaType: 'image/png' }] }

describe('a call that the card does not allow', () => {
  const extension = 'https://extensions.example.com/politeness/v1'
  beforeAll(async () => {
    const { origin } = called.agent
    const extensions = [{ uri: extension, required: true }]
    const card = agentCard(origin, { capabilities: { streaming: false, pushNotifications: false, extensions } })
    const gate = { capabilities: 'warn', modes: 'warn', extensions: 'warn', version: 'warn' }
    await called.register('refused-calls-enforce', { card })
    await called.register('refused-calls-warn', { card, gate })
  })
  const configuration = { ...ofImages, taskPushNotificationConfig: { url: 'https://x.example' } }
  const failing = call('SendMessage', { message: image, configuration })

  it('is refused by default', async () => {
    for (const [body, code] of [
      [failing, -32003],
      [call(), -32008],
    ] as const)
      expectRejection(await send(body, {}, '/agents/refused-calls-enforce/a2a'), { code })
    const headers = { 'X-A2A-Extensions': `https://other.example/, ${extension}` }
    expect((await send(call(), headers, '/agents/refused-calls-enforce/a2a')).body).toEqual(agentResponse)
    const overRest = await send(message(), headers, '/agents/refused-calls-enforce/a2a/message:send')
    expect([overRest.status, called.agent.requests.splice(0).length]).toEqual([200, 2])
  })

  it('is forwarded with the level warn, which names every failed check in the response and the log', async () => {
    const { headers, body } = await send(failing, {}, '/agents/refused-calls-warn/a2a')
    // The agent answers with text, which the caller does not accept.
    const warnings = 'push-notifications, extensions, input-modes, output-modes, unaccepted-output-modes'
    expect([headers.get('gate-warning'), body]).toEqual([warnings, agentResponse])
    expect(headers.get('access-control-expose-headers')).toBe('*')
    expect(upstreamBodies().map(text => JSON.parse(text))).toEqual([failing])
    const line = () => called.host.logged().findLast(each => each.includes('refused-calls-warn'))
    await expect.poll(line).toContain(`"calling_card.warnings":"${warnings}"`)
  })

  it('has warnings over HTTP+JSON too, with a stream, and when the agent fails', async () => {
    const event = `data: ${JSON.stringify(numberedEvent(1, 'HTTP+JSON', '1.0'))}\n\n`
    called.agent.respond(reply(200, stream, event))
    const { headers, text } = await send(message(), {}, '/agents/refused-calls-warn/a2a/message:stream')
    expect([headers.get('gate-warning'), text]).toEqual(['streaming, extensions', event])
    called.agent.respond(reply(200, html, ''))
    const failed = await send(call(), {}, '/agents/refused-calls-warn/a2a')
    expect([failed.status, failed.headers.get('gate-warning')]).toEqual([502, 'extensions'])
  })
})

describe('the method and the version', () => {
  const only = (version: string) => `/agents/refused-calls-${version}/a2a`
  beforeAll(async () => {
    for (const version of ['1', '0']) {
      const url = `${called.agent.origin}/rpc-${version}`
      const supportedInterfaces = [
        { url, protocolBinding: 'JSONRPC', protocolVersion: version === '1' ? '1.0' : '0.3' },
      ]
      const card = agentCard(called.agent.origin, { supportedInterfaces })
      await called.register(`refused-calls-${version}`, { card })
    }
  })

  // The others: test/a2a/operations.test.ts.
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
  const id = 'refused-calls-extended'
  await called.register(id, { card: agentCard(called.agent.origin), extended: { skills: [skill] } })
  const { token } = await called.issue({ scopes: ['read'], agents: [id] })
  const body = call('SendMessage', message({ configuration: ofImages }))
  const reader = await called.send(`/agents/${id}/a2a`, { body, token })
  const anonymous = await called.send(`/agents/${id}/a2a`, { body })
  expect([reader.body, codeOf(anonymous.body)]).toEqual([agentResponse, -32005])
  const metadata = { offered: 'image/png', accepted: 'text/plain' }
  expect(anonymous.body).toMatchObject({ error: { data: [{ metadata }] } })
})

// The rules: test/gateway/push-callbacks.test.ts.
it("accepts push notification URLs that are public or at the agent's own origin, and no private ones", async () => {
  const pushing = '/agents/refused-calls-pushing/a2a'
  const card = agentCard(called.agent.origin, { capabilities: { streaming: true, pushNotifications: true } })
  await called.register('refused-calls-pushing', { card, route: 'gateway', gate: { capabilities: 'off' } })
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
  for (const url of ['https://hook.example.com/', `${called.agent.origin}/hook`]) {
    const creation = call('CreateTaskPushNotificationConfig', { taskId: 't', url })
    expect((await send(creation, {}, pushing)).body).toEqual(answerTo(creation))
  }
})
