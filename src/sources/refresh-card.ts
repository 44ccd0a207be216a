import { parseStored } from '../card/compile/index.ts'
import type { Drift } from '../card/diff/index.ts'
import { addsCredential, type Finding } from '../card/model/index.ts'
import { log } from '../http/index.ts'
import { type Json, type JsonObject, jsonEquals } from '../json/index.ts'
import { purgeLists } from '../registry/edge/index.ts'
import {
  compareWithLatest,
  type Expected,
  type PendingCard,
  prepareRegistration,
  type RefreshWithoutCard,
  type Registration,
  type SourceFailure,
  type SourceState,
} from '../registry/index.ts'
import { getRegistry, type RefreshBase, type Registered } from '../registry/store/index.ts'
import { nextRefreshAt } from '../registry/tables/index.ts'
import { createSigning } from '../signing/index.ts'
import { type FetchResult, fetchSource } from './fetch.ts'
import { reconcile, toInvalidCardFailure } from './reconcile.ts'
import { evaluateCard } from './verification.ts'

const MAX_ATTEMPTS = 3

/** Options of a refresh. */
export type RefreshOptions = {
  /** Refreshes a card that is not due. */
  force?: boolean
  /** Serves the pending card with this entity tag, and fetches nothing. An admin may decide where secrets are used. */
  accept?: { etag: string; isAdmin: boolean }
  /** Requests the refresh; by default the host itself. */
  actor?: string
}

/** The outcome of a refresh. */
export type RefreshOutcome =
  | { outcome: 'refreshed'; seq: number; published: boolean; drift: Drift; notes: Finding[] }
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

/** The result of a refresh. The alarm is set from `state`; the caller's isolate caches `written`, else `state`. */
export type RefreshReport = {
  result: RefreshOutcome
  state?: SourceState
  written?: { registration: Registration; registered: Registered }
}

/** Creates what refreshes the remote card of one agent, once at a time. Stores its id, the alarm and the attempts. */
export const createRefreshQueue = (ctx: DurableObjectState, env: Env) => {
  const { storage } = ctx
  /** The newest refresh that has not ended. */
  let last: Promise<RefreshReport> | undefined
  /** The newest forced refresh that has not begun. */
  let waiting: Promise<RefreshReport> | undefined

  /** Sets the alarm. Deletes everything if `due` is null: the agent no longer has a remote card. */
  const schedule = async (id: string, due: number | null): Promise<void> => {
    if (due === null) {
      await storage.deleteAlarm()
      await storage.deleteAll()
      return
    }
    await storage.put('id', id)
    await storage.setAlarm(due)
  }

  /** Fetches the card and registers it. Starts over if the agent was changed concurrently. */
  const refreshCard = async (id: string, options: RefreshOptions): Promise<RefreshReport> => {
    const registry = getRegistry(env)
    for (let attempt = 1; ; attempt++) {
      const base = await registry.refreshBase(id)
      if (base === null) return { result: { outcome: 'no-source' } }
      const report = await refreshFrom({ base, id, actor: options.actor ?? 'host', env }, options)
      if (report.result.outcome === 'conflict' && attempt < MAX_ATTEMPTS) continue
      if (report.written) purgeLists(ctx)
      if (report.state) return report
      const state = await registry.sourceState(id)
      return { ...report, ...(state && { state }) }
    }
  }

  const run = async (id: string, options: RefreshOptions): Promise<RefreshReport> => {
    // The alarm retries a refresh that crashes or fails unexpectedly, later each time.
    const attempts = ((await storage.get<number>('attempts')) ?? 0) + 1
    await storage.put('attempts', attempts)
    await schedule(id, nextRefreshAt(0, attempts, Date.now()))
    const report = await refreshCard(id, options)
    await storage.put('attempts', 0)
    await schedule(id, report.state?.due ?? null)
    return report
  }

  const enqueue = (id: string, options: RefreshOptions): Promise<RefreshReport> => {
    const before = last
    const runNext = async (): Promise<RefreshReport> => {
      await before?.catch(() => undefined)
      if (waiting === refreshing) waiting = undefined
      try {
        return await run(id, options)
      } finally {
        if (last === refreshing) last = undefined
      }
    }
    const refreshing = runNext()
    last = refreshing
    return refreshing
  }

  return {
    schedule,
    /**
     * Refreshes the card if it is due; with `force` or `accept`, in any case. Concurrent callers share one refresh. A
     * forced refresh is only shared until it begins: the upstream may have changed since.
     */
    refresh: async (id: string, options: RefreshOptions = {}): Promise<RefreshReport> => {
      if (options.accept) return enqueue(id, options)
      if (options.force) {
        waiting ??= enqueue(id, options)
        return waiting
      }
      if (last) return last
      const due = await storage.getAlarm()
      return due !== null && due > Date.now() ? { result: { outcome: 'not-due', due } } : enqueue(id, options)
    },
    alarm: async (): Promise<void> => {
      const id = await storage.get<string>('id')
      if (id === undefined) return
      try {
        await enqueue(id, {})
      } catch (error) {
        log('error', 'refresh-failed', { 'gen_ai.agent.id': id, 'exception.message': String(error) })
        // The platform repeats an alarm that fails.
        if ((await storage.getAlarm()) === null) throw error
      }
    },
  }
}

