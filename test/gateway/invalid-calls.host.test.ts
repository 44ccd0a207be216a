import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerTo } from '../support/answers.ts'
import { agentResponse, call, codeOf, message, messageV03 } from '../support/calls.ts'
import { useRefusedCalls } from '../support/refused-calls.ts'

const { called, path, send, upstreamBodies, expectRejection } = useRefusedCalls('invalid-calls')

const sendRest = (below: string, body: Json, headers: Record<string, string> = {}) =>
  called().send(`${path}/${below}`, { body, headers })
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const raw = (members: string) => `{"jsonrpc":"2.0","id":7,${members}}`
/** A text just beyond the limit of a body. */
const tooLarge = `{"a":"${'x'.repeat(4_194_300)}"}`
const takeBodies = () =>
  called()
    .agent.requests.splice(0)
    .map(({ body }) => JSON.parse(body))

describe('a body that is not a call', () => {
  it('is rejected', async () => {
    const rows: [body: string | Uint8Array, status: number, code: number, message?: string][] = [
      ['', 400, -32700, 'empty'],
      [' \n', 400, -32700, 'empty'],
      ['hello', 400, -32700],
      ['<!doctype html><p>hi', 400, -32700],
      ['{"jsonrpc": "2.0", "id": 7', 400, -32700],
      [`${JSON.stringify(call())}\n${JSON.stringify(call())}`, 400, -32700],
      ['{"jsonrpc":"2.0","id":NaN,"method":"SendMessage"}', 400, -32700],
      ['{"jsonrpc":"2.0",/* 7 */"id":7,"method":"SendMessage"}', 400, -32700],
      // Bytes that are not UTF-8, and UTF-16.
      [new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]), 400, -32700, 'UTF-8'],
      [new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]), 400, -32700],
      ...['null', 'true', '7', '12345678901234567890', '"SendMessage"'].map((body): [string, number, number] => [
        body,
        200,
        -32600,
      ]),
      ['[]', 200, -32600, 'batch'],
      [JSON.stringify([call(), call()]), 200, -32600, 'batch'],
      ['{}', 200, -32600, 'jsonrpc'],
      [raw(`"method":"SendMessage","params":${deep(10_000)}`), 200, -32600, '64'],
      [raw(`"method":"SendMessage","params":{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`), 200, -32600, '64'],
      // Brackets that never end.
      ['['.repeat(1_000_000), 200, -32600],
      [tooLarge, 413, -32600, '4194304'],
      [`{"jsonrpc":"2.0","id":${'1'.repeat(2000)},"method":"SendMessage"}`, 200, -32600, '1000'],
    ]
    for (const [body, status, code, message = ''] of rows)
      expectRejection(await send(body as never), { status, code, id: null, message })
  })

  it('is rejected if it is too large, without Content-Length', async () => {
    const chunk = new Uint8Array(1024 * 1024).fill(0x20)
    let left = 5
    const body = new ReadableStream({
      pull: controller => (left-- > 0 ? controller.enqueue(chunk) : controller.close()),
    })
    const headers = { 'Content-Type': 'application/json' }
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
    const response = await fetch(new URL(path, called().host.url), init)
    expect([response.status, codeOf((await response.json()) as Json), upstreamBodies()]).toEqual([413, -32600, []])
  })

  it('is rejected if it nests deeper than 64 levels', async () => {
    const body = (levels: number) => raw(`"method":"GetTask","params":${deep(levels)}`)
    expect((await send(body(63))).body).toEqual(answerTo({ id: 7, method: 'GetTask' }))
    takeBodies()
    expectRejection(await send(body(64)), { status: 200, code: -32600, id: null })
  })
})

