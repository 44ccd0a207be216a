import { describe, expect, it } from 'vitest'
import { parseJsonLossless, parseJsonRpcRequest } from '../../src/a2a/jsonrpc.ts'
import type { Json } from '../../src/json/json.ts'

const parseText = (text: string) => {
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

describe('parseJsonRpcRequest, for a valid request', () => {
  it('returns id, method and parameters, which are empty by default', () => {
    const parsed = [{ params: { a: 1 }, more: true }, { params: undefined }].map(each =>
      parseJsonRpcRequest(request(each)),
    )
    const call = { id: 1, method: 'message/send' }
    expect(parsed).toStrictEqual([
      { ...call, params: { a: 1 } },
      { ...call, params: {} },
    ])
  })

  it('keeps the id, also one of unusual form', () => {
    for (const id of [0, -1, 1.5, '', 'a', '0', null])
      expect(parseJsonRpcRequest(request({ id }))).toStrictEqual({ id, method: 'message/send', params: {} })
    for (const id of ['12345678901234567890', '1.0', '-0', '1e3']) {
      const parsed = JSON.stringify(parseText(`{"jsonrpc":"2.0","id":${id},"method":"a"}`))
      expect(parsed).toBe(`{"id":${id},"method":"a","params":{}}`)
    }
  })
})

describe('parseJsonRpcRequest, for an invalid request', () => {
  it('rejects it with the reason, and what could be read', () => {
    const noBatch = 'A2A does not support batches. Send each call in a request of its own.'
    const noObject = 'A call must be a JSON object with `jsonrpc`, `id`, `method` and `params`.'
    const expectAll = (values: Json[], expected: object) => {
      for (const value of values) expect(parseJsonRpcRequest(value), JSON.stringify(value)).toStrictEqual(expected)
    }
    expectAll([[], [1], [request({})], [request({}), request({})]], notARequest(noBatch, null))
    expectAll([null, true, 1, 'message/send', JSON.rawJSON('1e400') as Json], notARequest(noObject, null))
    expectAll(
      [undefined, '1.0', 2, '2', '', null, 'A2A'].map(jsonrpc => request({ jsonrpc, id: 'i' })),
      notARequest('`jsonrpc` must be the string "2.0".', 'i', 'message/send'),
    )
    expectAll(
      [true, false, {}, [], [1], { rawJSON: '1' }].map(id => request({ id })),
      notARequest('`id` must be a string, a number or null.', null, 'message/send'),
    )
    expectAll(
      [undefined, null, 1, {}, ['message/send'], true].map(method => request({ method, id: 0 })),
      notARequest('`method` must be a string.', 0),
    )
    // Without repeating it.
    const [longest, longer] = ['m'.repeat(256), 'm'.repeat(257)]
    expectAll([request({ method: longer, id: '' })], notARequest('`method` is longer than 256 characters.', ''))
    expectAll([request({ method: longest })], { id: 1, method: longest, params: {} })
    const detail = '`id` is missing. A2A does not support notifications: every call has a response.'
    const withoutId = { ...notARequest(detail, null, 'message/send'), params: { a: 1 } }
    expectAll([request({ id: undefined, params: { a: 1 } })], withoutId)
    const card = 'This is a card, not a call. To register it, send PUT /agents/{id}.'
    expectAll([{ card: 1 }, { skills: 1 }, { description: 1 }], notARequest(card, null))
    const error = {
      kind: 'invalid-params',
      detail: '`params` must be an object of named parameters.',
      violations: [{ field: 'params', description: 'must be an object of named parameters' }],
    }
    expectAll(
      [null, [], [1], 'text', 1, true, JSON.rawJSON('1e400') as Json].map(params => ({
        ...{ jsonrpc: '2.0', id: null, method: 'message/send', params },
      })),
      { id: null, method: 'message/send', error },
    )
  })
})

/** Returns `text` parsed and serialized again, as it is forwarded. */
const roundTrip = (text: string): string => {
  const parsed = parseJsonLossless(text)
  return 'value' in parsed ? JSON.stringify(parsed.value) : parsed.kind
}

describe('numbers of parseJsonLossless', () => {
  it('are forwarded unchanged', () => {
    const texts = [
      ...['[12345678901234567890]', '{"a":-9007199254740993}', '{"a":0.12345678901234567890}', '12345678901234567890'],
      ...['{"a":1e400}', '{"a":1E-400}', '{"a":1e2,"b":1E+2}', '{"a":0.0000001,"b":-0.00000012,"c":0.000001}'],
      ...['{"a":1.0,"b":[2.50]}', '{"a":-0,"b":-0.0}', '[1,2,-0]', '{"a":0,"b":-1,"c":1.5,"d":100,"e":10.05}'],
    ]
    expect(texts.map(roundTrip)).toEqual(texts)
    // In a body of 400 KB: beside ordinary numbers, a long string, or escaped quotes.
    const starts = [`[${'1,'.repeat(200_000)}`, `["${'x'.repeat(400_000)}",`, `["${'\\\\\\"'.repeat(100_000)}",`]
    for (const start of starts) {
      const text = `${start}12345678901234567890,{"a":1.0,"b":-0}]`
      expect(roundTrip(text) === text).toBe(true)
    }
  })

  it('are found after any white space', () => {
    expect(roundTrip('\uFEFF { "a" :\n\t1.0 , "b" : [ -0 ] }')).toBe('{"a":1.0,"b":[-0]}')
  })

  it('in strings stay strings, and those that a double represents are plain numbers', () => {
    const text = '{"a":"x:12345678901234567890","b":":1.0","c":"[-0]"}'
    expect(parseJsonLossless(text)).toStrictEqual({ value: JSON.parse(text) })
    expect(parseJsonLossless('{"a":1,"b":1.0,"c":2.5}')).toMatchObject({ value: { a: 1, c: 2.5 } })
  })

  it('of more than 1,000 characters are rejected', () => {
    const detail = 'A number is longer than 1000 characters.'
    expect([roundTrip(`[${'1'.repeat(1000)}]`).length, parseJsonLossless(`[${'1'.repeat(1001)}]`)]).toStrictEqual([
      1002,
      { kind: 'not-a-request', detail },
    ])
  })
})

it('rejects more than 100,000 numbers that JavaScript would write in another way', () => {
  const numbers = (count: number) => `[${Array(count).fill('-0').join()}]`
  expect('value' in parseJsonLossless(numbers(100_000))).toBe(true)
  expect(parseJsonLossless(numbers(100_001))).toStrictEqual({
    kind: 'not-a-request',
    detail: 'More than 100000 numbers are written like 1.0, not 1.',
  })
})

it('parseJsonLossless keeps the last of duplicate members, and a member called __proto__', () => {
  expect(roundTrip('{"method":"a","method":"b"}')).toBe('{"method":"b"}')
  expect(roundTrip('{"__proto__":{"a":1.0}}')).toBe('{"__proto__":{"a":1.0}}')
})

describe('a text that parseJsonLossless rejects', () => {
  it('is not JSON', () => {
    const [empty, noJson] = [/^The body is empty; expected a call as JSON\.$/, /^This is not JSON\./]
    const rows: [text: string, detail: RegExp][] = [
      ['', empty],
      [' \n', empty],
      ['<html>', /^This is HTML or XML, not JSON\./],
      ['{"jsonrpc":"2.0",', noJson],
      ['---\njsonrpc: 2.0', /^This is not JSON\. (?!.*sync-card)/],
    ]
    for (const [text, detail] of rows)
      expect(parseJsonLossless(text)).toStrictEqual({ kind: 'not-json', detail: expect.stringMatching(detail) })
  })

  it('is rejected if it nests 10,000 levels deep', () => {
    const text = `{"jsonrpc":"2.0","id":1,"method":"x","params":${'{"a":'.repeat(10_000)}1.0${'}'.repeat(10_000)}}`
    expect(parseJsonLossless(text)).toStrictEqual({
      kind: 'not-a-request',
      detail: 'The document nests deeper than 64 levels.',
    })
  })
})
