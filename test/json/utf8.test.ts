import { describe, expect, it } from 'vitest'
import { decodeUtf8 } from '../../src/json/syntax-mistake.ts'

const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map(part => Buffer.from(part as never)))
const mark = [0xef, 0xbb, 0xbf]

describe('decodeUtf8', () => {
  it('decodes UTF-8 without a byte order mark', () => {
    expect(decodeUtf8(bytes('{"a":"é\ufffd"}'))).toEqual({ text: '{"a":"é\ufffd"}' })
    expect([decodeUtf8(bytes(mark, '{}')), decodeUtf8(bytes(''))]).toEqual([{ text: '{}' }, { text: '' }])
  })

  it('finds the first byte of anything else', () => {
    for (const [title, input, byte, offset, line, column] of [
      ['Latin-1', bytes('{\n "a": "caf', [0xe9], '"}'), '0xE9', 12, 2, 11],
      ['a character without its last byte', bytes('"', [0xe2, 0x82], '"'), '0xE2', 1, 1, 2],
      ['a character without its last byte at the end', bytes([0xf0, 0x9f, 0x98]), '0xF0', 0, 1, 1],
      ['a surrogate', bytes('\n', [0xed, 0xa0, 0x80]), '0xED', 1, 2, 1],
      ['a longer form of a letter', bytes([0xc1, 0x81]), '0xC1', 0, 1, 1],
      ['a byte after replacement characters', bytes('\ufffdé\ufffd', [0xff]), '0xFF', 8, 1, 4],
      ['a byte after a byte order mark', bytes(mark, [0xff]), '0xFF', 3, 1, 1],
    ] as const) {
      const message = `the byte ${byte} at offset ${offset}`
      expect({ title, ...decodeUtf8(input) }).toEqual({ title, message, offset, line, column })
    }
  })
})
