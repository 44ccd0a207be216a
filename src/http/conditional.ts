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
