import { hiddenByDefault } from '../../src/card/manifest/front-matter.ts'
import type { Report } from '../../src/card/model/report.ts'
import {
  type Diagnostic,
  type Draft,
  type LoadedManifests,
  type LocatedIssue,
  locateIssues,
} from '../manifests/index.ts'
import { colors } from '../terminal.ts'
import { distinct, issueText, problemText } from './text.ts'

/** What `lint` found in one file. */
export type LintResult = {
  file: string
  id?: string
  problems: Diagnostic[]
  report?: Report
  issues: LocatedIssue[]
}

/** Returns the lint results of all files, ordered by name. */
export const collectLintResults = ({ drafts, invalid }: LoadedManifests): LintResult[] =>
  [
    ...drafts.map(resultOfDraft),
    ...invalid.map(
      ({ file, id, problems }): LintResult => ({ file, ...(id !== undefined && { id }), problems, issues: [] }),
    ),
  ].sort((one, other) => (one.file < other.file ? -1 : 1))

const resultOfDraft = (draft: Draft): LintResult => {
  const { file, id, compiled, unexposed } = draft
  return {
    file,
    id,
    problems: [],
    issues: locateIssues(draft),
    ...(compiled && { report: unexposed ? addUnexposed(compiled.report) : compiled.report }),
  }
}

/** Adds what the host reports when it gets the whole front matter. */
const addUnexposed = (report: Report): Report => ({
  ...report,
  filled: [hiddenByDefault, ...report.filled],
})

/** Formats lint results for people: problems first, then what the host changes in the card. */
export const lintText = (results: readonly LintResult[]): string =>
  [
    ...results.flatMap(({ file, problems, issues, report }) => [
      colors.bold(file) + (report ? colors.dim(` ${report.dialect}`) : ''),
      ...[
        ...distinct([...problems.map(problemText), ...issues.map(({ issue, at }) => issueText(issue, at))]),
        ...(report ? reportLines(report) : []),
      ].map(line => `  ${line}`),
    ]),
    summaryText(results),
  ].join('\n')

const reportLines = ({ filled, converted, dropped }: Report): string[] =>
  [
    ...filled.map(({ pointer, message }) => `filled ${pointer} ${message}`),
    ...converted.map(({ pointer, message }) => `converted ${pointer} ${message}`),
    ...Object.entries(dropped).map(([dialect, pointers]) => `not in ${dialect}: ${pointers.join(' ')}`),
  ].map(colors.dim)

const summaryText = (results: readonly LintResult[]): string => {
  const severities = results.flatMap(({ issues }) => issues.map(({ issue }) => issue.severity))
  const count = (severity: string) => formatCount(severities.filter(found => found === severity).length, severity)
  const invalid = results.filter(({ problems }) => problems.length > 0).length
  return `${formatCount(results.length, 'file')}: ${invalid} invalid, ${count('error')}, ${count('warning')}, ${count('info')}`
}

const formatCount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
