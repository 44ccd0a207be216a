import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerTo } from '../support/answers.ts'
import { agentResponse, call, codeOf, message, messageV03 } from '../support/calls.ts'
import { useRefusedCalls } from '../support/refused-calls.ts'

const { called, path, send, upstreamBodies, expectRejection } = useRefusedCalls('invalid-calls')

const deep = (levels: number, inner = '1') => `${'{"a":'.repeat(levels)}${inner}${'}'.repeat(levels)}`
const deepList = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

describe('a body that is not a call', () => {
  it.each<[string, string | Uint8Array, number, number, Json, string]>([
    ['an empty body', '', 400, -32700, null, 'empty'],
    ['white space', ' \n', 400, -32700, null, 'empty'],
    ['text', 'hello', 400, -32700, null, ''],
    ['HTML', '<!doctype html><p>hi', 400, -32700, null, ''],
    ['truncated JSON', '{"jsonrpc": "2.0", "id": 7', 400, -32700, null, ''],
    ['two calls', `${JSON.stringify(call())}\n${JSON.stringify(call())}`, 400, -32700, null, ''],
    ['NaN', '{"jsonrpc":"2.0","id":NaN,"method":"SendMessage"}', 400, -32700, null, ''],
    ['a comment', '{"jsonrpc":"2.0",/* 7 */"id":7,"method":"SendMessage"}', 400, -32700, null, ''],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]), 400, -32700, null, 'UTF-8'],
    ['UTF-16', new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]), 400, -32700, null, ''],
    ['null', 'null', 200, -32600, null, ''],
    ['true', 'true', 200, -32600, null, ''],
    ['a number', '7', 200, -32600, null, ''],
    ['a number that JavaScript would round', '12345678901234567890', 200, -32600, null, ''],
    ['a string', '"SendMessage"', 200, -32600, null, ''],
    ['an empty batch', '[]', 200, -32600, null, 'batch'],
    ['a batch', JSON.stringify([call(), call()]), 200, -32600, null, 'batch'],
    ['an empty object', '{}', 200, -32600, null, 'jsonrpc'],
    [
      'params 10,000 deep',
      `{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":${deep(10_000)}}`,
      200,
      -32600,
      null,
      '64',
    ],
    [
      'lists 10,000 deep',
      `{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"a":${deepList(10_000)}}}`,
      200,
      -32600,
      null,
      '64',
    ],
    ['1,000,000 brackets that never end', '['.repeat(1_000_000), 200, -32600, null, ''],
    [
      '10 MB',
      `{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"a":"${'x'.repeat(10_000_000)}"}}`,
      413,
      -32600,
      null,
      '4194304',
    ],
    [
      'a number of 2,000 digits',
      `{"jsonrpc":"2.0","id":${'1'.repeat(2000)},"method":"SendMessage"}`,
      200,
      -32600,
      null,
      '1000',
    ],
  ])('is rejected: %s', async (_, body, status, code, id, detail) => {
    expectRejection(await send(body as never), { status, code, id, message: detail })
  })

  it('is rejected: 10 MB without Content-Length', async () => {
    const chunk = new TextEncoder().encode(' '.repeat(1024 * 1024))
    let left = 10
    const body = new ReadableStream({
      pull: controller => (left-- > 0 ? controller.enqueue(chunk) : controller.close()),
    })
    const response = await fetch(new URL(path, called().host.url), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit)
    expect([response.status, codeOf((await response.json()) as Json), upstreamBodies()]).toEqual([413, -32600, []])
  })

  it('is rejected if it nests deeper than 64 levels', async () => {
    const body = (levels: number) => `{"jsonrpc":"2.0","id":7,"method":"GetTask","params":${deep(levels)}}`
    expect((await send(body(63))).body).toEqual(answerTo({ id: 7, method: 'GetTask' }))
    called().agent.requests.length = 0
    expectRejection(await send(body(64)), { status: 200, code: -32600, id: null })
  })
})

