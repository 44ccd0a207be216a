import type { PendingCard, SourceRecord } from '../source-record.ts'
import type { Validators } from '../validators.ts'
import { serializeDrift } from './drift-text.ts'

type About = Pick<PendingCard, 'etag' | 'widens' | 'drift'>

/** Keeps the documents that were fetched of an agent, in the place of those before: apart, as a row has no room for both. */
export const saveFetched = (sql: SqlStorage, id: string, { card, validators = {}, held }: SourceRecord): void => {
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
export const deleteFetched = (sql: SqlStorage, id: string): void => {
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
