import type * as v from 'valibot'
import { formatPointer, type Pointer } from '../../json/pointer.ts'
import type { CardError } from './report.ts'

/** A schema's findings as errors for people, each at the place that `locate` gives for its pointer. */
export const toCardErrors = (
  issues: readonly v.BaseIssue<unknown>[],
  locate: (place: Pointer) => Pointer,
): CardError[] =>
  dedupeByPointer(
    issues.map(issue => {
      const path = (issue.path ?? []).map(item => String(item.key))
      return { pointer: locate(formatPointer(...path)), message: messageFor(issue, path) }
    }),
  )

/** The errors without those at a place that an earlier one has: what is not a URL is not a bad URL besides. */
export const dedupeByPointer = (errors: readonly CardError[]): CardError[] => {
  const seen = new Set<Pointer>()
  return errors.filter(error => !seen.has(error.pointer) && seen.add(error.pointer))
}

const messageFor = (issue: v.BaseIssue<unknown>, path: readonly string[]): string => {
  if (issue.type === 'strict_object' && issue.expected === 'never')
    return `"${path.at(-1)}" is not a field of a manifest${path.length > 1 ? `'s ${path[0]}` : ''}`
  return issue.received === 'undefined' ? 'is missing' : issue.message
}
