import { truncateNotes } from '../card/model/bounded.ts'
import type { CardError } from '../card/model/report.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import { limits } from '../limits.ts'
import type { Listed } from './list-all.ts'
import { type Listing, listedEntries } from './listed-entries.ts'
import type { ServerInfo } from './server-facts.ts'

/** All that an MCP server has said of itself. */
export type Discovered = ServerInfo & { tools: Listed; resources?: Listed; prompts?: Listed }

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

const resources: Listing = {
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
  const room = { entries: limits.skills, characters: mostCharacters }
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
