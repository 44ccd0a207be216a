import { type Action, type AgentResult, isNoteworthy, type SyncResult } from '../sync/index.ts'
import { formatCount, plain } from '../terminal.ts'
import { diffLines } from './diff.ts'
import { countsText, distinct, problemText } from './text.ts'

/** GitHub rejects comments of more than 65,536 characters. The rest is for what the action adds. */
const MAX_LENGTH = 60_000
const MAX_ROWS = 100
const MAX_NAME_LENGTH = 200

/** Actions as a comment on a pull request shows them: what is to be done once it is merged. */
const VERBS: Partial<Record<Action, string>> = { 'to create': 'create', 'to update': 'update', 'to delete': 'delete' }

/**
 * Formats a comparison as Markdown for a comment on a pull request. Names and texts of files and of the host stay text: in code
 * spans and fenced blocks, whatever they contain.
 */
export const diffMarkdown = (result: SyncResult): string => {
  const { url, results, failure, interrupted } = result
  const shown = results.filter(isNoteworthy)
  const stopped = interrupted ? 'interrupted' : failure
  const head = [
    `### Agent Cards at ${codeSpan(url)}`,
    ...(stopped === undefined ? [] : [`**Not everything was compared**: ${codeSpan(stopped)}`]),
    ...(shown.length === 0 ? [] : [table(shown)]),
  ].join('\n\n')
  return [head, ...details(shown, MAX_LENGTH - head.length), summary(result)].join('\n\n')
}

const table = (results: readonly AgentResult[]): string =>
  [
    '| | agent | file |',
    '|---|---|---|',
    ...results
      .slice(0, MAX_ROWS)
      .map(({ action, id, file }) => `| ${VERBS[action] ?? action} | ${codeSpan(id)} | ${codeSpan(file)} |`),
    ...(results.length > MAX_ROWS ? [`| | and ${results.length - MAX_ROWS} more | |`] : []),
  ].join('\n')

/** Characters of names and paths. Any other could end a code span or a cell, or hide what is written. */
const codeSpan = (text: string | undefined): string =>
  text === undefined || text === ''
    ? ''
    : `\`${abbreviate(text).replace(/[^\p{L}\p{N} ._~:/\\#@+,=()[\]…-]/gu, '\ufffd')}\``

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

const detailsOf = (result: AgentResult): string[] => {
  const { id, file, detail, change, problems = [] } = result
  const lines = [
    ...(detail === undefined ? [] : [detail]),
    ...distinct(problems.map(problemText)),
    ...(change ? diffLines(change) : []),
  ].map(plain)
  if (lines.length === 0) return []
  return [`<details><summary>${codeTag(id ?? file ?? '')}</summary>\n\n${fenced(lines.join('\n'))}\n\n</details>`]
}

const codeTag = (text: string): string => `<code>${abbreviate(text).replace(/[^\p{L}\p{N} ._/#…-]/gu, '\ufffd')}</code>`

/** Fences a text with more backticks than it has in a row, so that none of its lines ends the block. */
const fenced = (text: string): string => {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(run => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}diff\n${text}\n${fence}`
}

const summary = ({ results }: SyncResult): string =>
  results.length === 0 ? 'No agent was compared.' : `${countsText(results)}.`
