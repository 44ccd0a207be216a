import { HttpError } from './errors.ts'

/** What must hold of the stored resource for a write to go on. */
export type Precondition = { ifMatch?: string[]; absent?: boolean }

/** Reads `If-Match` and `If-None-Match: *` of a write. Weak tags never match a write (RFC 9110 §13.1.1). */
export const parsePrecondition = (headers: Headers): Precondition => {
  const ifMatch = headers.get('If-Match')
  const ifNoneMatch = headers.get('If-None-Match')
  if (ifNoneMatch !== null && ifNoneMatch.trim() !== '*')
    throw new HttpError(
      400,
      'bad-condition',
      'A write takes `If-None-Match: *` (create only) or `If-Match` (replace only).',
    )
  return {
    ...(ifMatch !== null && { ifMatch: ifMatch.split(',').map(tag => tag.trim()) }),
    ...(ifNoneMatch !== null && { absent: true }),
  }
}

/** Whether a condition holds of a resource with these entity tags; undefined where there is none. */
export const preconditionHolds = (condition: Precondition, etags: readonly string[] | undefined): boolean => {
  if (condition.absent && etags !== undefined) return false
  if (condition.ifMatch === undefined) return true
  return etags !== undefined && condition.ifMatch.some(tag => tag === '*' || etags.includes(tag))
}

/** The strong entity tag of a representation: the SHA-256 of its bytes, in hexadecimal. */
export const strongEtag = async (bytes: Uint8Array): Promise<string> => {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `"${Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('')}"`
}

/** Whether an `If-None-Match` names this entity tag: a list, weak tags and `*` included (RFC 9110 §13.1.2). */
export const matchesIfNoneMatch = (header: string | null, etag: string): boolean => {
  if (header === null) return false
  return header === etag || header.trim() === '*' || entityTags(header).includes(etag)
}

/** The entity tags that a conditional header lists, without their weakness; `*` stands for any. */
const entityTags = (header: string): string[] => header.split(',').map(tag => tag.trim().replace(/^W\//, ''))
