import type { Issue, Severity } from '../../src/card/model/index.ts'
import { ExitCode } from '../exit-codes.ts'
import type { Diagnostic } from '../manifests/index.ts'
import {
  type Action,
  type AgentResult,
  callRules,
  countActions,
  isNoteworthy,
  isUncallable,
  type SyncResult,
  styleOf,
} from '../sync/index.ts'
import { colors, formatCount } from '../terminal.ts'
import { diffText } from './diff.ts'

const SEVERITY_COLORS = { error: colors.red, warning: colors.yellow, info: colors.dim }

/** Formats a problem of a file as compilers do, so that editors and terminals turn the position into a link. */
export const problemText = (at: Diagnostic): string =>
  findingText(at, { severity: 'error', place: '(document)', ...(at.rule !== undefined && { rule: at.rule }) })

/** Formats a finding of the linter in the same way. */
export const issueText = ({ rule, severity, message }: Issue, at: Diagnostic): string =>
  findingText({ ...at, message }, { severity, rule, place: '(card)' })

type Finding = { severity: Severity; rule?: string; place: string }

const findingText = (
  { file, line, column, pointer, message }: Diagnostic,
  { severity, rule, place }: Finding,
): string =>
  [
    `${file}:${line}:${column}`,
    SEVERITY_COLORS[severity](severity),
    pointer || place,
    message,
    ...(rule === undefined ? [] : [colors.dim(`[${rule}]`)]),
  ].join(' ')

/** Removes repeated lines: two errors of one place may have the same text. */
export const distinct = (lines: readonly string[]): string[] => [...new Set(lines)]

/** Formats the difference between a file and the host. */
export const differenceText = ({ id, file, change }: Omit<AgentResult, 'action'>): string[] =>
  change === undefined ? [] : diffText(`${id} (${file})`, change)

/** What a text about a synchronisation shows: a line for each of `shown`, all warnings if `strict`, no hints if `quiet`. */
export type SyncTextOptions = { shown?: readonly AgentResult[]; strict?: boolean; quiet?: boolean }

/**
 * Formats a synchronisation: a line for each of `shown` with its problems below it, why it stopped, then a summary of all results.
 * By default, unchanged agents are only counted.
 */
export const syncText = (
  result: SyncResult,
  { shown, strict = false, quiet = false }: SyncTextOptions = {},
): string[] => {
  const lines = (shown ?? result.results.filter(isNoteworthy)).filter(({ action }) => !NOT_DONE.includes(action))
  return [
    ...agentTexts(lines, strict),
    ...stopText(result),
    ...(quiet ? [] : infoCountText(lines)),
    summaryText(result),
  ]
}

/** What remains when a synchronisation stops. */
const NOT_DONE: readonly Action[] = ['not compared', 'not pushed', 'not deleted']

/** How many agents get a line each although the reason is the same. Of more, as many are named in one line. */
const MAX_ALIKE = 3

/** Formats a line for each result with its problems, but only one for many agents with the same action and reason. */
const agentTexts = (results: readonly AgentResult[], strict: boolean): string[] => {
  const groups = new Map<string, { first: AgentResult; reason: string; all: AgentResult[] }>()
  for (const [index, result] of results.entries()) {
    const reason = reasonOf(result, strict)
    const key = reason === undefined ? String(index) : `${result.action}: ${reason}`
    const group = groups.get(key) ?? { first: result, reason: reason ?? '', all: [] }
    groups.set(key, group)
    group.all.push(result)
  }
  return [...groups.values()].flatMap(({ first, reason, all }) => {
    if (all.length <= MAX_ALIKE) return all.flatMap(result => agentText(result, strict))
    const names = all.map(({ id = '' }) => id)
    return [
      `${actionText(first.action)} ${formatCount(all.length, 'agent')}: ${namesText(names, MAX_ALIKE)} · ${reason}`,
    ]
  })
}

/** Returns why an agent has its action, with `…` for its id, unless there is more to report about it. */
const reasonOf = (result: AgentResult, strict: boolean): string | undefined => {
  const { id, detail } = result
  if (id === undefined || detail === undefined || detailsOf(result, strict).length > 0) return undefined
  const reason = detail.replace(new RegExp(`(?<![\\w-])${id}(?![\\w-])`, 'g'), '…')
  return remarksText({ ...result, file: id, detail: reason })
}

