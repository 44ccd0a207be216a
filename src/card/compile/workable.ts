import { trustedIssuers } from '../issuers.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { CardError } from '../model/report.ts'
import type { Provenance } from '../read/provenance.ts'
import { gatewayErrors } from '../rewrite/gateway.ts'
import { bridgeErrors, withBridgeInterfaces } from '../rewrite/mcp-bridge.ts'
import { detectLoops, fetchedEndpointErrors } from './consistency.ts'
import type { SourcedCard } from './sourced-card.ts'

/** Why a sound card and its manifest do not go together: each at a place of the document, or of what was fetched. */
export const checkConsistency = (
  sourced: SourcedCard,
  card: AgentCard,
  reading: Provenance,
  agentUrl: string,
): CardError[] => {
  const { manifest, fetched, isOwners, refusedAt } = sourced
  const inCard = fetched
    ? [
        ...bridgeErrors(manifest, card),
        ...fetchedEndpointErrors(manifest, card, agentUrl, place => isOwners(reading.sourceOf(place))),
      ]
    : []
  return [
    ...inCard.map(error => ({ ...error, pointer: refusedAt(reading.sourceOf(error.pointer)) })),
    ...(manifest.route === 'gateway' ? gatewayErrors(withBridgeInterfaces(manifest, card).supportedInterfaces) : []),
    ...(fetched ? detectLoops(manifest, agentUrl) : []),
    ...jwtErrors(sourced, card),
  ]
}

const jwtErrors = ({ manifest: { jwt }, written, fetched }: SourcedCard, card: AgentCard): CardError[] =>
  jwt && trustedIssuers(card, written).length === 0
    ? [{ pointer: '/jwt', message: fetched ? noneWritten : noneNamed }]
    : []

const noneNamed = "is about tokens of OpenID Connect issuers, but the card's securitySchemes name none"
const noneWritten =
  'is about tokens of OpenID Connect issuers, and of a fetched card none counts: name it in the securitySchemes of `card`'
