import type { JWK } from 'jose'
import { describe, expect, it } from 'vitest'
import {
  findSdkVerdicts,
  type PayloadRule,
  type PublicKey,
  readKeys,
  signCard,
  signedRules,
} from '../../../src/card/signatures/index.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { makeKey, makeSigner, signAs } from '../../support/cards/signed.ts'

const key = await makeKey()
const [rawJs, resolvedJs, python12, python11, specification, jws] = [
  'a2a-js 1.3, on the JSON of the card',
  'a2a-js 1.3, through its resolver',
  'a2a-python 1.2 and later',
  'a2a-python up to 1.1',
  'the rule of A2A 1.0 §8.4.1',
  'a JWS library, on the served JSON',
] as const

/**
 * A card whose payloads differ by every rule: text that is not ASCII, an unknown field, a default, security schemes.
 */
const card: JsonObject = {
  name: 'Wetter für morgen',
  'x-note': '',
  supportedInterfaces: [{ url: 'https://a.example', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
}

/** Signs the card by some rules, with a header that every SDK accepts unless `header` changes it. */
const signBy = (
  rules: readonly PayloadRule[],
  header: JsonObject = {},
  privateKey = key.privateKey,
): Promise<JsonObject> =>
  rules.reduce(
    async (signed, rule) => signAs(await signed, { kid: key.kid, privateKey }, { rule, header }),
    Promise.resolve(card),
  )

const judge = (document: JsonObject, keys: readonly PublicKey[] = [key.publicKey], now?: number) =>
  findSdkVerdicts({ plain: document, current: document }, keys, now)

/** The reason of each SDK, and true where it accepts the card. */
const reasons = async (...args: Parameters<typeof judge>) =>
  Object.fromEntries((await judge(...args)).map(({ sdk, accepted, reason }) => [sdk, accepted || reason]))

describe('findSdkVerdicts', () => {
  const omitted = 'verifies the card without empty values and unknown fields, and no signature covers that text'
  const lost =
    'loses the security schemes before it verifies the card (a2a-js #663), and no signature by a trusted key leaves them out'
  const escaped =
    'verifies the card without empty values and unknown fields, escaped to ASCII, and no signature covers that text'
  const defaults = 'leaves out default values of fields that are not required, and no signature covers that text'
  const exact = 'verifies the card exactly as it is served, and no signature covers that text'
  const unlike = { [specification]: defaults, [jws]: exact }

  it.each<[PayloadRule, Record<string, string | true>]>([
    [
      'wire',
      { [rawJs]: omitted, [resolvedJs]: lost, [python12]: omitted, [python11]: escaped, ...unlike, [jws]: true },
    ],
    [
      'served',
      {
        [rawJs]: omitted,
        [resolvedJs]: lost,
        [python12]: omitted,
        [python11]: escaped,
        ...unlike,
        [specification]: true,
      },
    ],
    ['proto', { [rawJs]: true, [resolvedJs]: lost, [python12]: true, [python11]: escaped, ...unlike }],
    ['proto-ascii', { [rawJs]: omitted, [resolvedJs]: lost, [python12]: omitted, [python11]: true, ...unlike }],
  ])('reports which SDKs accept a signature by the rule %s alone, and why others do not', async (rule, expected) => {
    expect(await reasons(await signBy([rule]))).toEqual(expected)
  })

  it('gives the resolver the document for A2A 1.0, and every other SDK the one without a version', async () => {
    const plain = await signBy(signedRules)
    const verdicts = await findSdkVerdicts({ plain, current: card }, [key.publicKey])
    expect(verdicts.filter(({ accepted }) => !accepted)).toEqual([
      { sdk: resolvedJs, accepted: false, reason: 'finds no signatures' },
    ])
  })

  it('reports that a2a-js demands `typ`', async () => {
    const reason = 'demands `typ` in the protected header'
    const document = await signBy(signedRules, { typ: undefined as never })
    expect(await reasons(document)).toEqual({
      [rawJs]: reason,
      [resolvedJs]: reason,
      [python12]: true,
      [python11]: true,
      [specification]: true,
      [jws]: true,
    })
  })

  it('reports that the examples of a2a-python accept ES256 and RS256 only', async () => {
    const { publicKey, privateKey } = (await crypto.subtle.generateKey('Ed25519', true, [
      'sign',
      'verify',
    ])) as CryptoKeyPair
    const jwk = { ...((await crypto.subtle.exportKey('jwk', publicKey)) as JWK), kid: key.kid, alg: 'EdDSA' }
    const read = await readKeys(jwk as JsonObject, 'manifest')
    const document = await signBy(signedRules, { alg: 'EdDSA' }, privateKey)
    const reason = 'accepts ES256 and RS256 only, in its examples'
    expect(await reasons(document, 'keys' in read ? read.keys : [])).toEqual({
      [rawJs]: true,
      [resolvedJs]: lost,
      [python12]: reason,
      [python11]: reason,
      [specification]: true,
      [jws]: true,
    })
  })

  it.each<[string, (document: JsonObject) => Promise<object>, string]>([
    ['no signatures', () => judge(card), 'finds no signatures'],
    [
      'a key that is not known',
      document => judge(document, []),
      expect.stringMatching(/^finds a signature that names the key "[^"]+", which is not among the trusted keys$/),
    ],
    [
      'a key that has expired',
      document => judge(document, [{ ...key.publicKey, jwk: { ...key.publicKey.jwk, exp: 1 } }], 2000),
      'finds a signature that is not valid: the key has expired',
    ],
    [
      'a header that cannot be read',
      () => judge({ ...card, signatures: [{ protected: 'AAAA', signature: 'AAAA' }] }),
      'finds a signature that has a `protected` that is not a JSON object in base64url, or has a name twice',
    ],
    ['a document that is no card', document => judge({ ...document, skills: [null] }), 'cannot read the card'],
  ])('gives the reason where there is %s', async (_, run, reason) => {
    const verdicts = (await run(await signBy(signedRules))) as Awaited<ReturnType<typeof judge>>
    // The others take any JSON.
    const readers = reason === 'cannot read the card' ? verdicts.slice(0, 4) : verdicts
    expect([...new Set(readers.map(verdict => verdict.reason))]).toEqual([reason])
  })

  it('reports that a2a-js reads cards of A2A 1.0 only', async () => {
    const { document } = await signCard({ name: 'A', url: 'https://a.example' }, makeSigner(key))
    const reason = 'reads cards of A2A 1.0 only, and no signature covers what it reads of this one'
    expect(await reasons(document)).toEqual({
      [rawJs]: reason,
      [resolvedJs]: 'verifies the card without empty values and unknown fields, and no signature covers that text',
      [python12]: true,
      [python11]: true,
      [specification]: true,
      [jws]: true,
    })
  })

  it('reports what a signature does not cover rather than that another is of an unknown key', async () => {
    const document = await signBy(['wire'])
    const unknown = (await signCard(card, makeSigner(await makeKey()))).document.signatures as JsonObject[]
    const all = { ...document, signatures: [...unknown, ...(document.signatures as JsonObject[])] }
    expect((await reasons(all))[rawJs]).toBe(omitted)
  })
})
