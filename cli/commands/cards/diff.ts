import type { Context } from '../../context.ts'
import {
  type AddCommand,
  addConnectionOptions,
  addFileOptions,
  addOnlyOption,
  choiceOption,
  FILES_HELP,
  type FileFlags,
  type HostFlags,
  interruptSignal,
  rejectPrunedFiles,
  resolveWithWarning,
} from '../../options.ts'
import {
  countsText,
  differenceText,
  diffLines,
  distinct,
  problemText,
  syncJson,
  syncText,
} from '../../reporters/index.ts'
import {
  type Action,
  type AgentResult,
  exitCodeOf,
  isNoteworthy,
  type SyncResult,
  syncCards,
} from '../../sync/index.ts'
import { formatCount, plain } from '../../terminal.ts'
import { diffRevisions, parseRevisions } from '../host/index.ts'

const FORMATS = ['text', 'json', 'markdown'] as const

type Flags = HostFlags & FileFlags & { format: (typeof FORMATS)[number]; only?: string[]; prune?: true }

/** Adds `diff`, which compares files with the host, or revisions of an agent, for people. */
export const addDiff: AddCommand = (program, context, exit) => {
  const command = program.command('diff')
  const formatHelp = 'the format of the report; markdown is for a comment on a pull request'
  addOnlyOption(addFileOptions(addConnectionOptions(command, 'write')))
    .description('show what differs between the files and the host, or between revisions; exit 1 if anything does')
    .argument('[files...]', `${FILES_HELP}, default: the folder cards/; or an agent and one or two of its revisions`)
    .option('--prune', 'also agents of the same set that no file describes')
    .addOption(choiceOption('--format <format>', formatHelp, FORMATS).default('text'))
    .option('--json', 'short for --format json')
    .action(async (files: string[], flags: Flags) => {
      const revisions = parseRevisions(files)
      exit(await (revisions ? diffRevisions(revisions, flags, context) : diff(files, flags, context)))
    })
}

const diff = async (files: readonly string[], flags: Flags, context: Context): Promise<number> => {
  const { only, prune, allowSecret, json, format } = flags
  const { terminal, cwd } = context
  if (prune) rejectPrunedFiles(files, cwd)
  const host = resolveWithWarning(flags, context)
  const options = { dryRun: true, prune, only, allowSecrets: allowSecret }
  const found = await syncCards(files, host, { ...options, signal: interruptSignal(context) }, context)
  // Neither findings of the linter nor the state of remote cards is a difference.
  const result = { ...found, results: found.results.map(({ issues: _, source: __, ...rest }) => rest) }
  const exitCode = exitCodeOf(result, { differences: true })
  if (json || format === 'json') terminal.out(syncJson(result, exitCode))
  else if (format === 'markdown') terminal.out(diffMarkdown(result))
  else terminal.report([...result.results.flatMap(each => differenceText(each)), ...syncText(result)])
  return exitCode
}

/** GitHub rejects comments of more than 65,536 characters. The rest is for what the action adds. */
const MAX_LENGTH = 60_000
const MAX_ROWS = 100
const MAX_NAME_LENGTH = 200

/** Actions as a comment on a pull request shows them: what is to be done once it is merged. */
const VERBS: Partial<Record<Action, string>> = { 'to create': 'create', 'to update': 'update', 'to delete': 'delete' }

/** Formats a comparison for a comment on a pull request. Its texts stay text, whatever they contain. */
const diffMarkdown = ({ url, results, failure, interrupted }: SyncResult): string => {
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
