import type { Context } from '../../context.ts'
import {
  type AddCommand,
  addConnectionOptions,
  addFileOptions,
  addOnlyOption,
  choiceOption,
  DEFAULT_RETRIES,
  FILES_HELP,
  type FileFlags,
  type HostFlags,
  interruptSignal,
  rejectPrunedFiles,
  resolveWithWarning,
} from '../../options.ts'
import { differenceText, diffMarkdown, syncJson, syncText } from '../../reporters/index.ts'
import { exitCodeOf, type SyncResult, syncCards } from '../../sync/index.ts'
import { diffRevisions, parseRevisions } from '../host/index.ts'

type Format = 'text' | 'json' | 'markdown'

type Flags = HostFlags & FileFlags & { format: Format; only?: string[]; prune?: true }

/** Adds `diff`, which compares files with the host, or revisions of an agent, for people. */
export const addDiff: AddCommand = (program, context, exit) => {
  const command = program.command('diff')
  addOnlyOption(addFileOptions(addConnectionOptions(command, 'write')))
    .description('show what differs between the files and the host, or between revisions; exit 1 if anything does')
    .argument(
      '[files...]',
      `${FILES_HELP}, default: the folder cards/; or an agent and the number of a revision, or of two`,
    )
    .option('--prune', 'also agents of the same set that no file describes')
    .addOption(
      choiceOption('--format <format>', 'the format of the report; markdown is for a comment on a pull request', [
        'text',
        'json',
        'markdown',
      ] satisfies Format[]).default('text'),
    )
    .option('--json', 'short for --format json')
    .action(async (files: string[], flags: Flags) => {
      const revisions = parseRevisions(files)
      exit(await (revisions ? diffRevisions(revisions, flags, context) : diff(files, flags, context)))
    })
}

const diff = async (files: readonly string[], flags: Flags, context: Context): Promise<number> => {
  const { only, prune, allowSecret } = flags
  const { terminal, cwd } = context
  if (prune) rejectPrunedFiles(files, cwd)
  const host = resolveWithWarning(flags, context)
  const options = { dryRun: true, prune, only, allowSecrets: allowSecret, retries: DEFAULT_RETRIES }
  const signal = interruptSignal(context)
  const result = withoutFindings(await syncCards(files, host, { ...options, signal }, context))
  const exitCode = exitCodeOf(result, { differences: true })
  const format = flags.json ? 'json' : flags.format
  if (format === 'text') terminal.report(diffReport(result))
  else terminal.out(format === 'json' ? syncJson(result, exitCode) : diffMarkdown(result))
  return exitCode
}

/** Leaves out what is no difference: findings of the linter, and the state of remote cards. */
const withoutFindings = (result: SyncResult): SyncResult => ({
  ...result,
  results: result.results.map(({ issues: _, source: __, ...rest }) => rest),
})

const diffReport = (result: SyncResult): string[] => [...result.results.flatMap(differenceText), ...syncText(result)]
