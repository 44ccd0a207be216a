import * as v from 'valibot'

const text = v.string()
const texts = v.array(text)

/** An agent in lists. `url` is its preferred endpoint; `protocol` is `mcp` for the card of an MCP server. */
export const Summary = v.object({
  ...{ name: text, description: text, version: text, url: text, protocol: text },
  documentationUrl: v.exactOptional(text),
  /** Set where MCP clients cannot use the agent. */
  mcp: v.exactOptional(v.literal('off')),
  /** The endpoint in the list for Shaman's clients. */
  shaman: v.object({ url: text, preferredTransport: text }),
})
export type Summary = v.InferOutput<typeof Summary>

/**
 * The values by which agents are found and filtered, besides names and descriptions: from the public card, each value
 * once. `capabilities` are the flags that are true and the URIs of extensions; `examples` the first few of all skills.
 */
export const SearchFields = v.object({
  /** The organization; empty for none. */
  provider: text,
  ...{ skillIds: texts, skillNames: texts, tags: texts, examples: texts, capabilities: texts },
  ...{ inputModes: texts, outputModes: texts, protocolVersions: texts },
  /** Set where a document of the card has signatures of its author. A search adds those of this host. */
  signed: v.boolean(),
  /** The descriptions and examples of the skills, for the full-text index only. */
  text,
})
export type SearchFields = v.InferOutput<typeof SearchFields>

/** One agent in a list. Its set is only for callers who may read or write the agent. */
export type ListedAgent = Summary & {
  id: string
  origin: string
  visibility: string
  set?: string
  manifestEtag?: string
}

/** One agent that was found. The higher the score, the better it matches; a search without words has none. */
export type SearchHit = ListedAgent & { score?: number } & Pick<
    SearchFields,
    'skillIds' | 'tags' | 'provider' | 'capabilities' | 'protocolVersions' | 'signed'
  >
