import { containsSecret } from '../../card/lint/index.ts'
import { type Finding, truncateFindings } from '../../card/model/index.ts'
import { checkDocument } from '../../card/read/index.ts'
import type { UpstreamFetch } from '../../http/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json/index.ts'
import {
  DISCOVERY_TIMEOUT_SECONDS,
  MAX_DISCOVERY_BYTES,
  MAX_DISCOVERY_RESPONSE_BYTES,
  MAX_MCP_LISTS_LENGTH,
  MAX_SKILLS,
} from '../../limits.ts'
import type { ElicitationPolicy } from './elicitation.ts'
import { notReady, truncate } from './mcp-error.ts'
import { type Failed, type ListKind, openSession, type ServerInfo, type Session } from './session.ts'

/** Everything that an MCP server declares about itself. */
export type Discovered = ServerInfo & { tools: Listed; resources?: Listed; prompts?: Listed }

/** The items of a list, in the server's order. `truncated` is the reason where the server has more. */
export type Listed = { items: Json[]; truncated?: string }

/** The limits of discovery. */
export const discoveryLimits = {
  requestTimeoutMs: 10_000,
  timeoutMs: DISCOVERY_TIMEOUT_SECONDS * 1000,
  maxResponseBytes: MAX_DISCOVERY_RESPONSE_BYTES,
  // All pages are in memory until the last one arrives.
  maxSessionBytes: MAX_DISCOVERY_BYTES,
  maxItems: MAX_SKILLS,
  maxPages: 100,
}
type DiscoveryLimits = typeof discoveryLimits & {
  /** Servers offer the tools that use elicitation only to clients that support it. */
  elicitations?: ElicitationPolicy
}

/** Asks an MCP server for everything that it declares, in a session of its own. */
export const discover = async (url: string, fetch: UpstreamFetch, limits: DiscoveryLimits = discoveryLimits) => {
  const signal = AbortSignal.timeout(limits.timeoutMs)
  for (let isRetry = false; ; isRetry = true) {
    const found = await discoverOnce(url, fetch, { ...limits, signal })
    if (!('failure' in found) || found.failure.code !== 'session-lost') return found
    if (isRetry) return { failure: notReady(`loses its sessions (HTTP ${found.failure.status})`) }
  }
}

type SignalLimits = DiscoveryLimits & { signal: AbortSignal }

/** Requests the lists that the server declares as its capabilities. Returns them, or why that failed. */
const discoverOnce = async (url: string, fetch: UpstreamFetch, limits: SignalLimits) => {
  const opened = await openSession(url, fetch, { ...limits, timeoutMs: limits.requestTimeoutMs })
  if ('failure' in opened) return opened
  const { session } = opened
  try {
    const discovered: Discovered = { ...session.server, tools: { items: [] } }
    for (const kind of ['tools', 'resources', 'prompts'] as const) {
      if (session.server.capabilities[kind] == null) continue
      const listed = await listAll(session, kind, limits)
      if (!('failure' in listed)) discovered[kind] = listed
      // A card is made of tools, and can do without resources and prompts.
      else if (kind !== 'tools' && listed.failure.code === 'refused')
        discovered[kind] = { items: [], truncated: listed.failure.message }
      else return listed
    }
    return { discovered }
  } finally {
    await session.close()
  }
}

const listAll = async (session: Session, kind: ListKind, limits: SignalLimits): Promise<Listed | Failed> => {
  const { requestTimeoutMs, signal, maxItems, maxPages } = limits
  let items: Json[] = []
  const cursors = new Set<string>()
  for (let cursor: string | undefined; cursors.size < maxPages; ) {
    const requested = await session.listPage(kind, cursor, { timeoutMs: requestTimeoutMs, signal })
    if ('failure' in requested) return requested
    items = items.concat(requested.page.items)
    cursor = requested.page.nextCursor
    if (cursor === undefined) return { items }
    if (cursors.has(cursor)) return { items, truncated: 'the server repeats the cursor of a page' }
    if (items.length > maxItems) return { items, truncated: `this host requests no more than ${maxItems}` }
    cursors.add(cursor)
  }
  return { items, truncated: `this host requests no more than ${maxPages} pages` }
}

/**
 * Makes the card of agent `id` in the dialect `superx`, as SuperX describes an MCP server. Leaves out what does not fit
 * into a card and what is no tool, resource or prompt of MCP; `notes` lists these.
 */
export const toSuperxCard = (id: string, discovered: Discovered, serverUrl?: string) => {
  const { protocolVersion, capabilities, serverInfo, instructions } = discovered
  const budget = { entries: MAX_SKILLS, characters: MAX_MCP_LISTS_LENGTH }
  const lists = forms.flatMap(form => {
    const listed = discovered[`${form.item}s`]
    return listed ? [{ member: form.member, ...toEntries(listed, form, budget) }] : []
  })
  const version = nonEmpty(serverInfo.version)
  const { described, notes: descriptionNotes } = describeServer(serverInfo, instructions, serverUrl)
  const card: JsonObject = {
    name: id,
    protocol: 'mcp',
    protocolVersion,
    description: described.length > 0 ? described.join('\n\n') : id,
    ...(version !== undefined && { version }),
    // A server declares only the capabilities that it has. SuperX lists all four.
    capabilities: Object.fromEntries(
      ['tools', 'resources', 'prompts', 'sampling'].map(name => [name, capabilities[name] ?? null]),
    ),
    ...Object.fromEntries(lists.map(({ member, entries }) => [member, entries])),
  }
  const notes = [...descriptionNotes, ...lists.flatMap(list => list.notes)]
  return { card, notes: truncateFindings(notes, pointer => pointer) }
}

