import type { JsonObject } from '../json/json.ts'
import { cacheChecked } from '../registry/edge/write-through.ts'
import type { RefreshResult } from '../registry/source-check.ts'
import type { SourceFailure } from '../registry/source-failure.ts'
import type { Leased } from '../registry/source-record.ts'
import { getRegistry } from '../registry/store/client.ts'
import { fetchSource } from './fetch-source.ts'
import type { FetchResult } from './fetched.ts'
import type { RefreshContext, RefreshOutcome } from './refreshed.ts'
import { reregister } from './register-again.ts'

/** `force`: though it is fresh. `accept`: a card that was held back is taken, and nobody asked. */
export type RefreshOptions = { force?: boolean; accept?: Accepted }

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
