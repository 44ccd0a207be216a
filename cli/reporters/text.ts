import type { Issue } from '../../src/card/model/report.ts'
import type { Diagnostic } from '../manifests/index.ts'
import { type AgentResult, type SyncResult, styleOf } from '../sync/index.ts'
import { colors } from '../terminal.ts'
import { diffText } from './diff.ts'

const SEVERITY_COLORS = { error: colors.red, warning: colors.yellow, info: colors.dim }

/** Formats a problem of a file as compilers do, so that editors and terminals turn the position into a link. */
export const problemText = ({ file, line, column, pointer, message }: Diagnostic): string =>
  `${file}:${line}:${column} ${SEVERITY_COLORS.error('error')} ${pointer || '(document)'} ${message}`

/** Formats a finding of the linter in the same way. */
export const issueText = ({ rule, severity, message }: Issue, { file, line, column, pointer }: Diagnostic): string =>
  `${file}:${line}:${column} ${SEVERITY_COLORS[severity](severity)} ${pointer || '(card)'} ${message} ${colors.dim(`[${rule}]`)}`

/** Removes repeated lines: two errors of one place may have the same text. */
export const distinct = (lines: readonly string[]): string[] => [...new Set(lines)]

/** Formats the difference between a file and the host. */
export const differenceText = ({ id, file, change }: Omit<AgentResult, 'action'>): string =>
  change === undefined ? '' : diffText(`${id} (${file})`, change)

/** Formats a synchronisation: a line for each of `shown` with its problems below it, then a summary of all results. */
export const syncText = ({ url, results, failure }: SyncResult, shown: readonly AgentResult[] = results): string =>
  [
    ...shown.map(agentText),
    ...(failure === undefined ? [] : [failureText(failure, results)]),
    ...infoCountText(shown),
    summaryText(url, results),
  ].join('\n')

const agentText = (result: AgentResult): string => {
  const { id, file, action, problems = [], change, notes = [] } = result
  const { mark, color } = styleOf(action)
  const name = id ?? file ?? ''
  const remarks = remarksOf(result).filter(text => typeof text === 'string' && text !== '')
  const line = `${colors[color](`${mark} ${action.padEnd(9)}`)} ${colors.bold(name)} ${remarks.join(' · ')}`.trimEnd()
  const details = [
    ...distinct([...problems.map(problemText), ...notes.map(note => `its card: ${note}`), ...importantIssues(result)]),
    ...(action === 'changed meanwhile' && change ? [diffText(`${id} (on the host)`, change)] : []),
  ]
  const indented = details.flatMap(text => text.split('\n').filter(Boolean)).map(text => `    ${text}`)
  return [line, ...indented].join('\n')
}

const remarksOf = (result: AgentResult): (string | false | undefined)[] => {
  const { id, file, detail, root, published, unexposed, live, source } = result
  return [
    file !== undefined && id !== undefined && file !== id && `(${file})`,
    root && 'the root agent',
    unexposed && 'internal: it does not have `exposed: true`',
    published === false && live !== true && colors.yellow('stored, but not at the edge yet; the host keeps retrying'),
    live === true && 'live',
    live === false && colors.yellow('stored; the edge still serves the previous card'),
    source !== undefined && colors.yellow(source),
    detail,
  ]
}

/** Returns what breaks or misleads clients; for an unchanged agent, only what breaks them. */
const importantIssues = ({ action, issues = [] }: AgentResult): string[] =>
  issues
    .filter(({ issue: { severity } }) => severity === 'error' || (severity === 'warning' && action !== 'unchanged'))
    .map(({ issue, at }) => issueText(issue, at))

/** Infos are only counted: `sync-card lint` shows them. */
const infoCountText = (results: readonly AgentResult[]): string[] => {
  const count = results
    .filter(({ action }) => action !== 'unchanged')
    .flatMap(({ issues = [] }) => issues)
    .filter(({ issue }) => issue.severity === 'info').length
  return count === 0 ? [] : [colors.dim(`${count} ${count === 1 ? 'info' : 'infos'}: sync-card lint`)]
}

const failureText = (failure: string, results: readonly AgentResult[]): string => {
  const namesWith = (...actions: string[]) =>
    results.flatMap(({ action, id, file }) => (actions.includes(action) ? [id ?? file] : [])).join(', ') || 'nothing'
  return [
    colors.red(`Stopped: ${failure}.`),
    `  pushed:     ${namesWith('created', 'updated', 'deleted')}`,
    `  not pushed: ${namesWith('not pushed')}`,
  ].join('\n')
}

const summaryText = (url: string, results: readonly AgentResult[]): string => {
  const counts = new Map<string, number>()
  for (const { action } of results) counts.set(action, (counts.get(action) ?? 0) + 1)
  return colors.dim(`${url}: ${[...counts].map(([action, count]) => `${count} ${action}`).join(', ')}`)
}
