import type { JsonObject } from '../../json/json.ts'
import { pointer, tokens } from '../../json/pointer.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { Reading } from '../read/provenance.ts'
import { hiddenLinks, type Links } from './hidden-links.ts'
import { urlMap, withUrls } from './rewrite-urls.ts'

/** A card that was fetched, with this host in the agent's place wherever it says where the agent is. */
export type HiddenUpstream = {
  links: Links
  card: (card: AgentCard) => AgentCard
  document: (authored: JsonObject, reading: Reading) => JsonObject
}

/** Puts this host into the place of an agent that is at some addresses, in the canonical card as in that of its author. */
export const hideUpstream = (
  manifest: Manifest,
  direct: AgentCard,
  addresses: readonly string[],
  agentUrl: string,
): HiddenUpstream => {
  const { card: source } = manifest.upstream
  const map = urlMap({ endpoints: addresses.filter(each => each !== source), card: source, agentUrl })
  const links = hiddenLinks(manifest, direct, addresses, agentUrl)
  return {
    links: links.served,
    card: card =>
      withUrls(
        links.in(card as JsonObject, field => field),
        map,
      ) as AgentCard,
    document: (authored, reading) =>
      withUrls(
        links.in(authored, field => tokens(reading.authored(pointer(field)))[0] ?? field),
        map,
      ),
  }
}
