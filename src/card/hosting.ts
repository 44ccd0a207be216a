import { endpointsOf } from './endpoint.ts'
import { isObject, type JsonObject } from './json.ts'
import type { Manifest } from './manifest.ts'
import type { Reading } from './reading.ts'

/** A card with what its manifest says of it: where the agent is, when the card does not say, and that there is more to tell. */
export const withHosting = (manifest: Manifest, reading: Reading): JsonObject => {
  const card = withEndpoint(manifest)
  return manifest.extended || manifest.tiers ? withExtendedCard(card, reading) : card
}

const withEndpoint = ({ card, upstream: { url, mcp } }: Manifest): JsonObject => {
  const endpoint = url ?? mcp
  if (endpoint === undefined || endpointsOf(card).length > 0) return card
  const speaksMcp =
    url === undefined && ['protocol', 'preferredTransport', 'preferred_transport'].every(n => !(n in card))
  return { ...card, url: endpoint, ...(speaksMcp && { protocol: 'mcp' }) }
}

/** Each dialect says it in its own field; where a card has both, both. */
const withExtendedCard = (card: JsonObject, reading: Reading): JsonObject => {
  const flags = card.capabilities ?? {}
  const named = !isObject(flags)
  if (named || flags.extendedAgentCard !== true)
    reading.fill('/capabilities/extendedAgentCard', 'set to true: the manifest has an extended card')
  return {
    ...card,
    ...(!named && { capabilities: { ...flags, extendedAgentCard: true } }),
    ...((named || 'supportsAuthenticatedExtendedCard' in card) && { supportsAuthenticatedExtendedCard: true }),
  }
}

/** The origin of this host's absolute URLs in a card: `PUBLIC_URL`, else the agent's first host, else where it was registered. */
export const hostOrigin = (
  { hosts }: Manifest,
  { publicUrl, requestOrigin }: { publicUrl?: string | undefined; requestOrigin: string },
): string => {
  if (publicUrl) return publicUrl.replace(/\/+$/, '')
  const host = hosts.find(name => name !== '*')
  return host === undefined ? requestOrigin : `https://${host}`
}
