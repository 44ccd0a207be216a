import { createPatch, listChanges, memberOf } from '../../src/card/diff/index.ts'
import { hideSecret } from '../../src/card/lint/index.ts'
import type { Issue, PatchOperation, Severity } from '../../src/card/model/index.ts'
import { formatPointer, isJsonObject, type Json, type JsonObject, mapMembers } from '../../src/json/index.ts'
import type { ResponseOf } from '../client/index.ts'
import { ExitCode } from '../errors.ts'
import type { Diagnostic } from '../manifests/index.ts'
import { colors, formatCount, plain } from '../terminal.ts'
import { ACTIONS, type AgentResult, callRules, isNoteworthy, isUncallable, type SyncResult } from './result.ts'

type CardChange = ResponseOf<'GET /agents/:id/revisions/:seq/diff'>['manifest'][number]

type Change = { before: JsonObject; after: JsonObject }

/** Returns what differs between two manifests, for people: added lines begin with `+`, removed ones with `-`. */
const diffLines = ({ before, after }: Change): string[] => {
  const lines = listChanges(hideManifestSecrets(before), hideManifestSecrets(after)).map(changeText)
  return lines.length > 0 ? lines : ['only the order of items, or what looks like a secret']
}

const MARKS: Record<string, string> = { add: colors.green('+'), remove: colors.red('-'), replace: colors.yellow('~') }

/** Formats a change as a line for people. */
export const changeText = (change: CardChange): string => {
  const { op, pointer, omitted = [], count } = change
  if (op === 'more') return `… and ${count} more`
  const values = (['before', 'after'] as const).flatMap(side =>
    omitted.includes(side) ? ['(not shown)'] : change[side] === undefined ? [] : [JSON.stringify(change[side])],
  )
  return `${MARKS[op] ?? op} ${pointer} ${values.join(' → ')}`
}

/** Returns what differs between two manifests as a JSON Patch (RFC 6902), for programs. */
export const toJsonPatch = ({ before, after }: Change): PatchOperation[] =>
  createPatch(hideManifestSecrets(before), hideManifestSecrets(after))

/** Hides what looks like a secret in the values of a change. */
export const hideSecretsInChange = ({ before, after, ...change }: CardChange): CardChange => ({
  ...change,
  ...(before !== undefined && { before: hideSecrets(before, change.pointer) }),
  ...(after !== undefined && { after: hideSecrets(after, change.pointer) }),
})

/** Hides what looks like a secret: a host may have stored one before it refused them. */
const hideManifestSecrets = (manifest: JsonObject): JsonObject => {
  const allowed: readonly Json[] = Array.isArray(manifest.allowSecrets) ? manifest.allowSecrets : []
  return mapMembers(manifest, (value, name) => hideSecrets(value, formatPointer(name), allowed))
}

/** Hides secrets in a value. `pointer` is where it is in a document, and `allowed` are places to keep. */
const hideSecrets = (value: Json, pointer: string, allowed: readonly Json[] = []): Json => {
  if (typeof value === 'string') return allowed.includes(pointer) ? value : hideSecret(value, memberOf(pointer))
  if (Array.isArray(value))
    return value.map((item, index) => hideSecrets(item, pointer + formatPointer(index), allowed))
  if (!isJsonObject(value)) return value
  return mapMembers(value, (item, name) => hideSecrets(item, pointer + formatPointer(name), allowed))
}

/** Formats a problem of a file as compilers do, so that editors and terminals turn the position into a link. */
export const problemText = (at: Diagnostic): string =>
  findingText({ ...at, severity: 'error', pointer: at.pointer || '(document)' })

/** Formats a finding of the linter in the same way. */
export const issueText = (issue: Issue, at: Diagnostic): string =>
  findingText({ ...at, ...issue, pointer: at.pointer || '(card)' })

const findingText = (finding: Diagnostic & { severity: Severity }): string => {
  const { file, line, column, severity, pointer, message, rule } = finding
  const color = severity === 'error' ? colors.red : severity === 'warning' ? colors.yellow : colors.dim
  const text = `${file}:${line}:${column} ${color(severity)} ${pointer} ${message}`
  return rule === undefined ? text : `${text} ${colors.dim(`[${rule}]`)}`
}

/** Removes repeated lines: two errors of one place may have the same text. */
export const distinct = (lines: readonly string[]): string[] => [...new Set(lines)]

/** Formats the difference between a file, or another `place`, and the host. */
export const differenceText = ({ id, file, change }: Omit<AgentResult, 'action'>, place = file): string[] =>
  change === undefined ? [] : [colors.bold(`${id} (${place})`), ...diffLines(change).map(line => `  ${line}`)]

/**
 * Formats a synchronization: a line for each of `shown` with its problems below it, why it stopped, then a summary of
 * all results. By default, unchanged agents are only counted. `strict` adds all warnings; `quiet` leaves out hints.
 */
