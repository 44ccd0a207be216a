import { isJsonObject, type JsonObject, omit } from '../../json/index.ts'
import { writeRepresentations } from '../dialects/index.ts'
import type { Manifest } from '../manifest/index.ts'
import { type AgentCard, type DialectName, type Finding, relocate } from '../model/index.ts'
import type { Provenance } from '../read/index.ts'
import { gatewayInterfaces } from './gateway-interfaces.ts'
import { collectAgentAddresses, createLeakFinder } from './host-leaks.ts'
import { withBridgeInterfaces } from './mcp-bridge.ts'
import { createRewriter } from './rewrite-urls.ts'

/** A canonical card to be served, with the document that it was read from and the one that its signatures cover. */
type ServedCard = Record<'authored' | 'signed', JsonObject> & {
  card: AgentCard
  dialect: DialectName
  provenance: Provenance
}

/** A writer of the cards of one agent for its route. */
export type RouteWriter = {
  /** Returns a canonical card as it is served. */
  toServedCard: (card: AgentCard) => AgentCard
  /** Writes every representation, and returns the places in the authored card that reveal the agent's host. */
  writeRepresentations: (served: ServedCard) => ReturnType<typeof writeRepresentations> & { errors: Finding[] }
}

/** Creates the writer of an agent's cards: unchanged, or with this host's URLs. `fetched` are those from the agent. */
export const createRouteWriter = (
  manifest: Manifest,
  direct: AgentCard,
  fetched: readonly JsonObject[],
  agentUrl: string,
): RouteWriter => {
  const { route, signatures, bridge, upstream } = manifest
  const write = ({ card, authored, dialect, signed }: ServedCard, document = authored) =>
    writeRepresentations(card, { dialect, document, signed: signatures === 'keep' ? signed : undefined }, route)
  if (route !== 'gateway')
    return { toServedCard: card => card, writeRepresentations: served => ({ ...write(served), errors: [] }) }
  const addresses = collectAgentAddresses(manifest, direct, fetched, agentUrl)
  const find = createLeakFinder(addresses, agentUrl, upstream.mayShow ?? [])
  const rewrite = addresses.isFetched ? createRewriter(manifest, direct, addresses.hidden, agentUrl) : undefined
  return {
    toServedCard: card => {
      const supportedInterfaces = gatewayInterfaces(withBridgeInterfaces(manifest, card), bridge, agentUrl)
      const routed = { ...card, ...gatewayCardLink(card, agentUrl), supportedInterfaces }
      return rewrite ? (rewrite(routed) as AgentCard) : routed
    },
    writeRepresentations: served => {
      const { card, dialect, provenance } = served
      const written = write(served, rewrite?.(served.authored, provenance))
      // Signatures are served only where they are still valid, so they are searched in the documents.
      const inCard = find(omit(card, 'signatures')).filter(({ pointer }) => !provenance.isFilled(pointer))
      // The document in the author's dialect may keep fields that the canonical card does not have.
      const documents = new Set([written.documents[dialect], ...Object.values(written.documents)])
      const leaks = [relocate(inCard, provenance.sourceOf), ...[...documents].map(find)]
      return { ...written, errors: leaks.find(list => list.length > 0) ?? [] }
    },
  }
}

/** Points SuperX's `agentCard`, where a card has one, to the card that this host serves. */
const gatewayCardLink = ({ agentCard }: JsonObject, agentUrl: string): JsonObject =>
  isJsonObject(agentCard) && agentCard.url !== undefined
    ? { agentCard: { ...agentCard, url: `${agentUrl}/.well-known/agent-card.json` } }
    : {}
