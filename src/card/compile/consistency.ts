import { formatPointer, type Pointer } from '../../json/index.ts'
import { trustedIssuers } from '../call-profile.ts'
import type { Manifest } from '../manifest/index.ts'
import { type AgentCard, type CardError, toTarget } from '../model/index.ts'
import { allowsAnonymous, type Provenance } from '../read/index.ts'
import { bridgeErrors, gatewayErrors, isSelfUrl, withBridgeInterfaces } from '../rewrite/index.ts'
import type { MergedCard } from './overlay.ts'

/**
 * Rejects a valid card that contradicts its manifest: calls that would loop, secrets that would go to another host, a
 * route without a target, a `jwt` without an issuer, callers that nobody would check. Pointers are into the registered
 * document, or into the fetched card.
 */
export const checkConsistency = (
  merged: MergedCard,
  card: AgentCard,
  provenance: Provenance,
  agentUrl: string,
): CardError[] => {
  const { manifest, fetched, isOwnerAuthored, errorPointer } = merged
  const { route, upstream } = manifest
  const isOwners = (pointer: Pointer) => isOwnerAuthored(provenance.sourceOf(pointer))
  const fetchedErrors = fetched
    ? [...bridgeErrors(manifest, card), ...endpointErrors(upstream, card, agentUrl, isOwners)]
    : []
  return [
    ...fetchedErrors.map(error => ({ ...error, pointer: errorPointer(provenance.sourceOf(error.pointer)) })),
    ...(route === 'gateway' ? gatewayErrors(withBridgeInterfaces(manifest, card).supportedInterfaces) : []),
    // An upstream URL that is this host's own URL of the agent.
    ...(fetched ? (['url', 'card', 'mcp'] as const) : []).flatMap(name =>
      errorIf(isSelfUrl(upstream[name] ?? '', agentUrl), formatPointer('upstream', name), loopMessage),
    ),
    ...jwtErrors(merged, card),
    ...callerErrors(manifest, card),
  ]
}

const errorIf = (isWrong: boolean, pointer: Pointer, message: string): CardError[] =>
  isWrong ? [{ pointer, message }] : []

/** Rejects callers of every account of an issuer, and callers whom the card limits but nobody checks. */
const callerErrors = ({ callers, jwt, upstream }: Manifest, { securityRequirements }: AgentCard): CardError[] => [
  ...errorIf(
    callers === 'issuer' && jwt?.audience === undefined,
    '/callers',
    'needs `jwt.audience`, or every account of the issuer could call the agent: add the audience of its tokens',
  ),
  ...errorIf(
    callers === 'anyone' && upstream.secret !== undefined && !allowsAnonymous(securityRequirements),
    '/callers',
    'is "anyone", but the card requires credentials that nobody would check, because each call gets the secret of ' +
      'the host: remove it, or the requirement from the card',
  ),
]

/** Rejects endpoints of a fetched card at this host itself, and those on another host that would receive the secret. */
const endpointErrors = (
  { url, card, secret, service }: Manifest['upstream'],
  { supportedInterfaces }: AgentCard,
  agentUrl: string,
  isOwnerAuthored: (pointer: Pointer) => boolean,
): CardError[] => {
  if (card === undefined || url !== undefined) return []
  return supportedInterfaces.flatMap((each, index) => {
    const pointer = formatPointer('supportedInterfaces', index, 'url')
    if (!toTarget(each)) return []
    if (isSelfUrl(each.url, agentUrl)) return [{ pointer, message: loopMessage }]
    // The secret goes to the origin of `upstream.card`, or wherever the owner names an endpoint.
    const isSafe = secret === undefined || service !== undefined || isOwnerAuthored(pointer)
    return errorIf(!isSafe && new URL(each.url).origin !== new URL(card).origin, pointer, secretMessage)
  })
}

const loopMessage = "is this host's own URL of the agent, so calls would loop: use the agent's own URL"

const secretMessage =
  'is on another host than `upstream.card`, so the secret would go to a host that the manifest does not name: ' +
  'set `upstream.url` to allow it'

/** Rejects a `jwt` that no issuer of the card can satisfy. A fetched card cannot add a trusted issuer. */
const jwtErrors = ({ manifest: { jwt }, ownerCard, fetched }: MergedCard, card: AgentCard): CardError[] =>
  errorIf(
    jwt !== undefined && trustedIssuers(card, ownerCard).length === 0,
    '/jwt',
    fetched
      ? 'needs an OpenID Connect issuer that the manifest names: add one to the securitySchemes of `card`'
      : 'needs an OpenID Connect issuer, and the securitySchemes of the card name none',
  )
