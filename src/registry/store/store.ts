import { isStorageFull, log } from '../../http/index.ts'
import { keySecrets } from '../../variables.ts'
import { Alarm } from '../alarm.ts'
import { recordRefusal, selectPage } from '../audit/index.ts'
import { EVENTS_KEY, keyOf } from '../kv-format.ts'
import type { ExportCursor, ImportStep } from '../move/index.ts'
import type { Registration } from '../prepare.ts'
import { selectColumn, selectValue, type WriteResult } from '../sql.ts'
import * as tables from '../tables/index.ts'
import { createPublisher, type Publisher } from './publisher.ts'
import type { BatchResult, Registered, WriteRejection } from './registrations.ts'
import { clearTasks, register, remove } from './registrations.ts'
import { recordRefresh, refreshBase, sourceRecord, sourceState } from './source-state.ts'

const CONFLICT = { error: { outcome: 'conflict' } } as const

/**
 * The state of the Registry: the number of keys that could not be published, and when the oldest card that is stale
 * because its upstream fails was last confirmed, in ms since 1970; for a card that was never fetched, since when that
 * fails. Null for none.
 */
export type RegistryHealth = { unpublished: number; oldestStaleCard: number | null }

/** Returns the state of the Registry for monitors, without the id of any agent. */
export const selectHealth = (sql: SqlStorage, now = Date.now()): RegistryHealth => {
  const query = `SELECT MIN(COALESCE(checked, failing_since)) FROM sources WHERE failure IS NOT NULL
    AND (checked IS NULL OR checked + 1000 * json_extract(source, '$.ttl') < ?)`
  const oldest = selectValue<number | null>(sql, query, now)
  const unpublished = selectValue<number>(sql, 'SELECT COUNT(*) FROM outbox WHERE attempts > 0') ?? 0
  return { unpublished, oldestStaleCard: oldest ?? null }
}

/** Creates the tables and the methods of the Registry. */
export const createStore = async ({ storage }: DurableObjectState, env: Env) => {
  const { sql } = storage
  tables.createTables(sql)
  const alarm = await Alarm.load(storage)
  const publisher = createPublisher(storage, env, alarm)
  await enqueueStaleSignatures(publisher, env)

  /** Runs a write, conditions included, in one transaction with its outbox entries. */
  const commit = <Value, Failure>(work: () => WriteResult<Value, Failure>): WriteResult<Value, Failure> =>
    storage.transactionSync(() => {
      const result = work()
      if ('value' in result) publisher.enqueue(result.staleKeys)
      return result
    })

  /** Registers all of these agents or none: every registration is tried, so that each has a result of its own. */
  const commitAll = (
    registrations: readonly Registration[],
    mayClaim: boolean,
  ): WriteResult<Omit<Registered, 'published'>, WriteRejection | { outcome: 'withdrawn' }>[] => {
    let results: ReturnType<typeof register>[] = []
    const rejected = new Error('A registration of the batch was rejected')
    try {
      storage.transactionSync(() => {
        results = registrations.map(registration => register(sql, registration, mayClaim))
        if (results.some(result => 'error' in result)) throw rejected
        // Last, because the alarm that it sets is not part of the transaction.
        publisher.enqueue(results.flatMap(result => ('value' in result ? result.staleKeys : [])))
      })
    } catch (error) {
      if (error !== rejected) throw error
      return results.map(result => ('error' in result ? result : { error: { outcome: 'withdrawn' } }))
    }
    return results
  }

  /** Sends the changes to those who follow them. Not awaited: no write waits for them. */
  const announce = (): void => void publisher.publish([EVENTS_KEY])

  const publish = async <Value, Failure>(
    result: WriteResult<Value, Failure>,
  ): Promise<(Value & { published: boolean }) | Failure> => {
    if ('error' in result) return result.error
    return { ...result.value, published: await publisher.publish(result.publishKeys ?? result.staleKeys) }
  }
  const read =
    <Args extends unknown[], Result>(query: (sql: SqlStorage, ...args: Args) => Result) =>
    async (...args: Args): Promise<Result> =>
      query(sql, ...args)
  const write =
    <Args extends unknown[], Value, Failure>(work: (sql: SqlStorage, ...args: Args) => WriteResult<Value, Failure>) =>
    async (...args: Args): Promise<(Value & { published: boolean }) | Failure> => {
      const result = commit(() => work(sql, ...args))
      if (!('error' in result)) announce()
      return publish(result)
    }

  const removeAgent = write(remove)

  /** Tasks of a removed agent must not have owners in the next agent with its id, nor its tasks lose theirs. */
  const clearOwners = (id: string): Promise<boolean> => publisher.publish([keyOf('task-owners', id)])

  return {
    register: async (registration: Registration, mayClaim: boolean): Promise<Registered | WriteRejection> =>
      (await clearOwners(registration.id)) ? write(register)(registration, mayClaim) : CONFLICT.error,

    /**
     * Registers several agents in their order, or all or none of them if the batch `isAtomic`: then each has a result
     * of its own. Otherwise each is registered by itself, and the results end with the first `conflict`, or before a
     * failure: later agents must not get the host names that this one claims.
     */
    registerAll: async (
      registrations: readonly Registration[],
      mayClaim: boolean,
      isAtomic: boolean,
    ): Promise<BatchResult[]> => {
      const areCleared = await Promise.all(registrations.map(({ id }) => clearOwners(id)))
      if (isAtomic && areCleared.includes(false)) return registrations.map(() => CONFLICT.error)
      if (isAtomic) {
        const committed = commitAll(registrations, mayClaim)
        if (committed.some(result => !('error' in result))) announce()
        return Promise.all(committed.map(result => publish(result)))
      }
      const results: Promise<Registered | WriteRejection>[] = []
      // Nothing is awaited between two of them: each is committed before the next one, and published meanwhile.
      for (const [index, registration] of registrations.entries()) {
        try {
          const result = areCleared[index] ? commit(() => register(sql, registration, mayClaim)) : CONFLICT
          if (!('error' in result)) announce()
          results.push(publish(result))
          if ('error' in result && result.error.outcome === 'conflict') break
        } catch (error) {
          if (index === 0) throw error
          break
        }
      }
      return Promise.all(results)
    },

    remove: async (...args: Parameters<typeof removeAgent>) => {
      try {
        return await removeAgent(...args)
      } catch (error) {
        if (!isStorageFull(error) || !tables.freeReserve(sql)) throw error
        return removeAgent(...args)
      }
    },
    clearTasks: write(clearTasks),
    recordRefresh: write(recordRefresh),
    endCheck: write(tables.endCheck),
    issueToken: write(tables.issueToken),
    revokeToken: write(tables.revokeToken),

    manifest: read(tables.selectManifest),
    document: read(tables.selectDocument),
    list: read(tables.selectAgents),
    search: read(tables.search),
    catalog: read(tables.selectCatalog),
    sitemap: read(tables.selectSitemap),
    namedAgents: read(tables.selectAgentsByName),
    revisions: read(tables.selectRevisions),
    revision: read(tables.selectRevision),
    latestRevision: read(tables.selectLatestRevision),
    sourceRecord: read(sourceRecord),
    sourceState: read(sourceState),
    refreshBase: read(refreshBase),
    upstreamBindings: read(tables.selectUpstreamBindings),
    health: read(selectHealth),
    signingState: async (signers: string) => {
      publisher.settle()
      return selectSigningState(sql, signers)
    },
    recordObservations: read(tables.recordObservations),
    observations: read(tables.selectObservations),
    beginCheck: read(tables.beginCheck),
    tokens: read(tables.selectTokens),
    audit: read(selectPage),
    recordRefusal: read(recordRefusal),

    exportPage: async (cursor?: ExportCursor) => (await import('../move/export.ts')).exportPage(sql, cursor),

    importStep: async (step: ImportStep) => {
      const { runImportStep } = await import('../move/import.ts')
      return runImportStep(step, { storage, publisher, write: async work => publish(commit(work)) })
    },

    /** Publishes what is left in the outbox, and signs the cards again if other keys sign now. */
    alarm: async (): Promise<void> => {
      alarm.clear()
      tables.keepReserve(sql)
      await enqueueStaleSignatures(publisher, env)
      await publisher.retry()
    },
  }
}

