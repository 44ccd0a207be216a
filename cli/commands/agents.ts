import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stringify } from 'yaml'
import { agentIdPattern, dialectNames } from '../../src/card/model/constants.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { CLEARED_ID_SECONDS } from '../../src/limits.ts'
import type { ListedAgent } from '../client/index.ts'
import type { Context } from '../context.ts'
import { ExitCode, UsageError } from '../exit-codes.ts'
import { findHost, resolveHost } from '../hosts/index.ts'
import {
  type AddCommand,
  addConnectionOptions,
  addHostOptions,
  addOnlyOption,
  choiceOption,
  createHostClient,
  describeMissing,
  forEachId,
  type HostConnection,
  type HostFlags,
  listIds,
  reportRejection,
  resolveWithWarning,
} from '../options.ts'
import { createFilter } from '../sync/index.ts'
import { colors, escapeControls, formatCount, formatTable } from '../terminal.ts'

type ListFlags = HostFlags & { only?: string[]; set?: string }
type ShowFlags = HostFlags & { dialect?: string; manifest?: true }
type OpenFlags = HostFlags & { print?: true }

/**
 * Adds `list`, `show` and `open`, which read the agents of a host and need no token for public ones, and `tasks clear`.
 */
export const addAgents: AddCommand = (program, context, exit) => {
  addOnlyOption(addHostOptions(program.command('list'), 'read'))
    .description('list the agents of the host, or search them')
    .argument('[words...]', 'only agents that have all of these words in their card, best first')
    .option('--set <name>', 'agents of this set')
    .action(async (words: string[], flags: ListFlags) => exit(await list(words, flags, context)))
  addHostOptions(program.command('show'), 'read; for --manifest, write')
    .description('print the card of an agent as clients get it, or its manifest')
    .argument('<id>', 'the agent')
    .addOption(
      choiceOption('--dialect <dialect>', 'the dialect of the card; default: the one for all clients', [
        'hybrid',
        ...dialectNames,
      ]).conflicts('manifest'),
    )
    .option('--manifest', 'the manifest as it was registered, in YAML; with --json, in JSON')
    .action(async (id: string, flags: ShowFlags) => exit(await show(id, flags, context)))
  addConnectionOptions(program.command('open'), 'read')
    .description("open an agent's card in a browser; without a terminal, print its URL")
    .argument('[id]', 'the agent; default: the card of the host')
    .option('--print', 'only print the URL')
    .action(async (id: string | undefined, flags: OpenFlags) => exit(await open(id, flags, context)))
  const tasks = program.command('tasks').description('clear the owners of tasks')
  addHostOptions(tasks.command('clear'), 'write')
    .description('forget which callers started the tasks of agents that have restarted and use ids again')
    .argument('<ids...>', 'the agents')
    .action(async (ids: string[], flags: HostFlags) => exit(await clearTasks(ids, flags, context)))
}

const clearTasks = async (ids: readonly string[], flags: HostFlags, context: Context): Promise<number> => {
  const { terminal } = context
  const connection = connectTo(flags, context, resolveHost)
  const cleared: string[] = []
  const { exitCode, failure } = await forEachId(ids, context, async id => {
    const result = await connection.client.clearTasks(id)
    if (result === undefined) return reportMissing(id, connection, context)
    if ('rejected' in result) return reportRejection(result, context, id)
    cleared.push(id)
    const delay = formatCount(CLEARED_ID_SECONDS / 60, 'minute')
    if (!flags.json) terminal.report(`cleared ${id}; it can use its ids again in ${delay}`)
    return ExitCode.ok
  })
  if (flags.json) terminal.out(JSON.stringify({ cleared, ...(failure !== undefined && { failure }) }))
  return exitCode
}

/** Connects to the host that the flags name. By default, the token is optional. */
const connectTo = (flags: HostFlags, context: Context, resolve = findHost): HostConnection => {
  const host = resolveWithWarning(flags, context, resolve)
  return { host, client: createHostClient(host, context) }
}

const list = async (words: readonly string[], flags: ListFlags, context: Context): Promise<number> => {
  const { only, set, json } = flags
  const { terminal } = context
  if (set !== undefined) requireName(set, 'the name of a set')
  const { host, client } = connectTo(flags, context)
  if (host.token === '') terminal.info(`Only public agents, because no token is sent. ${host.tokenFrom}`)
  const listed = await client.listAgents(set, words.length > 0 ? words.join(' ') : undefined)
  const isSelected = createFilter(only)
  const agents = listed.filter(({ id }) => isSelected(id))
  if (json) terminal.out(JSON.stringify({ url: host.url, agents: agents.map(describeAgent) }))
  else if (agents.length === 0) terminal.info(`${host.url} has no such agents.`)
  else terminal.report(agentsText(agents, terminal.isTerminal))
  return ExitCode.ok
}

