import { basename, dirname, extname, join } from 'node:path'
import { agentIdPattern } from '../../../src/card/model/index.ts'
import { type JsonObject, jsonEquals } from '../../../src/json/index.ts'
import { ApiError, type HostClient, listAgents, readAgent } from '../../client/index.ts'
import { type Context, interruptSignal } from '../../context.ts'
import { asRejection, UsageError } from '../../errors.ts'
import type { HostSettings } from '../../hosts/index.ts'
import {
  applyDefaults,
  CARDS_FOLDER,
  createFile,
  DEFAULTS_NAMES,
  isCardFileName,
  isFolder,
  isUnread,
  loadManifests,
  readFolderDefaults,
  rejectLinkOutside,
  removeDefaults,
  renderManifest,
  replaceFile,
  starterDefaults,
} from '../../manifests/index.ts'
import { type AddCommand, addHostOptions, addOnlyOption, connect, type HostFlags } from '../../options.ts'
import {
  type AgentResult,
  agentText,
  Breaker,
  countsText,
  createFilter,
  differenceText,
  exitCodeOf,
  forEach,
  rejectUnmatchedGlobs,
  type SyncResult,
  toComparable,
  toJsonPatch,
} from '../../sync/index.ts'
import { colors, formatCount, withoutReports } from '../../terminal.ts'

type Flags = HostFlags & { only?: string[]; set?: string; all?: true; out: string; force?: true }

/** Adds `pull`, which writes what is registered into files. */
export const addPull: AddCommand = (program, context, exit) => {
  addOnlyOption(addHostOptions(program.command('pull'), 'write'))
    .description('write what is registered into files, for example to adopt an existing host')
    .argument('[ids...]', 'the agents; default: those of the set of the folder, else all that the token may write')
    .option('--set <name>', 'only agents of this set')
    .option('--all', 'also agents of sets that the folder does not have')
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
  const result = await pullCards(ids, flags, context)
  const exitCode = exitCodeOf(result)
  context.terminal.report(pullText(result))
  context.terminal.info(hintsOf(result, flags))
  const agents = result.results.map(({ change, ...agent }) => ({ ...agent, patch: change && toJsonPatch(change) }))
  if (json) context.terminal.out(JSON.stringify({ ...result, results: undefined, exitCode, agents }))
  return exitCode
}

/** The result for an agent of the host. `change` leads from the file's manifest to the host's. */
type PulledAgent = AgentResult & { id: string }

/** The result of a pull. `defaults` is the defaults file that it created, and `set` the one set that was pulled. */
type PullResult = Omit<SyncResult, 'skipped'> & {
  results: PulledAgent[]
  defaults?: string | undefined
  set?: string | undefined
  /** Agents that were left out because the token may not write them. */
  forbidden: number
}

/**
 * Writes what is registered into files. All manifests are fetched before the first file is written. Without ids, pulls
 * the agents of the set, else all that the token may write. Once interrupted, nothing more is requested or written.
 */
const pullCards = async (ids: readonly string[], flags: Flags, context: Context): Promise<PullResult> => {
  const { out, force = false } = flags
  const { host, client } = connect(flags, context)
  rejectLinkOutside(out, context.cwd)
  const folder = readFolder(out, host, context.cwd)
  const ownSet = typeof folder.defaults.set === 'string' ? folder.defaults.set : undefined
  const set = ids.length > 0 || flags.all ? undefined : (flags.set ?? host.set ?? ownSet)
  const breaker = new Breaker(interruptSignal(context))
  const wanted = ids.length > 0 ? [...new Set(ids)] : await breaker.call(() => listIds(client, flags, set))
  const fetched = await forEach({ context, breaker }, 'Fetching', wanted ?? [], id =>
    breaker.call(() => fetchAgent(client, id)),
  )
  const stopped = { url: host.url, results: [], forbidden: 0 }
  if (breaker.failure) return { ...stopped, failure: breaker.failure.message }
  if (breaker.isOpen) return { ...stopped, interrupted: true }
  const found = fetched.filter(item => item !== undefined)
  const agents = found.filter(item => 'manifest' in item)
  const failed = found.filter(item => 'action' in item)
  const reported = failed.filter(({ action }) => ids.length > 0 || action !== 'forbidden')
  const defaults = createDefaults(agents, folder, context.cwd)
  const written = agents.map(agent => writeAgent(agent, folder, force, context.cwd))
  const results = [...reported, ...written].sort((one, other) => (one.id < other.id ? -1 : 1))
  return { url: host.url, results, forbidden: failed.length - reported.length, defaults, set }
}

/** A file that describes an agent. An invalid file has no manifest. `other` is a second one that does. */
type OwnFile = { file: string; manifest?: JsonObject; other?: string }

type Folder = ReturnType<typeof readFolder>

const readFolder = (path: string, { url, set }: HostSettings, cwd: string) => {
  const defaults = readFolderDefaults(path, path, cwd)
  const { drafts, invalid, skipped } = loadManifests(isFolder(path, cwd) ? [path] : [], url, cwd)
  const files = new Map<string, OwnFile>()
  const add = (id: string, own: OwnFile): void => {
    const other = files.get(id)?.file
    files.set(id, { ...own, ...(other !== undefined && { other }) })
  }
  for (const { id, file } of invalid) if (id !== undefined) add(id, { file })
  for (const { id, file, manifest } of drafts)
    add(id, { file, manifest: toComparable(set === undefined ? manifest : { ...manifest, set }) })
  /** The paths that describe agents, in lower case: on some machines, case does not count. */
  const taken = new Set([...drafts, ...invalid].map(({ file }) => pathOf(file)))
  const broken = invalid.find(({ id }) => id === undefined)
  const unread = skipped.find(isUnread)
  const doubt = broken
    ? `${broken.file} may describe it, and is invalid: correct or delete it first`
    : unread && `${unread.file} may describe it, and is not read: ${unread.reason}`
  const isEmpty = drafts.length + invalid.length === 0 && !unread
  return { path, url, files, taken, doubt, isEmpty, defaults }
}

