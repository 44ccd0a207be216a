import { compare, validate } from 'compare-versions'
import { findUncovered } from '../card/diff/index.ts'
import type { Source, TrustedKeys } from '../card/manifest/index.ts'
import { type Finding, type PayloadRule, payloadRules, type SecurityRequirements } from '../card/model/index.ts'
import { allowsAnonymous } from '../card/read/index.ts'
import {
  type FetchJson,
  KEY_SET_PATH,
  type KeySource,
  listKeySetUrls,
  listSignatures,
  resolveKeys,
  type SignatureResult,
  toCurrentForm,
  verifySignatures,
  writePayload,
} from '../card/signatures/index.ts'
import { parseUrl } from '../http/index.ts'
import type { Json, JsonObject } from '../json/index.ts'
import { asList, asObject, formatPointer, isJsonObject, jsonEntries, jsonEquals, omit } from '../json/index.ts'
import type { CardVerification, SourceFailure, SourceRecord } from '../registry/index.ts'

type VerificationContext = {
  source: Pick<Source, 'url'>
  demanded: NonNullable<Source['verification']>
  pinned: readonly string[] | undefined
  fetchJson: FetchJson
}

/** Verifies a card as it was received. Where that is required, returns only what a signature covers. */
export const verifyFetched = async (
  card: JsonObject,
  { source, demanded, pinned, fetchJson }: VerificationContext,
): Promise<{ card: JsonObject; verification: CardVerification; notes: Finding[] } | { failure: SourceFailure }> => {
  const at = Date.now()
  const unverified = (reason: string) => {
    const pins = pinned && { pinned: [...pinned] }
    const verification = { at, verified: false, reason: shorten(reason, MAX_REASON_LENGTH), ...pins } as const
    return { card, verification, notes: [] }
  }
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
    const signatures = listSignatures(card).filter((_, index) => {
      const result = results[index]
      return result?.valid && result.key.thumbprint === key.thumbprint
    })
    return { verification, ...readCovered({ ...card, signatures }, rule) }
  }
  if (errors.length === 0) return unverified(describeResults(results))
  const reason = `its keys cannot be read: ${shorten(errors.join('; '), MAX_REASON_LENGTH)}`
  if (demanded.policy === 'warn') return unverified(reason)
  return { failure: { status: 502, code: 'unreachable', message: `The card is not verified: ${reason}.` } }
}

const MAX_REASON_LENGTH = 500
const MAX_KEY_LENGTH = 200

