import { formatPointer, type Pointer } from '../../json/json.ts'
import { trustedIssuers } from '../call-profile.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard } from '../model/agent-card.ts'
import { toTarget } from '../model/calls.ts'
import type { CardError } from '../model/report.ts'
import type { Provenance } from '../read/provenance.ts'
import { isSelfUrl } from '../rewrite/host-leaks.ts'
import { bridgeErrors, withBridgeInterfaces } from '../rewrite/mcp-bridge.ts'
import { gatewayErrors } from '../rewrite/serving.ts'
import type { SourcedCard } from './overlay.ts'

/**
 * Why calls cannot go where a card from elsewhere sends them: to this host itself, or with a secret to a host that its owner
 * has not named. `isOwners` says whether a place of the card is the owner's word.
 */
const fetchedEndpointErrors = (
  { upstream }: Manifest,
  { supportedInterfaces }: AgentCard,
  agentUrl: string,
  isOwners: (place: Pointer) => boolean,
): CardError[] => {
  const { url, card, secret, service } = upstream
  if (card === undefined || url !== undefined) return []
  const wrong = (address: string, place: Pointer): string | undefined => {
    if (isSelfUrl(address, agentUrl)) return ownAddress
    const keepsSecret = secret === undefined || service !== undefined || isOwners(place)
    return keepsSecret || new URL(address).origin === new URL(card).origin ? undefined : secretElsewhere
  }
  return supportedInterfaces.flatMap((each, index) => {
    const place = formatPointer('supportedInterfaces', index, 'url')
    const message = toTarget(each) && wrong(each.url, place)
    return message ? [{ pointer: place, message }] : []
  })
}

/** Why an agent cannot be where its manifest says: at this host's own address of it. */
const detectLoops = ({ upstream }: Manifest, agentUrl: string): CardError[] =>
  (['url', 'card', 'mcp'] as const).flatMap(name => {
    const address = upstream[name]
    return address !== undefined && isSelfUrl(address, agentUrl)
      ? [{ pointer: formatPointer('upstream', name), message: ownAddress }]
      : []
  })

const ownAddress = "is this host's own address of the agent, which leads back here: name the agent's own"

const secretElsewhere =
  'is on another host than `upstream.card`, and the secret would go there: say `upstream.url` if it should'

/** Why a sound card and its manifest do not go together: each at a place of the document, or of what was fetched. */
export const checkConsistency = (
  sourced: SourcedCard,
  card: AgentCard,
  provenance: Provenance,
  agentUrl: string,
): CardError[] => {
  const { manifest, fetched, isOwners, refusedAt } = sourced
  const inCard = fetched
    ? [
        ...bridgeErrors(manifest, card),
        ...fetchedEndpointErrors(manifest, card, agentUrl, place => isOwners(provenance.sourceOf(place))),
      ]
    : []
  return [
    ...inCard.map(error => ({ ...error, pointer: refusedAt(provenance.sourceOf(error.pointer)) })),
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
