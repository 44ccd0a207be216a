import { isJsonObject, type JsonObject } from '../../json/json.ts'
import { writeRepresentations } from '../dialects/representations.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard, AgentInterface } from '../model/agent-card.ts'
import { toTarget, wireVersionOf } from '../model/calls.ts'
import type { DialectName } from '../model/constants.ts'
import type { CardError } from '../model/report.ts'
import type { Provenance } from '../read/provenance.ts'
import { createLeakFinder, type Found, findLeaks, upstreamAddresses } from './host-leaks.ts'
import { withBridgeInterfaces } from './mcp-bridge.ts'
import { rewriteForGateway } from './rewrite-urls.ts'

/** Why the calls of a card cannot pass through this host; nothing where they can. */
export const gatewayErrors = (interfaces: readonly AgentInterface[]): CardError[] =>
  interfaces.some(toTarget)
    ? []
    : [
        {
          pointer: '/route',
          message: `calls pass through this host as JSONRPC or HTTP+JSON of A2A ${[...wireVersionOf.keys()].join(', ')} only; the card names none of these`,
        },
      ]

/** The interfaces of an agent whose calls go through this host: its own bindings and versions, at this host's address. */
const gatewayInterfaces = (interfaces: readonly AgentInterface[], agentUrl: string): AgentInterface[] => {
  const rerouted = new Map<string, AgentInterface>()
  for (const { protocolBinding, protocolVersion } of interfaces.filter(toTarget)) {
    const key = `${protocolBinding} ${protocolVersion}`
    if (!rerouted.has(key)) rerouted.set(key, { url: `${agentUrl}/a2a`, protocolBinding, protocolVersion })
  }
  return [...rerouted.values()]
}

/** SuperX's pointer to where a card is served: behind a gateway, that is this host. */
const gatewayCardLink = (card: JsonObject, agentUrl: string): JsonObject =>
  isJsonObject(card.agentCard) && card.agentCard.url !== undefined
    ? { agentCard: { ...card.agentCard, url: `${agentUrl}/.well-known/agent-card.json` } }
    : {}

/** A card as it is to be served, and what it was read of; `signed` is what its signatures are over. */
type Served = {
  card: AgentCard
  authored: JsonObject
  dialect: DialectName
  provenance: Provenance
  signed: JsonObject
}

/** How the cards of one agent are served: as they are, or with this host in the agent's place. */
export type Serving = {
  /** A canonical card as it is served. */
  card: (card: AgentCard) => AgentCard
  /** Every representation of such a card, and where they still say what they should not. */
  representations: (served: Served) => ReturnType<typeof writeRepresentations> & { errors: CardError[] }
}

/** How the cards of an agent are served; `fetched` is there where they come from elsewhere. */
export const createServing = (
  manifest: Manifest,
  direct: AgentCard,
  fetched: JsonObject | undefined,
  agentUrl: string,
): Serving =>
  manifest.route === 'gateway'
    ? forGateway(manifest, direct, fetched, agentUrl)
    : {
        card: card => card,
        representations: ({ card, authored, dialect, signed }) => ({
          ...writeRepresentations(card, { dialect, document: authored, signed }, manifest.route),
          errors: [],
        }),
      }

const forGateway = (
  manifest: Manifest,
  direct: AgentCard,
  fetched: JsonObject | undefined,
  agentUrl: string,
): Serving => {
  const addresses = upstreamAddresses(manifest, direct, fetched, agentUrl)
  const { mayShow = [] } = manifest.upstream
  const find = createLeakFinder({ ...addresses, agentUrl, fetched: fetched !== undefined, mayShow })
  const hidden = fetched && rewriteForGateway(manifest, direct, addresses.apart, agentUrl)
  return {
    card: card => {
      const through = {
        ...card,
        ...gatewayCardLink(card, agentUrl),
        supportedInterfaces: gatewayInterfaces(withBridgeInterfaces(manifest, card).supportedInterfaces, agentUrl),
      }
      return hidden?.card(through) ?? through
    },
    representations: ({ card, authored, dialect, provenance, signed }) => {
      const document = hidden?.document(authored, provenance) ?? authored
      const made = writeRepresentations(card, { dialect, document, signed }, manifest.route)
      const errors = findLeaks(find, { card, dialect, provenance, ...made }, fetched ? leakMessage : () => written)
      return { ...made, errors }
    },
  }
}

const written = "holds the agent's own address, which `route: gateway` is to hide: leave it out"

const leakMessage = ({ host, isPrivate }: Found): string =>
  `names ${host}, ${isPrivate ? 'which is of a private network' : 'where the agent is'}, and \`route: gateway\` is to hide that: say something else under \`card\`, or list the host in \`upstream.mayShow\``
