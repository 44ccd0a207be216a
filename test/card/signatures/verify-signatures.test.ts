import { FlattenedSign } from 'jose'
import { describe, expect, it } from 'vitest'
import { readKeys, signCard, verifySignatures } from '../../../src/card/signatures/index.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { canonicalJson } from '../../../src/json/tree.ts'
import { MAX_SIGNATURES, MAX_VERIFICATION_KEYS } from '../../../src/limits.ts'
import { makeKey, makeSigner } from '../../support/cards/signed.ts'
import { makeSigningKey } from '../../support/signing-key.ts'

const [key, other] = await Promise.all([makeKey(), makeKey()])
const card: JsonObject = { name: 'Wetter für morgen', 'x-note': 1, supportedInterfaces: [{ url: 'https://a.example' }] }
const { document: signed } = await signCard(card, makeSigner(key))

/** Signs the card by the rule wire, with any protected header. */
const signWith = async (header: JsonObject, unprotected?: JsonObject): Promise<JsonObject> => {
  const payload = new TextEncoder().encode(canonicalJson(card))
  const signing = new FlattenedSign(payload).setProtectedHeader({ alg: 'ES256', ...header } as never)
  // The options let jose sign a header that it would refuse.
  const jws = await signing.sign(key.privateKey, { crit: { exp: true, 'https://x.example/y': true } })
  return { protected: jws.protected as string, signature: jws.signature, ...(unprotected && { header: unprotected }) }
}

const verify = async (signatures: Json, keys = [key.publicKey], now?: number) =>
  (await verifySignatures({ ...card, signatures }, keys, now)).map(result =>
    result.valid ? result.rule : result.reason,
  )

const encode = (header: Json): string => Buffer.from(JSON.stringify(header)).toString('base64url')
const { kid } = key

describe('verifySignatures', () => {
  it('names the rule, the key and the header of each valid signature', async () => {
    const from = 'https://host.example/.well-known/jwks.json'
    const shared = { alg: 'ES256', kid, typ: 'JOSE', jku: from, valid: true, key: { kid, thumbprint: kid, from } }
    expect(await verifySignatures(signed, [key.publicKey])).toEqual(
      ['proto', 'wire', 'proto-ascii'].map(rule => ({ ...shared, rule })),
    )
  })

  it('needs no key for a card without signatures', async () => {
    expect(await verifySignatures(card, [])).toEqual([])
    expect(await verifySignatures({ ...card, signatures: 'x' }, [])).toEqual([])
  })

  it('accepts a header with a `typ` of JWS or none, and a `jku` of any host, which selects nothing', async () => {
    const jku = 'https://evil.example/jwks.json'
    for (const header of [{ kid, typ: 'JOSE' }, { kid, typ: 'JOSE+JSON' }, { kid }, { kid, jku }])
      expect([header, await verify([await signWith(header)])]).toEqual([header, ['wire']])
  })

  it('rejects any other header', async () => {
    const rows: [JsonObject, RegExp][] = [
      [{ kid, typ: 'JWT' }, /^is no signature of a card: its `typ` is not JOSE$/],
      [{ kid, crit: ['exp'], exp: 1 }, /^demands extensions \(`crit`, `b64`\) that no verifier of cards has$/],
      [{}, /^names no key: its protected header has no `kid`$/],
      [{ kid: '' }, /^names no key/],
      [{ kid: 'unknown' }, /^names the key "unknown", which is not among the trusted keys$/],
    ]
    for (const [header, reason] of rows)
      expect(await verify([await signWith(header)])).toEqual([expect.stringMatching(reason)])
  })

  it('rejects any algorithm but that of the key', async () => {
    const rows: [Json, RegExp][] = [
      ['none', /^uses "none", which is none of ES256, ES384, ES512, EdDSA, Ed25519, RS256$/],
      ['HS256', /^uses "HS256"/],
      [['ES256'], /^has no algorithm$/],
      ['ES384', /^is not valid: the key is for ES256, not ES384$/],
    ]
    const [{ signature = '' } = {}] = signed.signatures as JsonObject[]
    for (const [alg, reason] of rows)
      expect(await verify([{ protected: encode({ alg, kid, typ: 'JOSE' }), signature }])).toEqual([
        expect.stringMatching(reason),
      ])
  })

  it('rejects an unprotected header with members of the protected one or `crit`, and ignores others', async () => {
    for (const unprotected of [{ kid: 'other' }, { alg: 'none' }, { crit: ['x'] }])
      expect(await verify([await signWith({ kid }, unprotected)])).toEqual([
        'repeats members of its protected header in the unprotected one',
      ])
    const ignored = { 'x-time': 1, jwk: other.publicJwk, jku: 'https://evil.example' }
    expect(await verify([await signWith({ kid }, ignored)])).toEqual(['wire'])
  })

  it('rejects a signature whose protected header has a name twice, of which verifiers read different values', async () => {
    const header = `{"alg":"none","alg":"ES256","kid":"${kid}"}`
    expect(await verify([{ protected: Buffer.from(header).toString('base64url'), signature: 'AAAA' }])).toEqual([
      'has a `protected` that is not a JSON object in base64url, or has a name twice',
    ])
  })

  it('rejects what is no signature, and does not fail', async () => {
    const valid = encode({ alg: 'ES256', kid })
    const zeros = 'A'.repeat(86)
    const none = 'has no `protected` and `signature` in base64url'
    const header = 'has a `protected` that is not a JSON object in base64url, or has a name twice'
    const invalid = 'is not valid for this card under any rule'
    const rows: [Json, string][] = [
      [null, none],
      [{}, none],
      [{ protected: '%%%', signature: 'x' }, none],
      [{ protected: 'AAAA', signature: 'x' }, header],
      [{ protected: encode([]), signature: 'x' }, header],
      [{ protected: valid, signature: '%%%' }, none],
      [{ protected: valid, signature: zeros }, invalid],
    ]
    for (const [signature, reason] of rows) expect(await verify([signature])).toEqual([reason])
  })
})

