import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/json/json.ts'
import { agentResponse, call, codeOf, message, messageV03 } from '../support/calls.ts'
import { useRefusedCalls } from '../support/refused-calls.ts'

const { called, path, send, upstreamBodies, expectRejection } = useRefusedCalls('invalid-calls')

const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
const raw = (members: string) => `{"jsonrpc":"2.0","id":7,${members}}`
/** A text just beyond the limit of a body. */
const tooLarge = `{"a":"${'x'.repeat(4_194_300)}"}`
const takeBodies = () =>
  called()
    .agent.requests.splice(0)
    .map(({ body }) => JSON.parse(body))

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
    expect(called().agent.requests.splice(0)[0]?.body, id).toContain(expected)
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

  it('has no file without a media type that the agent does not accept', async () => {
    const sent = { messageId: 'm', role: 'ROLE_USER', parts: [{ raw: 'AA==' }] }
    const text = 'text/plain. A file without a media type counts as application/octet-stream.'
    expectRejection(await send(call('SendMessage', { message: sent })), { code: -32005, message: text })
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
  const response = await fetch(new URL(path, called().host.url), { method: 'POST', body })
  expect([response.status, codeOf((await response.json()) as Json), upstreamBodies()]).toEqual([415, -32005, []])
  for (const headers of [
    { 'Content-Type': 'APPLICATION/JSON; charset=latin1' },
    { 'Content-Type': 'application/vnd.api+json' },
    { ...form, Authorization: 'Bearer of-the-agent' },
  ]) {
    const { body } = await send(JSON.stringify(call()), headers as never)
    const types = called()
      .agent.requests.splice(0)
      .map(request => request.headers['content-type'])
    expect([body, types]).toEqual([agentResponse, ['application/json']])
  }
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
