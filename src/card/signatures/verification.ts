import { type JsonObject, jsonEquals } from '../../json/json.ts'
import { MAX_SIGNER_KEY_SETS } from '../../limits.ts'
import { parseUrl } from '../../net/urls.ts'
import { listSignatures, readHeader } from './header.ts'
import { KEY_SET_PATH, type KeySource } from './key-sources.ts'
import { payloads } from './payloads.ts'
import type { PublicKey } from './public-keys.ts'
import { findSdkVerdicts, type SdkVerdict, type ServedCards } from './sdks.ts'
import { type SignatureResult, verifySignatures } from './verify.ts'

/**
 * Who decided which keys count: the verifier (`given`), the server of the card (`origin`), or whoever signed it (`signer`). The last
 * proves nothing: anybody can sign a card with a key of their own, and name the place of that key.
 */
export type Trust = 'given' | 'origin' | 'signer'

/** What each kind of trust is worth, as a sentence. */
export const trustMeanings: Readonly<Record<Trust, string>> = {
  given: 'The keys are those that you named.',
  origin:
    'The keys are those that the server of the card publishes: a valid signature shows that the card is from that server.',
  signer:
    'Whoever signed the card chose where its keys are (`jku`), so a valid signature shows only that the card was not changed since. Name the keys that you trust.',
}

/** Returns the URL of a card: of a bare origin, that of the well-known card. */
export const resolveCardUrl = (url: string): string => {
  const parsed = parseUrl(url)
  return parsed?.pathname === '/' && parsed.search === '' ? `${parsed.origin}/.well-known/agent-card.json` : url
}

/** Where the keys are from that a card is verified with. `unread` says which key sets that signatures point to are not read, and why. */
export type ChosenKeys = { trust: Trust; sources: KeySource[]; unread: string[] }

/**
 * Chooses the keys that a card is verified with: those that are given, else those of the origin that the card was fetched from: its
 * well-known key set, and others there that signatures point to. Without an origin, all https addresses that they point to.
 */
export const chooseKeys = (
  { plain, current }: ServedCards,
  { given, url }: { given?: readonly KeySource[] | undefined; url?: string | undefined },
): ChosenKeys => {
  if (given !== undefined) return { trust: 'given', sources: [...given], unread: [] }
  const named = [...new Set([plain, ...(current ? [current] : [])].flatMap(listKeySetUrls))]
  const origin = url === undefined ? undefined : parseUrl(url)?.origin
  const counts = (jku: string): boolean =>
    origin === undefined ? parseUrl(jku)?.protocol === 'https:' : parseUrl(jku)?.origin === origin
  const wellKnown = origin === undefined ? [] : [origin + KEY_SET_PATH]
  const sources = [...new Set([...wellKnown, ...named.filter(counts)])]
  const otherReason = origin === undefined ? 'it is not https' : 'it is not on the origin of the card'
  return {
    trust: origin === undefined ? 'signer' : 'origin',
    sources: sources.slice(0, MAX_SIGNER_KEY_SETS),
    unread: [
      ...sources.slice(MAX_SIGNER_KEY_SETS).map(jku => `${jku} is not read: signatures point to too many key sets`),
      ...named.filter(jku => !counts(jku)).map(jku => `${jku} is not read: ${otherReason}`),
    ],
  }
}

/** Returns the `jku` of each signature of a card that has one. */
const listKeySetUrls = (card: JsonObject): string[] =>
  listSignatures(card).flatMap(signature => {
    const read = readHeader(signature)
    return 'header' in read && read.header.jku !== undefined ? [read.header.jku] : []
  })

/** A signature of a card, and what it does not cover. `version` is set for one of the document for A2A 1.0, where that is another. */
export type VerifiedSignature = SignatureResult & { version?: '1.0'; omits?: string }

/** Whether a card is signed with a trusted key, by which signatures, and which SDKs accept them. */
export type Verification = {
  /** Whether each document has a signature by a trusted key that covers its security schemes. */
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
    ...describeFailure('The card', plain, signatures),
    ...(other && others ? describeFailure('The document for A2A 1.0', other, others) : []),
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
const describeFailure = (subject: string, card: JsonObject, signatures: readonly VerifiedSignature[]): string[] => {
  const valid = signatures.filter(signature => signature.valid)
  if (valid.some(({ rule }) => rule !== 'narrow')) return []
  if (valid.length > 0)
    return [
      `${subject} has only narrow signatures that are valid. They do not cover ${payloads.narrow.omits}, so anybody could have changed those.`,
    ]
  return listSignatures(card).length === 0 ? [`${subject} has no signatures.`] : [`${subject} has no valid signature.`]
}