const shorten = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}…` : text)

type ValidSignature = Extract<SignatureResult, { valid: true }>

/** Returns the signature whose rule covers the most: of those by pinned keys, else of all. */
const findBest = (accepted: readonly ValidSignature[], pinned: readonly string[] | undefined) => {
  const byRule = accepted.toSorted((a, b) => payloadRules.indexOf(a.rule) - payloadRules.indexOf(b.rule))
  return byRule.find(({ key }) => pinned?.includes(key.thumbprint)) ?? byRule[0]
}

/** Lists the trusted keys. With `first-use`, only the origin of the card has them: a `jku` alone proves nothing. */
const listKeySources = (keys: TrustedKeys, card: JsonObject, url: string): readonly KeySource[] => {
  if (keys !== 'first-use') return keys
  const origin = parseUrl(url)?.origin ?? ''
  // One request, however many signatures there are.
  return [listKeySetUrls(card).find(jku => parseUrl(jku)?.origin === origin) ?? `${origin}${KEY_SET_PATH}`]
}

const describeResults = (results: readonly SignatureResult[]): string =>
  results
    .slice(0, MAX_DESCRIBED)
    .flatMap((result, index) => (result.valid ? [] : [`signature ${index + 1} ${result.reason}`]))
    .join('; ')

const MAX_DESCRIBED = 3

/** Returns the failure that an owner sees if no card was verified yet. */
export const toUnverifiedFailure = (errors: readonly Finding[]): SourceFailure => ({
  status: 502,
  code: 'unverified',
  message:
    `The fetched card is not served: ${errors.map(({ pointer, message }) => `${pointer} ${message}`).join('. ')}. ` +
    'Have it signed with one of the keys in `upstream.keys`, or correct those; ' +
    '`upstream.verify: warn` serves it as it is.',
})

/** Returns the keys that the first card of a source has pinned. Other keys or another policy begin anew. */
export const findPinnedKeys = (known: SourceRecord | undefined, source: Source): string[] | undefined =>
  source.verification?.keys === 'first-use' && isSameSource(known?.source, source)
    ? known?.verification?.pinned
    : undefined

/** Checks whether a card from one source is as trustworthy as one from the other: a card under other keys is not. */
export const isSameSource = (known: Source | undefined, source: Source): boolean =>
  known?.kind === source.kind &&
  known.url === source.url &&
  (source.verification === undefined ||
    jsonEquals(known.verification as JsonObject | undefined, source.verification as unknown as JsonObject))

/** Evaluates the signatures of a fetched card, and the card before it. `violations` are the reasons not to serve it. */
export const evaluateCard = (
  { card, verification }: { card: JsonObject; verification?: CardVerification | undefined },
  before: Pick<SourceRecord, 'card' | 'verification'>,
): { verification?: CardVerification; violations: Finding[] } => {
  if (verification === undefined) return { violations: [] }
  const served = before.card === undefined ? undefined : (JSON.parse(before.card) as JsonObject)
  if (!verification.verified) {
    const known = before.verification
    if (known?.verified === false && known.accepted && jsonEquals(served, card))
      return { verification: { ...verification, accepted: true }, violations: [] }
    const message = `do not verify the card: ${verification.reason}`
    return { verification, violations: [{ pointer: '/signatures', message }] }
  }
  const { key, pinned } = verification
  const violations: Finding[] = []
  if (pinned && !pinned.includes(key.thumbprint))
    violations.push({ pointer: '/signatures', message: `are by another key than before: ${key.thumbprint}` })
  // Signatures have no time: whoever has an older card could replay it.
  const [now, last] = [card.version, served?.version]
  if (isVersion(now) && isVersion(last) && compare(now, last, '<'))
    violations.push({ pointer: '/version', message: `is older than what is served: ${now}, after ${last}` })
  return { verification, violations }
}

const isVersion = (value: Json | undefined): value is string => typeof value === 'string' && validate(value)

/** Returns the verification of a card that an owner has accepted: its key is trusted then, or the card as it is. */
export const acceptVerification = (verification: CardVerification): CardVerification => {
  if (!verification.verified) return { ...verification, accepted: true }
  const { pinned, key } = verification
  return { ...verification, ...(pinned && { pinned: [key.thumbprint] }) }
}

/**
 * Returns the part of a card that a valid signature covers, which is a card again, with notes on the rest: others could
 * have changed that. Security requirements beyond it are kept where they only restrict who may call, since the rule
 * `proto` leaves out those without scopes.
 */
export const readCovered = (card: JsonObject, rule: PayloadRule): { card: JsonObject; notes: Finding[] } => {
  const { signatures } = card
  const unsigned = omit(card, 'signatures')
  const payload = JSON.parse(writePayload(rule, unsigned) ?? '{}') as JsonObject
  if (rule === 'served') return { card: { ...payload, signatures }, notes: [] }
  const received = toCurrentForm(unsigned)
  const used = withRequirements(payload, received)
  const lost = jsonEntries(received).filter(([name, value]) => !Object.hasOwn(used, name) && !isEmpty(value))
  const names = [
    ...lost.map(([name]) => name),
    ...(countRequirements(used) < countRequirements(received) ? ['securityRequirements'] : []),
  ]
  const message = `left out, as far as the signature (rule ${rule}) does not cover it`
  const notes = [...new Set(names)].map(name => ({ pointer: formatPointer(name), message }))
  return { card: { ...used, signatures }, notes }
}

const countRequirements = (card: JsonObject): number =>
  [card, ...listObjects(card.skills)].reduce((sum, object) => sum + (readRequirements(object)?.length ?? 0), 0)

const isEmpty = (value: Json): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)

/** Adds the requirements of the received card, as far as callers need no less for them than the signature demands. */
const withRequirements = (covered: JsonObject, received: JsonObject): JsonObject => {
  const own = restrict(readRequirements(covered), readRequirements(covered), readRequirements(received))
  const receivedSkills = new Map(listObjects(received.skills).map(skill => [skill.id, skill]))
  const skills = listObjects(covered.skills).map(skill => {
    const signed = readRequirements(skill)
    // A skill's requirements replace those of the card.
    const requirements = restrict(signed, signed ?? own, readRequirements(receivedSkills.get(skill.id)))
    return requirements === undefined ? skill : { ...skill, securityRequirements: requirements as unknown as Json }
  })
  return {
    ...covered,
    ...(own && { securityRequirements: own as unknown as Json }),
    ...(covered.skills !== undefined && { skills }),
  }
}

type Requirements = SecurityRequirements | undefined

const restrict = (signed: Requirements, demanded: Requirements, received: Requirements): Requirements => {
  if (received === undefined) return signed
  if (allowsAnonymous(demanded)) return received
  const weaker = new Set(findUncovered(received, demanded ?? []))
  const kept = received.filter((_, index) => !weaker.has(index))
  return kept.length > 0 ? kept : signed
}

const listObjects = (value: Json | undefined): JsonObject[] => asList(value).filter(isJsonObject)

const readRequirements = (object: JsonObject | undefined): Requirements => {
  if (!Array.isArray(object?.securityRequirements)) return undefined
  return listObjects(object.securityRequirements).map(({ schemes }) => {
    const entries = jsonEntries(asObject(schemes)).map(([name, scopes]) => [name, { list: readScopes(scopes) }])
    return { schemes: Object.fromEntries(entries) }
  })
}

const readScopes = (scopes: Json): string[] => asList(asObject(scopes).list).filter(scope => typeof scope === 'string')
