import type { JWK } from 'jose'
import { describe, expect, it } from 'vitest'
import type { PayloadRule } from '../../../src/card/model/registration-report.ts'
import { findSdkVerdicts, type PublicKey, readKeys, signCard, signedRules } from '../../../src/card/signatures/index.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { makeKey, makeSigner, signAs } from '../../support/cards/signed.ts'

const key = await makeKey()
const names = [
  'a2a-js 1.3, on the JSON of the card',
  'a2a-js 1.3, through its resolver',
  'a2a-python 1.2 and later',
  'a2a-python up to 1.1',
  'the rule of A2A 1.0 §8.4.1',
  'a JWS library, on the served JSON',
]

/** A card whose payloads differ by every rule: text that is not ASCII, an unknown field, a default, security schemes. */
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

/** The reason of each SDK in the order of `names`, and true where it accepts the card. */
const reasons = async (document: JsonObject, keys: readonly PublicKey[] = [key.publicKey], now?: number) => {
  const verdicts = await findSdkVerdicts({ plain: document, current: document }, keys, now)
  expect(verdicts.map(({ sdk }) => sdk)).toEqual(names)
  return verdicts.map(({ accepted, reason }) => accepted || reason)
}

describe('findSdkVerdicts', () => {
  const uncovered = 'no signature covers that text'
  const omitted = `verifies the card without empty values and unknown fields, and ${uncovered}`
  const lost =
    'loses the security schemes before it verifies the card (a2a-js #663), and no signature by a trusted key leaves them out'
  const escaped = `verifies the card without empty values and unknown fields, escaped to ASCII, and ${uncovered}`
  const defaults = `leaves out default values of fields that are not required, and ${uncovered}`
  const exact = `verifies the card exactly as it is served, and ${uncovered}`

  it('reports which SDKs accept a signature by one rule alone, and why others do not', async () => {
    const found = await Promise.all(
      (['wire', 'served', 'proto', 'proto-ascii'] as const).map(async rule => reasons(await signBy([rule]))),
    )
    expect(found).toEqual([
      [omitted, lost, omitted, escaped, defaults, true],
      [omitted, lost, omitted, escaped, true, exact],
      [true, lost, true, escaped, defaults, exact],
      [omitted, lost, omitted, true, defaults, exact],
    ])
  })

  it('gives the resolver the document for A2A 1.0, and every other SDK the one without a version', async () => {
    const plain = await signBy(signedRules)
    const refused = async (current: JsonObject | undefined) =>
      (await findSdkVerdicts({ plain, current }, [key.publicKey])).filter(({ accepted }) => !accepted)
    expect(await refused(card)).toEqual([{ sdk: names[1], accepted: false, reason: 'finds no signatures' }])
    expect(await refused(undefined)).toMatchObject([{ reason: 'gets no card where it requests one for A2A 1.0' }])
  })

  it('reports that a2a-js demands `typ`', async () => {
    const reason = 'demands `typ` in the protected header'
    const document = await signBy(signedRules, { typ: undefined as never })
    expect(await reasons(document)).toEqual([reason, reason, true, true, true, true])
  })

  it('reports that the examples of a2a-python accept ES256 and RS256 only', async () => {
    const usages: ('sign' | 'verify')[] = ['sign', 'verify']
    const { publicKey, privateKey } = (await crypto.subtle.generateKey('Ed25519', true, usages)) as CryptoKeyPair
    const jwk = { ...((await crypto.subtle.exportKey('jwk', publicKey)) as JWK), kid: key.kid, alg: 'EdDSA' }
    const read = await readKeys(jwk as JsonObject, 'manifest')
    const document = await signBy(signedRules, { alg: 'EdDSA' }, privateKey)
    const reason = 'accepts ES256 and RS256 only, in its examples'
    expect(await reasons(document, 'keys' in read ? read.keys : [])).toEqual([true, lost, reason, reason, true, true])
  })

  it('gives the reason where no SDK accepts the card', async () => {
    const document = await signBy(signedRules)
    const expired = { ...key.publicKey, jwk: { ...key.publicKey.jwk, exp: 1 } }
    const unreadable = { ...card, signatures: [{ protected: 'AAAA', signature: 'AAAA' }] }
    const rows: [Parameters<typeof reasons>, string][] = [
      [[card], 'finds no signatures'],
      [[document, []], `finds a signature that names the key "${key.kid}", which is not among the trusted keys`],
      [[document, [expired], 2000], 'finds a signature that is not valid: the key has expired'],
      [
        [unreadable],
        'finds a signature that has a `protected` that is not a JSON object in base64url, or has a name twice',
      ],
    ]
    for (const [args, reason] of rows) expect(await reasons(...args)).toEqual(Array(6).fill(reason))
    // Those who verify the JSON take any.
    const found = await reasons({ ...document, skills: [null] })
    expect(found).toEqual([...Array(4).fill('cannot read the card'), defaults, exact])
  })

  it('reports that a2a-js reads cards of A2A 1.0 only', async () => {
    const { document } = await signCard({ name: 'A', url: 'https://a.example' }, makeSigner(key))
    const reason = 'reads cards of A2A 1.0 only, and no signature covers what it reads of this one'
    expect(await reasons(document)).toEqual([reason, omitted, true, true, true, true])
  })

  it('reports what a signature does not cover rather than that another is of an unknown key', async () => {
    const document = await signBy(['wire'])
    const unknown = (await signCard(card, makeSigner(await makeKey()))).document.signatures as JsonObject[]
    const all = { ...document, signatures: [...unknown, ...(document.signatures as JsonObject[])] }
    expect((await reasons(all))[0]).toBe(omitted)
  })
})
