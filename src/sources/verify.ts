import { compare, validate } from 'compare-versions'
import type { Source } from '../card/manifest/index.ts'
import type { CardError, Note } from '../card/model/index.ts'
import {
  type FetchJson,
  KEY_SET_PATH,
  type KeySource,
  listKeySetUrls,
  listSignatures,
  payloadRules,
  resolveKeys,
  type SignatureResult,
  verifySignatures,
} from '../card/signatures/index.ts'
import { parseUrl } from '../http/index.ts'
import { type Json, type JsonObject, jsonEquals } from '../json/index.ts'
import type { CardVerification, SourceFailure, SourceRecord } from '../registry/index.ts'
import { readCovered } from './covered.ts'

/** What a fetched card is verified with: what its manifest demands, and the keys that are pinned already. */
type VerificationContext = {
  source: Pick<Source, 'url'>
  demanded: NonNullable<Source['verification']>
  pinned: readonly string[] | undefined
  fetchJson: FetchJson
}

/**
 * Verifies a card exactly as it was received. Where that is required, what is returned of it is only what a signature covers. Keys that
 * cannot be read are a failure of the source, which may pass.
 */
export const verifyFetched = async (
  card: JsonObject,
  { source, demanded, pinned, fetchJson }: VerificationContext,
): Promise<{ card: JsonObject; verification: CardVerification; notes: Note[] } | { failure: SourceFailure }> => {
  const at = Date.now()
  const pins = pinned && { pinned: [...pinned] }
  const unverified = (reason: string) => ({
    card,
    verification: { at, verified: false, reason: shorten(reason, MAX_REASON_LENGTH), ...pins } as const,
    notes: [],
  })
  if (listSignatures(card).length === 0) return unverified('it has no signatures')
  const { keys, errors } = await resolveKeys(listKeySources(demanded.keys, card, source.url), fetchJson)
  const results = await verifySignatures(card, keys, at)
  const accepted = results.filter(result => result.valid)
  const best = findBest(accepted, pinned)
  if (best !== undefined) {
    const { rule, key } = best
    const signers = { pinned: pinned ? [...pinned] : [...new Set(accepted.map(({ key }) => key.thumbprint))] }
    const verification: CardVerification = {
      ...{ at, verified: true, rule },
      // A key set can have names and an address of any length.
      key: { ...key, kid: shorten(key.kid, MAX_KEY_LENGTH), from: shorten(key.from, MAX_KEY_LENGTH) },
      ...(demanded.keys === 'first-use' && signers),
    }
    if (demanded.policy === 'warn' || rule === 'wire') return { card, verification, notes: [] }
    // Other signatures may cover what is left out.
    const signatures = listSignatures(card).filter((_, index) => isBy(key.thumbprint, results[index]))
    return { verification, ...readCovered({ ...card, signatures }, rule) }
  }
  if (errors.length === 0) return unverified(describeResults(results))
  const reason = `its keys cannot be read: ${shorten(errors.join('; '), MAX_REASON_LENGTH)}`
  return demanded.policy === 'require' ? { failure: keysUnreadable(reason) } : unverified(reason)
}

const MAX_REASON_LENGTH = 500
const MAX_KEY_LENGTH = 200

