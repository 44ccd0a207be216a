import colors from 'picocolors'
import type { Issue } from '../../src/card/model/report.ts'
import type { Problem } from '../files/problem.ts'

const paint = { error: colors.red, warning: colors.yellow, info: colors.dim }

/** A problem of a file as a compiler would tell it, so that editors and terminals make the place a link. */
export const problemText = ({ file, line, column, pointer, message }: Problem): string =>
  `${file}:${line}:${column} ${paint.error('error')} ${pointer || '(document)'} ${message}`

/** Lines for people, each once: two faults of one place may read the same. */
export const distinct = (lines: readonly string[]): string[] => [...new Set(lines)]

/** A finding of the linter, in the same form. */
export const issueText = ({ rule, severity, message }: Issue, { file, line, column, pointer }: Problem): string =>
  `${file}:${line}:${column} ${paint[severity](severity)} ${pointer || '(card)'} ${message} ${colors.dim(`[${rule}]`)}`
