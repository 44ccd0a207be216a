import type { Drift } from '../card/diff/index.ts'
import { readManifest } from '../card/manifest/index.ts'
import { addsCredential, type Note } from '../card/model/index.ts'
import { type Json, type JsonObject, jsonEquals } from '../json/index.ts'
import { purgeLists } from '../registry/edge/index.ts'
import {
  compareWithLatest,
  type Expected,
  type PendingCard,
  type RefreshBase,
  type RefreshWithoutCard,
  type Registered,
  type Registration,
  type SourceFailure,
  type SourceState,
} from '../registry/index.ts'
import { getRegistry } from '../registry/store/index.ts'
import { createSigning } from '../signing/index.ts'
import { fetchSource } from './fetch.ts'
import { prepareRemote, reconcile, toInvalidCardFailure } from './reconcile.ts'
import type { FetchResult } from './upstream-card.ts'
import { judge } from './verify.ts'

/** The actor of what the host does by itself. */
const HOST_ACTOR = 'host'

/** How often a refresh starts over because the agent changed meanwhile. */
const MAX_ATTEMPTS = 3

/**
 * `force`: refreshes a card that is not due. `accept`: serves the pending card with this entity tag, and fetches nothing. `actor`: who
 * requests it, by default the host itself.
 */
export type RefreshOptions = { force?: boolean; accept?: Acceptance; actor?: string }

/** `isAdmin`: whether the caller who accepts may decide where the secrets and bindings of the host are used. */
export type Acceptance = { etag: string; isAdmin: boolean }

/** The outcome of a refresh. */
export type RefreshOutcome =
  | { outcome: 'refreshed'; seq: number; published: boolean; drift: Drift; notes: Note[] }
  | { outcome: 'unchanged' }
  /** The new card widens access, or is not verified: it waits until an owner accepts it by its entity tag. */
  | { outcome: 'pending'; pending: PendingCard }
  | { outcome: 'failed'; failure: SourceFailure }
  /** The card is not to be fetched before `due`, in ms since 1970. */
  | { outcome: 'not-due'; due: number }
  /** The agent uses a secret or a binding of the host, and the caller is no admin. */
  | { outcome: 'needs-admin' }
  /** No card with that entity tag is pending. */
  | { outcome: 'not-pending' }
  /** The agent changed during every attempt. */
  | { outcome: 'conflict' }
  /** There is no such agent, or its card is in its manifest. */
  | { outcome: 'no-source' }

/** What a refresh did. The alarm is set from `state`; the caller's isolate caches `written`, else `state`. */
export type RefreshReport = {
  result: RefreshOutcome
  state?: SourceState
  written?: { registration: Registration; registered: Registered }
}

/**
 * Fetches an agent's remote card and registers it. The Registry rejects the write if the agent changed meanwhile;
 * then the refresh starts over.
 */
export const refreshRemoteCard = async (
  id: string,
  options: RefreshOptions,
  env: Env,
  ctx: DurableObjectState,
): Promise<RefreshReport> => {
  const registry = getRegistry(env)
  for (let attempt = 1; ; attempt++) {
    const base = await registry.refreshBase(id)
    if (base === null) return { result: { outcome: 'no-source' } }
    const report = await refreshFrom(base, id, options, env)
    if (report.result.outcome === 'conflict' && attempt < MAX_ATTEMPTS) continue
    if (report.written) purgeLists(ctx)
    if (report.state) return report
    const state = await registry.sourceState(id)
    return { ...report, ...(state && { state }) }
  }
}

