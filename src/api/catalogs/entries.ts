import type * as v from 'valibot'
import { cardUrl } from '../../card/model/index.ts'
import { isLocalName, parseUrl, toDidWeb } from '../../http/index.ts'
import type { CatalogAgent } from '../../registry/tables/index.ts'
import { type ArdEntry, toTime } from '../schemas/index.ts'

/** The media type of the cards that catalogs name. */
export const A2A_CARD_TYPE = 'application/a2a-agent-card+json'

/** The media type of the cards of MCP servers (SEP-2127). */
export const MCP_SERVER_CARD_TYPE = 'application/mcp-server-card+json'

/** The name of this host among its MCP servers; no id of an agent has an underscore. */
export const HOST_SERVER = 'calling_card'

/** A catalog has the first part of a description, and those words and queries that are short. */
const MAX_DESCRIPTION_LENGTH = 1000
const MAX_WORDS = 50
const MAX_WORD_LENGTH = 100
const MAX_QUERY_LENGTH = 300
/** ARD expects two to five queries, or none (§4.2). */
const MIN_QUERIES = 2
const MAX_QUERIES = 5

/** An entry of an ARD manifest. One of an AI Catalog is the same without the terms that ARD adds (0.91 §4.2). */
type CatalogEntry = v.InferOutput<typeof ArdEntry>

/** Members that only the whole entry of an agent has, and no result of a search. */
type EntryOnly = 'modified' | 'examples' | 'isSignedByHost'

/** An agent in a catalog, or one that was found. */
type EntryAgent = Omit<CatalogAgent, EntryOnly> & Partial<Pick<CatalogAgent, EntryOnly>>

/** Returns the entry of an agent: what a reader selects it by, and the address of its card. */
export const agentEntry = (agent: EntryAgent): CatalogEntry => {
  const { id, origin, name, description, version, modified, isSignedByHost = false } = agent
  const url = cardUrl(agent)
  const did = isSignedByHost ? didOf(origin) : undefined
  const tags = keepShort(agent.tags, MAX_WORD_LENGTH, MAX_WORDS)
  const capabilities = keepShort(agent.skillIds, MAX_WORD_LENGTH, MAX_WORDS)
  const queries = keepShort(agent.examples ?? [], MAX_QUERY_LENGTH, MAX_QUERIES)
  return {
    ...entry(origin, `agent:${id}`, { displayName: name, type: A2A_CARD_TYPE, url }),
    ...(description !== '' && { description: shorten(description, MAX_DESCRIPTION_LENGTH) }),
    ...(version !== '' && { version }),
    ...(modified !== undefined && { updatedAt: toTime(modified) }),
    ...(tags.length > 0 && { tags }),
    ...(capabilities.length > 0 && { capabilities }),
    ...(queries.length >= MIN_QUERIES && { representativeQueries: queries }),
    ...(did !== undefined && { trustManifest: describeTrust(did, url) }),
  }
}

/** Returns the entries of agents: those of their cards, then those of the MCP servers. */
export const entriesOf = (agents: readonly EntryAgent[], offersMcp: boolean): CatalogEntry[] => [
  ...agents.map(agentEntry),
  ...(offersMcp ? agents.flatMap(mcpEntries) : []),
]

/** Returns the entry of an agent as an MCP server; none where its owner does not want that. */
export const mcpEntries = ({ id, origin, name, mcp }: Pick<EntryAgent, 'id' | 'origin' | 'name' | 'mcp'>) =>
  mcp === 'off' ? [] : [mcpEntry(origin, id, { displayName: name, url: `${origin}/agents/${id}/mcp` })]

/** Returns the entry of the MCP server at `url`. */
export const mcpEntry = (origin: string, id: string, { displayName, url }: { displayName: string; url: string }) =>
  entry(origin, `mcp:${id}`, { displayName, type: MCP_SERVER_CARD_TYPE, url: `${url}/server-card` })

/** Returns the entry of anything else at an origin. `name` is the rest of its identifier. */
export const entry = (origin: string, name: string, members: Omit<CatalogEntry, 'identifier'>): CatalogEntry => ({
  identifier: `urn:air:${publisherOf(origin)}:${name}`,
  ...members,
})

/** Returns the address of the registry of ARD. Not the root: `GET /agents` there has a form of its own. */
export const registryUrl = (origin: string): string => `${origin}/ard/`

/** Cuts a text off at `maxLength`, after a word where one ends shortly before. */
export const shorten = (text: string, maxLength: number): string => {
  if (text.length <= maxLength) return text
  const start = text.slice(0, maxLength - 1)
  return `${start.replace(/\s+\S{0,30}$/, '').toWellFormed()}…`
}

/** Puts a text of a card into one short line, without characters that show nothing or change its direction. */
export const toLine = (text: string, maxLength: number): string => {
  const start = text.slice(0, 2 * maxLength)
  return shorten(start.replace(/[\p{C}\p{Z}]+/gu, ' ').trim(), maxLength)
}

/** Returns the name of the MCP server at `url`: the labels of its domain in reverse, and the id of its agent. */
export const mcpServerName = (url: string, id: string): string =>
  `${publisherOf(url).split('.').toReversed().join('.')}/${id}`

const keepShort = (texts: readonly string[], maxLength: number, count: number): string[] =>
  texts.filter(text => text.trim() !== '' && text.length <= maxLength).slice(0, count)

/** Returns the publisher of an identifier: the domain of an origin. ARD proposes the other for names of one machine. */
const publisherOf = (origin: string): string => {
  const { hostname } = new URL(origin)
  return /^[a-z0-9.-]+\.[a-z][a-z0-9-]*$/.test(hostname) ? hostname : 'agent.localhost'
}

/**
 * Returns the trust manifest of an agent whose card this host signs (AI Catalog, "Trust Manifest"; ARD 0.91 §4.5): the
 * members that both formats have. The evidence is the card itself, signed with the keys of the identity. It has no
 * digest of the card, because caches may have an older card than the catalog.
 */
const describeTrust = (identity: string, cardUrl: string): NonNullable<CatalogEntry['trustManifest']> => ({
  identity,
  identityType: 'did',
  trustSchema: {
    identifier: 'https://a2a-protocol.org/latest/specification/#84-agent-card-signing',
    version: '1.0',
    verificationMethods: ['did'],
  },
  attestations: [{ type: 'a2a-agent-card-signature', uri: cardUrl }],
})

/** Returns the DID of an origin (did:web). AI Catalog rejects one with a port, an address, or one machine's name. */
export const didOf = (origin: string): string | undefined => {
  const url = parseUrl(origin)
  const isDomain = url !== null && /^[a-z0-9.-]+\.[a-z][a-z0-9-]*$/.test(url.host) && !isLocalName(url.hostname)
  return isDomain && url.protocol === 'https:' ? toDidWeb(url.host) : undefined
}
