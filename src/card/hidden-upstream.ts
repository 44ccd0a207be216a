import type { AgentCard } from './agent-card.ts'
import type { JsonObject } from './json.ts'
import type { Manifest } from './manifest.ts'
import { pointer, tokens } from './pointer.ts'
import type { Reading } from './reading.ts'
import { urlMap, withUrls } from './upstream-urls.ts'

/** Links for people that are on the agent's own host: this host serves what they lead to. */
export type Links = { documentation?: string; icon?: string }

/** A card that was fetched, with this host in the agent's place wherever it says where the agent is. */
export type HiddenUpstream = {
  links: Links
  card: (card: AgentCard) => AgentCard
  document: (authored: JsonObject, reading: Reading) => JsonObject
}

const fields = { documentation: 'documentationUrl', icon: 'iconUrl' } as const
const kinds = ['documentation', 'icon'] as const

/** Puts this host into the place of an agent that is at some addresses, in the canonical card as in that of its author. */
export const hideUpstream = (
  { upstream: { card: source, mayShow = [] } }: Manifest,
  direct: AgentCard,
  addresses: readonly string[],
  agentUrl: string,
): HiddenUpstream => {
  const map = urlMap({ endpoints: addresses.filter(each => each !== source), card: source, agentUrl })
  const hosts = new Set(addresses.map(each => new URL(each).hostname))
  for (const shown of [...mayShow, new URL(agentUrl).hostname]) hosts.delete(shown)
  if (mayShow.includes('*')) hosts.clear()
  const links: Links = Object.fromEntries(
    kinds.flatMap(kind => {
      const link = direct[fields[kind]]
      return link !== undefined && hosts.has(URL.parse(link)?.hostname ?? '') ? [[kind, link]] : []
    }),
  )
  const led = (document: JsonObject, nameOf: (field: string) => string): Record<string, string> =>
    Object.fromEntries(
      kinds.flatMap(kind => {
        const name = nameOf(fields[kind])
        const isLink = links[kind] !== undefined && document[name] === links[kind]
        return isLink ? [[name, `${agentUrl}/${kind}`]] : []
      }),
    )
  return {
    links,
    card: card => {
      const document = card as JsonObject
      return withUrls(
        document,
        map,
        led(document, name => name),
      ) as AgentCard
    },
    document: (authored, reading) =>
      withUrls(
        authored,
        map,
        led(authored, name => tokens(reading.authored(pointer(name)))[0] ?? name),
      ),
  }
}