/** Formats the result for one agent with its problems, and its warnings if `strict`. */
export const agentText = (result: AgentResult, strict = false): string[] => {
  const { id, file, action } = result
  const name = colors.bold(id ?? file ?? '')
  const line = `${actionText(action)} ${name} ${remarksText(result)}`.trimEnd()
  return [line, ...detailsOf(result, strict).map(text => `    ${text}`)]
}

const actionText = (action: Action): string => {
  const { mark, color } = styleOf(action)
  return colors[color](`${mark} ${action.padEnd(9)}`)
}

/** Returns the lines below the result for an agent. */
const detailsOf = (result: AgentResult, strict: boolean): string[] => {
  const { id, action, problems = [], change, notes = [] } = result
  return [
    ...distinct([...problems.map(problemText), ...notes, ...importantIssues(result, strict), ...changeTexts(result)]),
    ...(action === 'changed meanwhile' && change ? diffText(`${id} (on the host)`, change) : []),
  ]
}

/** How many changes for clients are listed. */
const MAX_CHANGES = 10

/** Formats what changed for clients, unless no call depends on it. */
const changeTexts = ({ changes = [] }: AgentResult): string[] => {
  const important = changes.filter(change => change.class !== 'cosmetic')
  const more = important.length - MAX_CHANGES
  return [
    ...important.slice(0, MAX_CHANGES).map(change => `${change.class}: ${change.message}`),
    ...(more > 0 ? [`and ${more} more, shown by npx sync-card diff ID SEQ`] : []),
  ]
}

const remarksText = (result: AgentResult): string =>
  remarksOf(result)
    .filter(text => typeof text === 'string' && text !== '')
    .join(' · ')

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

/** Returns what breaks or misleads clients; for an agent that is not pushed, only what breaks them unless warnings count. */
const importantIssues = ({ action, issues = [] }: AgentResult, strict: boolean): string[] =>
  issues
    .filter(
      ({ issue: { severity, rule } }) =>
        severity === 'error' || callRules.has(rule) || (severity === 'warning' && (strict || isPushed(action))),
    )
    .map(({ issue, at }) => issueText(issue, at))

/** Whether an action pushes the card, or would. */
const isPushed = (action: Action): boolean => action !== 'unchanged' && styleOf(action).exit === ExitCode.ok

/** What shows the infos that are only counted. */
export const INFOS_HINT = 'shown by npx sync-card lint FILE'

const infoCountText = (results: readonly AgentResult[]): string[] => {
  const count = results
    .filter(({ action }) => isPushed(action))
    .flatMap(({ issues = [] }) => issues)
    .filter(({ issue }) => issue.severity === 'info').length
  return count === 0 ? [] : [colors.dim(`${formatCount(count, 'info')}, ${INFOS_HINT}`)]
}

/** Names what remains, unless nothing was done: what was done has a line each, and the summary counts both. */
const stopText = ({ results, failure, interrupted }: SyncResult): string[] => {
  const reasons = [...(interrupted ? ['interrupted'] : []), ...(failure === undefined ? [] : [failure])]
  if (reasons.length === 0) return []
  const remaining = results.every(({ action }) => NOT_DONE.includes(action)) ? [] : NOT_DONE
  return [
    colors.red(`Stopped: ${reasons.join('; ')}.`),
    ...remaining.flatMap(action => {
      const names = results.filter(each => each.action === action).map(({ id, file }) => id ?? file ?? '')
      return names.length === 0 ? [] : [`  ${action}: ${namesText(names, MAX_NAMES)}`]
    }),
  ]
}

/** How many agents are named where a synchronisation stopped. */
const MAX_NAMES = 20

const namesText = (names: readonly string[], max: number): string => {
  const more = names.length - max
  return `${names.slice(0, max).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const summaryText = ({ url, results }: SyncResult): string => {
  const uncallable = results.filter(isUncallable).length
  return [
    colors.dim(`${url}: ${countsText(results) || 'nothing to do'}`),
    ...(uncallable > 0 ? [colors.yellow(`${uncallable} of which cannot be called yet (see above)`)] : []),
  ].join(', ')
}

/** Formats how many results have each action; empty for none. */
export const countsText = (results: readonly AgentResult[]): string =>
  countActions(results)
    .map(({ action, count }) => `${count} ${action}`)
    .join(', ')