type Attempt = { base: RefreshBase; id: string; actor: string; env: Env }

const refreshFrom = async (attempt: Attempt, { force = false, accept }: RefreshOptions): Promise<RefreshReport> => {
  const { base, id, env } = attempt
  const { source, card, pending } = base.record
  if (accept) {
    if (addsCredential(source) && !accept.isAdmin) return { result: { outcome: 'needs-admin' } }
    if (pending?.etag !== accept.etag) return { result: { outcome: 'not-pending' } }
    return registerFetched({ ...pending, card: JSON.parse(pending.card) as JsonObject }, attempt, accept.etag)
  }
  if (!force && base.due > Date.now()) return { result: { outcome: 'not-due', due: base.due } }
  const context = { id, known: base.record, isConditional: true, ownOrigins: [base.origin] }
  const fetched = await fetchSource(source, context, env)
  if ('failure' in fetched || 'unchanged' in fetched) return recordResult(fetched, attempt)
  // The same card may have new validators, which the next request sends.
  if (card !== undefined && jsonEquals(fetched.card, JSON.parse(card) as Json)) {
    const { verification, violations } = evaluateCard(fetched, base.record)
    if (violations.length === 0 || source.verification?.policy !== 'require') {
      const verified = verification && { verification }
      return recordResult({ unchanged: true, validators: fetched.validators, ...verified }, attempt)
    }
  }
  return registerFetched(fetched, attempt)
}

const registerFetched = async (fetched: FetchResult, attempt: Attempt, accepted?: string): Promise<RefreshReport> => {
  const { base, id, actor, env } = attempt
  const parsed = parseStored(id, base)
  if ('errors' in parsed) return recordResult({ failure: toInvalidCardFailure(parsed.errors) }, attempt)
  const isAccepted = accepted !== undefined
  const agent = { parsed, source: base.record.source, known: base.record, by: 'fetch', isAccepted } as const
  const reconciled = await reconcile(agent, fetched)
  if ('errors' in reconciled) return recordResult({ failure: toInvalidCardFailure(reconciled.errors) }, attempt)
  const { failure, pending, drift = [], notes = [] } = reconciled.record
  if (failure) return recordResult({ failure }, attempt)
  if (pending) return recordResult({ pending }, attempt)
  const registry = getRegistry(env)
  const latest = await registry.latestRevision(id)
  const { changes, finding } = compareWithLatest(reconciled.compiled, latest)
  const signing = await createSigning(parsed, latest?.signatures ?? {}, env)
  const cause = isAccepted && { cause: { accepted } }
  const terms = { actor, expected: expectedOf(base), ...cause, ...(changes && { changeClass: changes.class }) }
  const registration = await prepareRegistration(parsed, { ...reconciled, signing }, terms)
  const registered = await registry.register(registration, false)
  if (registered.outcome !== 'registered') return { result: { outcome: 'conflict' } }
  const versionNotes = finding ? [{ pointer: '/version', message: finding.message }] : []
  const allNotes = [...notes, ...versionNotes, ...(reconciled.compiled?.report.signatures ?? [])]
  const { seq, published } = registered
  const result = { outcome: 'refreshed', seq, published, drift, notes: allNotes } as const
  return { result, written: { registration, registered } }
}

const recordResult = async (result: RefreshWithoutCard, { base, id, env }: Attempt): Promise<RefreshReport> => {
  const recorded = await getRegistry(env).recordRefresh(id, expectedOf(base), result)
  if (recorded.outcome !== 'recorded') return { result: { outcome: 'conflict' } }
  const { state } = recorded
  if ('failure' in result) return { result: { outcome: 'failed', ...result }, state }
  return { result: 'pending' in result ? { outcome: 'pending', ...result } : { outcome: 'unchanged' }, state }
}

const expectedOf = ({ seq, record }: RefreshBase): Expected => ({ seq, checked: record.checked ?? null })
