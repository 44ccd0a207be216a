import type { Compiled } from '../card/compile/index.ts'
import type { Drift } from '../card/diff/drift.ts'
import { readManifest } from '../card/manifest/manifest.ts'
import type { Note } from '../card/model/report.ts'
import type { Json, JsonObject } from '../json/json.ts'
import { cacheChecked, cacheRegistered, purgeLists } from '../registry/edge/write-through.ts'
import type { Leased, PendingCard, RefreshResult, SourceFailure } from '../registry/records.ts'
import { getRegistry } from '../registry/store/client.ts'
import { fetchSource } from './fetch.ts'
import { invalidCard, reconcile, sourcedRegistration } from './reconcile.ts'
import type { FetchResult } from './upstream-card.ts'

/** What came of refreshing an agent's card. */
export type RefreshOutcome =
  | { outcome: 'refreshed'; seq: number; published: boolean; drift: Drift; notes: Note[] }
  | { outcome: 'unchanged' }
  /** The new card widens access, and its manifest says `pin`: it waits until an owner accepts it by its entity tag. */
  | { outcome: 'held'; held: PendingCard }
  | { outcome: 'failed'; failure: SourceFailure }
  /** Not before `due`, in ms since 1970. */
  | { outcome: 'fresh'; due: number }
  /** Somebody else is at it. */
  | { outcome: 'busy' }
  /** The card is of an agent that uses a secret or a binding of the host: where that goes is for an admin to accept. */
  | { outcome: 'needs-admin' }
  /** No card of that entity tag waits. */
  | { outcome: 'not-held' }
  /** The agent was registered anew, or removed, meanwhile. */
  | { outcome: 'overtaken' }
  /** This run of the Worker may ask nobody any more. */
  | { outcome: 'spent' }
  /** There is no such agent, or its card comes from nowhere else. */
  | { outcome: 'no-source' }

/** What of the context of a request, or of a Durable Object, is needed. */
type RefreshContext = Pick<ExecutionContext, 'waitUntil' | 'exports'>

/** Registers an agent as its manifest says, with the card that its source answers now; or says why that is not done. */
const reregister = async (
  id: string,
  { lease, manifest: text, origin, seq, record: known }: Leased,
  fetched: FetchResult,
  accepted: boolean,
  env: Env,
  ctx: RefreshContext,
): Promise<RefreshOutcome | { held: PendingCard } | { failure: SourceFailure }> => {
  const document = JSON.parse(text) as Json
  const read = readManifest(document, id)
  if ('errors' in read) return { failure: invalidCard(read.errors) }
  const origins = { publicUrl: origin, requestOrigin: origin }
  const agent = {
    document,
    registration: { id, ...origins },
    source: known.source,
    known,
    by: 'fetch',
    accepted,
  } as const
  const settled = await reconcile(agent, fetched)
  if ('errors' in settled) return { failure: invalidCard(settled.errors) }
  const { record, compiled } = settled
  if (record.failure) return { failure: record.failure }
  if (record.held) return { held: record.held }
  const { manifest } = read
  const made = { id, document, manifest, origins, record, compiled, condition: {} }
  const registration = { ...(await sourcedRegistration(made)), refreshed: { seq, lease } }
  const registered = await getRegistry(env).register(registration, false)
  if (registered.outcome !== 'registered') return { outcome: 'overtaken' }
  cacheRegistered(registration, registered)
  purgeLists(ctx)
  return {
    outcome: 'refreshed',
    seq: registered.seq,
    published: registered.published,
    drift: record.drift ?? [],
    notes: [...(record.notes ?? []), ...unsigned(compiled)],
  }
}

/** Signatures are over what the source says: they hold no more for what is served in its place. */
const unsigned = (compiled: Compiled | undefined): Note[] =>
  Object.values(compiled?.report.dropped ?? {}).some(places => places.includes('/signatures'))
    ? [{ pointer: '/signatures', message: 'are left out where they do not hold for what is served' }]
    : []

/** `force`: though it is fresh. `accept`: a card that was held back is taken, and nobody asked. */
type RefreshOptions = { force?: boolean; accept?: Accepted }

/** A card that is accepted, by its entity tag; `isAdmin`: by who may hand out what the host keeps. */
type Accepted = { etag: string; isAdmin: boolean }

/** Reads an agent's card from its source again, and registers what it says now. Of all who ask at once, one does it. */
export const refreshAgent = async (
  id: string,
  { force = false, accept }: RefreshOptions,
  env: Env,
  ctx: RefreshContext,
): Promise<RefreshOutcome> => {
  const registry = getRegistry(env)
  const leased = await registry.leaseSource(id, { force: force || accept !== undefined })
  if (leased.outcome === 'none') return { outcome: 'no-source' }
  if (leased.outcome !== 'leased') return leased
  try {
    return await (accept === undefined
      ? fetchAndApply(id, leased, env, ctx)
      : acceptPending(id, leased, accept, env, ctx))
  } finally {
    // A lease that was ended by what was learned is nobody's any more.
    await registry.releaseSource(id, leased.lease)
  }
}

const fetchAndApply = async (id: string, leased: Leased, env: Env, ctx: RefreshContext): Promise<RefreshOutcome> => {
  const { record } = leased
  const fetched = await fetchSource(record.source, id, validatorsOf(leased), env, [leased.origin])
  if ('failure' in fetched) return fetched.spent ? { outcome: 'spent' } : failed(id, leased, fetched.failure, env)
  const isSame = 'unchanged' in fetched || JSON.stringify(fetched.card) === record.card
  if (isSame) {
    // The same card may come with another entity tag, by which it is to be asked for from now on.
    await learned(id, leased, { unchanged: true, ...('card' in fetched && { validators: fetched.validators }) }, env)
    return { outcome: 'unchanged' }
  }
  return settled(id, leased, fetched, false, env, ctx)
}

const acceptPending = async (
  id: string,
  leased: Leased,
  { etag, isAdmin }: Accepted,
  env: Env,
  ctx: RefreshContext,
): Promise<RefreshOutcome> => {
  const { source, held } = leased.record
  if (!isAdmin && (source.secret !== undefined || source.service !== undefined)) return { outcome: 'needs-admin' }
  if (held?.etag !== etag) return { outcome: 'not-held' }
  return settled(id, leased, { card: JSON.parse(held.card) as JsonObject, validators: held.validators }, true, env, ctx)
}

/** Only of a card that there is can a source say that it is still the one. */
const validatorsOf = ({ record: { card, validators } }: Leased) => (card === undefined ? undefined : validators)

const failed = async (id: string, leased: Leased, failure: SourceFailure, env: Env): Promise<RefreshOutcome> => {
  await learned(id, leased, { failure }, env)
  return { outcome: 'failed', failure }
}

const settled = async (
  id: string,
  leased: Leased,
  fetched: FetchResult,
  accepted: boolean,
  env: Env,
  ctx: RefreshContext,
): Promise<RefreshOutcome> => {
  const came = await reregister(id, leased, fetched, accepted, env, ctx)
  if ('failure' in came) return failed(id, leased, came.failure, env)
  if (!('held' in came)) return came
  await learned(id, leased, came, env)
  return { outcome: 'held', held: came.held }
}

/** Ends a refresh with what was learned, which is visible in this isolate at once. */
const learned = async (id: string, { lease, seq }: Leased, check: RefreshResult, env: Env): Promise<void> => {
  const state = await getRegistry(env).sourceChecked(id, seq, check, lease)
  if (state) cacheChecked(id, state)
}
