import { issuersOf } from '../issuers.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { CardError } from '../model/report.ts'
import type { Reading } from '../read/provenance.ts'
import { gatewayErrors } from '../rewrite/gateway.ts'
import { bridgeErrors, onBridge } from '../rewrite/mcp-bridge.ts'
import { fetchedEndpointErrors, upstreamLoops } from './consistency.ts'
import type { SourcedCard } from './sourced-card.ts'

/** Why a sound card and its manifest do not go together: each at a place of the document, or of what was fetched. */
export const unworkable = (sourced: SourcedCard, card: AgentCard, reading: Reading, agentUrl: string): CardError[] => {
  const { manifest, fetched, isOwners, refusedAt } = sourced
  const inCard = fetched
    ? [
        ...bridgeErrors(manifest, card),
        ...fetchedEndpointErrors(manifest, card, agentUrl, place => isOwners(reading.authored(place))),
      ]
    : []
  return [
    ...inCard.map(error => ({ ...error, pointer: refusedAt(reading.authored(error.pointer)) })),
    ...(manifest.route === 'gateway' ? gatewayErrors(onBridge(manifest, card).supportedInterfaces) : []),
    ...(fetched ? upstreamLoops(manifest, agentUrl) : []),
    ...jwtErrors(sourced, card),
  ]
}

const jwtErrors = ({ manifest: { jwt }, written, fetched }: SourcedCard, card: AgentCard): CardError[] =>
  jwt && issuersOf(card, written).length === 0 ? [{ pointer: '/jwt', message: fetched ? noneWritten : noneNamed }] : []

const noneNamed = "is about tokens of OpenID Connect issuers, but the card's securitySchemes name none"
const noneWritten =
  'is about tokens of OpenID Connect issuers, and of a fetched card none counts: name it in the securitySchemes of `card`'
