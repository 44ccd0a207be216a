import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { DEFAULT_RETRIES } from '../../client/index.ts'
import type { Context } from '../../context.ts'
import { EXIT_CODE_HELP, ExitCode, UsageError } from '../../errors.ts'
import { CARDS_FOLDER, pathsToWatch } from '../../manifests/index.ts'
import {
  type AddCommand,
  addFileOptions,
  addHostOptions,
  addOnlyOption,
  type FileFlags,
  type HostFlags,
  parseNumber,
  rejectPrunedFiles,
  resolveWithWarning,
  STRICT_HELP,
  suggestCommand,
} from '../../options.ts'
import {
  type Action,
  type AgentResult,
  agentExitCode,
  differenceText,
  exitCodeOf,
  isNoteworthy,
  nameOf,
  type Strictness,
  type SyncOptions,
  type SyncResult,
  syncCards,
  syncJson,
  syncText,
} from '../../sync/index.ts'
import { withoutProgress, withoutReports } from '../../terminal.ts'

type Flags = HostFlags &
  FileFlags & {
    [Name in 'dryRun' | 'check' | 'prune' | 'yes' | 'force' | 'refresh' | 'watch' | 'quiet' | 'strict']?: true
  } & { only?: string[]; wait?: number | string | true; retries: number }

/** Default of `--wait`: KV takes up to a minute to reach every location. */
const DEFAULT_WAIT_SECONDS = 90

const FORCE_HELP = 'push anyway: over concurrent changes and agents of other sets, and despite lint errors'
const WAIT_HELP =
  'wait until the edge serves the public agents that were pushed ' +
  `(default: at most ${DEFAULT_WAIT_SECONDS} seconds)`

/** Adds the synchronization, which runs if no subcommand is named. */
export const addSync: AddCommand = (program, context, exit) => {
  addOnlyOption(addFileOptions(addHostOptions(program, 'write')))
    .option('--dry-run', 'show what would be done, and do nothing; exit 1 if something differs')
    .option('--check', 'for CI: like --dry-run, and exit 1 also for lint errors')
    .option('--strict', STRICT_HELP)
    .option('--prune', 'delete the agents of the same set that no file describes; asks first')
    .option('--yes', 'with --prune: do not ask, and delete more than 10 agents at once')
    .option('--force', FORCE_HELP)
    .option('--refresh', 'also send what is unchanged, after the host was upgraded or moved')
    .option('--watch', 'keep running, push what changes, and report only that')
    .option('--wait [seconds]', WAIT_HELP, text => (/^[\d.,]+$/.test(text) ? parseCount(text) : text))
    .option('--retries <count>', 'how often a request is retried', parseCount, DEFAULT_RETRIES)
    .option('--quiet', 'print only what makes the exit code nonzero')
    .addHelpText('after', EXIT_CODE_HELP)
    .action((named: string[], flags: Flags) => {
      // In `--wait cards/a.yaml`, the value is a file.
      const files = typeof flags.wait === 'string' ? [flags.wait, ...named] : named
      rejectUnknownCommand(files, program, context.cwd)
      validateFlags(files, flags, context)
      return synchronize(files, flags, context, exit)
    })
}

const parseCount = parseNumber(/^\d+$/, 'It must be a whole number.')

/** Rejects a mistyped command: a single word that is no file. Anything that looks like a path is a file. */
const rejectUnknownCommand = (files: readonly string[], program: Command, cwd: string): void => {
  const word = files.find(file => /^[\w-]+$/.test(file) && !existsSync(resolve(cwd, file)))
  if (word === undefined) return
  if (program.commands.some(command => command.name() === word))
    throw new UsageError(`"${word}" is a command: write it before the files, such as sync-card ${word} ${files[0]}.`)
  const folders = [CARDS_FOLDER].filter(folder => existsSync(resolve(cwd, folder)))
  throw new UsageError(`"${word}" is neither a file nor a command.${suggestCommand(word, program, folders)}`)
}

const validateFlags = (files: readonly string[], flags: Flags, { cwd, terminal }: Context): void => {
  const { prune, check, watch, yes, dryRun } = flags
  if (watch && check) throw new UsageError('--watch and --check exclude each other.')
  if (yes && !prune) throw new UsageError('--yes needs --prune: nothing else asks.')
  if (!prune) return
  rejectPrunedFiles(files, cwd)
  const when = watch ? 'under --watch' : 'without a terminal'
  if (!yes && !check && !dryRun && (watch || !terminal.canAsk))
    throw new UsageError(`--prune cannot ask ${when}: add --yes to delete without being asked.`)
}

const synchronize = async (files: readonly string[], flags: Flags, outer: Context, exit: (code: number) => void) => {
  const settings = resolveWithWarning(flags, outer)
  const interruption = new AbortController()
  let isRunning = false
  outer.onInterrupt(() => {
    interruption.abort()
    if (isRunning) outer.terminal.info('Stopping after the requests under way. Ctrl-C again stops at once.')
  })
  const reporting = flags.json ? withoutReports(outer.terminal) : outer.terminal
  const context = { ...outer, terminal: flags.quiet ? withoutProgress(reporting) : reporting }
  const { signal } = interruption
  const { dryRun, check, wait, yes, quiet } = flags
  const options: SyncOptions = {
    ...flags,
    signal,
    dryRun: dryRun ?? check,
    wait: wait === undefined || typeof wait === 'number' ? wait : DEFAULT_WAIT_SECONDS,
    ...(!yes && { confirm: context.terminal.confirm }),
    ...(!quiet && { onDifference: result => context.terminal.report(differenceText(result)) }),
  }
  const sync = async (changed: Partial<SyncOptions> = {}): Promise<SyncResult> => {
    isRunning = true
    const result = await syncCards(files, settings, { ...options, ...changed }, context).finally(() => {
      isRunning = false
    })
    exit(exitCodeOf(result, strictnessOf(flags)))
    return result
  }
  if (!flags.watch) return report(await sync(), flags, context)
  await watchCards(files, context, createRepeated(sync, flags, context), signal)
}

