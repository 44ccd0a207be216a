import { formatPointer, type Pointer } from '../../json/pointer.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard } from '../model/agent-card.ts'
import { targetOf } from '../model/calls.ts'
import type { CardError } from '../model/report.ts'
import { isSelfUrl } from '../rewrite/own-address.ts'

/**
 * Why calls cannot go where a card from elsewhere sends them: to this host itself, or with a secret to a host that its owner
 * has not named. `isOwners` says whether a place of the card is the owner's word.
 */
export const fetchedEndpointErrors = (
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
    const message = targetOf(each) && wrong(each.url, place)
    return message ? [{ pointer: place, message }] : []
  })
}

/** Why an agent cannot be where its manifest says: at this host's own address of it. */
export const detectLoops = ({ upstream }: Manifest, agentUrl: string): CardError[] =>
  (['url', 'card', 'mcp'] as const).flatMap(name => {
    const address = upstream[name]
    return address !== undefined && isSelfUrl(address, agentUrl)
      ? [{ pointer: formatPointer('upstream', name), message: ownAddress }]
      : []
  })

const ownAddress = "is this host's own address of the agent, which leads back here: name the agent's own"

const secretElsewhere =
  'is on another host than `upstream.card`, and the secret would go there: say `upstream.url` if it should'
