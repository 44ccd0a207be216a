import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Option } from 'commander'
import { stringify } from 'yaml'
import { mcpSnippets } from '../../../src/card/index.ts'
import { agentIdPattern, dialectNames } from '../../../src/card/model/index.ts'
import { CLEARED_ID_SECONDS } from '../../../src/limits.ts'
import { deleteAgent, listAgents, readAgent, readLiveCard } from '../../client/index.ts'
import type { Context } from '../../context.ts'
import { asRejection, CommandError, ExitCode, UsageError } from '../../errors.ts'
import { findHost, resolveHost } from '../../hosts/index.ts'
import {
  type AddCommand,
  addConnectionOptions,
  addHostOptions,
  addOnlyOption,
  changeEach,
  choiceOption,
  connect,
  type HostConnection,
  type HostFlags,
  listIds,
  missingAgent,
} from '../../options.ts'
import { createFilter } from '../../sync/index.ts'
import { escapeControls, formatCount } from '../../terminal.ts'

type ListFlags = HostFlags & { only?: string[]; set?: string }
type ShowFlags = HostFlags & { dialect?: string; manifest?: true; mcpClients?: true }
type OpenFlags = HostFlags & { print?: true }
type RemoveFlags = HostFlags & { yes?: true }

const MCP_CLIENTS_HELP = 'how MCP clients use the agent; with --json, its MCP server card'
const DIALECT_HELP = 'the dialect of the card; default: the one for all clients'

/** Adds `list`, `show` and `open`, which need no token for public agents, `remove` and `tasks clear`. */
export const addAgents: AddCommand = (program, context, exit) => {
  addOnlyOption(addHostOptions(program.command('list'), 'read'))
    .description('list the agents of the host, or search them')
    .argument('[words...]', 'only agents that have all of these words in their card, best first')
    .option('--set <name>', 'agents of this set')
    .action((words: string[], flags: ListFlags) => list(words, flags, context))
  addHostOptions(program.command('show'), 'read; for --manifest, write')
    .description('print the card of an agent as clients get it, its manifest, or how MCP clients use it')
    .argument('<id>', 'the agent')
    .addOption(choiceOption('--dialect <dialect>', DIALECT_HELP, ['hybrid', ...dialectNames]).conflicts('manifest'))
    .option('--manifest', 'the manifest as it was registered, in YAML; with --json, in JSON')
    .addOption(new Option('--mcp-clients', MCP_CLIENTS_HELP).conflicts(['dialect', 'manifest']))
    .action((id: string, flags: ShowFlags) => show(id, flags, context))
  addConnectionOptions(program.command('open'), 'read')
    .description("open an agent's card in a browser; without a terminal, print its URL")
    .argument('[id]', 'the agent; default: the card of the host')
    .option('--print', 'only print the URL')
    .action((id: string | undefined, flags: OpenFlags) => open(id, flags, context))
  addHostOptions(program.command('remove'), 'write')
    .description('remove agents from the host, after asking; rollback can restore them')
    .argument('<ids...>', 'the agents')
    .option('--yes', 'do not ask')
    .action(async (ids: string[], flags: RemoveFlags) => exit(await remove(ids, flags, context)))
  const tasks = program.command('tasks').description('clear the owners of tasks')
  addHostOptions(tasks.command('clear'), 'write')
    .description('forget who started the tasks of agents that have restarted and reuse ids')
    .argument('<ids...>', 'the agents')
    .action(async (ids: string[], flags: HostFlags) => exit(await clearTasks(ids, flags, context)))
}

const clearTasks = async (ids: readonly string[], flags: HostFlags, context: Context): Promise<number> => {
  const connection = connect(flags, context)
  return changeEach(ids, { ...flags, changed: 'cleared' }, context, async id => {
    const options = { params: { id }, ignore: 'agent-not-found' } as const
    const response = await connection.client.send('DELETE /agents/:id/tasks', options)
    if (response === undefined) throw await missingAgent(id, connection)
    return `cleared ${id}; it can use its ids again in ${formatCount(CLEARED_ID_SECONDS / 60, 'minute')}`
  })
}

