import * as v from 'valibot'
import type { Drift } from '../../card/diff/index.ts'
import type { Source } from '../../card/manifest/index.ts'
import { jsonObject, timestamp } from '../../card/model/index.ts'
import { isJsonObject } from '../../json/index.ts'
import type { SourceHealth } from '../kv-format.ts'
import type { CardVerification, PendingCard, SourceRecord } from '../source-record.ts'
import { SourceFailure, Validators } from '../source-record.ts'
import { defineTable, deleteRows, type Row, selectAll, selectFirst, selectValue, storeRow } from '../sql.ts'
import { agentId, count, json, text } from './column-formats.ts'

/** A drift as it is stored. */
export const StoredDrift = v.array(
  v.looseObject({ op: v.picklist(['add', 'remove', 'replace', 'more']), pointer: text }),
)

/** The stored review of a served or a pending card. */
const Review = v.object({
  verification: v.exactOptional(v.looseObject({ at: timestamp, verified: v.boolean() })),
  etag: v.exactOptional(text),
  widens: v.exactOptional(v.array(v.object({ pointer: text, message: text }))),
  drift: v.exactOptional(StoredDrift),
})

/** The sources of remote cards. Times are in ms since 1970. */
export const sources = defineTable(
  'sources',
  {
    ...{ id: 'text', source: 'text', checked: 'integer?', due: 'integer', failures: 'integer' },
    ...{ failing_since: 'integer?', failure: 'text?' },
  },
  {
    keys: 'PRIMARY KEY (id)',
    indexes: { failing_sources: '(failure) WHERE failure IS NOT NULL' },
    formats: ({ Source }) => ({
      ...{ id: agentId, source: json(Source), checked: timestamp, due: timestamp, failures: count },
      ...{ failing_since: timestamp, failure: json(SourceFailure) },
    }),
  },
)

/** The documents that were fetched from sources. They have rows of their own: one row is too small for two. */
export const fetched = defineTable(
  'fetched',
  { id: 'text', name: 'text', card: 'text', validators: 'text', review: 'text?' },
  {
    keys: 'PRIMARY KEY (id, name)',
    formats: () => ({
      ...{ id: agentId, name: v.picklist(['served', 'pending'], 'must be served or pending') },
      ...{ card: json(jsonObject()), validators: json(Validators), review: json(Review) },
    }),
    check: v.check(({ name, review }) => {
      const isReviewed = isJsonObject(review) && ['etag', 'widens', 'drift'].every(member => member in review)
      return name === 'served' || isReviewed
    }, 'must have the review of a pending card'),
  },
)

/** The first retry after a failure; each further one waits twice as long. In seconds. */
const FIRST_RETRY_SECONDS = 60
/** The longest wait between retries, unless the card's `ttl` is longer. */
const MAX_RETRY_SECONDS = 3600
/** Refreshes are up to a tenth late, so that cards registered together are not fetched together for ever. */
const JITTER = 0.1

/** A row is limited to 2 MB, and a drift can be as large as the cards it compares. In characters. */
const MAX_DRIFT_LENGTH = 64 * 1024
/** The length of the entry that counts the omitted changes. */
const MORE_ENTRY_LENGTH = 64

/** Returns the source of an agent, and its health for the edge; undefined where its card is in its manifest. */
export const selectSource = (sql: SqlStorage, id: string) => {
  const row = selectFirst<Row<typeof sources>>(sql, 'SELECT * FROM sources WHERE id = ?', id)
  if (!row) return undefined
  const { source, due, failures, checked, failure, failing_since } = row
  const known = {
    source: JSON.parse(source) as Source,
    ...(checked !== null && { checked }),
    ...(failure !== null && { failure: JSON.parse(failure) as SourceFailure }),
  }
  return {
    ...known,
    due,
    failures,
    health: healthOf(known),
    ...(failing_since !== null && { failingSince: failing_since }),
  }
}

type Attempted = Pick<SourceRecord, 'source' | 'checked' | 'failure'>

/** Reduces a source to what the edge needs. */
const healthOf = ({ source: { ttl, staleIfError }, checked = 0, failure }: Attempted): SourceHealth => ({
  ...{ checked, ttl, staleIfError },
  ...(failure && { failing: failure.status }),
})

/** Stores the source of an agent, and what was fetched from it. Returns the same as `saveAttempt`. */
export const saveSource = (sql: SqlStorage, id: string, record: SourceRecord): boolean => {
  const { card, validators = {}, verification, pending } = record
  deleteRows(sql, [fetched], id)
  if (card !== undefined)
    storeRow(sql, fetched, { id, name: 'served', card, validators: JSON.stringify(validators), review: null })
  if (verification) saveVerification(sql, id, verification)
  if (pending) savePending(sql, id, pending)
  return saveAttempt(sql, id, record)
}