describe('the JSON-RPC envelope', () => {
  const without = (name: string, changes: JsonObject = {}) =>
    Object.fromEntries(Object.entries({ ...call(), ...changes }).filter(([each]) => each !== name))
  it.each<[string, Json, number, number, Json]>([
    ['no jsonrpc', without('jsonrpc'), 200, -32600, 7],
    ['jsonrpc 1.0', { ...call(), jsonrpc: '1.0' }, 200, -32600, 7],
    ['jsonrpc as a number', { ...call(), jsonrpc: 2 }, 200, -32600, 7],
    ['jsonrpc null', { ...call(), jsonrpc: null }, 200, -32600, 7],
    ['no method', without('method'), 200, -32600, 7],
    ['method a number', { ...call(), method: 7 }, 200, -32600, 7],
    ['method null', { ...call(), method: null }, 200, -32600, 7],
    ['method a list', { ...call(), method: ['SendMessage'] }, 200, -32600, 7],
    ['method an object', { ...call(), method: {} }, 200, -32600, 7],
    ['method empty', { ...call(), method: '' }, 200, -32601, 7],
    ['method of 100,000 characters', { ...call(), method: 'x'.repeat(100_000) }, 200, -32600, 7],
    ['no id', without('id'), 200, -32600, null],
    ['id true', { ...call(), id: true }, 200, -32600, null],
    ['id a list', { ...call(), id: [7] }, 200, -32600, null],
    ['id an object', { ...call(), id: { a: 7 } }, 200, -32600, null],
    ['params a list', { ...call(), params: [message()] }, 200, -32602, 7],
    ['params a string', { ...call(), params: 'message' }, 200, -32602, 7],
    ['params null', { ...call(), params: null }, 200, -32602, 7],
    ['params a number', { ...call(), params: 7 }, 200, -32602, 7],
  ])('is rejected: %s', async (_, body, status, code, id) => {
    expectRejection(await send(body), { status, code, id })
  })

  it.each<[string, string]>([
    ['zero', '0'],
    ['an empty string', '""'],
    ['a string', '"seven"'],
    ['a string of any characters', '"\\u0000\\ud83d\\ude00\\"</script>"'],
    ['negative', '-7'],
    ['a fraction', '1.5'],
    ['an exponent', '1e3'],
    ['a number that JavaScript would round', '12345678901234567890'],
    ['null', 'null'],
  ])('keeps the id %s in the response and in the request to the agent', async (_, id) => {
    const text = (method: string) => `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{}}`
    // Strings may be escaped in another way. Numbers may not change their form, because a client may compare them as text.
    const expected = `"id":${id.startsWith('"') ? JSON.stringify(JSON.parse(id)) : id},`
    const { status, text: responseText } = await send(text('NoSuchMethod'))
    expect([status, responseText.includes(expected), upstreamBodies()]).toEqual([200, true, []])
    await send(text('GetTask'))
    expect(upstreamBodies()).toEqual([expect.stringContaining(expected)])
  })

  it('is checked before the agent is looked up', async () => {
    expectRejection(await send({ ...call(), jsonrpc: '1.0' }, {}, '/agents/nobody/a2a'), { status: 200, code: -32600 })
  })
})

describe('the forwarded body is what the gate checked', () => {
  const raw = (members: string) => `{"jsonrpc":"2.0","id":7,${members}}`
  it.each<[string, string, object]>([
    [
      'the last of two methods',
      raw('"method":"message/send","method":"GetTask","params":{"id":"t"}'),
      { jsonrpc: '2.0', id: 7, method: 'GetTask', params: { id: 't' } },
    ],
    [
      'the last of two methods, one of them escaped',
      raw('"method":"ListTasks","\\u006dethod":"GetTask","params":{}'),
      { jsonrpc: '2.0', id: 7, method: 'GetTask', params: {} },
    ],
    [
      'the last of two params',
      raw('"method":"GetTask","params":{"id":"a"},"params":{"id":"b"}'),
      { jsonrpc: '2.0', id: 7, method: 'GetTask', params: { id: 'b' } },
    ],
    [
      'only members of JSON-RPC',
      raw('"method":"GetTask","params":{},"Method":"CancelTask","extra":1'),
      { jsonrpc: '2.0', id: 7, method: 'GetTask', params: {} },
    ],
    [
      'no byte order mark',
      `\ufeff${raw('"method":"GetTask","params":{}')}`,
      { jsonrpc: '2.0', id: 7, method: 'GetTask', params: {} },
    ],
    [
      '__proto__ as a plain member',
      raw('"method":"GetTask","params":{"__proto__":{"a":1}}'),
      JSON.parse('{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"__proto__":{"a":1}}}'),
    ],
  ])('it has %s', async (_, body, expected) => {
    const { status } = await send(body)
    expect([status, upstreamBodies().map(each => JSON.parse(each))]).toEqual([200, [expected]])
    expect(upstreamBodies()[0]?.match(/"method"/g)?.length).toBe(1)
  })

  it('a duplicate method is checked', async () => {
    expectRejection(await send(raw('"method":"GetTask","method":"CreateTaskPushNotificationConfig","params":{}')), {
      code: -32003,
    })
  })

  it('a duplicate acceptedOutputModes is checked', async () => {
    const params =
      '"params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}]},"configuration":{"acceptedOutputModes":["text/plain"],"acceptedOutputModes":["image/png"]}}'
    expectRejection(await send(raw(`"method":"SendMessage",${params}`)), { code: -32005 })
  })
})

