import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { findChainBreak, NO_ENTRY_HASH, sealEntry } from '../../../src/registry/audit/chain.ts'

const time = '2027-01-01T00:00:00.000Z'
const first = sealEntry({
  ...{ number: 1, time, actor: 'admin', what: 'agent-registered', previous: NO_ENTRY_HASH },
  ...{ agent: 'weather', seq: 1, details: { manifest: '"é"', class: 'additive' } },
})
const second = sealEntry({ number: 2, time, actor: 'host', what: 'agent-changed', previous: first.hash })

it('sealEntry adds the SHA-256 of the entry as docs/design/storage.md defines it', () => {
  const text = `{"actor":"admin","agent":"weather","details":{"class":"additive","manifest":"\\"é\\""},"number":1,"previous":"${'0'.repeat(64)}","seq":1,"time":"${time}","what":"agent-registered"}`
  expect(first.hash).toBe(createHash('sha256').update(text).digest('hex'))
})

it('findChainBreak finds nothing in a chain, and whatever breaks it', () => {
  const early = { ...second, time: '2026-12-31T23:59:59.999Z' }
  for (const [entry, before, message] of [
    [first, undefined, undefined],
    [second, first, undefined],
    [{ ...second, actor: 'admin' }, first, 'its hash is not that of its content'],
    [{ ...second, note: 1 }, first, 'its hash is not that of its content'],
    [second, { ...first, hash: 'f'.repeat(64) }, 'it names another entry before it'],
    [sealEntry({ ...second, number: 3 }), first, 'its number does not follow 1'],
    [sealEntry(early), first, 'its time is before that of the entry before it'],
    [second, undefined, 'its number does not follow 0'],
  ] as const)
    expect(findChainBreak(entry, before)).toBe(message)
})
