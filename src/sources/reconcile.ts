import { type Compiled, compile, type ParsedManifest } from '../card/compile/index.ts'
import { diffCards, findWeakerSecurity, findWidenings } from '../card/diff/index.ts'
import { createRedaction } from '../card/lint/index.ts'
import type { Source } from '../card/manifest/index.ts'
import type { Finding } from '../card/model/index.ts'
import { strongEtag } from '../http/index.ts'
import { type JsonObject, jsonEquals } from '../json/index.ts'
import { fitsInRow, type SourceFailure, type SourceRecord } from '../registry/index.ts'
import type { FetchResult } from './fetch.ts'
import { acceptVerification, evaluateCard, isSameSource, toUnverifiedFailure } from './verification.ts'

/** An agent with a remote card: its current manifest, and what was stored about its source before. */
export type RemoteAgent = {
  parsed: ParsedManifest
  source: Source
  known?: SourceRecord | undefined
  by: SourceRecord['by']
  /** Set where an owner has accepted the fetched card, though it widens access or is not verified. */
  isAccepted?: boolean
}

/** The record of the source to store, and the card to serve: undefined if none was ever fetched. */
type Reconciliation = { record: SourceRecord; compiled: Compiled | undefined } | { errors: Finding[] }

/** Merges a fetched card into the stored record, which stays if it is unusable. Returns only errors of the manifest. */
export const reconcile = async (agent: RemoteAgent, fetched: FetchResult): Promise<Reconciliation> => {
  const { parsed, source, by, isAccepted = false } = agent
  const previous = previousRecord(agent)
  const failed = (failure: SourceFailure) => withPrevious(agent, { ...previous, failure })
  // A pending card stays pending while the upstream cannot be read.
  const waiting = previous.card !== undefined && agent.known?.pending
  if ('failure' in fetched)
    return withPrevious(agent, { ...previous, ...(waiting && { pending: waiting }), ...fetched })
  if ('unchanged' in fetched) return withPrevious(agent, { ...previous, checked: Date.now() })
  const { validators, notes = [] } = fetched
  const { card, text } = storedForm(fetched.card, [previous.card, agent.known?.pending?.card])
  const { verification, violations } = isAccepted
    ? { verification: fetched.verification && acceptVerification(fetched.verification), violations: [] }
    : evaluateCard({ ...fetched, card }, previous)
  const isRequired = source.verification?.policy === 'require'
  if (isRequired && violations.length > 0 && previous.card === undefined) return failed(toUnverifiedFailure(violations))
  const result = compile(parsed, card)
  if ('errors' in result) return isOwnersError(parsed, card) ? result : failed(toInvalidCardFailure(result.errors))
  const { compiled } = result
  if (compiled.secrets.length > 0) return failed(toInvalidCardFailure(compiled.secrets))
  if (!fitsInRow([text, ...servedTexts(compiled)]))
    return failed(toInvalidCardFailure([{ pointer: '', message: 'is larger than this host can store' }]))
  const before = previous.card === undefined ? undefined : (JSON.parse(previous.card) as JsonObject)
  const drift = before === undefined || text === previous.card ? [] : diffCards(before, card)
  // Of allowed values too, which only look like secrets.
  const redact = (found: Finding[]) => (found.length === 0 ? [] : createRedaction([card, before])(found))
  const verified = verification && { verification }
  // A signature that covers no requirements without scopes, or no schemes, is also valid for a card without them.
  const find = source.pin ? findWidenings : isRequired ? findWeakerSecurity : undefined
  const widenings = find && !isAccepted && before ? findSince(compile(parsed, before), compiled, find) : []
  const widens = redact([...(isRequired ? violations : []), ...widenings])
  if (widens.length > 0) {
    const etag = await strongEtag(new TextEncoder().encode(text))
    const pending = { etag, card: text, validators, widens, drift, ...verified }
    return withPending(agent, { ...previous, checked: Date.now(), pending })
  }
  const allNotes = redact([...notes, ...violations])
  const report = { drift, ...(allNotes.length > 0 && { notes: allNotes }) }
  return { record: { source, by, card: text, validators, checked: Date.now(), ...verified, ...report }, compiled }
}

/** Returns the failure that an owner sees if a card was fetched but cannot be served. */
export const toInvalidCardFailure = (errors: Finding[]): SourceFailure => {
  const [first] = errors
  const reason = first ? ` ${first.pointer || 'The document'} ${first.message}.` : ''
  return { status: 502, code: 'invalid-card', message: `The fetched card cannot be served.${reason}`, errors }
}

/** Returns a stored document where it is equal as JSON: some upstreams order members differently each time. */
const storedForm = (card: JsonObject, stored: (string | undefined)[]): { card: JsonObject; text: string } => {
  for (const text of stored) {
    const value = text === undefined ? undefined : (JSON.parse(text) as JsonObject)
    if (text !== undefined && value !== undefined && jsonEquals(value, card)) return { card: value, text }
  }
  return { card, text: JSON.stringify(card) }
}

/** Served documents can be several times as large as the card they are made from. */
const servedTexts = ({ card, documents, extended }: Compiled): string[] =>
  [{ card }, documents, ...extended.map(({ documents }) => documents)].flatMap(each =>
    Object.values(each).map(document => JSON.stringify(document)),
  )

/** Returns the stored card of the same source, without the failure and the pending card: each fetch decides these. */
const previousRecord = ({ source, known, by }: RemoteAgent): SourceRecord => {
  if (!known || !isSameSource(known.source, source) || known.card === undefined) return { source, by }
  const { failure, pending, notes, drift, verification, ...stored } = known
  return { ...stored, source, by, ...(verification && source.verification && { verification }) }
}

const withPrevious = (agent: RemoteAgent, record: SourceRecord): Reconciliation => {
  if (record.card === undefined) return { record, compiled: undefined }
  const result = compile(agent.parsed, JSON.parse(record.card) as JsonObject)
  return 'errors' in result ? result : { record, compiled: result.compiled }
}

/** A refresh leaves what is served as it is, even if it no longer compiles; a new manifest must compile with it. */
const withPending = (agent: RemoteAgent, record: SourceRecord): Reconciliation => {
  const result = withPrevious(agent, record)
  if ('record' in result) return result
  if (agent.by === 'fetch') return { record, compiled: undefined }
  return { errors: [{ pointer: '/upstream', message: PREVIOUS_INVALID }, ...result.errors] }
}

const PREVIOUS_INVALID =
  'has a new card that waits for approval, and this manifest cannot serve the one before it: ' +
  'refresh the agent and accept the new card first'

/** Checks whether the manifest causes an error: without what it adds to the fetched card, the card compiles. */
const isOwnersError = (parsed: ParsedManifest, card: JsonObject): boolean => {
  const { extended, tiers, jwt, ...manifest } = parsed.manifest
  return 'compiled' in compile({ ...parsed, manifest: { ...manifest, card: {} } }, card)
}

const findSince = (before: ReturnType<typeof compile>, { direct }: Compiled, find: typeof findWidenings): Finding[] =>
  'compiled' in before ? find(before.compiled.direct, direct) : [INCOMPARABLE]

const INCOMPARABLE: Finding = {
  pointer: '',
  message: 'cannot be compared with the card before it, which this host can no longer compile: review it yourself',
}
