import { existsSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { readEnvironment } from '../environment.ts'
import { exitCodeHelp } from '../exit-codes.ts'
import { areFolders } from '../files/card-files.ts'
import { outcomeJson } from '../report/outcome-json.ts'
import { outcomeText } from '../report/outcome-text.ts'
import { isLoopback, readSettings } from '../settings.ts'
import { News } from '../sync/news.ts'
import { exitCodeOf, type Outcome, type Result } from '../sync/outcome.ts'
import { syncCards } from '../sync/sync.ts'
import { type Voice, voice } from '../sync/voice.ts'
import { watchCards } from '../sync/watch.ts'
import { UsageError } from '../usage-error.ts'
import { confirmDeletion } from './confirm.ts'

type Flags = {
  url?: string
  token?: string
  dryRun?: true
  check?: true
  prune?: true
  yes?: true
  force?: true
  refresh?: true
  watch?: true
  wait?: number | true
  retries: number
  json?: true
}

/** How long `--wait` waits where it is not told, in seconds: KV takes up to a minute to reach every place. */
const usualWait = 90

const count = (text: string): number => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

/** Adds the synchronisation, which is what the command does where no subcommand is named. */
export const addSync = (command: Command): Command =>
  command
    .argument('[files...]', 'files or folders; the folder cards/ where none is named')
    .option('--url <url>', 'the host; else SYNC_CARD_URL, else the one that `npm start` runs')
    .option('--token <token>', 'prefer SYNC_CARD_TOKEN or ADMIN_TOKEN, in the environment or .env: a flag shows in ps')
    .option('--dry-run', 'show what would be done, and do nothing')
    .option('--check', 'for CI: change nothing; exit 1 where something differs or lint finds errors')
    .option('--prune', 'delete from the host what no file describes; asks first')
    .option('--yes', 'do not ask')
    .option('--force', 'overwrite what somebody else wrote meanwhile')
    .option('--refresh', 'send what is unchanged too, after the host was upgraded or moved')
    .option('--watch', 'go on, push what changes, and tell only that')
    .option('--wait [seconds]', `wait until the edge serves what was pushed (at most ${usualWait} seconds)`, count)
    .option('--retries <count>', 'how often a lost connection is tried again', count, 4)
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', exitCodeHelp)
    .action(async (files: string[], flags: Flags, sync: Command) => {
      refuseUnknownCommand(files, sync)
      refuseNonsense(files, flags)
      const settings = readSettings(flags, readEnvironment())
      const speaker = voice(flags.json === true)
      if (settings.url.startsWith('http:') && !isLoopback(settings.url))
        speaker.note(`The token goes to ${settings.url} unencrypted: use https.`)
      const once = () => syncCards(files, settings, optionsOf(flags), speaker)
      if (flags.watch) await keepGoing(files, once, flags, speaker)
      else finish(await once(), flags, speaker)
    })

/** A word may be meant for a command, what looks like a path only for a file. */
const refuseUnknownCommand = (files: readonly string[], sync: Command): void => {
  const word = files.find(file => /^[\w-]+$/.test(file) && !existsSync(file))
  if (word === undefined) return
  const names = sync
    .createHelp()
    .visibleCommands(sync)
    .map(command => command.name())
  const commands = new Intl.ListFormat('en-GB').format(names)
  throw new UsageError(`"${word}" is neither a file nor a command; the commands are ${commands}.`)
}

const refuseNonsense = (files: readonly string[], { prune, check, watch, yes, dryRun }: Flags): void => {
  if (watch && check) throw new UsageError('--watch and --check exclude each other.')
  if (!prune) return
  if (!areFolders(files))
    throw new UsageError('--prune needs the whole folder: with single files, all others would go.')
  if (!yes && !check && !dryRun && (watch || !process.stdin.isTTY))
    throw new UsageError('--prune cannot ask here: add --yes to delete without being asked.')
}

const optionsOf = ({ dryRun, check, prune, force, refresh, retries, wait, yes }: Flags) => ({
  dryRun: dryRun === true,
  check: check === true,
  prune: prune === true,
  force: force === true,
  refresh: refresh === true,
  retries,
  wait: wait === true ? usualWait : wait,
  confirm: yes ? async () => true : confirmDeletion,
})

const finish = (outcome: Outcome, { json, check }: Flags, { say }: Voice, news = outcome.results): void => {
  if (news.length > 0 || outcome.failure !== undefined) say(outcomeText(outcome, news))
  if (json) process.stdout.write(`${outcomeJson(outcome, check === true)}\n`)
  process.exitCode = exitCodeOf(outcome, check === true)
}

const keepGoing = async (
  files: readonly string[],
  once: () => Promise<Outcome>,
  flags: Flags,
  speaker: Voice,
): Promise<void> => {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const news = new News()
  const tellRemoved = (results: readonly Result[]): void => {
    for (const { file, id } of news.removed(results))
      speaker.note(`${file} is gone; ${id} is still registered; --prune removes it.`)
  }
  const work = async () => {
    try {
      const outcome = await once()
      finish(outcome, flags, speaker, news.of(outcome))
      tellRemoved(outcome.results)
    } catch (error) {
      // A folder that is empty for a moment is no reason to stop watching it.
      if (!(error instanceof UsageError)) throw error
      speaker.note(error.message)
      tellRemoved([])
    }
  }
  let told = false
  const workAndTell = async () => {
    await work()
    if (!told) speaker.note('Watching for changes; Ctrl-C stops.')
    told = true
  }
  await watchCards(files, workAndTell, stop.signal)
}
