import type { Issue } from '../../src/card/model/report.ts'
import { type Draft, inCard } from './draft.ts'
import type { Problem } from './problem.ts'

/** A finding of the linter, and where it stands in the owner's files. */
export type Finding = { issue: Issue; at: Problem }

/** What the linter found in a draft, each finding at its place. */
export const findingsOf = ({ compiled, places }: Draft): Finding[] =>
  (compiled?.report.issues ?? []).map(issue => ({
    issue,
    at: places.problem({ pointer: inCard(issue.pointer), message: issue.message }),
  }))