/** The part of each text of a server about itself that its card shows: instructions are for models, and may be long. */
const MAX_DESCRIPTION_LENGTH = 4_000

/**
 * Returns how a server describes itself: its title, or else its name, its description and its instructions. Leaves out
 * a text with the server's host, which the card of a gateway must not show.
 */
const describeServer = ({ title, name, description }: JsonObject, instructions?: string, serverUrl?: string) => {
  const texts = [nonEmpty(title) ?? nonEmpty(name), nonEmpty(description), nonEmpty(instructions)]
    .filter(text => text !== undefined)
    .map(text => truncate(text, MAX_DESCRIPTION_LENGTH))
  const host = serverUrl === undefined ? undefined : new URL(serverUrl).hostname.toLowerCase()
  const described = texts.filter(text => host === undefined || !text.toLowerCase().includes(host))
  const message = "omits a text of the server about itself, because it names the server's own host"
  return { described, notes: described.length < texts.length ? [{ pointer: '/description', message }] : [] }
}

const RESOURCE_MEMBERS = ['uri', 'name', 'title', 'description', 'mimeType', 'size'] as const

/**
 * The lists of an MCP server, by the member of the card and MCP's name for one item. `key` identifies an item: of two
 * with the same value, the first counts. `copied` are the members that the card has as they are.
 */
const forms = [
  { member: 'skills', item: 'tool', key: 'name', copied: ['title', 'outputSchema', 'annotations'] },
  { member: 'resources', item: 'resource', key: 'uri', copied: RESOURCE_MEMBERS },
  { member: 'prompts', item: 'prompt', key: 'name', copied: ['name', 'title', 'description', 'arguments'] },
] as const

/** Returns what SuperX documents of a skill; other members describe a tool to its callers. */
const toSkill = ({ name = '', description, inputSchema }: JsonObject): JsonObject => ({
  id: name,
  name,
  ...(typeof description === 'string' && { description }),
  ...(isJsonObject(inputSchema) && { inputSchema }),
})

/** Copies the members that are present. */
export const pick = <Source extends object>(source: Source, ...names: (keyof Source & string)[]): JsonObject =>
  Object.fromEntries(names.flatMap(name => (source[name] == null ? [] : [[name, source[name] as Json]])))

/** The rest of a card for its lists: entries of each list, and characters of JSON of all lists together. */
type Budget = { entries: number; characters: number }

const toEntries = ({ items, truncated }: Listed, form: (typeof forms)[number], budget: Budget) => {
  const { member, item, key } = form
  const entries: JsonObject[] = []
  const notes: Finding[] = []
  const keys = new Set<string>()
  const note = (message: string): void => {
    notes.push({ pointer: `/${member}`, message })
  }
  const convert = (value: Json): { entry: JsonObject } | { error: string } => {
    const id = isJsonObject(value) ? value[key] : undefined
    if (!isJsonObject(value) || typeof id !== 'string' || id === '') return { error: `it has no ${key}` }
    if (keys.has(id)) return { error: `another ${item} has the same ${key}` }
    // The MCP client of this host has no tasks: the protocol has replaced them since.
    if (item === 'tool' && isJsonObject(value.execution) && value.execution.taskSupport === 'required')
      return { error: 'it runs as a task of MCP only (execution.taskSupport), and this host calls tools without' }
    const entry = { ...(item === 'tool' && toSkill(value)), ...pick(value, ...form.copied) }
    const [error] = checkDocument({ [member]: [entry] })
    if (error) return { error: `${error.message} (at ${error.pointer.slice(`/${member}/0`.length)})` }
    const size = JSON.stringify(entry).length
    if (size > budget.characters) return { error: 'the lists would be larger than 1 MiB' }
    budget.characters -= size
    keys.add(id)
    return { entry }
  }
  for (const [index, each] of items.entries()) {
    if (entries.length === budget.entries) {
      note(`omits ${items.length - index} of ${items.length} ${item}s: a card lists at most ${budget.entries}`)
      break
    }
    const converted = convert(each)
    if ('entry' in converted) entries.push(converted.entry)
    else note(`omits ${item} ${index + 1}${quotedName(each)}: ${converted.error}`)
  }
  if (truncated !== undefined) note(`may lack ${item}s: ${truncated}`)
  return { entries, notes }
}

const quotedName = (value: Json): string => {
  const name = isJsonObject(value) ? value.name : undefined
  return typeof name === 'string' && !containsSecret(name) ? ` ("${name.slice(0, 60).toWellFormed()}")` : ''
}

const nonEmpty = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
