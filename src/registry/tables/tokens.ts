import { MAX_PAGE_SIZE, MAX_TOKENS } from '../../limits.ts'
import { appendEntry } from '../audit/index.ts'
import { tokenKey } from '../kv-format.ts'
import type { WriteResult } from '../records.ts'
import type { TokenIssued, TokenRecord, TokenRevoked } from '../token-record.ts'

/** A token is issued once and revoked once, so these order what is published of it. */
export const TOKEN_SEQ = { issued: 1, revoked: 2 } as const

type Stored<Result extends { published: boolean }> = Omit<Result, 'published'>
type Issued = Stored<Extract<TokenIssued, { outcome: 'issued' }>>
type Revoked = Stored<Extract<TokenRevoked, { outcome: 'revoked' }>>

/** Stores a token. Where the host has too many, expired ones are deleted first. */
export const issueToken = (
  sql: SqlStorage,
  record: TokenRecord,
  hash: string,
  actor: string,
): WriteResult<Issued, Exclude<TokenIssued, { outcome: 'issued' }>> => {
  if (countTokens(sql) >= MAX_TOKENS) sql.exec('DELETE FROM tokens WHERE expires <= ?', Date.now())
  if (countTokens(sql) >= MAX_TOKENS) return { error: { outcome: 'too-many-tokens', limit: MAX_TOKENS } }
  const { rowsWritten } = sql.exec(
    'INSERT OR IGNORE INTO tokens (id, hash, expires, record) VALUES (?, ?, ?, ?)',
    ...[record.id, hash, record.expires, JSON.stringify(record)],
  )
  if (rowsWritten === 0) return { error: { outcome: 'id-taken' } }
  const { id, scopes, agents, tiers, expires } = record
  const until = expires === null ? null : new Date(expires).toISOString()
  appendEntry(sql, { actor, what: 'token-issued', details: { token: id, scopes, agents, tiers, expires: until } })
  const keys = [tokenKey(hash)]
  return { value: { outcome: 'issued', seq: TOKEN_SEQ.issued }, staleKeys: keys, publishKeys: keys }
}

/** Returns a page of tokens ordered by id, those after `after`; expired ones included. */
export const selectTokens = (sql: SqlStorage, after: string, limit: number): TokenRecord[] =>
  sql
    .exec<{ record: string }>(
      'SELECT record FROM tokens WHERE id > ? ORDER BY id LIMIT ?',
      ...[after, Math.min(limit, MAX_PAGE_SIZE + 1)],
    )
    .toArray()
    .map(({ record }) => JSON.parse(record) as TokenRecord)

/** Deletes a token. */
export const revokeToken = (
  sql: SqlStorage,
  id: string,
  actor: string,
): WriteResult<Revoked, Exclude<TokenRevoked, { outcome: 'revoked' }>> => {
  const [deleted] = sql.exec<{ hash: string }>('DELETE FROM tokens WHERE id = ? RETURNING hash', id).toArray()
  if (!deleted) return { error: { outcome: 'unknown' } }
  const { hash } = deleted
  appendEntry(sql, { actor, what: 'token-revoked', details: { token: id } })
  const keys = [tokenKey(hash)]
  return { value: { outcome: 'revoked', seq: TOKEN_SEQ.revoked, hash }, staleKeys: keys, publishKeys: keys }
}

const countTokens = (sql: SqlStorage): number =>
  sql.exec<{ count: number }>('SELECT COUNT(*) AS count FROM tokens').one().count
