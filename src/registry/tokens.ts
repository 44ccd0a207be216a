import { limits } from '../card/limits.ts'
import { type Entry, tombstoneSeconds } from './entry.ts'
import type { TokenRecord } from './token-record.ts'

/** The most tokens that a host keeps. */
const mostTokens = 10_000

/** A token is issued once and revoked once: what is known of it later is of a higher number. */
const tokenSeqs = { issued: 1, revoked: 2 } as const

/** What came of issuing a token; where none was issued, nothing was changed. */
export type Issued =
  | { outcome: 'issued'; seq: number; published: boolean }
  | { outcome: 'too-many-tokens'; most: number }
  | { outcome: 'id-taken' }

/** What came of revoking a token. The hash is for the isolate that asked, to forget the token at once. */
export type Revoked = { outcome: 'revoked'; seq: number; hash: string; published: boolean } | { outcome: 'unknown' }

/** KV's key of the token whose text has this SHA-256, in hexadecimal. */
export const tokenKey = (hash: string): string => `token:${hash}`

/** Keeps a token. Expired ones make room when there is none. */
export const keepToken = (sql: SqlStorage, record: TokenRecord, hash: string): Issued => {
  if (count(sql) >= mostTokens) sql.exec('DELETE FROM tokens WHERE expires <= ?', Date.now())
  if (count(sql) >= mostTokens) return { outcome: 'too-many-tokens', most: mostTokens }
  const { rowsWritten } = sql.exec(
    'INSERT OR IGNORE INTO tokens (id, hash, expires, record) VALUES (?, ?, ?, ?)',
    ...[record.id, hash, record.expires, JSON.stringify(record)],
  )
  return rowsWritten === 0 ? { outcome: 'id-taken' } : { outcome: 'issued', seq: tokenSeqs.issued, published: false }
}

/** A page of tokens in the order of their ids, beginning after `after`; those that have expired among them. */
export const tokenPage = (sql: SqlStorage, after: string, limit: number): TokenRecord[] =>
  sql
    .exec<{ record: string }>(
      'SELECT record FROM tokens WHERE id > ? ORDER BY id LIMIT ?',
      ...[after, Math.min(limit, limits.page + 1)],
    )
    .toArray()
    .map(({ record }) => JSON.parse(record) as TokenRecord)

/** Drops a token. KV is told that it is gone because it is not here. */
export const dropToken = (sql: SqlStorage, id: string): Revoked => {
  const [dropped] = sql.exec<{ hash: string }>('DELETE FROM tokens WHERE id = ? RETURNING hash', id).toArray()
  return dropped
    ? { outcome: 'revoked', seq: tokenSeqs.revoked, hash: dropped.hash, published: false }
    : { outcome: 'unknown' }
}

/** What KV is to hold of a token: its record for as long as it holds, or nothing, said for longer than any isolate lives. */
export const tokenEntry = (sql: SqlStorage, hash: string): Entry => {
  const [token] = sql
    .exec<{ record: string; expires: number | null }>('SELECT record, expires FROM tokens WHERE hash = ?', hash)
    .toArray()
  if (!token) return { value: '', metadata: { seq: tokenSeqs.revoked }, seconds: tombstoneSeconds }
  return {
    value: token.record,
    metadata: { seq: tokenSeqs.issued },
    ...(token.expires !== null && { seconds: secondsUntil(token.expires) }),
  }
}

/** KV keeps nothing for less than a minute; who reads a token looks at its expiry besides. */
const secondsUntil = (time: number): number =>
  Math.min(Math.max(60, Math.ceil((time - Date.now()) / 1000)), longestSeconds)

const longestSeconds = 2 ** 31 - 1

const count = (sql: SqlStorage): number =>
  sql.exec<{ count: number }>('SELECT COUNT(*) AS count FROM tokens').one().count
