import { type CardError, truncateNotes } from '../card/model/report.ts'
import { checkDocument } from '../card/read/validate.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import { MAX_SKILLS } from '../limits.ts'
import type { Discovered, Listed } from './discover.ts'

/** How the entries of one list of a document are made of what an MCP server lists. */
type Listing = {
  /** The member of the document, and what one of what it lists is called. */
  name: 'skills' | 'resources' | 'prompts'
  one: 'tool' | 'resource' | 'prompt'
  /** The member that tells one from another: of two with the same, the first counts. */
  key: 'name' | 'uri'
  /** The entry for an item that has a key. */
  entry: (item: JsonObject) => JsonObject
}

/** What is left of what a document may hold: entries of each list, and characters of them all. */
type Room = { entries: number; characters: number }

/** The entries of a list that a card can hold; what is left out, and why, is in `notes`. */
const listedEntries = (
  { items, cut }: Listed,
  listing: Listing,
  room: Room,
): { entries: JsonObject[]; notes: CardError[] } => {
  const { name, one } = listing
  const entries: JsonObject[] = []
  const notes: CardError[] = []
  const keys = new Set<string>()
  const say = (message: string): void => {
    notes.push({ pointer: `/${name}`, message })
  }
  for (const [index, item] of items.entries()) {
    if (entries.length === room.entries) {
      say(`leaves out ${items.length - index} of the ${items.length} ${one}s: at most ${room.entries} are kept`)
      break
    }
    const read = readItem(item, listing, keys, room)
    if ('entry' in read) entries.push(read.entry)
    else say(`leaves out ${one} ${index + 1}${named(item)}: ${read.refused}`)
  }
  if (cut !== undefined) say(`lists not all ${one}s: ${cut}`)
  return { entries, notes }
}

const readItem = (
  item: Json,
  { name, one, key, entry }: Listing,
  keys: Set<string>,
  room: Room,
): { entry: JsonObject } | { refused: string } => {
  const id = isJsonObject(item) ? item[key] : undefined
  if (!isJsonObject(item) || typeof id !== 'string' || id === '') return { refused: `it has no ${key}` }
  if (keys.has(id)) return { refused: `a ${one} of this ${key} came before` }
  const read = entry(item)
  const [bad] = checkDocument({ [name]: [read] })
  if (bad) return { refused: `${bad.message} (at ${bad.pointer.slice(`/${name}/0`.length)})` }
  const size = JSON.stringify(read).length
  if (size > room.characters) return { refused: 'there is no room for it: the whole would be larger than 1 MiB' }
  room.characters -= size
  keys.add(id)
  return { entry: read }
}

const named = (item: Json): string => {
  const name = isJsonObject(item) ? item.name : undefined
  return typeof name === 'string' ? ` ("${name.slice(0, 60).toWellFormed()}")` : ''
}

/** How much a document may hold in its lists, in characters of JSON. */
const mostCharacters = 1024 * 1024

/** Of a tool, beside what SuperX tells of it: what describes it to callers. */
const skills: Listing = {
  name: 'skills',
  one: 'tool',
  key: 'name',
  entry: ({ name = '', description, inputSchema, ...tool }) => ({
    id: name,
    name,
    ...(typeof description === 'string' && { description }),
    ...(isJsonObject(inputSchema) && { inputSchema }),
    ...told(tool, 'title', 'outputSchema', 'annotations'),
  }),
}

export const resources: Listing = {
  name: 'resources',
  one: 'resource',
  key: 'uri',
  entry: resource => told(resource, 'uri', 'name', 'title', 'description', 'mimeType', 'size'),
}

const prompts: Listing = {
  name: 'prompts',
  one: 'prompt',
  key: 'name',
  entry: prompt => told(prompt, 'name', 'title', 'description', 'arguments'),
}

/**
 * What SuperX says of an MCP server as an agent: the card of agent `id` in the dialect `superx`. What an MCP server lists beyond
 * what a card can hold, or that is no tool, resource or prompt, is left out, and `notes` say so.
 */
export const toSuperxCard = (id: string, discovered: Discovered): { card: JsonObject; notes: CardError[] } => {
  const { protocolVersion, capabilities, serverInfo } = discovered
  const room = { entries: MAX_SKILLS, characters: mostCharacters }
  const lists = [
    [skills, discovered.tools] as const,
    ...(discovered.resources ? [[resources, discovered.resources] as const] : []),
    ...(discovered.prompts ? [[prompts, discovered.prompts] as const] : []),
  ].map(([listing, listed]) => ({ name: listing.name, ...listedEntries(listed, listing, room) }))
  const version = text(serverInfo.version)
  const card: JsonObject = {
    name: id,
    protocol: 'mcp',
    protocolVersion,
    description: text(serverInfo.name) ?? id,
    ...(version !== undefined && { version }),
    capabilities: declared(capabilities),
    ...Object.fromEntries(lists.map(({ name, entries }) => [name, entries])),
  }
  return {
    card,
    notes: truncateNotes(
      lists.flatMap(({ notes }) => notes),
      place => place,
    ),
  }
}

/** SuperX names all four, though a server names only what it has. */
const declared = ({ tools = null, resources = null, prompts = null, sampling = null }: JsonObject): JsonObject => ({
  tools,
  resources,
  prompts,
  sampling,
})

const text = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

const told = (item: JsonObject, ...names: string[]): JsonObject =>
  Object.fromEntries(names.flatMap(name => (item[name] == null ? [] : [[name, item[name]]])))
