import { basename } from 'node:path'
import pMap from 'p-map'
import type { JsonObject } from '../../src/json/index.ts'
import { createHostClient, type HostClient, listAgents as listRegistered, readLiveCard } from '../client/index.ts'
import type { Context } from '../context.ts'
import { curlCall } from '../curl.ts'
import { UsageError } from '../errors.ts'
import type { HostSettings } from '../hosts/index.ts'
import { CARDS_FOLDER, findCardFiles, isFolder, loadManifests } from '../manifests/index.ts'
import { type AgentResult, isUncallable, NON_INTERACTIVE, syncCards, syncText } from '../sync/index.ts'
import { colors, formatTable } from '../terminal.ts'

const SAMPLES_FOLDER = 'examples/cards'

/**
 * Sends the samples and the cards of `cards/` to a host on this machine, and shows its agents and what to try first.
 * `shellToken` is how a shell gets the admin token; `state` is the folder that keeps what is registered.
 */
export const welcome = async (host: HostSettings & Record<'shellToken' | 'state', string>, context: Context) => {
  const { terminal, cwd } = context
  const { url, shellToken, state } = host
  const ownFiles = isFolder(CARDS_FOLDER, cwd) ? findCardFiles([CARDS_FOLDER], cwd) : []
  const samples = withoutOwnIds(findSamples(cwd), ownFiles, cwd)
  if (samples.length > 0) await send(samples, host, false, context)
  // A sample of an earlier start may have the id of a card.
  await send([], host, true, context)
  const { agents, root, hasRootCard } = await listAgents(createHostClient(host, context), url)
  const isShown = (sample: string) =>
    samples.some(file => isSampleOf(sample, file)) &&
    agents.some(({ id, visibility }) => id === sample && visibility === 'public')
  const rows = agents.map(({ id, name, visibility }) => [
    name,
    `${url}/agents/${id}/`,
    colors.dim(id === root ? 'root' : VISIBILITY_TEXT[visibility]),
  ])
  terminal.report([
    ...(agents.length > 0 ? formatTable(rows) : ['No agents yet: npx sync-card sends those of cards/.']),
    ...section(`Your token, for commands with $TOKEN and for ${url}/manage:`, [`export TOKEN=${shellToken}`]),
    ...section('Try:', [
      ...(hasRootCard ? [`curl ${url}/.well-known/agent-card.json`] : []),
      ...(root === undefined ? [] : cardCommands(url, root)),
    ]),
    ...section(
      'Find agents by words, and in the catalog that directories read:',
      // An id is mostly a word of the agent's name.
      root ? [`curl '${url}/agents?q=${root}&facets=tag'`, `curl ${url}/.well-known/ai-catalog.json`] : [],
    ),
    ...Object.entries(SAMPLES).flatMap(([id, { title, commands }]) =>
      isShown(id) ? section(title, commands(`${url}/agents/${id}`)) : [],
    ),
    `Ctrl-C stops. Registered agents stay in ${state}.`,
    `Open ${url}/ in a browser.`,
  ])
}

/** Returns the files of the samples, the echo agent first: as the root agent of an empty host, it answers. */
export const findSamples = (cwd = process.cwd()): string[] => {
  if (!isFolder(SAMPLES_FOLDER, cwd)) return []
  const isOther = (file: string) => Number(!isSampleOf('echo', file))
  return findCardFiles([SAMPLES_FOLDER], cwd).sort((one, other) => isOther(one) - isOther(other))
}

const isSampleOf = (id: string, file: string): boolean => basename(file).startsWith(`${id}.`)

/** Returns the samples whose ids none of the owner's files has. A file with several agents is one sample. */
const withoutOwnIds = (samples: readonly string[], own: readonly string[], cwd: string): string[] => {
  // Ids do not depend on the host.
  const idsOf = (files: readonly string[]) => {
    const { drafts, invalid } = loadManifests(files, 'http://localhost', cwd)
    return [...drafts, ...invalid].flatMap(({ id }) => id ?? [])
  }
  const taken = new Set(idsOf(own))
  return samples.filter(sample => !idsOf([sample]).some(id => taken.has(id)))
}