describe('the JSON-RPC envelope', () => {
  // The others: test/a2a/jsonrpc.test.ts.
  it('is rejected if a member is missing or of another type', async () => {
    for (const [changes, code, id = 7] of [
      [{ jsonrpc: '1.0' }, -32600],
      [{ method: 7 }, -32600],
      [{ method: 'x'.repeat(100_000) }, -32600],
      [{ method: '' }, -32601],
      [{ id: undefined }, -32600, null],
      [{ id: { a: 7 } }, -32600, null],
      [{ params: null }, -32602],
    ] as [JsonObject, number, null?][])
      expectRejection(await send({ ...call(), ...changes }), { code, id })
  })

  it('keeps the id in the response and in the request to the agent', async () => {
    const strings = ['""', '"seven"', '"\\u0000\\ud83d\\ude00\\"</script>"']
    for (const id of [...strings, '0', '-7', '1.5', '1e3', '12345678901234567890', 'null']) {
      const text = (method: string) => `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{}}`
      // Strings may be escaped in another way. Numbers keep their form: a client may compare them as text.
      const expected = `"id":${id.startsWith('"') ? JSON.stringify(JSON.parse(id)) : id},`
      const { status, text: responseText } = await send(text('NoSuchMethod'))
      expect([status, responseText, upstreamBodies()], id).toEqual([200, expect.stringContaining(expected), []])
      await send(text('GetTask'))
      expect(called().agent.requests.splice(0)[0]?.body, id).toContain(expected)
    }
  })

  it('is checked before the agent is looked up', async () => {
    expectRejection(await send({ ...call(), jsonrpc: '1.0' }, {}, '/agents/nobody/a2a'), { status: 200, code: -32600 })
  })
})