describe('the keys of verifySignatures', () => {
  it('rejects another key of the name, and a `kid` that different keys have; accepts one that the same key has twice', async () => {
    const collision = { ...other.publicKey, kid }
    expect(await verifySignatures(signed, [collision])).toMatchObject(Array(3).fill({ valid: false }))
    const reason = 'names a key whose `kid` several keys have'
    expect(await verify(signed.signatures as Json, [key.publicKey, collision])).toEqual([reason, reason, reason])
    expect(await verify(signed.signatures as Json, [key.publicKey, key.publicKey])).toContain('wire')
  })

  it('are valid now, and for the algorithm of the signature', async () => {
    const now = 1_700_000_000_000
    const seconds = now / 1000
    const rows: [JsonObject, string][] = [
      [{ nbf: seconds, exp: seconds + 1 }, 'wire'],
      [{ exp: seconds }, 'is not valid: the key has expired'],
      [{ nbf: seconds + 1 }, 'is not valid: the key is not valid yet'],
      [{ exp: String(seconds + 1) }, 'is not valid: the `exp` of the key is not a time'],
      [{ nbf: null }, 'is not valid: the `nbf` of the key is not a time'],
      [{ alg: 'ES384' }, 'is not valid: the key is for ES384, not ES256'],
      // No point of the curve.
      [{ x: 'AAAA' }, 'is not valid: the key is not one for ES256'],
    ]
    for (const [members, result] of rows) {
      const read = await readKeys({ ...key.publicJwk, ...members }, 'manifest')
      const keys = 'keys' in read ? read.keys : []
      expect([members, await verify([await signWith({ kid })], keys, now)]).toEqual([members, [result]])
    }
  })
})

