import { type Command, InvalidArgumentError, Option } from 'commander'
import { ApiError } from '../src/api/client/index.ts'
import type { Pointer } from '../src/json/index.ts'
import { createHostClient, type HostClient, listAgents } from './client/index.ts'
import type { Context } from './context.ts'
import { didYouMean } from './did-you-mean.ts'
import { CommandError, ExitCode, HostError, InterruptedError, MissingTokenError, UsageError } from './errors.ts'
import { reportFailure } from './failure.ts'
import { type HostNameFlags, isLoopback, isUnencrypted, type ResolvedHost, resolveHost } from './hosts/index.ts'
import { type CardFiles, isFolder, loadManifests, rejectNoCards, skippedText } from './manifests/index.ts'

/** Adds a command to the program. It passes its exit code, by default 0, to `exit`; the last one counts. */
export type AddCommand = (program: Command, context: Context, exit: (code: number) => void) => void

/** Describes `--strict`. */
export const STRICT_HELP = 'exit 1 if the linter finds an error or a warning in any file'

/** The options of every command that talks to a host. */
export type HostFlags = HostNameFlags & { json?: true }

/** Adds the options of a command that talks to a host; `scope` is what the token needs, if that matters. */
export const addHostOptions = (command: Command, scope?: string): Command =>
  addConnectionOptions(command, scope).option('--json', 'print one JSON object on stdout')

/** Adds the options that name the host and the token. */
export const addConnectionOptions = (command: Command, scope?: string): Command =>
  command
    .option('--host <name>', 'the host of this name in sync-card.yaml, or of .env.NAME')
    .option('--url <url>', 'the host; default: SYNC_CARD_URL, sync-card.yaml, .env, the one that `npm start` runs')
    .option(
      '--token <token>',
      `a token${scope === undefined ? '' : ` with the scope ${scope}`}; prefer SYNC_CARD_TOKEN or ADMIN_TOKEN ` +
        'in the environment or .env: the list of processes shows flags',
    )

/** The options of every command that reads the owner's files. */
export type FileFlags = { allowSecret?: readonly Pointer[] }

/** Adds the arguments and options of a command that reads the owner's files. `more` ends the help of the files. */
export const addFileOptions = (command: Command, name = '[files...]', more = '; default: the folder cards/'): Command =>
  command
    .argument(name, `files, folders or globs such as 'cards/team1-*.yaml'${more}`)
    .option(
      '--allow-secret <pointer>',
      'accept what looks like a secret at this place of a card, such as /card/description; repeatable',
      (text: string, before?: readonly Pointer[]) => {
        if (!/^(?:\/(?:[^~/]|~[01])*)+$/.test(text))
          throw new InvalidArgumentError('It must be a JSON Pointer such as /card/description.')
        return collect(text, before)
      },
    )

/** Adds the option that chooses agents by their ids. */
export const addOnlyOption = (command: Command): Command =>
  command.option('--only <glob>', "only agents whose ids match, such as 'team1-*'; repeatable", collect)

/** Returns the parser of an option that takes a number of this form. */
export const parseNumber =
  (form: RegExp, mistake: string) =>
  (text: string): number => {
    if (form.test(text)) return Number(text)
    throw new InvalidArgumentError(mistake)
  }

/** Collects the values of a repeatable option. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value]

/** Creates an option that takes only these values. */
export const choiceOption = (flags: string, description: string, choices: readonly string[]): Option =>
  new Option(flags, description).choices(choices).argParser((value: string) => parseChoice(value, choices))

/** Returns a value that is one of the choices. For any other, the error suggests a similar one. */
export const parseChoice = <Choice extends string>(value: string, choices: readonly Choice[]): Choice => {
  const choice = choices.find(each => each === value)
  if (choice !== undefined) return choice
  throw new InvalidArgumentError(`${didYouMean(value, choices)} Allowed choices are ${choices.join(', ')}.`.trimStart())
}

/** Returns the end of the message about a word that is no command: a similar one, and all commands. */
export const suggestCommand = (word: string, program: Command, more: readonly string[] = []): string => {
  const commands = program.createHelp().visibleCommands(program)
  const names = commands.map(command => command.name())
  // Other programs use these names.
  const meant = ['delete', 'rm'].includes(word) ? 'remove' : word
  return `${didYouMean(meant, [...names, ...more])} The commands are ${new Intl.ListFormat('en-GB').format(names)}.`
}

