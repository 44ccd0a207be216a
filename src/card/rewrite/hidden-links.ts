import { type JsonObject, omit } from '../../json/json.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard } from '../model/agent-card.ts'

/** Links for people that are on the agent's own host: this host serves what they lead to. */
export type Links = { documentation?: string; icon?: string }

const fields = { documentation: 'documentationUrl', icon: 'iconUrl' } as const
const kinds = ['documentation', 'icon'] as const

/** What becomes of the links of a card behind the gateway; `nameOf` says how a document spells a field. */
export type HiddenLinks = {
  served: Links
  in: (document: JsonObject, nameOf: (field: string) => string) => JsonObject
}

/**
 * Puts this host into the place of the links that lead to an agent at some addresses. Those of one that is reached by a binding
 * are left out: nothing is shown of what nobody else reaches.
 */
export const proxyLinks = (
  { upstream: { service, mayShow = [] } }: Manifest,
  direct: AgentCard,
  addresses: readonly string[],
  agentUrl: string,
): HiddenLinks => {
  const isHidden = onHosts(addresses, new URL(agentUrl))
  const hidden: Links = Object.fromEntries(
    kinds.flatMap(kind => {
      const link = direct[fields[kind]]
      const url = URL.parse(link ?? '')
      const isShown = url === null || mayShow.includes('*') || mayShow.includes(url.hostname) || !isHidden(url)
      return isShown ? [] : [[kind, link]]
    }),
  )
  return {
    served: service === undefined ? hidden : {},
    in: (document, nameOf) => {
      const found = kinds.filter(kind => hidden[kind] !== undefined && document[nameOf(fields[kind])] === hidden[kind])
      if (service !== undefined) return omit(document, ...found.map(kind => nameOf(fields[kind])))
      return { ...document, ...Object.fromEntries(found.map(kind => [nameOf(fields[kind]), `${agentUrl}/${kind}`])) }
    },
  }
}

/** Whether a URL is on one of the hosts of some addresses; on this host's own name, an agent is at another port. */
const onHosts =
  (addresses: readonly string[], own: URL) =>
  ({ hostname, host }: URL): boolean =>
    addresses
      .map(each => new URL(each))
      .some(each => (hostname === own.hostname ? host !== own.host && host === each.host : hostname === each.hostname))
