import { type Context, interruptSignal } from '../../context.ts'
import { UsageError } from '../../errors.ts'
import { CARDS_FOLDER } from '../../manifests/index.ts'
import { type AddCommand, addHostOptions, addOnlyOption, connect, type HostFlags } from '../../options.ts'
import { agentText, countsText, differenceText, toJsonPatch } from '../../reporters/index.ts'
import { exitCodeOf, type PullResult, pullCards } from '../../sync/index.ts'
import { colors, formatCount, withoutReports } from '../../terminal.ts'

type Flags = HostFlags & { only?: string[]; set?: string; all?: true; out: string; force?: true }

/** Adds `pull`, which writes what is registered into files. */
export const addPull: AddCommand = (program, context, exit) => {
  addOnlyOption(addHostOptions(program.command('pull'), 'write'))
    .description('write what is registered into files, for example to adopt an existing host')
    .argument('[ids...]', 'the agents; default: those of the set of the folder, else all that the token may write')
    .option('--set <name>', 'only agents of this set')
    .option('--all', 'also agents of other sets than the folder has')
    .option('--out <folder>', 'where the files are', CARDS_FOLDER)
    .option('--force', 'overwrite files that differ, comments included')
    .action(async (ids: string[], flags: Flags) => exit(await pull(ids, flags, context)))
}

const pull = async (ids: readonly string[], flags: Flags, outer: Context): Promise<number> => {
  const { only, set, all, json } = flags
  if (ids.length > 0 && (only || set !== undefined || all))
    throw new UsageError('--only, --set and --all choose agents: leave them out if you name the agents.')
  if (set !== undefined && all) throw new UsageError('--set and --all exclude each other.')
  const context = { ...outer, terminal: json ? withoutReports(outer.terminal) : outer.terminal }
  const { host, client } = connect(flags, context)
  const result = await pullCards(client, host, { ...flags, ids, signal: interruptSignal(context) }, context)
  const exitCode = exitCodeOf(result)
  context.terminal.report(pullText(result))
  context.terminal.info(hintsOf(result, flags))
  const agents = result.results.map(({ change, ...agent }) => ({ ...agent, patch: change && toJsonPatch(change) }))
  if (json) context.terminal.out(JSON.stringify({ ...result, results: undefined, exitCode, agents }))
  return exitCode
}

/** Formats a pull for people: files that differ with the difference, and unchanged ones as a count. */
const pullText = ({ url, results, defaults, failure, interrupted }: PullResult): string[] => {
  const stopped = interrupted ? 'interrupted' : failure
  return [
    ...(defaults === undefined ? [] : [`${colors.green('+ created')}   ${defaults}`]),
    ...results
      .filter(({ action }) => action !== 'unchanged')
      .flatMap(each => [...(each.action === 'differs' ? differenceText(each) : []), ...agentText(each)]),
    stopped === undefined
      ? colors.dim(`${url}: ${countsText(results) || 'nothing to write'}`)
      : colors.red(`Stopped: ${stopped}; nothing was written.`),
  ]
}

const hintsOf = ({ results, set, forbidden }: PullResult, flags: Flags): string[] =>
  [
    set !== undefined && flags.set === undefined ? `Only agents of the set ${set} were pulled; --all pulls all.` : [],
    forbidden > 0 ? `Left out: ${formatCount(forbidden, 'agent')} that the token may not write.` : [],
    results.some(({ action }) => action === 'differs') ? '--force overwrites the files that differ.' : [],
  ].flat()
