import { MAX_PAGE_SIZE } from '../../limits.ts'
import { tokenKey } from '../kv-format.ts'
import type { TokenRecord, Written } from '../records.ts'

/** The most tokens that a host keeps. */
const mostTokens = 10_000

/** A token is issued once and revoked once: what is known of it later is of a higher number. */
export const tokenSeqs = { issued: 1, revoked: 2 } as const

/** What came of issuing a token; where none was issued, nothing was changed. */
export type Issued = (NewToken & { published: boolean }) | NotIssued
type NewToken = { outcome: 'issued'; seq: number }
type NotIssued = { outcome: 'too-many-tokens'; most: number } | { outcome: 'id-taken' }

/** What came of revoking a token. The hash is for the isolate that asked, to forget the token at once. */
export type Revoked = (OldToken & { published: boolean }) | NotRevoked
type OldToken = { outcome: 'revoked'; seq: number; hash: string }
type NotRevoked = { outcome: 'unknown' }

/** Keeps a token. Expired ones make room when there is none. */
export const storeToken = (sql: SqlStorage, record: TokenRecord, hash: string): Written<NewToken, NotIssued> => {
  if (count(sql) >= mostTokens) sql.exec('DELETE FROM tokens WHERE expires <= ?', Date.now())
  if (count(sql) >= mostTokens) return { refused: { outcome: 'too-many-tokens', most: mostTokens } }
  const { rowsWritten } = sql.exec(
    'INSERT OR IGNORE INTO tokens (id, hash, expires, record) VALUES (?, ?, ?, ?)',
    ...[record.id, hash, record.expires, JSON.stringify(record)],
  )
  if (rowsWritten === 0) return { refused: { outcome: 'id-taken' } }
  return { made: { outcome: 'issued', seq: tokenSeqs.issued }, owed: [tokenKey(hash)], publish: [tokenKey(hash)] }
}

/** A page of tokens in the order of their ids, beginning after `after`; those that have expired among them. */
export const listTokens = (sql: SqlStorage, after: string, limit: number): TokenRecord[] =>
  sql
    .exec<{ record: string }>(
      'SELECT record FROM tokens WHERE id > ? ORDER BY id LIMIT ?',
      ...[after, Math.min(limit, MAX_PAGE_SIZE + 1)],
    )
    .toArray()
    .map(({ record }) => JSON.parse(record) as TokenRecord)

/** Drops a token. KV is told that it is gone because it is not here. */
export const deleteToken = (sql: SqlStorage, id: string): Written<OldToken, NotRevoked> => {
  const [dropped] = sql.exec<{ hash: string }>('DELETE FROM tokens WHERE id = ? RETURNING hash', id).toArray()
  if (!dropped) return { refused: { outcome: 'unknown' } }
  const keys = [tokenKey(dropped.hash)]
  return { made: { outcome: 'revoked', seq: tokenSeqs.revoked, hash: dropped.hash }, owed: keys, publish: keys }
}

const count = (sql: SqlStorage): number =>
  sql.exec<{ count: number }>('SELECT COUNT(*) AS count FROM tokens').one().count
