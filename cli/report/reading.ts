import type { Issue, Report } from '../../src/card/report.ts'
import { type BadFile, type Draft, inCard } from '../files/draft.ts'
import type { Loaded } from '../files/load.ts'
import type { Problem } from '../files/problem.ts'

/** A finding of the linter, and where it stands in the owner's files. */
export type Located = { issue: Issue; at: Problem }

/** What `lint` has to say of one file. */
export type Reading = { file: string; id?: string; problems: Problem[]; report?: Report; findings: Located[] }

/** The readings of all files, by name. */
export const readingsOf = ({ drafts, bad }: Loaded): Reading[] =>
  [...drafts.map(ofDraft), ...bad.map(ofBad)].sort((one, other) => (one.file < other.file ? -1 : 1))

const ofDraft = (draft: Draft): Reading => {
  const { file, id, compiled } = draft
  return {
    file,
    id,
    problems: [],
    findings: locatedIssues(draft),
    ...(compiled && { report: compiled.report }),
  }
}

const ofBad = ({ file, id, problems }: BadFile): Reading => ({
  file,
  ...(id !== undefined && { id }),
  problems,
  findings: [],
})

/** What the linter found in a draft, each finding at its place. */
export const locatedIssues = ({ compiled, places }: Draft): Located[] =>
  (compiled?.report.issues ?? []).map(issue => ({
    issue,
    at: places.problem({ pointer: inCard(issue.pointer), message: issue.message }),
  }))
