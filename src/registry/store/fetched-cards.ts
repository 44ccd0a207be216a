import type { Held, SourceRecord } from '../source-record.ts'
import type { Validators } from '../validators.ts'
import { driftText } from './drift-text.ts'

type About = Pick<Held, 'etag' | 'widens' | 'drift'>

/** Keeps the documents that were fetched of an agent, in the place of those before: apart, as a row has no room for both. */
export const keepFetched = (sql: SqlStorage, id: string, { card, validators = {}, held }: SourceRecord): void => {
  dropFetched(sql, id)
  if (card !== undefined) keep(sql, id, 'served', card, validators, null)
  if (held) keepHeld(sql, id, held)
}

/** Keeps a card that waits, in the place of one that did. */
export const keepHeld = (sql: SqlStorage, id: string, { card, validators, etag, widens, drift }: Held): void => {
  const about = `{"etag":${JSON.stringify(etag)},"widens":${JSON.stringify(widens)},"drift":${driftText(drift)}}`
  keep(sql, id, 'held', card, validators, about)
}

/** Keeps by what the source is asked whether it still says what is served. */
export const keepValidators = (sql: SqlStorage, id: string, validators: Validators): void => {
  sql.exec(`UPDATE fetched SET validators = ? WHERE id = ? AND name = 'served'`, JSON.stringify(validators), id)
}

/** Drops a card that waits. */
export const dropHeld = (sql: SqlStorage, id: string): void => {
  sql.exec(`DELETE FROM fetched WHERE id = ? AND name = 'held'`, id)
}

/** Drops all that was fetched of an agent. */
export const dropFetched = (sql: SqlStorage, id: string): void => {
  sql.exec('DELETE FROM fetched WHERE id = ?', id)
}

/** The documents that were fetched of an agent. */
export const fetchedOf = (sql: SqlStorage, id: string): Pick<SourceRecord, 'card' | 'validators' | 'held'> => {
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
export const heldOf = (sql: SqlStorage, id: string): Omit<Held, 'card'> | undefined => {
  const [row] = sql
    .exec<{ validators: string; about: string }>(
      `SELECT validators, about FROM fetched WHERE id = ? AND name = 'held'`,
      id,
    )
    .toArray()
  return row && { validators: JSON.parse(row.validators) as Validators, ...(JSON.parse(row.about) as About) }
}

/** Whether the card that is served was made of this document; undefined stands for none. */
export const isFetched = (sql: SqlStorage, id: string, card: string | undefined): boolean => {
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