describe('a message in the form of the other version', () => {
  const field = 'message.role'
  const violation = (spelling: string, value: string) => ({ field, description: `must be ${spelling}, not "${value}"` })
  const v1 = violation('ROLE_USER in A2A 1.0', 'user')
  const v03 = violation('user in A2A 0.3', 'ROLE_USER')
  const restV03 = violation('ROLE_USER in A2A 0.3 over HTTP', 'user')
  const content = { messageId: 'm', role: 'user', content: [{ text: 'a' }] }
  const details = [expect.anything(), { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [v1] }]
  const invalidV1 = { code: -32602, message: `\`${field}\` ${v1.description}.`, data: details }
  const invalidV03 = {
    code: -32602,
    message: `\`${field}\` ${v03.description}.`,
    data: { reason: 'INVALID_PARAMS', fieldViolations: [v03] },
  }

  it.each<[string, string, Json, number, Json]>([
    ['SendMessage', '', call('SendMessage', messageV03()), 200, { jsonrpc: '2.0', id: 7, error: invalidV1 }],
    [
      'SendStreamingMessage',
      '',
      call('SendStreamingMessage', messageV03()),
      200,
      { jsonrpc: '2.0', id: 7, error: invalidV1 },
    ],
    ['message/send', '', call('message/send', message()), 200, { jsonrpc: '2.0', id: 7, error: invalidV03 }],
    ['message:send', '/message:send', messageV03(), 400, { error: expect.objectContaining({ code: 400, details }) }],
    [
      'message:stream',
      '/message:stream',
      messageV03(),
      400,
      { error: expect.objectContaining({ code: 400, details }) },
    ],
    [
      'v1/message:send',
      '/v1/message:send',
      { message: content },
      400,
      expect.objectContaining({ code: -32602, data: { reason: 'INVALID_PARAMS', fieldViolations: [restV03] } }),
    ],
  ])('is the mistake of the caller: %s', async (_, below, body, status, expected) => {
    const response = await send(body, {}, path + below)
    expect([response.status, response.body, upstreamBodies()]).toEqual([status, expected, []])
  })

  it('is reported to clients of 0.3 as an event of the stream that they read', async () => {
    const response = await send(call('message/stream', message()))
    const event = JSON.parse(response.text.replace('data: ', ''))
    expect([event, upstreamBodies()]).toEqual([{ jsonrpc: '2.0', id: 7, error: invalidV03 }, []])
  })

  it('may name its kinds in 1.0, which are removed with a warning', async () => {
    const parts = [{ kind: 'text', text: 'Does it rain?' }]
    const named = { message: { kind: 'message', messageId: 'm', role: 'ROLE_USER', parts } }
    for (const [below, body, sent] of [
      ['', call('SendMessage', named), call()],
      ['/message:send', named, message()],
    ] as const) {
      called().agent.requests.length = 0
      const { status, headers } = await send(body, {}, path + below)
      const bodies = upstreamBodies().map(each => JSON.parse(each))
      expect([status, headers.get('gate-warning'), bodies]).toEqual([200, 'repaired (kind)', [sent]])
    }
  })

  it('may not list tasks by a state of 0.3', async () => {
    const description = 'must be TASK_STATE_COMPLETED in A2A 1.0, not "completed"'
    expectRejection(await send(call('ListTasks', { status: 'completed' })), { code: -32602, message: description })
    const { status, text } = await called().send(`${path}/tasks?status=completed`, { method: 'GET' })
    expect([status, JSON.parse(text).error.message, upstreamBodies()]).toEqual([400, `\`status\` ${description}.`, []])
  })

  it('has no file without a media type that the agent does not accept', async () => {
    const sent = { messageId: 'm', role: 'ROLE_USER', parts: [{ raw: 'AA==' }] }
    expectRejection(await send(call('SendMessage', { message: sent })), {
      code: -32005,
      message: 'text/plain. A file without a media type counts as application/octet-stream.',
    })
  })
})

