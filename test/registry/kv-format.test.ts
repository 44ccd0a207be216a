import { expect, it } from 'vitest'
import { decodeEnvelope, encodeEnvelope } from '../../src/registry/kv-format.ts'
import { fitsInRow } from '../../src/registry/prepare.ts'

const bytes = (text: string) => new Uint8Array(Buffer.from(text))

it('encodeEnvelope is reversed by decodeEnvelope, whatever the documents contain', () => {
  const envelope = {
    seq: 7,
    modified: 'Sat, 21 Nov 2026 00:00:00 GMT',
    source: { checked: 1, ttl: 2, staleIfError: 3, failing: 504 as const },
    representations: {
      'agent-card.json': { etag: '"a"', bytes: bytes('{"name":"ünï\\ncode 🎴"}') },
      '1.0': { etag: '"b"', bytes: bytes('') },
      gopherhole: { etag: '"c"', bytes: bytes('line\nline') },
    },
  }
  expect(decodeEnvelope(encodeEnvelope(envelope).buffer)).toEqual(envelope)
})

it('fitsInRow measures texts in bytes, up to 1,900,000', () => {
  expect([[], ['a'.repeat(1_900_000), '']].map(fitsInRow)).toEqual([true, true])
  expect([['', 'a'.repeat(1_900_001)], ['€'.repeat(700_000)]].map(fitsInRow)).toEqual([false, false])
})