/** Returns the path of a file, or of the one that has an entry, for comparison. */
const pathOf = (file: string): string => file.replace(/#\/.*/, '').toLowerCase()

const listIds = async (client: HostClient, { only }: Flags, set: string | undefined): Promise<string[]> => {
  const listed = await listAgents(client, { set })
  const registered = listed.filter(agent => set === undefined || agent.set === set).map(({ id }) => id)
  if (registered.length > 0) rejectUnmatchedGlobs(only, registered)
  return registered.filter(createFilter(only))
}

type Fetched = { id: string; manifest: JsonObject }

/** Ids become file names, so ids of the host that are invalid are neither requested nor written. */
const fetchAgent = async (client: HostClient, id: string): Promise<Fetched | PulledAgent> => {
  if (!agentIdPattern.test(id)) return { id, action: 'not written', detail: 'this is not the id of an agent' }
  const registered = await readAgent(client, id).catch(asRejection)
  if (registered === undefined) return { id, action: 'not registered' }
  if (registered instanceof ApiError)
    return { id, action: registered.status === 403 ? 'forbidden' : 'not written', detail: registered.message }
  return { id, manifest: toComparable(registered.manifest) }
}

/** Writes the set of all agents into the defaults of a folder without files. Returns the file, if it was created. */
const createDefaults = (agents: readonly Fetched[], folder: Folder, cwd: string): string | undefined => {
  const [set, ...others] = new Set(agents.map(({ manifest }) => manifest.set))
  const isNew = folder.isEmpty && others.length === 0 && folder.defaults.set === undefined
  if (!isNew || typeof set !== 'string' || !agentIdPattern.test(set)) return undefined
  const file = join(folder.path, 'defaults.yaml')
  if (!createFile(file, starterDefaults(set), cwd)) return undefined
  folder.defaults = readFolderDefaults(folder.path, folder.path, cwd)
  return file
}

const writeAgent = ({ id, manifest }: Fetched, folder: Folder, force: boolean, cwd: string): PulledAgent => {
  const own = folder.files.get(id)
  if (own?.manifest && jsonEquals(own.manifest, manifest)) return { id, file: own.file, action: 'unchanged' }
  if (own === undefined) return createAgent({ id, manifest }, folder, force, cwd)
  const change = { before: own.manifest ?? {}, after: manifest }
  const { file } = own
  if (!force) return { id, file, action: 'differs', change, ...(!own.manifest && { detail: 'the file is invalid' }) }
  const reason = findObstacle(own)
  if (reason !== undefined) return { id, file, action: 'not written', detail: reason, change }
  const defaults = readFolderDefaults(dirname(file), folder.path, cwd)
  const text = renderAgent({ id, manifest }, file, { ...folder, defaults })
  if (text === undefined) return { id, file, action: 'not written', detail: NOT_EXPRESSIBLE, change }
  replaceFile(file, text, cwd)
  return { id, file, action: 'updated', change }
}

const NOT_EXPRESSIBLE = 'a file of this format, with these defaults, cannot have the same manifest'

/** Returns why a file cannot be overwritten: it has more than the manifest, or is not the only one. */
const findObstacle = ({ file, other }: OwnFile): string | undefined => {
  if (other !== undefined) return `${other} describes it, too: delete one of them`
  if (file.includes('#/')) return 'it is an entry of agents.json: change it there'
  if (/\.(?:ya?ml|json)$/i.test(file)) return undefined
  return 'the file also has the prompt, which is not on the host: change its front matter'
}

/** Never overwrites a file of another agent. One that describes none, such as a starter, may have the name. */
const createAgent = (agent: Fetched, folder: Folder, force: boolean, cwd: string): PulledAgent => {
  const { id } = agent
  const fail = (detail: string): PulledAgent => ({ id, action: 'not written', detail })
  if (folder.doubt !== undefined) return fail(folder.doubt)
  // No id begins with an underscore, so that no other agent has the same file name.
  const names = [...(isReservedName(id) ? [] : [id]), `_${id}`]
  const files = ['.yaml', '.json']
    .flatMap(extension => names.map(name => join(folder.path, name + extension)))
    .filter(file => !folder.taken.has(pathOf(file)))
  if (files.length === 0) return fail(`files of other agents have the names ${names.join(' and ')}`)
  for (const file of files) {
    const text = renderAgent(agent, file, folder)
    if (text === undefined) continue
    if (createFile(file, text, cwd)) return { id, file, action: 'created' }
    if (!force) return { id, file, action: 'differs', detail: 'the file describes no agent' }
    replaceFile(file, text, cwd)
    return { id, file, action: 'updated' }
  }
  return fail(NOT_EXPRESSIBLE)
}

/** Checks whether a file of this name is not read as a card, or Windows takes it for a device. */
const isReservedName = (name: string): boolean =>
  !isCardFileName(`${name}.yaml`) ||
  DEFAULTS_NAMES.includes(`${name}.yaml`) ||
  /^(?:con|prn|aux|nul|com\d|lpt\d)$/.test(name)

/** Returns the text of a file that, with the defaults of its folder, yields the manifest; undefined if no file can. */
const renderAgent = ({ id, manifest }: Fetched, file: string, { url, defaults }: Folder): string | undefined => {
  const own = removeDefaults(defaults, manifest)
  if (!jsonEquals(applyDefaults(defaults, own), manifest)) return undefined
  const isNamed = basename(file, extname(file)) === id
  return renderManifest(isNamed ? own : { id, ...own }, file, url)
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