/** Sends files, and reports only what needs attention. With `force`, they replace agents of other sets. */
const send = async (named: readonly string[], host: HostSettings, force: boolean, context: Context): Promise<void> => {
  try {
    const result = await syncCards(named, host, { ...NON_INTERACTIVE, force }, context)
    if (result.failure !== undefined || result.results.some(needsAttention)) context.terminal.report(syncText(result))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    context.terminal.report(error.lines)
  }
}

const needsAttention = (result: AgentResult): boolean =>
  !['created', 'updated', 'unchanged', 'owned by another set'].includes(result.action) ||
  result.source !== undefined ||
  isUncallable(result) ||
  (result.unexposed === true && result.action !== 'unchanged')

/** Lists all agents of a host. `root` is the agent of its root card, else the first public one. */
const listAgents = async (client: HostClient, url: string) => {
  const served = await pMap(
    await listRegistered(client),
    async ({ id, name = id }) => {
      const { etag, card, isPending } = await readLiveCard(client, id)
      const hidden = isPending ? ('pending' as const) : ('internal' as const)
      return { id, name, etag, visibility: card ? visibilityOf(card, url) : hidden }
    },
    { concurrency: 6 },
  )
  const { etag: rootEtag } = await readLiveCard(client)
  const withCard = served.filter(({ etag }) => etag !== undefined)
  const root = (withCard.find(({ etag }) => etag === rootEtag) ?? withCard[0])?.id
  return { agents: served, root, hasRootCard: rootEtag !== undefined }
}

/** Returns `gated` if a card is of calls through this host that need a token. */
const visibilityOf = ({ url, security }: JsonObject, hostUrl: string): 'gated' | 'public' =>
  String(url).startsWith(`${hostUrl}/`) && Array.isArray(security) && security.length > 0 ? 'gated' : 'public'

/** Describes what an anonymous client does not get: calls through this host, or even the card. */
const VISIBILITY_TEXT = {
  public: '',
  gated: 'calls need $TOKEN',
  internal: 'internal: needs $TOKEN',
  pending: 'its card has not been fetched yet',
}

const section = (title: string, commands: readonly string[]): string[] =>
  commands.length === 0 ? [] : [title, ...commands.map(command => colors.cyan(`  ${command}`))]

const cardCommands = (url: string, id: string): string[] => [
  `curl '${url}/agents/${id}?dialect=gopherhole'`,
  `curl -H 'A2A-Version: 1.0' ${url}/agents/${id}/.well-known/agent-card.json`,
  `npx sync-card verify ${url}/agents/${id}/`,
  `npx sync-card check ${id} --url ${url}`,
]

/** The samples whose use is shown: what their commands show, for a heading, and those for an agent at `agent`. */
export const SAMPLES: Record<string, { title: string; commands: (agent: string) => string[] }> = {
  echo: {
    title: 'Call an agent through the gate (a message, a stream, a call that its card does not allow):',
    commands: agent => [
      curlCall(agent, 'SendMessage', { text: 'hello' }),
      curlCall(agent, 'SendStreamingMessage', { text: 'stream one two three' }, { options: '-N ' }),
      curlCall(agent, 'SendMessage', { text: 'hello' }, { configuration: { acceptedOutputModes: ['image/png'] } }),
    ],
  },
  // The echo agent has no extended card: some clients request it without a token.
  weather: {
    title: 'Read the extended card of an agent, which callers with a token get:',
    commands: agent => [`curl -H "Authorization: Bearer $TOKEN" ${agent}/a2a/extendedAgentCard`],
  },
  'tool-box': {
    title: 'An MCP server as an agent: the card made from it, and a message that calls a tool:',
    commands: agent => [
      `curl '${agent}?dialect=superx'`,
      curlCall(agent, 'SendMessage', { data: { skillId: 'count_words', arguments: { text: 'one two three' } } }),
    ],
  },
}
