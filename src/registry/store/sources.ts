import type { Drift } from '../../card/diff/drift.ts'
import type { Source } from '../../card/manifest/upstream.ts'
import {
  healthOf,
  type PendingCard,
  type PublishedHealth,
  type SourceFailure,
  type SourceRecord,
  type Validators,
} from '../records.ts'

/** A row holds 2 MB at most, and a drift can be as large as the cards that it compares. In characters. */
const most = 64 * 1024

/** A drift as it is kept: of one that is too large the values are left out, and then the end; and it says so. */
export const serializeDrift = (drift: Drift): string => {
  const whole = JSON.stringify(drift)
  if (whole.length <= most) return whole
  let room = most - forMore
  const kept = drift.map(withoutValues).filter(entry => {
    room -= JSON.stringify(entry).length + 1
    return entry.op !== 'more' && room > 0
  })
  const count = drift.reduce((sum, entry) => sum + (entry.op === 'more' ? entry.count : 1), -kept.length)
  return JSON.stringify(count === 0 ? kept : [...kept, { op: 'more', pointer: '', count }])
}

/** What it takes to say how many more there are. */
const forMore = 64

const values = ['before', 'after'] as const

const withoutValues = (entry: Drift[number]): Drift[number] => {
  if (entry.op === 'more') return entry
  const { op, pointer } = entry
  const leftOut = values.filter(when => when in entry || entry.leftOut?.includes(when))
  return { op, pointer, ...(leftOut.length > 0 && { leftOut }) }
}

type About = Pick<PendingCard, 'etag' | 'widens' | 'drift'>

/** Keeps the documents that were fetched of an agent, in the place of those before: apart, as a row has no room for both. */
const saveFetched = (sql: SqlStorage, id: string, { card, validators = {}, held }: SourceRecord): void => {
  deleteFetched(sql, id)
  if (card !== undefined) keep(sql, id, 'served', card, validators, null)
  if (held) savePending(sql, id, held)
}

/** Keeps a card that waits, in the place of one that did. */
export const savePending = (
  sql: SqlStorage,
  id: string,
  { card, validators, etag, widens, drift }: PendingCard,
): void => {
  const about = `{"etag":${JSON.stringify(etag)},"widens":${JSON.stringify(widens)},"drift":${serializeDrift(drift)}}`
  keep(sql, id, 'held', card, validators, about)
}

/** Keeps by what the source is asked whether it still says what is served. */
export const saveValidators = (sql: SqlStorage, id: string, validators: Validators): void => {
  sql.exec(`UPDATE fetched SET validators = ? WHERE id = ? AND name = 'served'`, JSON.stringify(validators), id)
}

/** Drops a card that waits. */
export const deletePending = (sql: SqlStorage, id: string): void => {
  sql.exec(`DELETE FROM fetched WHERE id = ? AND name = 'held'`, id)
}

/** Drops all that was fetched of an agent. */
const deleteFetched = (sql: SqlStorage, id: string): void => {
  sql.exec('DELETE FROM fetched WHERE id = ?', id)
}

/** The documents that were fetched of an agent. */
export const getFetched = (sql: SqlStorage, id: string): Pick<SourceRecord, 'card' | 'validators' | 'held'> => {
  const rows = sql
    .exec<{ name: string; card: string; validators: string; about: string | null }>(
      'SELECT name, card, validators, about FROM fetched WHERE id = ?',
      id,
    )
    .toArray()
  const served = rows.find(({ name }) => name === 'served')
  const held = rows.find(({ name }) => name === 'held')
  return {
    ...(served && { card: served.card, validators: JSON.parse(served.validators) as Validators }),
    ...(held?.about && {
      held: { card: held.card, validators: JSON.parse(held.validators), ...(JSON.parse(held.about) as About) },
    }),
  }
}

/** The card that waits, without its text. */
export const getPending = (sql: SqlStorage, id: string): Omit<PendingCard, 'card'> | undefined => {
  const [row] = sql
    .exec<{ validators: string; about: string }>(
      `SELECT validators, about FROM fetched WHERE id = ? AND name = 'held'`,
      id,
    )
    .toArray()
  return row && { validators: JSON.parse(row.validators) as Validators, ...(JSON.parse(row.about) as About) }
}

/** Whether the card that is served was made of this document; undefined stands for none. */
export const matchesFetched = (sql: SqlStorage, id: string, card: string | undefined): boolean => {
  const [same] = sql
    .exec<{ same: number }>(`SELECT card = ? AS same FROM fetched WHERE id = ? AND name = 'served'`, card ?? null, id)
    .toArray()
  return same ? same.same === 1 : card === undefined
}

const keep = (
  sql: SqlStorage,
  id: string,
  name: 'served' | 'held',
  card: string,
  validators: Validators,
  about: string | null,
): void => {
  sql.exec(
    'INSERT OR REPLACE INTO fetched (id, name, card, validators, about) VALUES (?, ?, ?, ?, ?)',
    ...[id, name, card, JSON.stringify(validators), about],
  )
}

