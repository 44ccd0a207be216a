import type { ResponseOf } from '../../../api/client/index.ts'
import { plural } from '../../components/index.ts'

/** What the linter finds in a card. */
export type LintResult = ResponseOf<'POST /lint'>
export type Issues = NonNullable<LintResult['issues']>

/** What was found at a place: an error, or what the host changes there. */
export type Finding = LintResult['errors'][number]

/** The severities of issues, the worst first: the name of one, a heading of several, and their meaning. */
export const SEVERITIES = [
  ['error', 'error', 'Errors', 'They break clients.'],
  ['warning', 'warning', 'Warnings', 'They mislead clients.'],
  ['info', 'suggestion', 'Suggestions', 'They would improve the card.'],
] as const

/** Counts issues by severity, such as `1 error, 2 suggestions`. */
export const countIssues = (issues: Issues): string =>
  SEVERITIES.flatMap(([severity, name]) => {
    const { length } = issues.filter(issue => issue.severity === severity)
    return length === 0 ? [] : [plural(length, name)]
  }).join(', ')

/** The notes of a lint result besides errors and issues: their member, a heading, and their meaning. */
export const NOTE_GROUPS = [
  ['filled', 'Filled in', 'What the card lacks, and this host adds.'],
  ['converted', 'Read in another form', 'What the card has in another form than that of A2A.'],
  ['lossy', 'Lost in translation', 'What clients of other versions or bindings do not get.'],
  ['signatures', 'Signatures', 'What becomes of those of the author, and what this host signs.'],
] as const
