import { problem } from './http-error.ts'

/** The condition on the stored resource under which a write is made. */
export type Precondition = { ifMatch?: string[]; absent?: boolean }

/** Parses `If-Match` and `If-None-Match: *` of a write. Weak tags never match a write (RFC 9110 §13.1.1). */
export const parsePrecondition = (headers: Headers): Precondition => {
  const ifMatch = headers.get('If-Match')
  const ifNoneMatch = headers.get('If-None-Match')
  if (ifNoneMatch !== null && ifNoneMatch.trim() !== '*')
    throw problem('bad-condition', 'A write accepts `If-None-Match: *` (create) or `If-Match` (replace).')
  return {
    ...(ifMatch !== null && { ifMatch: ifMatch.split(',').map(tag => tag.trim()) }),
    ...(ifNoneMatch !== null && { absent: true }),
  }
}

/** Evaluates a precondition against the entity tags of the stored resource; undefined if there is no such resource. */
export const preconditionHolds = (condition: Precondition, etags: readonly string[] | undefined): boolean => {
  if (condition.absent && etags !== undefined) return false
  if (condition.ifMatch === undefined) return true
  return etags !== undefined && condition.ifMatch.some(tag => tag === '*' || etags.includes(tag))
}

/** Returns the strong entity tag of a representation: the SHA-256 of its bytes. */
export const strongEtag = async (bytes: Uint8Array): Promise<string> => `"${await sha256Hex(bytes)}"`

/** Returns a SHA-256 digest in hexadecimal. */
export const sha256Hex = async (data: Uint8Array | string): Promise<string> => {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Checks whether the client of a GET has a representation already (RFC 9110 §13.2.2). No later date counts: a URL gets
 * an older representation if its host name passes to another agent. Credentials may select one of the same date.
 */
export const isNotModified = (headers: Headers, { etag, modified }: { etag: string; modified: string }): boolean => {
  const ifNoneMatch = headers.get('If-None-Match')
  if (ifNoneMatch !== null) return matchesIfNoneMatch(ifNoneMatch, etag)
  const since = headers.get('If-Modified-Since')
  return since !== null && Date.parse(since) === Date.parse(modified) && !headers.has('Authorization')
}

/** Checks whether an `If-None-Match` lists an entity tag, weakly compared, or `*` (RFC 9110 §13.1.2). */
export const matchesIfNoneMatch = (header: string | null, etag: string): boolean => {
  if (header === null) return false
  const tags = header.split(',').map(tag => tag.trim().replace(/^W\//, ''))
  return header === etag || header.trim() === '*' || tags.includes(etag.replace(/^W\//, ''))
}
