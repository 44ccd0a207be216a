import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJsonLossless, parseJsonRpcRequest } from '../../src/a2a/jsonrpc.ts'
import type { Json } from '../../src/json/json.ts'

const read = (text: string) => {
  const parsed = parseJsonLossless(text)
  if ('kind' in parsed) throw new Error(parsed.kind)
  return parseJsonRpcRequest(parsed.value)
}

const request = (members: Record<string, Json | undefined>): Json =>
  JSON.parse(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: {}, ...members }))

const notARequest = (detail: string, id: Json, method = '') => ({
  id,
  method,
  error: { kind: 'not-a-request', detail },
})

describe('a JSON-RPC request', () => {
  it('is read', () => {
    expect(parseJsonRpcRequest(request({ params: { a: 1 }, more: true }))).toStrictEqual({
      id: 1,
      method: 'message/send',
      params: { a: 1 },
    })
  })

  it('may leave its parameters out', () => {
    expect(parseJsonRpcRequest(request({ params: undefined }))).toStrictEqual({
      id: 1,
      method: 'message/send',
      params: {},
    })
  })

  it.each([0, -1, 1.5, '', 'a', '0', null])('keeps its id: %j', id => {
    expect(parseJsonRpcRequest(request({ id }))).toStrictEqual({ id, method: 'message/send', params: {} })
  })

  it.each(['12345678901234567890', '1.0', '-0', '1e3'])('keeps an id of unusual form: %s', id => {
    expect(JSON.stringify(read(`{"jsonrpc":"2.0","id":${id},"method":"a"}`))).toBe(
      `{"id":${id},"method":"a","params":{}}`,
    )
  })

  it('is the last of two methods, ids and parameters', () => {
    const text = '{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b","params":{"a":1},"params":{"b":2}}'
    expect(read(text)).toStrictEqual({ id: 2, method: 'b', params: { b: 2 } })
  })
})

describe('what is no request', () => {
  it.each([[[]], [[1]], [[request({})]], [[request({}), request({})]]])('is a batch: %j', batch => {
    expect(parseJsonRpcRequest(batch)).toStrictEqual(
      notARequest('A2A does not support batches. Send each call in a request of its own.', null),
    )
  })

  it.each([null, true, 1, 'message/send', JSON.rawJSON('1e400')])('is %j', value => {
    expect(parseJsonRpcRequest(value)).toStrictEqual(
      notARequest('A call must be a JSON object with `jsonrpc`, `id`, `method` and `params`.', null),
    )
  })

  it.each([undefined, '1.0', 2, '2', '', null, 'A2A'])('has the `jsonrpc` %j', jsonrpc => {
    expect(parseJsonRpcRequest(request({ jsonrpc, id: 'i' }))).toStrictEqual(
      notARequest('`jsonrpc` must be the string "2.0".', 'i', 'message/send'),
    )
  })

  it('has no id', () => {
    expect(parseJsonRpcRequest(request({ id: undefined }))).toStrictEqual(
      notARequest(
        '`id` is missing. A2A does not support notifications: every call has a response.',
        null,
        'message/send',
      ),
    )
  })

  it.each([true, false, {}, [], [1], { rawJSON: '1' }])('has the id %j', id => {
    expect(parseJsonRpcRequest(request({ id }))).toStrictEqual(
      notARequest('`id` must be a string, a number or null.', null, 'message/send'),
    )
  })

  it.each([undefined, null, 1, {}, ['message/send'], true])('has the method %j', method => {
    expect(parseJsonRpcRequest(request({ method, id: 0 }))).toStrictEqual(notARequest('`method` must be a string.', 0))
  })

  it('has a method of more than 256 characters, which is not said again', () => {
    expect(parseJsonRpcRequest(request({ method: 'm'.repeat(257), id: '' }))).toStrictEqual(
      notARequest('`method` is longer than 256 characters.', ''),
    )
  })

  it.each([null, [], [1], 'text', 1, true, JSON.rawJSON('1e400')])('has the parameters %j', params => {
    expect(parseJsonRpcRequest({ jsonrpc: '2.0', id: null, method: 'message/send', params })).toStrictEqual({
      id: null,
      method: 'message/send',
      error: {
        kind: 'invalid-params',
        detail: '`params` must be an object of named parameters.',
        violations: [{ field: 'params', description: 'must be an object of named parameters' }],
      },
    })
  })
})

it('never throws, and answers with the id that was sent or null', () => {
  const member = fc.oneof(fc.constant(undefined), fc.jsonValue())
  fc.assert(
    fc.property(fc.record({ jsonrpc: fc.constant('2.0'), id: member, method: member, params: member }), value => {
      const sent: Json = JSON.parse(JSON.stringify(value))
      const { id } = parseJsonRpcRequest(sent)
      expect([null, (sent as { id?: Json }).id]).toContainEqual(id)
    }),
  )
})
