import { createHash } from 'node:crypto'
import { canonicalJson, type JsonObject } from '../../json/index.ts'

/** The events that entries record. */
export const AUDITED = [
  'agent-registered',
  'agent-changed',
  'agent-removed',
  'card-accepted',
  'agent-rolled-back',
  'tasks-cleared',
  'token-issued',
  'token-revoked',
  'write-refused',
  'registry-imported',
] as const

/** An event, before it has a place in the chain, without secrets. `seq` is the revision of the agent that it made. */
export type AuditEvent = {
  /** `admin`, the id of a token, `host`, or `anonymous` for a caller without a valid token. */
  actor: string
  what: (typeof AUDITED)[number]
  agent?: string
  seq?: number
  details?: JsonObject
}

/** An entry of the audit. Numbers have no gap, `time` never decreases, and `previous` is the hash of the last entry. */
export type AuditEntry = AuditEvent & { number: number; time: string; previous: string; hash: string }

/** The `previous` of the first entry. */
export const NO_ENTRY_HASH = '0'.repeat(64)

/** Distinguishes the signature of the newest entry from everything else that the same key signs (RFC 8725 §3.11). */
export const AUDIT_HEAD_TYPE = 'calling-card-audit-head+jwt'

/** Returns the SHA-256 of a text in hexadecimal, synchronously: a transaction of SQLite cannot wait for Web Crypto. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Adds its hash to an entry: the SHA-256 of the canonical JSON of all its other members. */
export const sealEntry = (entry: Omit<AuditEntry, 'hash'>): AuditEntry => ({ ...entry, hash: hashEntry(entry) })

/** Returns the hash that an entry should have, whichever it has. */
const hashEntry = (entry: JsonObject): string => {
  const { hash: _, ...hashed } = entry
  return sha256(canonicalJson(hashed))
}

/** Returns why an entry does not follow the one `before` it, undefined for the first; undefined if it does. */
export const findChainBreak = (entry: JsonObject, before: JsonObject | undefined): string | undefined => {
  const number = typeof before?.number === 'number' ? before.number : 0
  if (entry.number !== number + 1) return `its number does not follow ${number}`
  if (entry.hash !== hashEntry(entry)) return 'its hash is not that of its content'
  if (entry.previous !== (before?.hash ?? NO_ENTRY_HASH)) return 'it names another entry before it'
  // Entries are found by time by bisection.
  if (Date.parse(String(entry.time)) < Date.parse(String(before?.time)))
    return 'its time is before that of the entry before it'
  return undefined
}