export const syncText = (
  result: SyncResult,
  { shown, strict = false, quiet = false }: { shown?: readonly AgentResult[]; strict?: boolean; quiet?: boolean } = {},
): string[] => {
  const { url, results } = result
  const lines = (shown ?? results.filter(isNoteworthy)).filter(({ action }) => !NOT_DONE.includes(action))
  const issues = lines.filter(isPushed).flatMap(each => each.issues ?? [])
  const infos = issues.filter(({ issue }) => issue.severity === 'info')
  const uncallable = results.filter(isUncallable).length
  const hint = uncallable > 0 ? `, ${colors.yellow(`${uncallable} of which cannot be called yet (see above)`)}` : ''
  return [
    ...agentTexts(lines, strict),
    ...stopText(result),
    ...(quiet || infos.length === 0 ? [] : [colors.dim(`${formatCount(infos.length, 'info')}, ${INFOS_HINT}`)]),
    colors.dim(`${url}: ${countsText(results) || 'nothing to do'}`) + hint,
  ]
}

const NOT_DONE: readonly string[] = ['not compared', 'not pushed', 'not deleted']

/** More agents than this with the same reason share a line, which names as many. */
const MAX_ALIKE = 3

/** Formats a line for each result with its problems, but one for many agents with the same action and reason. */
const agentTexts = (results: readonly AgentResult[], strict: boolean): string[] => {
  const groups = new Map<string, AgentResult[]>()
  for (const [index, result] of results.entries()) {
    const reason = reasonOf(result, strict)
    const key = reason === undefined ? String(index) : `${result.action}: ${reason}`
    const group = groups.get(key)
    if (group) group.push(result)
    else groups.set(key, [result])
  }
  return [...groups.values()].flatMap(group => {
    const [first] = group
    if (first === undefined || group.length <= MAX_ALIKE) return group.flatMap(result => agentText(result, strict))
    const names = namesText(group, MAX_ALIKE)
    return [`${actionText(first)} ${formatCount(group.length, 'agent')}: ${names} · ${reasonOf(first, strict)}`]
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
export const agentText = (result: AgentResult, strict = false): string[] => [
  `${actionText(result)} ${colors.bold(displayName(result))} ${remarksText(result)}`.trimEnd(),
  ...detailsOf(result, strict).map(text => `    ${text}`),
]

const displayName = ({ id, file }: AgentResult): string => id ?? file ?? ''

const actionText = ({ action }: AgentResult): string =>
  colors[ACTIONS[action].color](`${ACTIONS[action].mark} ${action.padEnd(9)}`)

const detailsOf = (result: AgentResult, strict: boolean): string[] => {
  const { action, problems = [], notes = [] } = result
  return [
    ...distinct([...problems.map(problemText), ...notes, ...importantIssues(result, strict), ...changeTexts(result)]),
    ...(action === 'changed meanwhile' ? differenceText(result, 'on the host') : []),
  ]
}

const MAX_CHANGES = 10

const changeTexts = ({ changes = [] }: AgentResult): string[] => {
  const texts = changes.filter(each => each.class !== 'cosmetic').map(each => `${each.class}: ${each.message}`)
  const more = texts.length - MAX_CHANGES
  if (more > 0) texts.splice(MAX_CHANGES, more, `and ${more} more, shown by npx sync-card diff ID SEQ`)
  return texts
}

const remarksText = ({ id, file, detail, root, published, unexposed, live, source }: AgentResult): string =>
  [
    file !== undefined && id !== undefined && file !== id && `(${file})`,
    root && 'the root agent',
    unexposed && 'internal: it does not have `exposed: true`',
    published === false && live !== true && colors.yellow('stored, but not at the edge yet; the host keeps retrying'),
    live === true && 'live',
    live === false && colors.yellow('stored; the edge still serves the previous card'),
    source !== undefined && colors.yellow(source),
    detail,
  ]
    .filter(Boolean)
    .join(' · ')

/** Returns what breaks or misleads clients; for an agent that is not pushed, warnings only if `strict`. */
const importantIssues = (result: AgentResult, strict: boolean): string[] => {
  const { issues = [] } = result
  const shown: readonly Severity[] = strict || isPushed(result) ? ['error', 'warning'] : ['error']
  const important = issues.filter(({ issue }) => shown.includes(issue.severity) || callRules.has(issue.rule))
  return important.map(({ issue, at }) => issueText(issue, at))
}

const isPushed = ({ action }: AgentResult): boolean => action !== 'unchanged' && ACTIONS[action].exit === ExitCode.ok

/** Names the command that shows the infos that are only counted. */
export const INFOS_HINT = 'shown by npx sync-card lint FILE'

/** Names what remains, unless nothing was done: what was done has a line each, and the summary counts both. */
const stopText = ({ results, failure, interrupted }: SyncResult): string[] => {
  const reasons = [interrupted ? 'interrupted' : [], failure ?? []].flat()
  if (reasons.length === 0) return []
  const remaining = results.every(({ action }) => NOT_DONE.includes(action)) ? [] : NOT_DONE
  return [
    colors.red(`Stopped: ${reasons.join('; ')}.`),
    ...remaining.flatMap(action => {
      const group = results.filter(each => each.action === action)
      return group.length === 0 ? [] : [`  ${action}: ${namesText(group, MAX_NAMES)}`]
    }),
  ]
}

const MAX_NAMES = 20

const namesText = (results: readonly AgentResult[], max: number): string => {
  const more = results.length - max
  return `${results.slice(0, max).map(displayName).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Formats how many results have each action; empty for none. */
export const countsText = (results: readonly AgentResult[]): string =>
  Object.keys(ACTIONS)
    .map(name => `${results.filter(({ action }) => action === name).length} ${name}`)
    .filter(count => !count.startsWith('0 '))
    .join(', ')

/** Formats a synchronization as one JSON object. `patch` leads from the host's manifest to the file's. */
export const syncJson = ({ url, results, skipped, failure, interrupted }: SyncResult, exitCode: number): string => {
  const agents = results.map(({ change, issues, ...agent }) => ({
    ...agent,
    issues: issues?.map(({ issue, at: { file, line, column } }) => ({ ...issue, file, line, column })),
    patch: change && toJsonPatch(change),
  }))
  const reported = skipped.length > 0 ? skipped : undefined
  return JSON.stringify({ url, exitCode, interrupted, failure, skipped: reported, agents })
}

/** GitHub rejects comments of more than 65,536 characters. The rest is for what the action adds. */
const MAX_COMMENT_LENGTH = 60_000
const MAX_ROWS = 100
const MAX_NAME_LENGTH = 200

/** Actions as a comment on a pull request shows them: what is to be done once it is merged. */
const VERBS: Readonly<Record<string, string>> = { 'to create': 'create', 'to update': 'update', 'to delete': 'delete' }

/** Formats a comparison for a comment on a pull request. Its texts stay text, whatever they contain. */
export const diffMarkdown = ({ url, results, failure, interrupted }: SyncResult): string => {
  const shown = results.filter(isNoteworthy)
  const rows = shown
    .slice(0, MAX_ROWS)
    .map(({ action, id, file }) => `| ${VERBS[action] ?? action} | ${codeSpan(id)} | ${codeSpan(file)} |`)
  if (shown.length > MAX_ROWS) rows.push(`| | and ${shown.length - MAX_ROWS} more | |`)
  const stopped = interrupted ? 'interrupted' : failure
  const head = [
    `### Agent Cards at ${codeSpan(url)}`,
    ...(stopped === undefined ? [] : [`**Not everything was compared**: ${codeSpan(stopped)}`]),
    ...(shown.length === 0 ? [] : [['| | agent | file |', '|---|---|---|', ...rows].join('\n')]),
  ].join('\n\n')
  const summary = results.length === 0 ? 'No agent was compared.' : `${countsText(results)}.`
  return [head, ...foldedSections(shown, MAX_COMMENT_LENGTH - head.length), summary].join('\n\n')
}

/** Keeps the characters of names and paths. Any other could end a code span or a cell, or hide what is written. */
const codeSpan = (text = ''): string =>
  text === '' ? '' : `\`${abbreviate(text).replace(/[^\p{L}\p{N} ._~:/\\#@+,=()[\]…-]/gu, '\ufffd')}\``

const abbreviate = (text: string): string =>
  text.length > MAX_NAME_LENGTH ? `${text.slice(0, MAX_NAME_LENGTH - 1)}…` : text

const foldedSections = (results: readonly AgentResult[], maxLength: number): string[] => {
  const sections = results.flatMap(foldedSection)
  let remaining = maxLength
  const fitting = sections.filter(({ length }) => {
    const fits = length <= remaining
    if (fits) remaining -= length
    return fits
  })
  const omitted = sections.length - fitting.length
  return omitted === 0 ? fitting : [...fitting, `${formatCount(omitted, 'more difference')} too long for a comment.`]
}

const foldedSection = ({ id, file, detail, change, problems = [] }: AgentResult): string[] => {
  const lines = [detail ?? [], distinct(problems.map(problemText)), change ? diffLines(change) : []].flat()
  if (lines.length === 0) return []
  const text = lines.map(plain).join('\n')
  // With more backticks than the text has in a row, none of its lines ends the block.
  const fence = '`'.repeat(Math.max(2, ...(text.match(/`+/g) ?? []).map(run => run.length)) + 1)
  const name = abbreviate(id ?? file ?? '').replace(/[^\p{L}\p{N} ._/#…-]/gu, '\ufffd')
  return [`<details><summary><code>${name}</code></summary>\n\n${fence}diff\n${text}\n${fence}\n\n</details>`]
}
