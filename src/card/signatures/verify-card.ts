import { type JsonObject, jsonEquals } from '../../json/index.ts'
import { listSignatures } from './header.ts'
import type { Trust } from './key-sources.ts'
import { payloads } from './payloads.ts'
import type { PublicKey } from './public-keys.ts'
import { findSdkVerdicts, type SdkVerdict } from './sdks.ts'
import type { ServedCards } from './served-cards.ts'
import { type SignatureResult, verifySignatures } from './verify-signatures.ts'

/** Describes what each kind of trust is worth, as a sentence. */
const trustMeanings: Readonly<Record<Trust, string>> = {
  given: 'The keys are those that you named.',
  origin:
    'The keys are those that the server of the card publishes: a valid signature shows that the card is from that server.',
  signer:
    'The signer of the card chose where its keys are (`jku`), so a valid signature shows only that the card was not changed since. Name the keys that you trust.',
}

/** A signature of a card, and what it does not cover. `version` is set for one of the document for A2A 1.0, where that is another. */
type VerifiedSignature = SignatureResult & { version?: '1.0'; omits?: string }

/** The result for a card: whether it is signed with a trusted key, by which signatures, and which SDKs accept them. */
export type Verification = {
  /** Whether each document has a valid signature by a trusted key. */
  verified: boolean
  /** Why not, as sentences. */
  reason?: string
  trust: { basis: Trust; meaning: string }
  signatures: VerifiedSignature[]
  sdks: SdkVerdict[]
}

/** Verifies the documents of a card with keys, whose origin `trust` is. Never rejects. */
export const verifyCard = async (
  { plain, current }: ServedCards,
  keys: readonly PublicKey[],
  trust: Trust,
  now = Date.now(),
): Promise<Verification> => {
  const other = current === undefined || jsonEquals(plain, current) ? undefined : current
  const signatures = (await verifySignatures(plain, keys, now)).map(withOmissions)
  const others = other && (await verifySignatures(other, keys, now)).map(withOmissions)
  const reasons = [
    ...findReasons('The card', plain, signatures),
    ...(other && others ? findReasons('The document for A2A 1.0', other, others) : []),
  ]
  if (reasons.length === 0 && trust === 'signer') reasons.push(`No key is trusted. ${trustMeanings.signer}`)
  return {
    verified: reasons.length === 0,
    ...(reasons.length > 0 && { reason: reasons.join(' ') }),
    trust: { basis: trust, meaning: trustMeanings[trust] },
    signatures: [...signatures, ...(others ?? []).map(signature => ({ ...signature, version: '1.0' as const }))],
    sdks: await findSdkVerdicts({ plain, current }, keys, now),
  }
}

const withOmissions = (signature: SignatureResult): VerifiedSignature => {
  const omits = signature.valid ? payloads[signature.rule].omits : undefined
  return omits === undefined ? signature : { ...signature, omits }
}

/** Returns why a document is not verified, as a sentence, or nothing. */
const findReasons = (subject: string, card: JsonObject, signatures: readonly VerifiedSignature[]): string[] => {
  if (signatures.some(({ valid }) => valid)) return []
  return listSignatures(card).length === 0 ? [`${subject} has no signatures.`] : [`${subject} has no valid signature.`]
}