describe('the content type', () => {
  it.each([
    'text/plain',
    'text/plain;charset=UTF-8',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'text/html',
    'application/xml',
    'application/jsonp',
    'application/json-seq',
    'text/json, application/json',
    'application/octet-stream',
    'json',
    '*/*',
    ' ',
  ])('%s is rejected', async type => {
    expectRejection(await send(JSON.stringify(call()), { 'Content-Type': type }), {
      status: 415,
      code: -32005,
      id: null,
      message: 'application/json',
    })
    const { status } = await called().send('/agents/invalid-calls/a2a/message:send', {
      body: JSON.stringify(message()),
      headers: { 'Content-Type': type },
    })
    expect([status, upstreamBodies()]).toEqual([415, []])
  })

  it('must not be missing', async () => {
    const response = await fetch(new URL(path, called().host.url), {
      method: 'POST',
      body: new TextEncoder().encode(JSON.stringify(call())),
    })
    expect([response.status, codeOf((await response.json()) as Json), upstreamBodies()]).toEqual([415, -32005, []])
  })

  it.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=latin1',
    'application/a2a+json',
    'application/vnd.api+json',
  ])('%s is accepted', async type => {
    const { body } = await send(JSON.stringify(call()), { 'Content-Type': type })
    expect([body, upstreamBodies().length]).toEqual([agentResponse, 1])
  })

  it('of a form is accepted with credentials, which a page cannot send without CORS', async () => {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const { body } = await send(JSON.stringify(call()), { ...form, Authorization: 'Bearer of-the-agent' })
    expect([body, called().agent.requests.map(({ headers }) => headers['content-type'])]).toEqual([
      agentResponse,
      ['application/json'],
    ])
    called().agent.requests.length = 0
    expectRejection(await send('a=b', { ...form, Authorization: 'Bearer of-the-agent' }), {
      status: 400,
      code: -32700,
      id: null,
    })
  })
})

describe('a call over HTTP+JSON', () => {
  const rest = '/agents/invalid-calls/a2a'
  it.each<[string, string, string, number, string]>([
    ['not JSON', 'message:send', 'hello', 400, 'INVALID_ARGUMENT'],
    ['a list', 'message:send', '[]', 400, 'INVALID_ARGUMENT'],
    ['null', 'message:send', '"x"', 400, 'INVALID_ARGUMENT'],
    ['a number', 'message:send', '12345678901234567890', 400, 'INVALID_ARGUMENT'],
    ['10,000 deep', 'message:send', deep(10_000), 400, 'INVALID_ARGUMENT'],
    ['10 MB', 'message:send', `{"a":"${'x'.repeat(10_000_000)}"}`, 413, 'INVALID_ARGUMENT'],
    [
      'modes that are not a list',
      'message:send',
      JSON.stringify(message({ configuration: { acceptedOutputModes: 7 } })),
      400,
      'INVALID_ARGUMENT',
    ],
    [
      'modes that do not match',
      'message:send',
      JSON.stringify(message({ configuration: { acceptedOutputModes: ['image/png'] } })),
      400,
      'INVALID_ARGUMENT',
    ],
    [
      'a push configuration',
      'message:send',
      JSON.stringify(message({ configuration: { taskPushNotificationConfig: {} } })),
      400,
      'FAILED_PRECONDITION',
    ],
    ['a push configuration of a task', 'tasks/t/pushNotificationConfigs', '{}', 400, 'FAILED_PRECONDITION'],
  ])('is rejected as google.rpc.Status, and in 0.3 as a bare error: %s', async (_, path, body, status, name) => {
    const v1 = await called().send(`${rest}/${path}`, { body })
    expect([v1.status, v1.body, upstreamBodies()]).toEqual([
      status,
      {
        error: {
          code: status,
          status: name,
          message: expect.any(String),
          details: [
            expect.objectContaining({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo' }),
            ...(v1.text.includes('fieldViolations') ? [expect.anything()] : []),
          ],
        },
      },
      [],
    ])
    const v03 = await called().send(`${rest}/v1/${path}`, {
      body: body.replace('taskPushNotificationConfig', 'pushNotificationConfig'),
    })
    expect([v03.status, v03.body, upstreamBodies()]).toEqual([
      status,
      expect.objectContaining({ code: expect.any(Number), message: expect.any(String) }),
      [],
    ])
  })

  it('is rejected in an unknown version', async () => {
    const { status, text } = await called().send(`${rest}/message:send`, {
      body: message(),
      headers: { 'A2A-Version': '9.9' },
    })
    expect([status, text, upstreamBodies()]).toEqual([400, expect.stringContaining('VERSION_NOT_SUPPORTED'), []])
  })
})
