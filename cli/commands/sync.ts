import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { Context } from '../config.ts'
import { EXIT_CODE_HELP, UsageError } from '../exit-codes.ts'
import { isFolder } from '../manifests/index.ts'
import { differenceText, syncJson, syncText } from '../reporters/index.ts'
import {
  type AgentResult,
  ChangeTracker,
  exitCodeOf,
  type SyncOptions,
  type SyncResult,
  syncCards,
  watchCards,
} from '../sync/index.ts'
import { withoutReports } from '../terminal.ts'
import { addConnectionOptions, DEFAULT_RETRIES, type HostFlags, resolveSafely } from './host-options.ts'

type Flags = HostFlags & {
  dryRun?: true
  check?: true
  prune?: true
  yes?: true
  force?: true
  refresh?: true
  watch?: true
  wait?: number | string | true
  retries: number
}

/** Default of `--wait`: KV takes up to a minute to reach every location. */
const DEFAULT_WAIT_SECONDS = 90

/** Adds the synchronisation, which runs if no subcommand is named. */
export const addSync = (program: Command, context: Context, exit: (code: number) => void): void => {
  addConnectionOptions(program.argument('[files...]', 'files or folders; default: the folder cards/'), 'write')
    .option('--dry-run', 'show what would be done, and do nothing')
    .option('--check', 'for CI: change nothing; exit 1 if something differs or lint finds errors')
    .option('--prune', 'delete from the host what no file describes; asks first')
    .option('--yes', 'do not ask')
    .option('--force', 'overwrite concurrent changes of somebody else')
    .option('--refresh', 'also send what is unchanged, after the host was upgraded or moved')
    .option('--watch', 'keep running, push what changes, and report only that')
    .option(
      '--wait [seconds]',
      `wait until the edge serves what was pushed (default: at most ${DEFAULT_WAIT_SECONDS} seconds)`,
      parseWait,
    )
    .option('--retries <count>', 'how often a request is retried', parseCount, DEFAULT_RETRIES)
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', EXIT_CODE_HELP)
    .action((named: string[], given: Flags) => {
      const { files, flags } = separateWait(named, given)
      rejectUnknownCommand(files, program, context.cwd)
      validateFlags(files, flags, context)
      return synchronise(files, flags, context, exit)
    })
}

const parseCount = (text: string): number => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

/** Keeps what does not look like a number: in `--wait cards/a.yaml`, it is a file. */
const parseWait = (text: string): number | string => (/^[\d.,]+$/.test(text) ? parseCount(text) : text)

const separateWait = (named: readonly string[], flags: Flags): { files: string[]; flags: Flags } =>
  typeof flags.wait === 'string'
    ? { files: [flags.wait, ...named], flags: { ...flags, wait: true } }
    : { files: [...named], flags }

/** A single word may be a mistyped command; anything that looks like a path is a file. */
const rejectUnknownCommand = (files: readonly string[], program: Command, cwd: string): void => {
  const word = files.find(file => /^[\w-]+$/.test(file) && !existsSync(resolve(cwd, file)))
  if (word === undefined) return
  const names = program
    .createHelp()
    .visibleCommands(program)
    .map(command => command.name())
  const commands = new Intl.ListFormat('en-GB').format(names)
  throw new UsageError(`"${word}" is neither a file nor a command; the commands are ${commands}.`)
}

const validateFlags = (files: readonly string[], flags: Flags, { cwd, terminal }: Context): void => {
  const { prune, check, watch, yes, dryRun } = flags
  if (watch && check) throw new UsageError('--watch and --check exclude each other.')
  if (!prune) return
  if (!files.every(file => isFolder(file, cwd)))
    throw new UsageError('--prune takes folders only: with single files, every other agent would be deleted.')
  if (!yes && !check && !dryRun && (watch || !terminal.canAsk))
    throw new UsageError('--prune cannot ask here: add --yes to delete without being asked.')
}

const synchronise = async (
  files: readonly string[],
  flags: Flags,
  outer: Context,
  exit: (code: number) => void,
): Promise<void> => {
  const { json, check } = flags
  const terminal = json ? withoutReports(outer.terminal) : outer.terminal
  const context = { ...outer, terminal }
  const settings = resolveSafely(flags, context)
  const sync = () => syncCards(files, settings, toOptions(flags, context), context)
  const finish = (result: SyncResult, shown: readonly AgentResult[] = result.results): void => {
    if (shown.length > 0 || result.failure !== undefined) terminal.report(syncText(result, shown))
    if (json) terminal.out(syncJson(result, check === true))
    exit(exitCodeOf(result, check === true))
  }
  if (flags.watch) await watch(files, sync, finish, context)
  else finish(await sync())
}

const toOptions = (flags: Flags, { terminal }: Context): SyncOptions => {
  const { dryRun, check, prune, force, refresh, retries, wait, yes } = flags
  return {
    dryRun: dryRun === true,
    check: check === true,
    prune: prune === true,
    force: force === true,
    refresh: refresh === true,
    retries,
    ...(wait !== undefined && { wait: typeof wait === 'number' ? wait : DEFAULT_WAIT_SECONDS }),
    confirm: yes ? async () => true : terminal.confirm,
    onDifference: result => terminal.report(differenceText(result)),
  }
}

const watch = async (
  files: readonly string[],
  sync: () => Promise<SyncResult>,
  finish: (result: SyncResult, shown: readonly AgentResult[]) => void,
  { cwd, terminal, onInterrupt }: Context,
): Promise<void> => {
  const interrupted = new AbortController()
  onInterrupt(() => interrupted.abort())
  const tracker = new ChangeTracker()
  const reportRemoved = (results: readonly AgentResult[]): void => {
    for (const { file, id } of tracker.removedFiles(results))
      terminal.info(`${file} is gone; ${id} is still registered; --prune removes it.`)
  }
  let isFirst = true
  const syncOnce = async (): Promise<void> => {
    try {
      const result = await sync()
      finish(result, tracker.newResults(result))
      reportRemoved(result.results)
    } catch (error) {
      // A folder may be empty for a moment.
      if (!(error instanceof UsageError)) throw error
      terminal.info(error.message)
      reportRemoved([])
    }
    if (isFirst) terminal.info('Watching for changes; Ctrl-C stops.')
    isFirst = false
  }
  await watchCards({ named: files, cwd }, syncOnce, interrupted.signal)
}
