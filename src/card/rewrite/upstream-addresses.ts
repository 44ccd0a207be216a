import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard } from '../model/agent-card.ts'
import { endpointFields } from '../read/endpoint.ts'
import { isSelfUrl } from './own-address.ts'

/** Where the agent behind a gateway is. */
export type UpstreamAddresses = {
  /** What no link may be on the host of: it is nobody else's business. */
  apart: string[]
  /** Where links for people may be on the same host, unless they lead to the interface itself. */
  interfaces: string[]
}

/**
 * Where the agent is by its manifest and its card. An owner who writes a card knows what its links tell; of a card that was
 * fetched, `fetched` as it came and the interfaces that count are as private as what the manifest says.
 */
export const upstreamAddresses = (
  { upstream: { url, card, mcp } }: Manifest,
  { supportedInterfaces }: AgentCard,
  fetched: JsonObject | undefined,
  agentUrl: string,
): UpstreamAddresses => {
  const written = [url, card, mcp].filter(each => each !== undefined)
  const interfaces = supportedInterfaces.map(each => each.url)
  if (fetched === undefined) return { apart: written, interfaces }
  // An agent that knows where it is called may say this host's address itself.
  const named = [...interfaces, ...endpointUrls(fetched)].filter(each => !isSelfUrl(each, agentUrl))
  return { apart: [...new Set([...written, ...named])], interfaces: [] }
}

/** Every URL that a card of any generation says calls go to. */
const endpointUrls = (card: JsonObject): string[] =>
  endpointFields
    .flatMap(name => card[name] ?? [])
    .map((item: Json) => (isJsonObject(item) ? item.url : item))
    .flatMap(url => (typeof url === 'string' && /^https?:\/\//i.test(url) && URL.canParse(url) ? [url] : []))
