import { base64url, type CryptoKey, flattenedVerify } from 'jose'
import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { type PayloadRule, payloadRules } from '../model/index.ts'
import { listSignatures, readHeader, type SignatureHeader } from './header.ts'
import { importKey, type PublicKey } from './key-sources.ts'
import { listContradictions } from './legacy-form.ts'
import { createPayloadWriter, servedScope } from './payloads.ts'

/** The result for one signature of a card. The reason completes a sentence whose subject is the signature. */
export type SignatureResult = Partial<SignatureHeader> & Verdict

type Verdict =
  | {
      valid: true
      /** The rule under which it is valid: the first one, of those that cover the most. */
      rule: PayloadRule
      /** The key that made it. */
      key: Pick<PublicKey, 'kid' | 'thumbprint' | 'from'>
    }
  | { valid: false; reason: string }

/** Verifies each signature of a card with keys that the caller trusts. `jku` selects nothing. Never rejects. */
export const verifySignatures = async (card: JsonObject, keys: readonly PublicKey[], now = Date.now()) => {
  const write = createPayloadWriter(card)
  const findRule = async (signature: Json, alg: string, key: CryptoKey): Promise<PayloadRule | undefined> => {
    // Rules often write the same text.
    const tried = new Set<string>()
    for (const rule of payloadRules) {
      const payload = write(rule)
      if (payload === undefined || tried.has(payload)) continue
      if (await isSignatureOf(signature, alg, key, payload)) return rule
      tried.add(payload)
    }
    return undefined
  }
  const verify = async (signature: Json): Promise<SignatureResult> => {
    const read = readHeader(signature)
    if ('reason' in read) return { valid: false, ...read }
    const { header } = read
    const found = await findKey(header, keys, now)
    if ('reason' in found) return { ...header, valid: false, ...found }
    const rule = await findRule(signature, header.alg, found.key)
    return { ...header, ...evaluateRule(rule, card, found.publicKey) }
  }
  const results: SignatureResult[] = []
  for (const signature of listSignatures(card)) results.push(await verify(signature))
  return results
}

/** A rule that leaves out fields which contradict the others does not cover the card that its readers see. */
const evaluateRule = (rule: PayloadRule | undefined, card: JsonObject, key: PublicKey): Verdict => {
  if (rule === undefined) return { valid: false, reason: 'is not valid for this card under any rule' }
  const contradiction = rule === 'wire' ? undefined : findContradiction(card, rule)
  return contradiction === undefined
    ? { valid: true, rule, key: { kid: key.kid, thumbprint: key.thumbprint, from: key.from } }
    : { valid: false, reason: `covers the card in the form of A2A 1.0 only, which ${contradiction} contradicts` }
}

/** The rule `served` leaves out default values only: what contradicts without these, the author has signed. */
const findContradiction = (card: JsonObject, rule: PayloadRule): Pointer | undefined => {
  const signed = new Set(rule === 'served' ? listContradictions(servedScope(card)) : [])
  return listContradictions(card).find(pointer => !signed.has(pointer))
}

/** Returns the key that a signature names, ready for use; or why it cannot be verified. */
export const findKey = async (
  { alg, kid }: Pick<SignatureHeader, 'alg' | 'kid'>,
  keys: readonly PublicKey[],
  now: number,
): Promise<{ publicKey: PublicKey; key: CryptoKey } | { reason: string }> => {
  const [publicKey, ...others] = keys.filter(key => key.kid === kid)
  if (publicKey === undefined)
    // A thumbprint is shorter than the limit.
    return { reason: `names the key ${JSON.stringify(kid.slice(0, 100))}, which is not among the trusted keys` }
  if (others.some(({ thumbprint }) => thumbprint !== publicKey.thumbprint))
    return { reason: 'names a key whose `kid` several keys have' }
  const imported = await importKey(publicKey, alg, now)
  return 'error' in imported ? { reason: `is not valid: ${imported.error}` } : { publicKey, key: imported.key }
}

/** Checks that a signature which `readHeader` has read signs a text with a key. */
export const isSignatureOf = (signature: Json, alg: string, key: CryptoKey, text: string): Promise<boolean> => {
  const { protected: header, signature: value } = signature as { protected: string; signature: string }
  const jws = { protected: header, signature: value, payload: base64url.encode(text) }
  return flattenedVerify(jws, key, { algorithms: [alg] }).then(
    () => true,
    () => false,
  )
}