const refreshFrom = async (
  base: RefreshBase,
  id: string,
  { force = false, accept, actor = HOST_ACTOR }: RefreshOptions,
  env: Env,
): Promise<RefreshReport> => {
  const { source, card, pending } = base.record
  if (accept) {
    if (addsCredential(source) && !accept.isAdmin) return { result: { outcome: 'needs-admin' } }
    if (pending?.etag !== accept.etag) return { result: { outcome: 'not-pending' } }
    const { validators, verification } = pending
    const accepted = { card: JSON.parse(pending.card) as JsonObject, validators, verification }
    return registerFetched(accepted, { base, id, actor, accepted: accept.etag }, env)
  }
  if (!force && base.due > Date.now()) return { result: { outcome: 'not-due', due: base.due } }
  const context = { id, known: base.record, isConditional: true, ownOrigins: [base.origin] }
  const fetched = await fetchSource(source, context, env)
  if ('failure' in fetched) return recordResult({ failure: fetched.failure }, base, id, env)
  if ('unchanged' in fetched) return recordResult({ unchanged: true }, base, id, env)
  // The same card may have new validators, which the next request sends.
  if (card !== undefined && jsonEquals(fetched.card, JSON.parse(card) as Json)) {
    const { verification, doubts } = judge(fetched, base.record)
    if (doubts.length === 0 || source.verification?.policy !== 'require') {
      const unchanged = {
        unchanged: true,
        validators: fetched.validators,
        ...(verification && { verification }),
      } as const
      return recordResult(unchanged, base, id, env)
    }
  }
  return registerFetched(fetched, { base, id, actor }, env)
}

/** Registers the agent with a fetched card; or records why it is not served. */
const registerFetched = async (
  fetched: FetchResult,
  { base, id, actor, accepted }: { base: RefreshBase; id: string; actor: string; accepted?: string },
  env: Env,
): Promise<RefreshReport> => {
  const document = JSON.parse(base.manifest) as Json
  const read = readManifest(document, id)
  if ('errors' in read) return recordResult({ failure: toInvalidCardFailure(read.errors) }, base, id, env)
  const agent = {
    ...{ id, document, manifest: read.manifest, isAccepted: accepted !== undefined },
    origins: { publicOrigin: base.origin, requestOrigin: base.origin },
    source: base.record.source,
    known: base.record,
    by: 'fetch',
  } as const
  const reconciled = await reconcile(agent, fetched)
  if ('errors' in reconciled) return recordResult({ failure: toInvalidCardFailure(reconciled.errors) }, base, id, env)
  const { failure, pending, drift = [], notes = [] } = reconciled.record
  if (failure) return recordResult({ failure }, base, id, env)
  if (pending) return recordResult({ pending }, base, id, env)
  const cause = accepted === undefined ? {} : { cause: { accepted } }
  const terms = { actor, expected: expectedOf(base), ...cause }
  const latest = await getRegistry(env).latestRevision(id)
  const { changes, finding } = compareWithLatest(reconciled.compiled, latest)
  const signedAgent = { manifest: read.manifest, origin: base.origin }
  const signing = await createSigning(signedAgent, latest?.signatures ?? {}, env)
  const registration = await prepareRemote(agent, reconciled, signing, {
    ...terms,
    ...(changes && { changeClass: changes.class }),
  })
  const versionNotes = finding ? [{ pointer: '/version', message: finding.message }] : []
  const registered = await getRegistry(env).register(registration, false)
  if (registered.outcome !== 'registered') return { result: { outcome: 'conflict' } }
  const { seq, published } = registered
  return {
    result: {
      outcome: 'refreshed',
      seq,
      published,
      drift,
      notes: [...notes, ...versionNotes, ...(reconciled.compiled?.report.signatures ?? [])],
    },
    written: { registration, registered },
  }
}

const recordResult = async (
  result: RefreshWithoutCard,
  base: RefreshBase,
  id: string,
  env: Env,
): Promise<RefreshReport> => {
  const recorded = await getRegistry(env).recordRefresh(id, expectedOf(base), result)
  if (recorded.outcome !== 'recorded') return { result: { outcome: 'conflict' } }
  const { state } = recorded
  if ('failure' in result) return { result: { outcome: 'failed', failure: result.failure }, state }
  if ('pending' in result) return { result: { outcome: 'pending', pending: result.pending }, state }
  return { result: { outcome: 'unchanged' }, state }
}

const expectedOf = ({ seq, record }: RefreshBase): Expected => ({ seq, checked: record.checked ?? null })
