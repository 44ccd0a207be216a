import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJsonLossless, parseJsonRpcRequest } from '../../src/a2a/jsonrpc.ts'
import type { Json } from '../../src/json/json.ts'
import { growth, linear } from '../support/cpu-time.ts'

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
  it('returns id, method and parameters', () => {
    expect(parseJsonRpcRequest(request({ params: { a: 1 }, more: true }))).toStrictEqual({
      id: 1,
      method: 'message/send',
      params: { a: 1 },
    })
  })

  it('defaults to empty parameters', () => {
    expect(parseJsonRpcRequest(request({ params: undefined }))).toStrictEqual({
      id: 1,
      method: 'message/send',
      params: {},
    })
  })

  it('keeps the id, also one of unusual form', () => {
    for (const id of [0, -1, 1.5, '', 'a', '0', null])
      expect(parseJsonRpcRequest(request({ id }))).toStrictEqual({ id, method: 'message/send', params: {} })
    for (const id of ['12345678901234567890', '1.0', '-0', '1e3']) {
      const parsed = JSON.stringify(parseText(`{"jsonrpc":"2.0","id":${id},"method":"a"}`))
      expect(parsed).toBe(`{"id":${id},"method":"a","params":{}}`)
    }
  })

  it('keeps the last of duplicate members', () => {
    const text = '{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b","params":{"a":1},"params":{"b":2}}'
    expect(parseText(text)).toStrictEqual({ id: 2, method: 'b', params: { b: 2 } })
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

it('never throws, and returns the id of the request or null', () => {
  const member = fc.oneof(fc.constant(undefined), fc.jsonValue())
  fc.assert(
    fc.property(fc.record({ jsonrpc: fc.constant('2.0'), id: member, method: member, params: member }), value => {
      const request: Json = JSON.parse(JSON.stringify(value))
      const { id } = parseJsonRpcRequest(request)
      expect([null, (request as { id?: Json }).id]).toContainEqual(id)
    }),
  )
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

  it('in strings stay strings', () => {
    const text = '{"a":"x:12345678901234567890","b":":1.0","c":"[-0]"}'
    expect(parseJsonLossless(text)).toStrictEqual({ value: JSON.parse(text) })
  })

  it('that a double represents are plain numbers, also next to others', () => {
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

describe('more than 100,000 numbers that JavaScript would write in another way', () => {
  it('are rejected', () => {
    const numbers = (count: number) => `[${Array(count).fill('-0').join()}]`
    expect('value' in parseJsonLossless(numbers(100_000))).toBe(true)
    expect(parseJsonLossless(numbers(100_001))).toStrictEqual({
      kind: 'not-a-request',
      detail: 'More than 100000 numbers are written as JavaScript does not write them, such as 1.0 for 1.',
    })
  })
})

describe('a text that parseJsonLossless returns', () => {
  it('has the value of the original', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), text => {
        expect(JSON.parse(roundTrip(text))).toStrictEqual(JSON.parse(text, (_, value) => (value === 0 ? 0 : value)))
      }),
    )
  })

  it('has every number in its original form', () => {
    const digits = (maxLength: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${maxLength}}$`))
    const number = fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.oneof(
          fc.constant('0'),
          digits(30).map(text => text.replace(/^0*/, '') || '0'),
        ),
        fc.oneof(
          fc.constant(''),
          digits(30).map(text => `.${text}`),
        ),
        fc.oneof(
          fc.constant(''),
          digits(3).map(text => `e${text}`),
          digits(3).map(text => `E-${text}`),
        ),
      )
      .map(parts => parts.join(''))
    fc.assert(
      fc.property(fc.array(number, { maxLength: 5 }), numbers => {
        const text = `{"list":[${numbers.join(',')}],"text":"${numbers.join(':')}"}`
        expect(roundTrip(text)).toBe(text)
      }),
    )
  })

  it('keeps the last of duplicate members, and a member called __proto__', () => {
    expect(roundTrip('{"method":"a","method":"b"}')).toBe('{"method":"b"}')
    expect(roundTrip('{"__proto__":{"a":1.0}}')).toBe('{"__proto__":{"a":1.0}}')
  })
})

describe('a text that parseJsonLossless rejects', () => {
  it('is not JSON', () => {
    const [empty, noJson] = [/^The body is empty; expected a call as JSON\.$/, /^This is not JSON\./]
    const rows: [text: string, detail: RegExp][] = [
      ['', empty],
      [' \n', empty],
      ['<html>', /^This is HTML or XML, not JSON\./],
      ...['{"jsonrpc":"2.0",', '{"a":01}', '{"a":NaN}', '{"a":1.}', 'message=hello'].map((text): [string, RegExp] => [
        text,
        noJson,
      ]),
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

  it('is read in linear time, whatever a megabyte of it is', () => {
    const texts = [
      (size: number) => `[${' '.repeat(size)}]`,
      (size: number) => `"${':'.repeat(size)}"`,
      (size: number) => `":${'1.'.repeat(size / 2)}"`,
      (size: number) => `":0.${'0'.repeat(size)}1"`,
    ]
    for (const textOf of texts) expect(growth(100_000, size => parseJsonLossless(textOf(size)))).toBeLessThan(linear)
  })
})
