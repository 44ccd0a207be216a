import { base64url, type CryptoKey, flattenedVerify } from 'jose'
import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { listSignatures, readHeader, type SignatureHeader } from './header.ts'
import { listContradictions } from './legacy-form.ts'
import { createPayloadWriter, type PayloadRule, payloadRules } from './payloads.ts'
import { importKey, type PublicKey } from './public-keys.ts'
import { servedScope } from './served-scope.ts'

/** What became of one signature of a card. */
export type SignatureResult = Partial<SignatureHeader> & Verdict

type Verdict =
  | {
      valid: true
      /** The rule under which it is valid: the first one, of those that cover the most. */
      rule: PayloadRule
      /** The key that made it. */
      key: Pick<PublicKey, 'kid' | 'thumbprint' | 'from'>
    }
  | {
      valid: false
      /** Completes a sentence whose subject is the signature. */
      reason: string
    }

/** Verifies each signature of a card with keys that the caller trusts. `jku` selects nothing. Never rejects. */
export const verifySignatures = async (
  card: JsonObject,
  keys: readonly PublicKey[],
  now = Date.now(),
): Promise<SignatureResult[]> => {
  const write = createPayloadWriter(card)
  const encoded = new Map<PayloadRule, string | undefined>()
  const payloadOf = (rule: PayloadRule): string | undefined => {
    if (!encoded.has(rule)) encoded.set(rule, encodePayload(write(rule)))
    return encoded.get(rule)
  }
  const results: SignatureResult[] = []
  for (const signature of listSignatures(card)) {
    const read = readHeader(signature)
    if ('reason' in read) {
      results.push({ valid: false, ...read })
      continue
    }
    const found = await findKey(read.header, keys, now)
    if ('reason' in found) {
      results.push({ ...read.header, valid: false, ...found })
      continue
    }
    const rule = await findRule(signature, read.header, found.key, payloadOf)
    results.push({ ...read.header, ...judgeRule(rule, card, found.publicKey) })
  }
  return results
}

/** A rule that leaves out fields which contradict the others does not cover the card that its readers see. */
const judgeRule = (rule: PayloadRule | undefined, card: JsonObject, key: PublicKey): Verdict => {
  if (rule === undefined) return { valid: false, reason: 'is not valid for this card under any rule' }
  const contradiction = rule === 'wire' ? undefined : findContradiction(card, rule)
  return contradiction === undefined
    ? { valid: true, rule, key: { kid: key.kid, thumbprint: key.thumbprint, from: key.from } }
    : { valid: false, reason: `covers the card in the form of A2A 1.0 only, which ${contradiction} contradicts` }
}

/**
 * The rule `served` leaves out default values only: what contradicts the others without these, the author has signed.
 */
const findContradiction = (card: JsonObject, rule: PayloadRule): Pointer | undefined => {
  const signed = new Set(rule === 'served' ? listContradictions(servedScope(card)) : [])
  return listContradictions(card).find(pointer => !signed.has(pointer))
}

/** Encodes a payload as it is signed; undefined stays undefined. */
export const encodePayload = (payload: string | undefined): string | undefined =>
  payload === undefined ? undefined : base64url.encode(payload)

const findRule = async (
  signature: Json,
  header: SignatureHeader,
  key: CryptoKey,
  payloadOf: (rule: PayloadRule) => string | undefined,
): Promise<PayloadRule | undefined> => {
  // Rules often write the same text.
  const tried = new Set<string>()
  for (const rule of payloadRules) {
    const payload = payloadOf(rule)
    if (payload === undefined || tried.has(payload)) continue
    if (await isSignatureOf(signature, header, key, payload)) return rule
    tried.add(payload)
  }
  return undefined
}

/** As long as a thumbprint is, and longer. */
const MAX_SHOWN_KID = 100

/** Returns the key that a signature names, ready for use; or why it cannot be verified. */
export const findKey = async (
  { alg, kid }: Pick<SignatureHeader, 'alg' | 'kid'>,
  keys: readonly PublicKey[],
  now: number,
): Promise<{ publicKey: PublicKey; key: CryptoKey } | { reason: string }> => {
  const [publicKey, ...others] = keys.filter(key => key.kid === kid)
  if (publicKey === undefined)
    return {
      reason: `names the key ${JSON.stringify(kid.slice(0, MAX_SHOWN_KID))}, which is not among the trusted keys`,
    }
  if (others.some(({ thumbprint }) => thumbprint !== publicKey.thumbprint))
    return { reason: 'names a key whose `kid` several keys have' }
  const imported = await importKey(publicKey, alg, now)
  return 'error' in imported ? { reason: `is not valid: ${imported.error}` } : { publicKey, key: imported.key }
}

/** Whether a signature that `readHeader` has read signs a payload, in base64url, with a key. */
export const isSignatureOf = (
  signature: Json,
  { alg }: Pick<SignatureHeader, 'alg'>,
  key: CryptoKey,
  payload: string,
): Promise<boolean> => {
  const { protected: header, signature: value } = signature as { protected: string; signature: string }
  return flattenedVerify({ protected: header, signature: value, payload }, key, { algorithms: [alg] }).then(
    () => true,
    () => false,
  )
}
