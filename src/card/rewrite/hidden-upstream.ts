import type { JsonObject } from '../../json/json.ts'
import { formatPointer, parsePointer } from '../../json/pointer.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { Provenance } from '../read/provenance.ts'
import { type Links, proxyLinks } from './hidden-links.ts'
import { createUrlRewriter, rewriteUrls } from './rewrite-urls.ts'

/** A card that was fetched, with this host in the agent's place wherever it says where the agent is. */
export type HiddenUpstream = {
  links: Links
  card: (card: AgentCard) => AgentCard
  document: (authored: JsonObject, reading: Provenance) => JsonObject
}

/** Puts this host into the place of an agent that is at some addresses, in the canonical card as in that of its author. */
export const rewriteForGateway = (
  manifest: Manifest,
  direct: AgentCard,
  addresses: readonly string[],
  agentUrl: string,
): HiddenUpstream => {
  const { card: source } = manifest.upstream
  const map = createUrlRewriter({ endpoints: addresses.filter(each => each !== source), card: source, agentUrl })
  const links = proxyLinks(manifest, direct, addresses, agentUrl)
  return {
    links: links.served,
    card: card =>
      rewriteUrls(
        links.in(card as JsonObject, field => field),
        map,
      ) as AgentCard,
    document: (authored, reading) =>
      rewriteUrls(
        links.in(authored, field => parsePointer(reading.sourceOf(formatPointer(field)))[0] ?? field),
        map,
      ),
  }
}
