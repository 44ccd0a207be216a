import { type Context, interruptSignal } from '../../context.ts'
import {
  type AddCommand,
  addConnectionOptions,
  addFileOptions,
  addOnlyOption,
  choiceOption,
  type FileFlags,
  type HostFlags,
  rejectPrunedFiles,
  resolveWithWarning,
} from '../../options.ts'
import { differenceText, diffMarkdown, exitCodeOf, syncCards, syncJson, syncText } from '../../sync/index.ts'
import { diffRevisions, parseRevisions } from '../host/index.ts'

const FORMATS = ['text', 'json', 'markdown'] as const

type Flags = HostFlags & FileFlags & { format: (typeof FORMATS)[number]; only?: string[]; prune?: true }

/** Adds `diff`, which compares files with the host, or revisions of an agent, for people. */
export const addDiff: AddCommand = (program, context, exit) => {
  const formatHelp = 'the format of the report; markdown is for a comment on a pull request'
  const filesHelp = ', default: the folder cards/; or an agent and one or two of its revisions'
  addOnlyOption(addFileOptions(addConnectionOptions(program.command('diff'), 'write'), '[files...]', filesHelp))
    .description('show what differs between the files and the host, or between revisions; exit 1 if anything does')
    .option('--prune', 'also agents of the same set that no file describes')
    .addOption(choiceOption('--format <format>', formatHelp, FORMATS).default('text'))
    .option('--json', 'short for --format json')
    .action(async (files: string[], flags: Flags) => {
      const revisions = parseRevisions(files)
      exit(await (revisions ? diffRevisions(revisions, flags, context) : diff(files, flags, context)))
    })
}

const diff = async (files: readonly string[], flags: Flags, context: Context): Promise<number> => {
  if (flags.prune) rejectPrunedFiles(files, context.cwd)
  const host = resolveWithWarning(flags, context)
  const found = await syncCards(files, host, { ...flags, dryRun: true, signal: interruptSignal(context) }, context)
  // Neither findings of the linter nor the state of remote cards is a difference.
  const result = { ...found, results: found.results.map(({ issues: _, source: __, ...rest }) => rest) }
  const exitCode = exitCodeOf(result, { differences: true })
  if (flags.json || flags.format === 'json') context.terminal.out(syncJson(result, exitCode))
  else if (flags.format === 'markdown') context.terminal.out(diffMarkdown(result))
  else context.terminal.report([...result.results.flatMap(each => differenceText(each)), ...syncText(result)])
  return exitCode
}