/** The pause after a change of the keys, or a failure, until the Registry looks for agents to sign again. */
const RECHECK_MS = 60_000

/** The number of agents that wait for new signatures, and when other keys last began to sign one, in ms since 1970. */
export type SigningState = { unsigned: number; resigned: number }

/**
 * Adds the agents whose documents are not signed with the current keys to the outbox, as `sign:` and their ids, which
 * are not KV keys. Sets the alarm for when another key begins to sign, and once more a minute later.
 */
const enqueueStaleSignatures = async (publisher: Publisher, env: Env): Promise<void> => {
  const { signers, checkAt } = await readSigners(env)
  if (checkAt !== undefined) publisher.wakeAt(checkAt)
  try {
    publisher.enqueueMissing(`SELECT 'sign:' || id AS key FROM (${STALE})`, signers)
  } catch (error) {
    // There is no room: the object must still start, to be read and to make room.
    log('error', 'publication-failed', { 'calling_card.key': 'sign:', 'exception.message': String(error) })
    publisher.wakeAt(Date.now() + RECHECK_MS)
  }
}

/** Selects the agents that are not signed with the keys `?1`. One whose card was never fetched has nothing to sign. */
const STALE = `SELECT id FROM card_signatures WHERE signers < ?1 OR signers > ?1
  UNION ALL SELECT id FROM agents WHERE ?1 <> '' AND id NOT IN (SELECT id FROM card_signatures)
    AND id IN (SELECT id FROM documents)`

/** Counts the agents that are not signed with the keys `signers`, or whose documents are not in KV yet. */
const selectSigningState = (sql: SqlStorage, signers: string): SigningState => {
  const unpublished = "SELECT substr(key, instr(key, ':') + 1) FROM outbox WHERE key GLOB 'card:*' OR key GLOB 'sign:*'"
  const ids = selectColumn<string>(sql, `${STALE} UNION ${unpublished}`, signers)
  const resigned = selectValue<number | null>(sql, 'SELECT MAX(resigned) FROM card_signatures')
  return { unsigned: ids.length, resigned: resigned ?? 0 }
}

/** Loads what reads keys only for a host that has some. */
const readSigners = async (env: Env): Promise<{ signers: string; checkAt?: number }> => {
  if (!keySecrets.some(secret => env[secret])) return { signers: '' }
  const { getSigningKeys, nameSigners } = await import('../../signing/signing-keys.ts')
  const now = Date.now()
  const keys = await getSigningKeys(env, now)
  if ('misconfigured' in keys) return { signers: '' }
  const times = [keys.current.signsFrom + RECHECK_MS, ...(keys.next ? [keys.next.signsFrom] : [])]
  const coming = times.filter(time => time > now)
  return { signers: nameSigners(keys), ...(coming.length > 0 && { checkAt: Math.min(...coming) }) }
}