const describeAgent = ({ id, name = '', version = '', visibility = 'public', set, card = '' }: ListedAgent) => ({
  ...{ id, name, version, visibility },
  ...(set !== undefined && { set }),
  card,
})

/** Formats agents as a table for people; for programs, with a tab between the columns and without a head. */
const agentsText = (agents: readonly ListedAgent[], isTerminal: boolean): string => {
  const rows = agents.map(agent => {
    const { id, name, version, visibility, set = '-', card } = describeAgent(agent)
    return [id, name, version, visibility, set, card]
  })
  if (!isTerminal) return rows.map(row => row.join('\t')).join('\n')
  const head = ['id', 'name', 'version', 'visibility', 'set', 'card'].map(colors.dim)
  return formatTable([head, ...rows])
}

const show = async (id: string, flags: ShowFlags, context: Context): Promise<number> => {
  const { dialect, manifest, json } = flags
  const { terminal } = context
  requireName(id, 'the id of an agent')
  const connection = connectTo(flags, context, manifest ? resolveHost : findHost)
  const { client } = connection
  const found = manifest ? await client.getAgent(id) : await client.getCard(id, dialect)
  if (found === undefined) return reportMissing(id, connection, context)
  if ('rejected' in found) return reportRejection(found, context)
  if ('manifest' in found) terminal.out(json ? toJsonText(found.manifest) : toYaml(found.manifest))
  else terminal.out(toJsonText(found.card))
  return ExitCode.ok
}

/** Reports that an agent does not exist, and suggests one that does. */
const reportMissing = async (id: string, connection: HostConnection, { terminal }: Context): Promise<number> => {
  terminal.error(await describeMissing(id, connection))
  return ExitCode.rejected
}

const toJsonText = (value: JsonObject): string => escapeControls(JSON.stringify(value, null, 2))

/** Every string is quoted if one needs an escape, which only quoted strings have. */
const toYaml = (value: JsonObject): string => {
  const plain = stringify(value, { lineWidth: 0 }).trimEnd()
  if (escapeControls(plain) === plain) return plain
  const quoted = { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE', blockQuote: false } as const
  return escapeControls(stringify(value, { lineWidth: 0, ...quoted }).trimEnd())
}

const open = async (id: string | undefined, flags: OpenFlags, context: Context): Promise<number> => {
  const { terminal } = context
  if (id !== undefined) requireName(id, 'the id of an agent')
  const connection = connectTo(flags, context)
  const { host, client } = connection
  await client.getHealth()
  const { etag, isPending } = await client.getLiveCard(id)
  if (etag === undefined) return reportUnreadable({ id, isPending }, connection, context)
  const url = `${host.url}${id === undefined ? '' : `/agents/${id}`}/.well-known/agent-card.json`
  const isOpened = !flags.print && terminal.isTerminal && (await openInBrowser(url, context))
  if (isOpened) terminal.info(`Opened ${url}`)
  else terminal.out(url)
  return ExitCode.ok
}

/** Reports why a browser, which sends no token, gets no card. */
const reportUnreadable = async (
  { id, isPending }: { id: string | undefined; isPending: boolean },
  connection: HostConnection,
  context: Context,
): Promise<number> => {
  const { terminal } = context
  if (id === undefined) terminal.error('The host has no root agent: name one, such as npx sync-card open weather.')
  else if (isPending) terminal.error(`The card of ${id} has not been fetched yet: npx sync-card refresh ${id}`)
  else if (!(await listIds(connection.client)).includes(id)) return reportMissing(id, connection, context)
  else terminal.error(`${id} is internal, and a browser sends no token: npx sync-card show ${id}`)
  return ExitCode.rejected
}

/** The programs that open a URL, by platform. None of them is a shell, so nothing in the URL is interpreted. */
const OPENERS: Partial<Record<NodeJS.Platform, [command: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens a URL in a browser, which gets no token of a `.env`. Returns false if this machine has none. */
const openInBrowser = async (url: string, { cwd, processEnv: env }: Context): Promise<boolean> => {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  // Without a display, xdg-open would start a browser in this terminal.
  if (command === 'xdg-open' && !env.DISPLAY && !env.WAYLAND_DISPLAY) return false
  const browser = spawn(command, [...args, url], {
    cwd,
    detached: true,
    stdio: 'ignore',
    // The Worker's variables are declared as if every process had them.
    env: env as unknown as NodeJS.ProcessEnv,
  })
  browser.unref()
  // Fails if there is no such program.
  return once(browser, 'spawn').then(
    () => true,
    () => false,
  )
}

const requireName = (text: string, meaning: string): void => {
  if (!agentIdPattern.test(text))
    throw new UsageError(`"${text}" is not ${meaning}: use lower-case letters, digits and hyphens.`)
}
