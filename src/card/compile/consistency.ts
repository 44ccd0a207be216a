import { formatPointer, type Pointer } from '../../json/index.ts'
import { trustedIssuers } from '../call-profile.ts'
import type { Manifest } from '../manifest/index.ts'
import { type AgentCard, type CardError, toTarget } from '../model/index.ts'
import { allowsAnonymous, type Provenance } from '../read/index.ts'
import { bridgeErrors, gatewayErrors, isSelfUrl, withBridgeInterfaces } from '../rewrite/index.ts'
import type { MergedCard } from './overlay.ts'

/**
 * Rejects a valid card that contradicts its manifest: calls that would loop, secrets that would go to another host, a route
 * without a target, a `jwt` without an issuer,
 * callers that nobody would check. Pointers are into the registered document, or into the fetched card.
 */
export const checkConsistency = (
  merged: MergedCard,
  card: AgentCard,
  provenance: Provenance,
  agentUrl: string,
): CardError[] => {
  const { manifest, fetched, isOwnerAuthored, errorPointer } = merged
  const cardErrors = fetched
    ? [
        ...bridgeErrors(manifest, card),
        ...endpointErrors(manifest, card, agentUrl, pointer => isOwnerAuthored(provenance.sourceOf(pointer))),
      ]
    : []
  return [
    ...cardErrors.map(error => ({ ...error, pointer: errorPointer(provenance.sourceOf(error.pointer)) })),
    ...(manifest.route === 'gateway' ? gatewayErrors(withBridgeInterfaces(manifest, card).supportedInterfaces) : []),
    ...(fetched ? detectLoops(manifest, agentUrl) : []),
    ...jwtErrors(merged, card),
    ...callerErrors(manifest, card),
  ]
}

/**
 * Rejects `callers` that would admit every account of an issuer, or that the card contradicts where nobody else checks
 * callers.
 */
const callerErrors = ({ callers, jwt, upstream }: Manifest, { securityRequirements }: AgentCard): CardError[] => {
  if (callers === 'issuer' && jwt?.audience === undefined) return [{ pointer: '/callers', message: noAudience }]
  const isUnchecked = callers === 'anyone' && upstream.secret !== undefined && !allowsAnonymous(securityRequirements)
  return isUnchecked ? [{ pointer: '/callers', message: uncheckedCallers }] : []
}

const noAudience =
  'needs `jwt.audience`, or every account of the issuer could call the agent: add the audience that its tokens have for this agent'
const uncheckedCallers =
  'is "anyone", but the card requires credentials that nobody would check, because each call gets the secret of the host: remove it, or the requirement from the card'

/** Rejects endpoints of a fetched card at this host itself, and those on another host that would receive the secret. */
const endpointErrors = (
  { upstream }: Manifest,
  { supportedInterfaces }: AgentCard,
  agentUrl: string,
  isOwnerAuthored: (pointer: Pointer) => boolean,
): CardError[] => {
  const { url, card, secret, service } = upstream
  if (card === undefined || url !== undefined) return []
  const problemOf = (address: string, pointer: Pointer): string | undefined => {
    if (isSelfUrl(address, agentUrl)) return loopMessage
    // The secret goes to the origin of `upstream.card`, or wherever the owner names an endpoint.
    const isSafe = secret === undefined || service !== undefined || isOwnerAuthored(pointer)
    return isSafe || new URL(address).origin === new URL(card).origin ? undefined : secretMessage
  }
  return supportedInterfaces.flatMap((each, index) => {
    const pointer = formatPointer('supportedInterfaces', index, 'url')
    const message = toTarget(each) && problemOf(each.url, pointer)
    return message ? [{ pointer, message }] : []
  })
}

/** Rejects upstream URLs that are this host's own URL of the agent. */
const detectLoops = ({ upstream }: Manifest, agentUrl: string): CardError[] =>
  (['url', 'card', 'mcp'] as const).flatMap(name => {
    const address = upstream[name]
    return address !== undefined && isSelfUrl(address, agentUrl)
      ? [{ pointer: formatPointer('upstream', name), message: loopMessage }]
      : []
  })

const loopMessage = "is this host's own URL of the agent, so calls would loop: use the agent's own URL"

const secretMessage =
  'is on another host than `upstream.card`, so the secret would go to a host that the manifest does not name: set `upstream.url` to allow it'

/** Rejects a `jwt` that no issuer of the card can satisfy. A fetched card cannot add a trusted issuer. */
const jwtErrors = ({ manifest: { jwt }, ownerCard, fetched }: MergedCard, card: AgentCard): CardError[] =>
  jwt && trustedIssuers(card, ownerCard).length === 0
    ? [{ pointer: '/jwt', message: fetched ? noOwnerIssuer : noIssuer }]
    : []

const noIssuer = 'needs an OpenID Connect issuer, and the securitySchemes of the card name none'
const noOwnerIssuer =
  'needs an OpenID Connect issuer that the manifest names: add one to the securitySchemes of `card` (a fetched card cannot)'
