import * as v from 'valibot'
import { timestamp } from '../../card/model/index.ts'
import { isJsonObject } from '../../json/index.ts'
import { MAX_PAGE_SIZE, MAX_TOKENS } from '../../limits.ts'
import { appendEntry } from '../audit/index.ts'
import { keyOf } from '../kv-format.ts'
import { defineTable, selectJson, selectValue, type WriteResult } from '../sql.ts'
import { TokenRecord } from '../token-record.ts'
import { digest, json } from './column-formats.ts'

/** The tokens, by the hashes of their texts. */
export const tokens = defineTable(
  'tokens',
  { id: 'text', hash: 'text', expires: 'integer?', record: 'text' },
  {
    keys: 'PRIMARY KEY (id), UNIQUE (hash)',
    formats: () => ({ id: TokenRecord.entries.id, hash: digest, expires: timestamp, record: json(TokenRecord) }),
    check: v.check(
      ({ id, expires, record }) => isJsonObject(record) && record.id === id && record.expires === expires,
      'must have a record with its id and expires',
    ),
  },
)

/** The numbers that order what is published of a token: it is issued once and revoked once. */
export const TOKEN_SEQ = { issued: 1, revoked: 2 } as const

type IssueRejection = { outcome: 'too-many-tokens'; limit: number } | { outcome: 'id-taken' }

/** Stores a token under the SHA-256 of its text. Where the host has too many, expired ones are deleted first. */
export const issueToken = (
  sql: SqlStorage,
  record: TokenRecord,
  hash: string,
  actor: string,
): WriteResult<{ outcome: 'issued'; seq: number }, IssueRejection> => {
  if (countTokens(sql) >= MAX_TOKENS) sql.exec('DELETE FROM tokens WHERE expires <= ?', Date.now())
  if (countTokens(sql) >= MAX_TOKENS) return { error: { outcome: 'too-many-tokens', limit: MAX_TOKENS } }
  const query = 'INSERT OR IGNORE INTO tokens (id, hash, expires, record) VALUES (?, ?, ?, ?)'
  const { rowsWritten } = sql.exec(query, record.id, hash, record.expires, JSON.stringify(record))
  if (rowsWritten === 0) return { error: { outcome: 'id-taken' } }
  const { id, scopes, agents, tiers, expires } = record
  const until = expires === null ? null : new Date(expires).toISOString()
  appendEntry(sql, { actor, what: 'token-issued', details: { token: id, scopes, agents, tiers, expires: until } })
  return { value: { outcome: 'issued', seq: TOKEN_SEQ.issued }, staleKeys: [keyOf('token', hash)] }
}

/** Returns a page of tokens ordered by id, those after `after`; expired ones included. */
export const selectTokens = (sql: SqlStorage, after: string, limit: number): TokenRecord[] => {
  const query = 'SELECT record FROM tokens WHERE id > ? ORDER BY id LIMIT ?'
  return selectJson(sql, query, after, Math.min(limit, MAX_PAGE_SIZE + 1))
}

/** Deletes a token. The hash lets the calling isolate forget it at once. */
export const revokeToken = (
  sql: SqlStorage,
  id: string,
  actor: string,
): WriteResult<{ outcome: 'revoked'; seq: number; hash: string }, { outcome: 'unknown' }> => {
  const hash = selectValue<string>(sql, 'DELETE FROM tokens WHERE id = ? RETURNING hash', id)
  if (hash === undefined) return { error: { outcome: 'unknown' } }
  appendEntry(sql, { actor, what: 'token-revoked', details: { token: id } })
  return { value: { outcome: 'revoked', seq: TOKEN_SEQ.revoked, hash }, staleKeys: [keyOf('token', hash)] }
}

const countTokens = (sql: SqlStorage): number => selectValue<number>(sql, 'SELECT COUNT(*) FROM tokens') ?? 0