/** Removes agents, each only if nobody changes it after it was looked up. */
const remove = async (named: readonly string[], flags: RemoveFlags, context: Context): Promise<number> => {
  const { terminal } = context
  for (const id of named) requireId(id)
  if (!flags.yes && !terminal.canAsk)
    throw new UsageError('remove cannot ask without a terminal: add --yes to remove without being asked.')
  const connection = connect(flags, context)
  const { host, client } = connection
  const etags = new Map<string, string>()
  let lookUpCode: number = ExitCode.ok
  for (const id of new Set(named)) {
    const found = await readAgent(client, id).catch(asRejection)
    if (found && 'etag' in found) etags.set(id, found.etag)
    else {
      terminal.error(found ? `${id}: ${found.message}` : (await missingAgent(id, connection)).lines)
      lookUpCode = ExitCode.rejected
    }
  }
  const ids = [...etags.keys()]
  const question = `Remove ${formatCount(ids.length, 'agent')} from ${host.url}: ${ids.join(', ')}?`
  const isConfirmed = flags.yes || ids.length === 0 || (await terminal.confirm(question))
  if (!isConfirmed) terminal.info('Nothing was removed.')
  let hasRemoved = false
  const exitCode = await changeEach(isConfirmed ? ids : [], { ...flags, changed: 'removed' }, context, async id => {
    const rejection = await deleteAgent(client, id, etags.get(id) ?? '').catch(asRejection)
    if (rejection?.status === 412)
      rejection.message = 'it was changed after it was looked up, so it was kept. Run the command again.'
    if (rejection) throw rejection
    hasRemoved = true
    return `removed ${id}`
  })
  if (hasRemoved)
    terminal.info([
      'No file is changed: delete the file of a removed agent, or the next npx sync-card registers it again.',
      'To restore one: npx sync-card rollback ID SEQ',
    ])
  return Math.max(lookUpCode, exitCode)
}

const list = async (words: readonly string[], flags: ListFlags, context: Context): Promise<void> => {
  const { only, set, json } = flags
  if (set !== undefined) requireId(set, 'the name of a set')
  const { host, client } = connect(flags, context, findHost)
  const listed = await listAgents(client, { set, q: words.join(' ') || undefined })
  if (host.token === '') context.terminal.info(`Only public agents, because no token is sent. ${host.tokenFrom}`)
  const isSelected = createFilter(only)
  const agents = listed
    .filter(({ id }) => isSelected(id))
    .map(({ id, name, version, visibility = 'public', set, card }) => ({ id, name, version, visibility, set, card }))
  const columns = ['id', 'name', 'version', 'visibility', 'set', 'card'] as const
  const rows = agents.map(agent => columns.map(name => agent[name] ?? '-'))
  if (json) context.terminal.out(JSON.stringify({ url: host.url, agents }))
  else if (agents.length === 0) context.terminal.info(`${host.url} has no such agents.`)
  else context.terminal.table(columns, rows)
}

const show = async (id: string, flags: ShowFlags, context: Context): Promise<void> => {
  const { dialect, manifest, mcpClients, json } = flags
  requireId(id)
  const connection = connect(flags, context, manifest ? resolveHost : findHost)
  const card = { params: { id }, query: { dialect }, ignore: 'agent-not-found' } as const
  const document = manifest
    ? (await readAgent(connection.client, id))?.manifest
    : await connection.client.call('GET /agents/:id/.well-known/agent-card.json', card)
  if (document === undefined) throw await missingAgent(id, connection)
  const yaml = manifest && !json ? stringify(document, { lineWidth: 0 }).trimEnd() : undefined
  // Only quoted texts can have escapes. JSON, which is YAML too, quotes all.
  const isPlain = yaml !== undefined && escapeControls(yaml) === yaml
  if (!mcpClients) context.terminal.out(isPlain ? yaml : JSON.stringify(document, null, 2))
  if (!manifest && dialect === undefined) await showMcp(id, connection, flags, context)
}

