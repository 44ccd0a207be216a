import { type Action, type AgentResult, isNoteworthy, type SyncResult } from '../sync/index.ts'
import { formatCount, plain } from '../terminal.ts'
import { diffLines } from './manifest-diff.ts'
import { countsText, distinct, problemText } from './sync-report.ts'

/** GitHub rejects comments of more than 65,536 characters. The rest is for what the action adds. */
const MAX_LENGTH = 60_000
const MAX_ROWS = 100
const MAX_NAME_LENGTH = 200

/** Actions as a comment on a pull request shows them: what is to be done once it is merged. */
const VERBS: Partial<Record<Action, string>> = { 'to create': 'create', 'to update': 'update', 'to delete': 'delete' }

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
  return [head, ...details(shown, MAX_LENGTH - head.length), summary].join('\n\n')
}

/** Keeps the characters of names and paths. Any other could end a code span or a cell, or hide what is written. */
const codeSpan = (text = ''): string =>
  text === '' ? '' : `\`${abbreviate(text).replace(/[^\p{L}\p{N} ._~:/\\#@+,=()[\]…-]/gu, '\ufffd')}\``

const abbreviate = (text: string): string =>
  text.length > MAX_NAME_LENGTH ? `${text.slice(0, MAX_NAME_LENGTH - 1)}…` : text

const details = (results: readonly AgentResult[], maxLength: number): string[] => {
  const sections = results.flatMap(detailsOf)
  let remaining = maxLength
  const fitting = sections.filter(({ length }) => {
    const fits = length <= remaining
    if (fits) remaining -= length
    return fits
  })
  const omitted = sections.length - fitting.length
  return omitted === 0 ? fitting : [...fitting, `${formatCount(omitted, 'more difference')} too long for a comment.`]
}

const detailsOf = ({ id, file, detail, change, problems = [] }: AgentResult): string[] => {
  const lines = [detail ?? [], distinct(problems.map(problemText)), change ? diffLines(change) : []].flat()
  if (lines.length === 0) return []
  const text = lines.map(plain).join('\n')
  // With more backticks than the text has in a row, none of its lines ends the block.
  const fence = '`'.repeat(Math.max(2, ...(text.match(/`+/g) ?? []).map(run => run.length)) + 1)
  const name = abbreviate(id ?? file ?? '').replace(/[^\p{L}\p{N} ._/#…-]/gu, '\ufffd')
  const title = `<summary><code>${name}</code></summary>`
  return [`<details>${title}\n\n${fence}diff\n${text}\n${fence}\n\n</details>`]
}