const strictnessOf = ({ check, dryRun, strict }: Flags): Strictness => ({
  differences: check === true || dryRun === true,
  lint: strict ? 'warning' : check ? 'error' : undefined,
})

/** Reports a synchronization. `news` are the results that were not reported before; by default, all are new. */
const report = (result: SyncResult, flags: Flags, { terminal }: Context, news?: readonly AgentResult[]): void => {
  const { quiet, json, strict } = flags
  const strictness = strictnessOf(flags)
  const isFailing = (each: AgentResult): boolean => agentExitCode(each, strictness) > ExitCode.ok
  const unreported = news ?? result.results.filter(each => isNoteworthy(each) || isFailing(each))
  const shown = quiet ? unreported.filter(isFailing) : unreported
  const isStopped = result.failure !== undefined || result.interrupted === true
  if (shown.length > 0 || isStopped || (news === undefined && !quiet))
    terminal.report(syncText(result, { shown, strict: strict === true, quiet: quiet === true }))
  if (json) terminal.out(syncJson(result, exitCodeOf(result, strictness)))
}

/** Returns what `--watch` repeats: a synchronization that reports only news. */
const createRepeated = (
  sync: (changed: Partial<SyncOptions>) => Promise<SyncResult>,
  flags: Flags,
  context: Context,
) => {
  const { terminal } = context
  const tracker = new ChangeTracker()
  const reportRemoved = (results: readonly AgentResult[]): void => {
    for (const { file, id } of tracker.removedFiles(results))
      terminal.info(`${file} is gone; ${id} is still registered; --prune removes it.`)
  }
  const notes = new Set<string>()
  const onNote = (note: string): void => {
    if (!notes.has(note)) terminal.info(note)
    notes.add(note)
  }
  return async (): Promise<void> => {
    try {
      const result = await sync({ onNote, isWatch: true })
      report(result, flags, context, tracker.newResults(result))
      reportRemoved(result.results)
    } catch (error) {
      // A folder may be empty for a moment.
      if (!(error instanceof UsageError)) throw error
      terminal.info(error.lines)
      reportRemoved([])
    }
  }
}

/** Runs `work` once, and again whenever the files change, one run at a time, until the signal. No change is missed. */
const watchCards = async (
  named: readonly string[],
  context: Context,
  work: () => Promise<void>,
  signal: AbortSignal,
) => {
  const { watch } = await import('chokidar')
  const { paths, isIgnored } = pathsToWatch(named, context.cwd)
  const watcher = watch(paths, {
    ignored: path => isIgnored(path),
    ignoreInitial: true,
    awaitWriteFinish: { stabilityThreshold: 100, pollInterval: 25 },
  })
  let hasChanged = false
  let wake = (): void => {}
  const notify = (): void => {
    hasChanged = true
    wake()
  }
  watcher.on('all', notify)
  signal.addEventListener('abort', notify, { once: true })
  await once(watcher, 'ready')
  try {
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      hasChanged = false
      await work()
      if (isFirst && !signal.aborted) context.terminal.info('Watching for changes; Ctrl-C stops.')
      if (!hasChanged)
        await new Promise<void>(resolve => {
          wake = resolve
        })
    }
  } finally {
    await watcher.close()
  }
}

const IN_SYNC: readonly Action[] = ['unchanged', 'created', 'updated']

/** Compares each synchronization with the previous one. */
export class ChangeTracker {
  #last: Map<string, AgentResult> | undefined
  /** The ids under which the files of the last synchronization are registered. */
  readonly #registered = new Map<string, string>()

  /** Returns the results that differ from the last ones; undefined the first time. */
  newResults({ results }: SyncResult): AgentResult[] | undefined {
    const last = this.#last
    this.#last = new Map(results.map(result => [nameOf(result), result]))
    return (
      last &&
      results.filter(result => {
        const before = last.get(nameOf(result))
        // An agent that was just pushed is unchanged now, which is not news.
        if (result.action === 'unchanged') return before === undefined || !IN_SYNC.includes(before.action)
        return IN_SYNC.includes(result.action) || JSON.stringify(before) !== JSON.stringify(result)
      })
    )
  }

  /** Returns the agents that are still registered although their files are gone. */
  removedFiles(results: readonly AgentResult[]): { file: string; id: string }[] {
    const files = new Set(results.map(({ file }) => file))
    const ids = new Set(results.map(({ id }) => id))
    const gone = [...this.#registered].flatMap(([file, id]) => (files.has(file) ? [] : [{ file, id }]))
    for (const { file } of gone) this.#registered.delete(file)
    for (const { file, id, action } of results)
      if (file !== undefined && id !== undefined && IN_SYNC.includes(action)) this.#registered.set(file, id)
    // The file may have been renamed, or its agent just deleted: then there is a result for it.
    return gone.filter(({ id }) => !ids.has(id))
  }
}