/** The highest number that an agent's revisions, and what the edge was told of its source, have taken; 0 where there are none. */
export const lastSeq = (sql: SqlStorage, id: string): number =>
  sql
    .exec<{ seq: number }>(
      `SELECT COALESCE(MAX(seq), 0) AS seq FROM (
        SELECT MAX(seq) AS seq FROM revisions WHERE id = ?1 UNION ALL SELECT told FROM sources WHERE id = ?1)`,
      id,
    )
    .one().seq

/**
 * How long a lease holds: longer than any refresh takes, so that it is taken again only of who died with it. The longest is an MCP
 * server's: 20 s to be asked in, 2 s for the end of each of two sessions, and what it takes to make, keep and publish the card.
 * In ms.
 */
export const leaseMilliseconds = 45_000

/** How long after a failure a source is asked again at first; each time that it fails again, twice as long. In seconds. */
const firstRetry = 60
/** How long at the most, unless its time to live is longer. */
const lastRetry = 3600

/** How much later than said some are asked, so that those that were registered together are not for ever asked together. */
const jitter = 0.1

/** When a source is to be asked again that has failed so many times in a row; in ms since 1970. */
export const nextRefreshAt = (ttl: number, failures: number, now: number): number => {
  const seconds = failures === 0 ? ttl : Math.min(Math.max(ttl, lastRetry), firstRetry * 2 ** (failures - 1))
  return Math.round(now + seconds * 1000 * (1 + jitter * Math.random()))
}

/** A source as its row says it, and the number under which the edge was last told of it. Times are in ms since 1970. */
export type SourceRow = {
  source: Source
  checked?: number
  due: number
  /** By what whoever reads it now ends that. */
  lease: string | null
  leasedUntil: number
  /** How many times in a row it could not be read. */
  failures: number
  failure?: SourceFailure
  failingSince?: number
  told: number
  toldAt: number
}

type Columns = {
  source: string
  checked: number | null
  due: number
  lease: string | null
  leased_until: number
  failures: number
  failing_since: number | null
  failure: string | null
  told: number
  told_at: number
}

/** The source of an agent; undefined where its card comes from nowhere else. */
export const sourceRow = (sql: SqlStorage, id: string): SourceRow | undefined => {
  const [row] = sql.exec<Columns>('SELECT * FROM sources WHERE id = ?', id).toArray()
  return (
    row && {
      source: JSON.parse(row.source) as Source,
      due: row.due,
      lease: row.lease,
      leasedUntil: row.leased_until,
      failures: row.failures,
      told: row.told,
      toldAt: row.told_at,
      ...(row.checked !== null && { checked: row.checked }),
      ...(row.failure !== null && { failure: JSON.parse(row.failure) as SourceFailure }),
      ...(row.failing_since !== null && { failingSince: row.failing_since }),
    }
  )
}

/** What the edge is to know of an agent's source. */
export const publishedHealth = (sql: SqlStorage, id: string): PublishedHealth | undefined => {
  const row = sourceRow(sql, id)
  return row && { seq: row.told, health: healthOf(row) }
}

/**
 * Keeps the source of a registration in the place of what was kept. The edge is told of a revision with the revision's `seq`;
 * where there is none, with the next number, and only of another state than it knows.
 */
export const saveSource = (
  sql: SqlStorage,
  id: string,
  record: SourceRecord,
  revised: number | undefined,
  now: number,
): PublishedHealth => {
  const before = sourceRow(sql, id)
  const { source, checked, failure } = record
  const known = before?.source.kind === source.kind && before.source.url === source.url ? before : undefined
  const failures = failure ? (known?.failures ?? 0) + 1 : 0
  const since = failure ? (known?.failingSince ?? now) : null
  const isKnown = before !== undefined && before.failure?.status === failure?.status
  const told = revised === undefined && isKnown ? before : { told: revised ?? lastSeq(sql, id) + 1, toldAt: now }
  const due = nextRefreshAt(source.ttl, failures, failures === 0 ? (checked ?? now) : now)
  sql.exec(
    `INSERT OR REPLACE INTO sources (id, source, checked, due, asked, failures, failing_since, failure, told, told_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[id, JSON.stringify(source), checked ?? null, due, now, failures, since],
    ...[failure ? JSON.stringify(failure) : null, told.told, told.toldAt],
  )
  saveFetched(sql, id, record)
  return { seq: told.told, health: healthOf(record) }
}

/** Forgets the source of an agent, and what was fetched of it. */
export const deleteSource = (sql: SqlStorage, id: string): void => {
  sql.exec('DELETE FROM sources WHERE id = ?', id)
  deleteFetched(sql, id)
}
