import { hiddenByDefault } from '../../src/card/manifest/index.ts'
import type { Issue, Report, Severity } from '../../src/card/model/index.ts'
import type { Proposal } from '../client/index.ts'
import {
  type Diagnostic,
  type Draft,
  type LoadedManifests,
  type LocatedIssue,
  locateIssues,
  type SkippedFile,
} from '../manifests/index.ts'
import { colors, formatCount } from '../terminal.ts'
import { distinct, INFOS_HINT, issueText, problemText } from './text.ts'

/** What `lint` found in one file. */
export type LintResult = {
  file: string
  id?: string
  problems: Diagnostic[]
  report?: Report
  /** Includes the proposals of `observed`. */
  issues: LocatedIssue[]
  observed?: ObservedResult
}

/** A proposal, and where in the owner's files the card says otherwise. */
export type LocatedProposal = Proposal & { severity: Severity; at: Diagnostic }

/** What a host knows of the calls of an agent. `no card`: it has no valid card to compare them with. */
export type ObservedResult =
  | { state: 'not registered' | 'never called' }
  | { state: 'rejected'; detail: string }
  | ({ state: 'no card' } & ObservedCalls)
  | ({ state: 'observed'; proposals: LocatedProposal[] } & ObservedCalls)

type ObservedCalls = { calls: number; since?: string | undefined; lastSeen?: string | undefined }

/** The lint results of all files, ordered by name, and the files that were not read. */
export type LintReport = { results: LintResult[]; skipped: readonly SkippedFile[] }

/** Returns what `lint` found; `observed` has what the host knows of each draft, if it was asked. */
export const collectLintResults = (
  { drafts, invalid, skipped }: LoadedManifests,
  observed: ReadonlyMap<Draft, ObservedResult> = new Map(),
): LintReport => ({
  results: [
    ...drafts.map(draft => resultOfDraft(draft, observed.get(draft))),
    ...invalid.map(
      ({ file, id, problems }): LintResult => ({ file, ...(id !== undefined && { id }), problems, issues: [] }),
    ),
  ].sort((one, other) => (one.file < other.file ? -1 : 1)),
  skipped,
})

const resultOfDraft = (draft: Draft, observed: ObservedResult | undefined): LintResult => {
  const { file, id, compiled, unexposed } = draft
  return {
    file,
    id,
    problems: [],
    issues: [...locateIssues(draft), ...issuesOf(observed)],
    ...(observed && { observed }),
    ...(compiled && { report: unexposed ? addUnexposed(compiled.report) : compiled.report }),
  }
}

const issuesOf = (observed: ObservedResult | undefined): LocatedIssue[] =>
  observed?.state === 'observed'
    ? observed.proposals.map(({ rule, severity, pointer, message, at }) => ({
        issue: { rule, severity, pointer, message },
        at,
      }))
    : []

/** Adds what the host reports when it gets the whole front matter. */
const addUnexposed = (report: Report): Report => ({
  ...report,
  filled: [hiddenByDefault, ...report.filled],
})

/** What `lint` shows: with `quiet`, only what fails it, and with `strict`, warnings fail it too. */
export type LintTextOptions = { quiet: boolean; strict: boolean }

/** Whether a finding makes `lint` fail. */
export const isFailure = ({ severity }: Issue, strict: boolean): boolean =>
  severity === 'error' || (strict && severity === 'warning')

/**
 * Formats lint results for people: a block for each file with errors or warnings, then a count. If there is only one file, its block
 * also has the infos, and what the host changes in the card.
 */
export const lintText = ({ results }: LintReport, { quiet, strict }: LintTextOptions): string[] => {
  const blocks = results.flatMap(result => {
    const { file, problems, issues, report, observed } = result
    const isShown = ({ issue }: LocatedIssue): boolean =>
      quiet ? isFailure(issue, strict) : results.length === 1 || issue.severity !== 'info'
    const shown = issues.filter(isShown)
    const isReported = observed !== undefined && (!quiet || observed.state === 'rejected')
    const lines = [
      ...distinct([...problems.map(problemText), ...shown.map(({ issue, at }) => issueText(issue, at))]),
      ...(isReported ? [observedText(observed)] : []),
      ...(report && results.length === 1 && !quiet ? reportLines(report) : []),
    ]
    const title = colors.bold(file) + (report ? colors.dim(` ${report.dialect}`) : '')
    return lines.length === 0 ? [] : [title, ...lines.map(line => `  ${line}`)]
  })
  return quiet ? blocks : [...blocks, summaryText(results)]
}

const observedText = (observed: ObservedResult): string => {
  switch (observed.state) {
    case 'not registered':
      return colors.yellow('not registered on the host')
    case 'never called':
      return colors.dim('never called through the host')
    case 'rejected':
      return colors.red(`the host does not report its calls: ${observed.detail}`)
    case 'no card':
      return colors.yellow(`${callsText(observed)}; the host has no valid card to compare them with`)
    default:
      return colors.dim(`${callsText(observed)}: ${formatCount(observed.proposals.length, 'difference')} from the card`)
  }
}

const callsText = ({ calls, since, lastSeen }: ObservedCalls): string =>
  `${formatCount(calls, 'call')}${since === undefined || lastSeen === undefined ? '' : ` from ${since} to ${lastSeen}`}`

const reportLines = ({ filled, converted, dropped, lossy, signatures }: Report): string[] =>
  [
    ...filled.map(({ pointer, message }) => `filled ${pointer} ${message}`),
    ...converted.map(({ pointer, message }) => `converted ${pointer} ${message}`),
    ...Object.entries(dropped).map(([dialect, pointers]) => `not in ${dialect}: ${pointers.join(' ')}`),
    ...lossy.map(({ pointer, message }) => `lossy ${pointer} ${message}`),
    ...signatures.map(({ pointer, message }) => `signatures ${pointer} ${message}`),
  ].map(colors.dim)

const summaryText = (results: readonly LintResult[]): string => {
  if (results.length === 0) return 'No file was checked.'
  const files = formatCount(results.length, 'file')
  const severities = results.flatMap(({ issues }) => issues.map(({ issue }) => issue.severity))
  const invalid = results.filter(({ problems }) => problems.length > 0).length
  const clean = results.filter(({ problems, issues }) => problems.length + issues.length === 0).length
  const counts = SEVERITIES.map(severity => [severities.filter(found => found === severity).length, severity] as const)
  const hintOf = (severity: Severity): string => (severity === 'info' && results.length > 1 ? ` (${INFOS_HINT})` : '')
  const findings = [
    ...(invalid > 0 ? [`${invalid} invalid`] : []),
    ...counts
      .filter(([count]) => count > 0)
      .map(([count, severity]) => formatCount(count, severity) + hintOf(severity)),
  ]
  if (findings.length === 0) return `${files} without findings`
  return `${files}: ${[...findings, ...(clean > 0 ? [`${clean} without findings`] : [])].join(', ')}`
}

const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info']
