import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { MAX_SIGNATURES } from '../../../src/limits.ts'
import { cleanCard } from '../../support/cards/cards.ts'
import { lintCard } from '../../support/cards/compile.ts'

const encode = (header: Json): string => Buffer.from(JSON.stringify(header)).toString('base64url')
const valid = { protected: encode({ alg: 'ES256', kid: 'a', typ: 'JOSE' }), signature: 'AAAA' }
const { url, protocolVersion: _, ...rest } = cleanCard as unknown as JsonObject
/** A card of A2A 1.0 that declares everything. */
const card: JsonObject = {
  ...rest,
  supportedInterfaces: [{ url: url as string, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
  securityRequirements: [{ schemes: { bearer: { list: ['read'] } } }],
}

/** Returns the findings of the rules about signatures, as `rule pointer: message`. */
const find = (
  fields: Record<string, Json | undefined>,
  manifest: JsonObject = {},
  rule = /signature|unsignable/,
): string[] =>
  lintCard({ ...card, ...fields }, manifest)
    .filter(issue => rule.test(issue.rule))
    .map(({ rule, pointer, message }) => `${rule} ${pointer}: ${message}`)

const signed = (protectedHeader: Json) => ({ signatures: [{ ...valid, protected: encode(protectedHeader) }] })

describe('signature-unverifiable', () => {
  it('reports a signature of the author that no client accepts', () => {
    const rows: [JsonObject, RegExp][] = [
      [
        signed({ alg: 'ES256' }),
        /^\/signatures\/0: names no key: its protected header has no `kid`, so no client accepts it$/,
      ],
      [signed({ alg: 'none', kid: 'a' }), /uses "none", which is none of ES256/],
      // Some libraries write the payload, too.
      [{ signatures: [{ ...valid, payload: 'AAAA' }] }, /^\/signatures\/0\/payload: is no field of A2A/],
    ]
    for (const [fields, message] of rows) {
      const found = find(fields, {}, /unverifiable/).map(issue => issue.replace('signature-unverifiable ', ''))
      expect(found).toEqual([expect.stringMatching(message)])
    }
  })

  it('reports the first signature that is not read', () => {
    expect(find({ signatures: Array(MAX_SIGNATURES + 2).fill(valid) }, {}, /unverifiable/)).toEqual([
      `signature-unverifiable /signatures/20: and those after it are not read: a card may have ${MAX_SIGNATURES} signatures`,
    ])
  })

  it('reports no valid header, and none that is not served', () => {
    expect(find({ signatures: [valid] })).toEqual([])
    expect(find(signed({ alg: 'none' }), { signatures: 'strip' })).toEqual([])
    expect(find(signed({ alg: 'none' }), { signatures: 'resign' })).toEqual([])
  })
})

describe('unsignable-value', () => {
  const unsignable = (fields: Record<string, Json | undefined>, manifest: JsonObject = { signatures: 'resign' }) =>
    find(fields, manifest, /unsignable/).map(found => found.replace('unsignable-value ', ''))
  const [skill] = card.skills as JsonObject[]
  const extension = { uri: 'https://e.example/1', params: { a: 1, b: [0.5, 1e-5], c: 'x' } }

  it('reports what SDKs leave out of the payload', () => {
    const extensions = [{ uri: 'https://e.example/1', params: {} }]
    const rows: [Record<string, Json | undefined>, string][] = [
      [{ skills: [{ ...skill, inputModes: [] }] }, '/skills/0/inputModes: is empty'],
      [
        { capabilities: { ...(card.capabilities as JsonObject), extensions } },
        '/capabilities/extensions/0/params: is empty',
      ],
      [{ 'x-note': 'a' }, '/x-note: is no field of A2A 1.0'],
      [{ skills: [{ ...skill, 'x-note': 'a' }] }, '/skills/0/x-note: is no field of A2A 1.0'],
      [{ securityRequirements: [{ schemes: { bearer: { list: [] } } }] }, '/securityRequirements/0: has no scopes'],
      [{ securityRequirements: undefined, security: [{ bearer: [] }] }, '/security/0: has no scopes'],
      [
        { skills: [{ ...skill, securityRequirements: [{ schemes: { bearer: {} } }] }] },
        '/skills/0/securityRequirements/0: has no scopes',
      ],
    ]
    for (const [fields, expected] of rows)
      for (const found of [unsignable(fields), unsignable({ ...fields, signatures: [valid] }, {})])
        expect(found).toEqual([expect.stringContaining(expected)])
  })

  it('reports what breaks signatures of the author: capabilities that are not declared, and numbers', () => {
    const fields = { capabilities: { streaming: true, extensions: [extension] } }
    expect(unsignable({ ...fields, signatures: [valid] }, {}).map(found => found.replace(/,.*/, ''))).toEqual([
      '/capabilities/pushNotifications: is not declared',
      '/capabilities/extendedAgentCard: is not declared',
      '/capabilities/extensions/0/params/a: is written in another way by a2a-python up to 1.1',
      '/capabilities/extensions/0/params/b/1: is written in another way by a2a-python up to 1.1',
    ])
    expect(unsignable(fields)).toEqual([])
  })

  it('reports no default that this host fills in', () => {
    expect(unsignable({ defaultInputModes: undefined, defaultOutputModes: undefined, version: undefined })).toEqual([])
  })

  it('reports nothing unless the card is signed, or the manifest says how', () => {
    expect(unsignable({ 'x-note': 'a', security: [{ bearer: [] }] }, {})).toEqual([])
    expect(unsignable({ 'x-note': 'a' }, { signatures: 'strip' })).toEqual([])
  })
})