describe('readKeys', () => {
  it('reads a JWK with or without its use, a list of JWKs and a JWK Set', async () => {
    const used = { ...key.publicJwk, use: 'sig', key_ops: ['verify'] }
    const set = { keys: [key.publicJwk, null, 'x', { kty: 'oct', k: 'AAAA', kid: 'secret' }] }
    for (const document of [key.publicJwk, [key.publicJwk], used, set] as Json[])
      expect(await readKeys(document, 'manifest')).toMatchObject({ keys: [{ kid, thumbprint: kid, from: 'manifest' }] })
  })

  it('names a key without a `kid` by its thumbprint, and keeps no private member', async () => {
    const result = await readKeys(makeSigningKey() as unknown as JsonObject, 'manifest')
    const [read] = 'keys' in result ? result.keys : []
    expect(read?.kid).toBe(read?.thumbprint)
    expect(read?.jwk).not.toHaveProperty('d')
  })

  it('has no key of a document without a public one for signatures', async () => {
    const documents: Json[] = [
      { keys: [] },
      { kty: 'oct', k: 'AAAA' },
      { ...key.publicJwk, use: 'enc' },
      { ...key.publicJwk, key_ops: ['encrypt'] },
      { kty: 'EC', crv: 'P-256' },
    ]
    const error = 'https://a.example/jwks.json has no public key for signatures'
    for (const document of documents)
      expect([document, await readKeys(document, 'https://a.example/jwks.json')]).toEqual([document, { error }])
  })

  it('does not read a set of 10,000 keys', async () => {
    expect(await readKeys({ keys: Array(10_000).fill(key.publicJwk) }, 'https://a.example/jwks.json')).toEqual({
      error: `https://a.example/jwks.json has 10000 keys; at most ${MAX_VERIFICATION_KEYS} are read`,
    })
  })
})

describe('the work of verifySignatures', () => {
  it(`is bounded: of 10,000 signatures, the first ${MAX_SIGNATURES} count`, async () => {
    const invalid = { protected: encode({ alg: 'ES256', kid }), signature: 'A'.repeat(86) }
    const results = await verify([...Array(9_999).fill(invalid), await signWith({ kid })])
    expect(results).toHaveLength(MAX_SIGNATURES)
    expect(results).not.toContain('wire')
  })
})

describe('signCard', () => {
  it('signs no text with a claim of JWTs, which would be a JWT of the host for those who do not check `typ`', async () => {
    for (const claim of ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti']) {
      const { rules } = await signCard({ ...card, [claim]: 'https://host.example' }, makeSigner(key))
      expect([claim, rules]).toEqual([claim, ['proto', 'proto-ascii']])
    }
  })

  it('writes the header `alg`, `typ`, `kid` and `jku`, and nothing else', () => {
    const headers = (signed.signatures as JsonObject[]).map(signature =>
      JSON.parse(Buffer.from(String(signature.protected), 'base64url').toString()),
    )
    for (const header of headers) expect(header).toEqual({ alg: 'ES256', typ: 'JOSE', kid, jku: makeSigner(key).jku })
    expect(
      (signed.signatures as JsonObject[]).every(signature => Object.keys(signature).join() === 'protected,signature'),
    ).toBe(true)
  })

  it('signs equal payloads once', async () => {
    const plain = { name: 'A', supportedInterfaces: [{ url: 'https://a.example' }] }
    const result = await signCard(plain, makeSigner(key))
    expect(result.rules).toEqual(['proto'])
    expect(await verifySignatures(result.document, [key.publicKey])).toMatchObject([{ valid: true, rule: 'wire' }])
  })

  it('signs with each key in turn, in place of all signatures that the card has', async () => {
    const { document, rules } = await signCard(signed, { ...makeSigner(key), keys: [key, other] })
    const kids = (await verifySignatures(document, [])).map(result => result.kid)
    expect(kids).toEqual([...Array(3).fill(kid), ...Array(3).fill(other.kid)])
    expect(rules).toEqual(['proto', 'wire', 'proto-ascii'])
  })

  it('uses a signature again while what it signs and its key stay', async () => {
    const signer = makeSigner(key)
    const first = await signCard(card, signer)
    const again = await signCard(card, { ...signer, known: first.signatures })
    expect(again.document).toEqual(first.document)
    const changed = await signCard({ ...card, name: 'B' }, { ...signer, known: first.signatures })
    const rotated = await signCard(card, { ...makeSigner(other), known: first.signatures })
    for (const { signatures } of [changed, rotated])
      expect(Object.keys(signatures).filter(digest => digest in first.signatures)).toEqual([])
  })
})
