import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { findSdkVerdicts, readHeader, readKeys, verifySignatures } from '../../../src/card/signatures/index.ts'
import { writePayload } from '../../../src/card/signatures/payloads.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { cardVerifiers } from '../../support/sdk/card-verifiers.ts'

/** Reads vectors that others have published: each file names its source. */
const readVectors = <T>(name: string): T => JSON.parse(readFileSync(`test/fixtures/signatures/${name}.json`, 'utf8'))

type Vector = { id: string; signer: string; card: JsonObject }
const interop = readVectors<{ key: JsonObject; canonical: string; accepted: Vector[]; rejected: Vector[] }>('interop')
const golden = readVectors<{ key: JsonObject; card: JsonObject }>('golden')
const tck = readVectors<{
  key: JsonObject
  canonical: { id: string; card: JsonObject; payload: string }[]
  signed: { id: string; card: JsonObject }[]
  headers: { id: string; protected: string; valid: boolean }[]
}>('tck')

const keysOf = async (key: JsonObject) => {
  const result = await readKeys(key, 'https://example.com/jwks.json')
  return 'keys' in result ? result.keys : []
}

/** Verifies a card, and returns the rule or the reason of each signature. */
const verify = async (card: JsonObject, key: JsonObject) =>
  (await verifySignatures(card, await keysOf(key))).map(result => (result.valid ? result.rule : result.reason))

const findAccepting = async (card: JsonObject, key: JsonObject) =>
  (await findSdkVerdicts({ plain: card, current: card }, await keysOf(key)))
    .filter(({ accepted }) => accepted)
    .map(({ sdk }) => sdk)

// The verifier of a2a-js logs every signature that it does not accept.
beforeEach(() => {
  vi.spyOn(console, 'debug').mockReturnValue()
})

describe('the interop vectors of a2a-python: one card, signed by each SDK', () => {
  it.each(interop.accepted)('$id, signed by $signer, is accepted by this host and every SDK', async ({ card }) => {
    expect(await verify(card, interop.key)).toEqual(['wire'])
    expect(await findAccepting(card, interop.key)).toHaveLength(6)
    for (const { accepts } of cardVerifiers) expect(await accepts(card, [interop.key as never])).toBe(true)
  })

  it.each(interop.rejected)('$id, signed by $signer, is accepted by none', async ({ card }) => {
    expect(await verify(card, interop.key)).toEqual(['is not valid for this card under any rule'])
    expect(await findAccepting(card, interop.key)).toEqual([])
    for (const { accepts } of cardVerifiers) expect(await accepts(card, [interop.key as never])).toBe(false)
  })

  it.each(['wire', 'served', 'proto', 'proto-ascii'] as const)('has the same payload by the rule %s', rule => {
    for (const { card } of interop.accepted) expect(writePayload(rule, card)).toBe(interop.canonical)
  })
})

describe('the golden card of an open pull request of a2a-go, signed by a2a-python with EdDSA', () => {
  it('is accepted by this host and by the SDKs whose examples accept EdDSA', async () => {
    expect(await verify(golden.card, golden.key)).toEqual(['wire'])
    expect(await findAccepting(golden.card, golden.key)).toEqual([
      'a2a-js 1.3, on the JSON of the card',
      'a2a-js 1.3, through its resolver',
      'the rule of A2A 1.0 §8.4.1',
      'a JWS library, on the served JSON',
    ])
  })
})

describe("the vectors of A2A's test kit", () => {
  it.each(tck.canonical)('$id has the expected payload by the rule wire', ({ card, payload }) => {
    expect(writePayload('wire', card)).toBe(payload)
  })

  it.each(tck.signed)('$id is valid by the rule wire', async ({ card }) => {
    expect(await verify(card, tck.key)).toEqual(['wire'])
  })

  it.each(tck.headers)('$id: the protected header is valid: $valid', ({ protected: header, valid }) => {
    expect('header' in readHeader({ protected: header, signature: 'fake' })).toBe(valid)
  })
})
