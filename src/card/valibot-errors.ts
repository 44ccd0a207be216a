import type * as v from 'valibot'
import { type Pointer, pointer } from './pointer.ts'
import type { CardError } from './report.ts'

/** A schema's findings as errors for people, each at the place that `locate` gives for its pointer. */
export const issueErrors = (
  issues: readonly v.BaseIssue<unknown>[],
  locate: (place: Pointer) => Pointer,
): CardError[] =>
  issues.map(issue => {
    const path = (issue.path ?? []).map(item => String(item.key))
    return { pointer: locate(pointer(...path)), message: messageFor(issue, path) }
  })

const messageFor = (issue: v.BaseIssue<unknown>, path: readonly string[]): string => {
  if (issue.type === 'strict_object' && issue.expected === 'never')
    return `"${path.at(-1)}" is not a field of a manifest${path.length > 1 ? `'s ${path[0]}` : ''}`
  return issue.received === 'undefined' ? 'is missing' : issue.message
}
