import * as v from 'valibot'
import { cardUrl } from '../../card/model/index.ts'
import type { Json } from '../../json/index.ts'
import type { ListedAgent as AgentRecord, SearchHit } from '../../registry/shared.ts'
import { cursor, described, flag, id, mapOf, oneOf, text, texts, url } from './parts.ts'

const ListedAgent = v.object({
  id,
  ...{ name: v.string(), description: v.string(), version: v.string() },
  card: url('The URL of the card.'),
  url: text('The preferred endpoint. Empty for none.'),
  visibility: v.optional(oneOf(['public', 'internal'], 'Only in lists for callers with a token.')),
  set: v.optional(text('The set of the agent. Only in lists for callers with a token.')),
  etag: v.optional(text('The entity tag of the manifest. Only with `set`, `writable` or `id`, and not in searches.')),
  skills: v.optional(texts('The ids of the skills. Only in searches.')),
  tags: v.optional(texts('The tags of the skills. Only in searches.')),
  capabilities: v.optional(texts('The capabilities, and the URIs of extensions. Only in searches.')),
  protocolVersions: v.optional(texts('The versions of A2A. Only in searches.')),
  signed: v.optional(flag('Whether the card is signed, by this host or by its author. Only in searches.')),
  provider: v.optional(text('The organization of the provider. Only in searches.')),
  score: v.optional(described(v.number(), 'How well the agent matches, compared with others of this response.')),
})

const Facet = v.object({ value: v.string(), count: v.number() })

export const AgentList = v.object({
  agents: v.array(ListedAgent),
  cursor,
  facets: v.optional(mapOf(v.array(Facet), 'The most frequent values of each requested filter.')),
  approximate: v.optional(flag('Whether more agents match than are counted.')),
})

export const ShamanList = v.object({
  protocolVersion: v.literal('0.3.0'),
  agents: v.array(
    v.object({
      ...{ name: v.string(), description: v.string(), version: v.string() },
      ...{ url: v.string(), preferredTransport: v.string() },
    }),
  ),
  cursor,
})

/** Returns an agent as lists have it for everybody. */
export const toListedAgent = ({ id, origin, name, description, version, url }: AgentRecord) => ({
  ...{ id, name, description, version, card: cardUrl({ origin, id }), url },
})

/** Returns an agent as responses to searches have it for everybody. */
export const toFoundAgent = (hit: SearchHit) => {
  const { skillIds: skills, tags, provider, capabilities, protocolVersions, signed, score } = hit
  return {
    ...toListedAgent(hit),
    ...{ skills, tags, capabilities, protocolVersions, signed },
    ...(provider !== '' && { provider }),
    ...(score !== undefined && { score }),
  }
}

/** An agent in the response to a search. */
export type FoundAgent = ReturnType<typeof toFoundAgent>

/** Returns what lists have of an agent for callers with a token only. */
export const toHosting = ({ visibility, set, manifestEtag: etag }: AgentRecord) => ({
  ...{ visibility, ...(set !== undefined && { set }), ...(etag !== undefined && { etag }) },
})

/** Returns an agent as Shaman's list has it. */
export const toShamanAgent = ({ name, description, version, shaman }: AgentRecord) => ({
  ...{ name, description, version, ...shaman },
})

/** Returns an agent as SuperX has it. Its older clients send the `id` back, newer ones the `name`. */
export const toSuperxAgent = ({ id, origin, protocol, description, version, url }: SuperxAgent) => ({
  ...{ id, name: id, protocol, description, version, url, agentCard: { url: cardUrl({ origin, id }) } },
})

type SuperxAgent = Record<'id' | 'origin', string> & Record<'protocol' | 'description' | 'version' | 'url', Json>