describe('the forwarded body is what the gate checked', () => {
  it('has the last of two members, and only members of JSON-RPC', async () => {
    for (const [body, params] of [
      [raw('"method":"message/send","method":"GetTask","params":{"id":"t"}'), '{"id":"t"}'],
      [raw('"method":"ListTasks","\\u006dethod":"GetTask","params":{}'), '{}'],
      [raw('"method":"GetTask","params":{"id":"a"},"params":{"id":"b"}'), '{"id":"b"}'],
      [raw('"method":"GetTask","params":{},"Method":"CancelTask","extra":1'), '{}'],
      [`\ufeff${raw('"method":"GetTask","params":{}')}`, '{}'],
      [raw('"method":"GetTask","params":{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
    ] as const) {
      const { status } = await send(body)
      expect([status, upstreamBodies()[0]?.match(/"method"/g)?.length], body).toEqual([200, 1])
      expect(takeBodies(), body).toEqual([{ jsonrpc: '2.0', id: 7, method: 'GetTask', params: JSON.parse(params) }])
    }
  })

  it('is checked with a duplicate method, or duplicate modes', async () => {
    const twice = '"method":"GetTask","method":"CreateTaskPushNotificationConfig","params":{}'
    expectRejection(await send(raw(twice)), { code: -32003 })
    const modes = '{"acceptedOutputModes":["text/plain"],"acceptedOutputModes":["image/png"]}'
    const sent = '{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}]}'
    const params = `{"message":${sent},"configuration":${modes}}`
    expectRejection(await send(raw(`"method":"SendMessage","params":${params}`)), { code: -32005 })
  })
})

describe('a message in the form of the other version', () => {
  const violation = (description: string) => ({ field: 'message.role', description })
  const v1 = violation('must be ROLE_USER in A2A 1.0, not "user"')
  const v03 = violation('must be user in A2A 0.3, not "ROLE_USER"')
  const details = [{}, { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [v1] }]
  const invalidV1 = { code: -32602, message: `\`message.role\` ${v1.description}.`, data: details }
  const data = { reason: 'INVALID_PARAMS', fieldViolations: [v03] }
  const invalidV03 = { code: -32602, message: `\`message.role\` ${v03.description}.`, data }

  it('is the mistake of the caller', async () => {
    const restV03 = violation('must be ROLE_USER in A2A 0.3 over HTTP, not "user"')
    const content = { messageId: 'm', role: 'user', content: [{ text: 'a' }] }
    for (const [below, body, status, expected] of [
      ['', call('SendMessage', messageV03()), 200, { jsonrpc: '2.0', id: 7, error: invalidV1 }],
      ['', call('SendStreamingMessage', messageV03()), 200, { jsonrpc: '2.0', id: 7, error: invalidV1 }],
      ['', call('message/send', message()), 200, { jsonrpc: '2.0', id: 7, error: invalidV03 }],
      ['/message:send', messageV03(), 400, { error: { code: 400, details } }],
      ['/message:stream', messageV03(), 400, { error: { code: 400, details } }],
      ['/v1/message:send', { message: content }, 400, { code: -32602, data: { ...data, fieldViolations: [restV03] } }],
    ] as const) {
      const response = await send(body, {}, path + below)
      expect(response, below).toMatchObject({ status, body: expected })
    }
    expect(upstreamBodies()).toEqual([])
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
      const { status, headers } = await send(body, {}, path + below)
      expect([status, headers.get('gate-warning'), takeBodies()]).toEqual([200, 'repaired (kind)', [sent]])
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
    const text = 'text/plain. A file without a media type counts as application/octet-stream.'
    expectRejection(await send(call('SendMessage', { message: sent })), { code: -32005, message: text })
  })
})

describe('the content type', () => {
  it('is rejected if it is not JSON', async () => {
    const plain = ['text/plain', 'text/plain;charset=UTF-8', 'text/html', 'application/xml', 'json', '*/*', ' ']
    const forms = ['multipart/form-data; boundary=x', 'application/x-www-form-urlencoded', 'application/octet-stream']
    for (const type of [
      ...[...plain, ...forms],
      ...['application/jsonp', 'application/json-seq', 'text/json, application/json'],
    ]) {
      const response = await send(JSON.stringify(call()), { 'Content-Type': type })
      expectRejection(response, { status: 415, code: -32005, id: null, message: 'application/json' })
      const rest = await sendRest('message:send', JSON.stringify(message()), { 'Content-Type': type })
      expect([rest.status, upstreamBodies()], type).toEqual([415, []])
    }
  })

  it('must not be missing', async () => {
    const body = new TextEncoder().encode(JSON.stringify(call()))
    const response = await fetch(new URL(path, called().host.url), { method: 'POST', body })
    expect([response.status, codeOf((await response.json()) as Json), upstreamBodies()]).toEqual([415, -32005, []])
  })

  it('is accepted if it is JSON', async () => {
    for (const type of [
      ...['application/json', 'APPLICATION/JSON', 'application/a2a+json', 'application/vnd.api+json'],
      ...['application/json; charset=utf-8', 'application/json;charset=latin1'],
    ]) {
      const { body } = await send(JSON.stringify(call()), { 'Content-Type': type })
      expect([body, takeBodies().length], type).toEqual([agentResponse, 1])
    }
  })

  it('of a form is accepted with credentials, which a page cannot send without CORS', async () => {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', Authorization: 'Bearer of-the-agent' }
    const { body } = await send(JSON.stringify(call()), form)
    const types = called()
      .agent.requests.splice(0)
      .map(({ headers }) => headers['content-type'])
    expect([body, types]).toEqual([agentResponse, ['application/json']])
    expectRejection(await send('a=b', form), { status: 400, code: -32700, id: null })
  })
})

describe('a call over HTTP+JSON', () => {
  it('is rejected as google.rpc.Status, and in 0.3 as a bare error', async () => {
    const configured = (configuration: JsonObject) => JSON.stringify(message({ configuration }))
    const pushing = configured({ taskPushNotificationConfig: {} })
    for (const [below, body, status, name] of [
      ['message:send', 'hello', 400, 'INVALID_ARGUMENT'],
      ['message:send', '[]', 400, 'INVALID_ARGUMENT'],
      ['message:send', '"x"', 400, 'INVALID_ARGUMENT'],
      ['message:send', '12345678901234567890', 400, 'INVALID_ARGUMENT'],
      ['message:send', deep(10_000), 400, 'INVALID_ARGUMENT'],
      ['message:send', tooLarge, 413, 'INVALID_ARGUMENT'],
      ['message:send', configured({ acceptedOutputModes: 7 }), 400, 'INVALID_ARGUMENT'],
      ['message:send', configured({ acceptedOutputModes: ['image/png'] }), 400, 'INVALID_ARGUMENT'],
      ['message:send', pushing, 400, 'FAILED_PRECONDITION'],
      ['tasks/t/pushNotificationConfigs', '{}', 400, 'FAILED_PRECONDITION'],
    ] as const) {
      const v1 = await sendRest(below, body)
      const hasViolations = v1.text.includes('fieldViolations')
      const info = expect.objectContaining({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo' })
      const details = [info, ...(hasViolations ? [expect.anything()] : [])]
      const error = { code: status, status: name, message: expect.any(String), details }
      expect([v1.status, v1.body], body.slice(0, 99)).toEqual([status, { error }])
      const v03 = await sendRest(`v1/${below}`, body.replace('taskPush', 'push'))
      expect([v03.status, v03.body]).toMatchObject([status, { code: expect.any(Number), message: expect.any(String) }])
    }
    expect(upstreamBodies()).toEqual([])
  })

  it('is rejected in an unknown version', async () => {
    const { status, text } = await sendRest('message:send', message(), { 'A2A-Version': '9.9' })
    expect([status, text, upstreamBodies()]).toEqual([400, expect.stringContaining('VERSION_NOT_SUPPORTED'), []])
  })
})