/** Prints how MCP clients use an agent, if they can: all of it with `--mcp-clients`, else a hint. */
const showMcp = async (id: string, { client }: HostConnection, flags: ShowFlags, { terminal }: Context) => {
  const { mcpClients, json } = flags
  const options = { params: { id }, ignore: 'not-found' } as const
  const card = await client.call('GET /agents/:id/mcp/server-card', options)
  const [server] = card?.remotes ?? []
  if (!server && mcpClients) throw new CommandError(ExitCode.rejected, `${id} is not open to MCP clients.`)
  if (!server) return
  const snippets = mcpSnippets(id, server)
  const texts = snippets.map(({ title, code }) => `${title}:\n${code.replace(/^/gm, '  ')}`)
  if (mcpClients) terminal.out(json ? JSON.stringify(card, null, 2) : [server.url, ...texts].join('\n\n'))
  else
    terminal.info([
      ...[`MCP clients call the agent at ${server.url}`, `  ${snippets[0].code}`],
      `Other clients: npx sync-card show ${id} --mcp-clients`,
    ])
}

const open = async (id: string | undefined, flags: OpenFlags, context: Context): Promise<void> => {
  if (id !== undefined) requireId(id)
  const connection = connect(flags, context, findHost)
  await connection.client.getHealth()
  const { etag, isPending } = await readLiveCard(connection.client, id)
  if (etag === undefined) throw await explainUnreadable(id, isPending, connection)
  const url = `${connection.host.url}${id === undefined ? '' : `/agents/${id}`}/.well-known/agent-card.json`
  const isOpened = !flags.print && context.terminal.isTerminal && (await openInBrowser(url, context))
  if (isOpened) context.terminal.info(`Opened ${url}`)
  else context.terminal.out(url)
}

/** Returns the error that a browser, which sends no token, gets no card. */
const explainUnreadable = async (id: string | undefined, isPending: boolean, connection: HostConnection) => {
  const unreadable = (reason: string) => new CommandError(ExitCode.rejected, reason)
  if (id === undefined) return unreadable('The host has no root agent: name one, such as npx sync-card open weather.')
  if (isPending) return unreadable(`The card of ${id} has not been fetched yet: npx sync-card refresh ${id}`)
  if (!(await listIds(connection.client)).includes(id)) return missingAgent(id, connection)
  return unreadable(`${id} is internal, and a browser sends no token: npx sync-card show ${id}`)
}

/** The programs that open a URL, by platform. None of them is a shell, so nothing in the URL is interpreted. */
const OPENERS: Record<string, string[]> = { darwin: ['open'], win32: ['rundll32', 'url.dll,FileProtocolHandler'] }

/** Opens a URL in a browser, which gets no token of a `.env`. Returns false if this machine has none. */
const openInBrowser = async (url: string, { cwd, processEnv: env }: Context): Promise<boolean> => {
  const [command = 'xdg-open', ...args] = OPENERS[process.platform] ?? []
  // Without a display, xdg-open would start a browser in this terminal.
  if (command === 'xdg-open' && !env.DISPLAY && !env.WAYLAND_DISPLAY) return false
  // The Worker's variables are declared as if every process had them.
  const processEnv = env as unknown as NodeJS.ProcessEnv
  const browser = spawn(command, [...args, url], { cwd, detached: true, stdio: 'ignore', env: processEnv })
  browser.unref()
  // Fails if there is no such program.
  return once(browser, 'spawn').then(
    () => true,
    () => false,
  )
}

/** Returns a text that has the form of an id. Throws a UsageError for any other. */
export const requireId = (text: string, meaning = 'the id of an agent'): string => {
  if (agentIdPattern.test(text)) return text
  throw new UsageError(`"${text}" is not ${meaning}: use lowercase letters, digits and hyphens.`)
}
