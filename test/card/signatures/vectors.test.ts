import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { payloadRules } from '../../../src/card/model/registration-report.ts'
import { findSdkVerdicts, readHeader, readKeys, verifySignatures } from '../../../src/card/signatures/index.ts'
import { writePayload } from '../../../src/card/signatures/payloads.ts'
import type { JsonObject } from '../../../src/json/json.ts'

/** Reads vectors that others have published: each file names its source. */
const readVectors = <T>(name: string): T => JSON.parse(readFileSync(`test/fixtures/signatures/${name}.json`, 'utf8'))

type Vector = { id: string; signer: string; card: JsonObject }
const interop = readVectors<{ key: JsonObject; canonical: string; accepted: Vector[]; rejected: Vector[] }>('interop')
const tck = readVectors<{
  key: JsonObject
  canonical: { id: string; card: JsonObject; payload: string }[]
  signed: { id: string; card: JsonObject }[]
  headers: { id: string; protected: string; valid: boolean }[]
}>('tck')

/** Verifies a card: returns the rule or the reason of each signature, and the SDKs that accept the card. */
const verify = async (card: JsonObject, key: JsonObject) => {
  const read = await readKeys(key, 'https://example.com/jwks.json')
  const keys = 'keys' in read ? read.keys : []
  const results = await verifySignatures(card, keys)
  const verdicts = await findSdkVerdicts({ plain: card, current: card }, keys)
  return {
    results: results.map(result => (result.valid ? result.rule : result.reason)),
    sdks: verdicts.filter(({ accepted }) => accepted).map(({ sdk }) => sdk),
  }
}

describe('the interop vectors of a2a-python: one card, signed by each SDK', () => {
  it('are accepted where they are valid, and have the same payload by every rule', async () => {
    expect([interop.accepted.length > 0, interop.rejected.length > 0]).toEqual([true, true])
    for (const { id, card } of interop.accepted) {
      const { results, sdks } = await verify(card, interop.key)
      expect([id, results, sdks.length]).toEqual([id, ['wire'], 6])
      for (const rule of payloadRules) expect(writePayload(rule, card)).toBe(interop.canonical)
    }
    for (const { id, card } of interop.rejected) {
      const reason = 'is not valid for this card under any rule'
      expect([id, await verify(card, interop.key)]).toEqual([id, { results: [reason], sdks: [] }])
    }
  })
})

describe("the vectors of A2A's test kit", () => {
  it('are valid by the rule wire, as are the same protected headers', async () => {
    for (const { id, card, payload } of tck.canonical) expect(writePayload('wire', card), id).toBe(payload)
    for (const { id, card } of tck.signed) expect((await verify(card, tck.key)).results, id).toEqual(['wire'])
    for (const { id, protected: header, valid } of tck.headers)
      expect('header' in readHeader({ protected: header, signature: 'fake' }), id).toBe(valid)
  })
})