/** Stores the last attempt to fetch a card. Returns whether the edge has to learn of it: it has another health. */
export const saveAttempt = (sql: SqlStorage, id: string, { source, checked, failure }: Attempted): boolean => {
  const before = selectSource(sql, id)
  const now = Date.now()
  const same = before?.source.kind === source.kind && before.source.url === source.url ? before : undefined
  const failures = failure ? (same?.failures ?? 0) + 1 : 0
  const due = nextRefreshAt(source.ttl, failures, failures === 0 ? (checked ?? now) : now)
  storeRow(sql, sources, {
    ...{ id, source: JSON.stringify(source), checked: checked ?? null, due, failures },
    ...{
      failing_since: failure ? (same?.failingSince ?? now) : null,
      failure: failure ? JSON.stringify(failure) : null,
    },
  })
  return before === undefined || before.failure?.status !== failure?.status
}

/** Returns when a source is to be fetched again after so many failures in a row, in ms since 1970. */
export const nextRefreshAt = (ttl: number, failures: number, now: number): number => {
  const seconds =
    failures === 0 ? ttl : Math.min(Math.max(ttl, MAX_RETRY_SECONDS), FIRST_RETRY_SECONDS * 2 ** (failures - 1))
  return Math.round(now + seconds * 1000 * (1 + JITTER * Math.random()))
}

/** Stores a pending card in place of any other. */
export const savePending = (sql: SqlStorage, id: string, pending: PendingCard): void => {
  const { card, validators, drift, ...reasons } = pending
  const review = `${JSON.stringify(reasons).slice(0, -1)},"drift":${serializeDrift(drift)}}`
  storeRow(sql, fetched, { id, name: 'pending', card, validators: JSON.stringify(validators), review })
}

/** Stores the result of verifying the signatures of the served document. */
export const saveVerification = (sql: SqlStorage, id: string, verification: CardVerification): void => {
  const review = JSON.stringify({ verification } satisfies Pick<SourceRecord, 'verification'>)
  sql.exec("UPDATE fetched SET review = ? WHERE id = ? AND name = 'served'", review, id)
}

/** Returns what was fetched for an agent, and what is known about it. Without `withCards`, the documents are empty. */
export const selectFetched = (sql: SqlStorage, id: string, withCards = true) => {
  const query = `SELECT id, name, ${withCards ? 'card' : "''"} AS card, validators, review FROM fetched WHERE id = ?`
  const rows = selectAll<Row<typeof fetched>>(sql, query, id)
  const served = rows.find(({ name }) => name === 'served')
  const pending = rows.find(({ name }) => name === 'pending')
  return {
    ...(served && { card: served.card, validators: JSON.parse(served.validators) as Validators }),
    ...(served?.review && (JSON.parse(served.review) as Pick<SourceRecord, 'verification'>)),
    ...(pending?.review && {
      pending: {
        card: pending.card,
        validators: JSON.parse(pending.validators) as Validators,
        ...(JSON.parse(pending.review) as Pick<PendingCard, 'etag' | 'widens' | 'drift' | 'verification'>),
      },
    }),
  }
}

/** Checks whether the served card was made from this document; undefined stands for none. */
export const matchesFetched = (sql: SqlStorage, id: string, card: string | undefined): boolean => {
  const query = "SELECT card = ? FROM fetched WHERE id = ? AND name = 'served'"
  const same = selectValue<number>(sql, query, card ?? null, id)
  return same === undefined ? card === undefined : same === 1
}

/** Serializes a drift for a row. If it is too large, values are left out, then the last changes, which are counted. */
export const serializeDrift = (drift: Drift): string => {
  const text = JSON.stringify(drift)
  if (text.length <= MAX_DRIFT_LENGTH) return text
  let remaining = MAX_DRIFT_LENGTH - MORE_ENTRY_LENGTH
  const kept = drift.map(withoutValues).filter(entry => {
    remaining -= JSON.stringify(entry).length + 1
    return entry.op !== 'more' && remaining > 0
  })
  const count = drift.reduce((sum, entry) => sum + (entry.op === 'more' ? entry.count : 1), -kept.length)
  return JSON.stringify(count === 0 ? kept : [...kept, { op: 'more', pointer: '', count }])
}

const withoutValues = (entry: Drift[number]): Drift[number] => {
  if (entry.op === 'more') return entry
  const { op, pointer } = entry
  const omitted = (['before', 'after'] as const).filter(name => name in entry || entry.omitted?.includes(name))
  return { op, pointer, ...(omitted.length > 0 && { omitted }) }
}