/** Reads the named files for the host at `origin`, and reports those that are skipped. */
export const readFiles = (named: readonly string[], origin: string, flags: FileFlags, context: Context): CardFiles => {
  const loaded = loadManifests(named, origin, context.cwd, flags.allowSecret)
  rejectNoCards(named, loaded)
  for (const skipped of loaded.skipped) context.terminal.info(skippedText(skipped))
  return loaded
}

/** Rejects `--prune` with anything but folders: it is about the agents of a set that no file describes. */
export const rejectPrunedFiles = (files: readonly string[], cwd: string): void => {
  if (!files.every(file => isFolder(file, cwd)))
    throw new UsageError('--prune takes folders only: no single file describes all agents of its set.')
}

/** Resolves the host that the flags name, and warns if the token would travel unencrypted. */
export const resolveWithWarning = (flags: HostNameFlags, context: Context, resolve = resolveHost): ResolvedHost => {
  const host = resolve(flags, context)
  const { url, token } = host
  if (token !== '' && isUnencrypted(url)) context.terminal.info(`The token goes to ${url} unencrypted: use https.`)
  return host
}

/** Returns why a command failed: a token may be missing because no host runs, for which npm start would make one. */
export const explainFailure = async (error: unknown, context: Context): Promise<unknown> => {
  if (!(error instanceof MissingTokenError) || !isLoopback(error.url)) return error
  const health = createHostClient({ url: error.url, token: '' }, context).getHealth()
  return health.then(() => error).catch((reason: unknown) => reason)
}

/** A host, and the client for it. */
export type HostConnection = ReturnType<typeof connect>

/** Connects to the host that the flags name. With `findHost`, the token is optional. */
export const connect = (flags: HostFlags, context: Context, resolve = resolveHost) => {
  const host = resolveWithWarning(flags, context, resolve)
  return { host, client: createHostClient(host, context) }
}

/** Returns the error that an agent does not exist, which suggests one that does. */
export const missingAgent = async (id: string, { host, client }: HostConnection): Promise<CommandError> => {
  const ids = await listIds(client)
  const [before, after] = host.token === '' ? ['public ', ', and no token was sent'] : ['', ' that this token may read']
  return new CommandError(ExitCode.rejected, `The host has no ${before}agent "${id}"${after}.${didYouMean(id, ids)}`)
}

/** Returns the ids of the agents that the token may read, or, without the scope `read`, of those that it may write. */
export const listIds = async (client: HostClient): Promise<string[]> => {
  const agents = listAgents(client).catch(() => listAgents(client, { writable: 'true' }))
  const listed = await agents.catch((error: unknown) => {
    if (error instanceof HostError) return []
    throw error
  })
  return listed.map(({ id }) => id)
}

/** Calls `work` for one id after the other until the host cannot be used, and reports each failure. */
export const forEachId = async (ids: readonly string[], { terminal }: Context, work: (id: string) => Promise<void>) => {
  let exitCode: number = ExitCode.ok
  for (const id of ids)
    try {
      await work(id)
    } catch (error) {
      if (error instanceof ApiError) error.message = `${id}: ${error.message}`
      else if (error instanceof HostError) return { exitCode: reportFailure(error, terminal), failure: error.message }
      else if (!(error instanceof CommandError) || error instanceof InterruptedError) throw error
      exitCode = Math.max(exitCode, reportFailure(error, terminal))
    }
  return { exitCode }
}

/** Has `work` change one id after the other, and reports what it returns; with `--json`, the list `changed` of ids. */
export const changeEach = async (
  ids: readonly string[],
  { changed, json }: Pick<HostFlags, 'json'> & { changed: string },
  context: Context,
  work: (id: string) => Promise<string>,
): Promise<number> => {
  const done: string[] = []
  const { exitCode, failure } = await forEachId(ids, context, async id => {
    const result = await work(id)
    done.push(id)
    if (!json) context.terminal.report(result)
  })
  if (json) context.terminal.out(JSON.stringify({ [changed]: done, ...(failure !== undefined && { failure }) }))
  return exitCode
}
