import type { Report } from '../../src/card/model/report.ts'
import type { BadFile } from '../files/bad-file.ts'
import type { Draft } from '../files/draft.ts'
import { type Finding, findingsOf } from '../files/findings.ts'
import type { Loaded } from '../files/load.ts'
import type { Problem } from '../files/problem.ts'

/** What `lint` has to say of one file. */
export type Reading = {
  file: string
  id?: string
  problems: Problem[]
  report?: Report
  findings: Finding[]
}

/** The readings of all files, by name. */
export const readingsOf = ({ drafts, bad }: Loaded): Reading[] =>
  [...drafts.map(ofDraft), ...bad.map(ofBad)].sort((one, other) => (one.file < other.file ? -1 : 1))

const ofDraft = (draft: Draft): Reading => {
  const { file, id, compiled, unexposed } = draft
  return {
    file,
    id,
    problems: [],
    findings: findingsOf(draft),
    ...(compiled && { report: unexposed ? withUnexposed(compiled.report) : compiled.report }),
  }
}

/** As the host says it of front matter that is sent to it whole. */
const withUnexposed = (report: Report): Report => ({
  ...report,
  filled: [{ pointer: '/exposed', message: 'set to false: only what says true is public' }, ...report.filled],
})

const ofBad = ({ file, id, problems }: BadFile): Reading => ({
  file,
  ...(id !== undefined && { id }),
  problems,
  findings: [],
})