const shorten = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}…` : text)

type ValidSignature = Extract<SignatureResult, { valid: true }>

const isBy = (thumbprint: string, result: SignatureResult | undefined): boolean =>
  result?.valid === true && result.key.thumbprint === thumbprint

/** Of the signatures by pinned keys, else of all, returns the one whose rule covers the most. */
const findBest = (
  accepted: readonly ValidSignature[],
  pinned: readonly string[] | undefined,
): ValidSignature | undefined => {
  const byRule = accepted.toSorted((a, b) => payloadRules.indexOf(a.rule) - payloadRules.indexOf(b.rule))
  return byRule.find(({ key }) => pinned?.includes(key.thumbprint)) ?? byRule[0]
}

/** With `first-use`, keys are trusted that the origin of the card publishes, and no others: a `jku` alone proves nothing. */
const listKeySources = (
  keys: NonNullable<Source['verification']>['keys'],
  card: JsonObject,
  url: string,
): readonly KeySource[] => {
  if (keys !== 'first-use') return keys
  const origin = parseUrl(url)?.origin ?? ''
  // One request, however many signatures there are.
  const named = listKeySetUrls(card).find(jku => parseUrl(jku)?.origin === origin)
  return [named ?? `${origin}${KEY_SET_PATH}`]
}

const describeResults = (results: readonly SignatureResult[]): string =>
  results
    .slice(0, MAX_DESCRIBED)
    .flatMap((result, index) => (result.valid ? [] : [`signature ${index + 1} ${result.reason}`]))
    .join('; ')

const MAX_DESCRIBED = 3

const keysUnreadable = (reason: string): SourceFailure => ({
  status: 502,
  code: 'unreachable',
  message: `The card is not verified: ${reason}.`,
})

/** Returns the failure that an owner sees if no card was verified yet. */
export const toUnverifiedFailure = (errors: readonly CardError[]): SourceFailure => ({
  status: 502,
  code: 'unverified',
  message: `The fetched card is not served: ${errors.map(({ pointer, message }) => `${pointer} ${message}`).join('. ')}. Have it signed with one of the keys in \`upstream.keys\`, or correct those; \`upstream.verify: warn\` serves it as it is.`,
})

/** Returns the keys that the first card of a source has pinned. Other keys or another policy begin anew. */
export const findPinnedKeys = (known: SourceRecord | undefined, source: Source): string[] | undefined =>
  source.verification?.keys === 'first-use' && isSameSource(known?.source, source)
    ? known?.verification?.pinned
    : undefined

/** Whether a card from one source is as trustworthy as one from the other: a card under other keys is not. */
export const isSameSource = (known: Source | undefined, source: Source): boolean =>
  known?.kind === source.kind &&
  known.url === source.url &&
  (source.verification === undefined ||
    jsonEquals(known.verification as JsonObject | undefined, source.verification as unknown as JsonObject))

/**
 * Judges a fetched card by what its signatures have shown and by the card before it: `doubts` are the reasons not to serve it. A card
 * that an owner has accepted stays accepted.
 */
export const judge = (
  { card, verification }: { card: JsonObject; verification?: CardVerification | undefined },
  before: Pick<SourceRecord, 'card' | 'verification'>,
): { verification?: CardVerification; doubts: CardError[] } => {
  if (verification === undefined) return { doubts: [] }
  const served = before.card === undefined ? undefined : (JSON.parse(before.card) as JsonObject)
  if (!verification.verified) {
    const wasAccepted =
      before.verification?.verified === false && before.verification.accepted && jsonEquals(served, card)
    return wasAccepted
      ? { verification: { ...verification, accepted: true }, doubts: [] }
      : {
          verification,
          doubts: [{ pointer: '/signatures', message: `do not verify the card: ${verification.reason}` }],
        }
  }
  return { verification, doubts: [...findOtherKey(verification), ...findOlderVersion(served?.version, card.version)] }
}

const findOtherKey = ({ key, pinned }: Extract<CardVerification, { verified: true }>): CardError[] =>
  pinned === undefined || pinned.includes(key.thumbprint)
    ? []
    : [{ pointer: '/signatures', message: `are by another key than before: ${key.thumbprint}` }]

/** Signatures have no time: whoever has an older card could replay it. */
const findOlderVersion = (served: Json | undefined, version: Json | undefined): CardError[] =>
  typeof served === 'string' &&
  typeof version === 'string' &&
  [served, version].every(each => validate(each)) &&
  compare(version, served, '<')
    ? [{ pointer: '/version', message: `is older than what is served: ${version}, after ${served}` }]
    : []

/** Returns the verification of a card that an owner has accepted: its key is trusted from now on, or the card as it is. */
export const acceptVerification = (verification: CardVerification): CardVerification => {
  if (!verification.verified) return { ...verification, accepted: true }
  const { pinned, key } = verification
  return { ...verification, ...(pinned && { pinned: [key.thumbprint] }) }
}
