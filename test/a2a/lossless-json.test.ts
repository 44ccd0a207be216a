import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJsonLossless } from '../../src/a2a/jsonrpc.ts'
import { growth, linear } from '../support/cpu-time.ts'

/** What is forwarded of a text: parsed and written again. */
const again = (text: string): string => {
  const parsed = parseJsonLossless(text)
  return 'value' in parsed ? JSON.stringify(parsed.value) : parsed.kind
}

describe('numbers', () => {
  it.each([
    ['beyond 2^53', '[12345678901234567890]'],
    ['beyond 2^53, below zero', '{"a":-9007199254740993}'],
    ['with more digits than a double has', '{"a":0.12345678901234567890}'],
    ['too large for a double', '{"a":1e400}'],
    ['too small for a double', '{"a":1E-400}'],
    ['with an exponent', '{"a":1e2,"b":1E+2}'],
    ['that would get an exponent', '{"a":0.0000001,"b":-0.00000012,"c":0.000001}'],
    ['with a zero at the end', '{"a":1.0,"b":[2.50]}'],
    ['minus zero', '{"a":-0,"b":-0.0}'],
    ['alone', '12345678901234567890'],
    ['in a list', '[1,2,-0]'],
    ['as they mostly are', '{"a":0,"b":-1,"c":1.5,"d":100,"e":10.05}'],
  ])('%s are forwarded as they were written', (_, text) => {
    expect(again(text)).toBe(text)
  })

  it('are found whatever the white space before them', () => {
    expect(again('\uFEFF { "a" :\n\t1.0 , "b" : [ -0 ] }')).toBe('{"a":1.0,"b":[-0]}')
  })

  it.each([
    ['of ordinary numbers', `[${'1,'.repeat(200_000)}`],
    ['with a long string', `["${'x'.repeat(400_000)}",`],
    ['with escaped quotes', `["${'\\\\\\"'.repeat(100_000)}",`],
  ])('are forwarded as they were written in a body of 400 KB %s', (_, start) => {
    const text = `${start}12345678901234567890,{"a":1.0,"b":-0}]`
    expect(again(text) === text).toBe(true)
  })

  it('in strings are text', () => {
    const text = '{"a":"x:12345678901234567890","b":":1.0","c":"[-0]"}'
    expect(parseJsonLossless(text)).toStrictEqual({ value: JSON.parse(text) })
  })

  it('that are ordinary are ordinary numbers, also beside others', () => {
    expect(parseJsonLossless('{"a":1,"b":1.0,"c":2.5}')).toMatchObject({ value: { a: 1, c: 2.5 } })
  })

  it('of more than 1,000 characters are refused', () => {
    const detail = 'A number is longer than 1000 characters.'
    expect([again(`[${'1'.repeat(1000)}]`).length, parseJsonLossless(`[${'1'.repeat(1001)}]`)]).toStrictEqual([
      1002,
      { kind: 'not-a-request', detail },
    ])
  })
})

describe('a text that is forwarded', () => {
  it('says what was sent, whatever it is', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), text => {
        expect(JSON.parse(again(text))).toStrictEqual(JSON.parse(text, (_, value) => (value === 0 ? 0 : value)))
      }),
    )
  })

  it('has every number as it was written', () => {
    const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`))
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
        expect(again(text)).toBe(text)
      }),
    )
  })

  it.each([
    ['the last of two members of a name', '{"method":"a","method":"b"}', '{"method":"b"}'],
    ['a member called __proto__', '{"__proto__":{"a":1.0}}', '{"__proto__":{"a":1.0}}'],
  ])('keeps %s', (_, text, written) => {
    expect(again(text)).toBe(written)
  })
})

describe('a text that is no call', () => {
  it.each([
    ['', 'The body is empty; expected a call as JSON.'],
    [' \n', 'The body is empty; expected a call as JSON.'],
    ['<html>', /^This is HTML or XML, not JSON\./],
    ['{"jsonrpc":"2.0",', /^This is not JSON\./],
    ['{"a":01}', /^This is not JSON\./],
    ['{"a":NaN}', /^This is not JSON\./],
    ['{"a":1.}', /^This is not JSON\./],
    ['message=hello', /^This is not JSON\./],
    ['---\njsonrpc: 2.0', /^This is not JSON\. (?!.*sync-card)/],
  ])('%j is not JSON', (text, detail) => {
    expect(parseJsonLossless(text)).toStrictEqual({
      kind: 'not-json',
      detail: typeof detail === 'string' ? detail : expect.stringMatching(detail),
    })
  })

  it('nests 10,000 levels deep', () => {
    const text = `{"jsonrpc":"2.0","id":1,"method":"x","params":${'{"a":'.repeat(10_000)}1.0${'}'.repeat(10_000)}}`
    expect(parseJsonLossless(text)).toStrictEqual({
      kind: 'not-a-request',
      detail: 'The document nests deeper than 64 levels.',
    })
  })

  it.each([
    ['white space', (size: number) => `[${' '.repeat(size)}]`],
    ['colons', (size: number) => `"${':'.repeat(size)}"`],
    ['points', (size: number) => `":${'1.'.repeat(size / 2)}"`],
    ['zeros', (size: number) => `":0.${'0'.repeat(size)}1"`],
  ])('or is a megabyte of %s, is read in linear time', (_, textOf) => {
    expect(growth(100_000, size => parseJsonLossless(textOf(size)))).toBeLessThan(linear)
  })
})
