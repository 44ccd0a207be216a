import type { Json, JsonObject } from '../../json/json.ts'
import { formatPointer, type Pointer } from '../../json/pointer.ts'
import { collectStrings } from '../../json/tree.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { CardError } from '../model/report.ts'

/** Where a card sends calls and did not before: another address on the same host is another agent's, or nobody's. */
export const newEndpoints = (before: AgentCard, after: AgentCard): CardError[] =>
  added(endpoints(before), endpoints(after)).map(({ url, as, place }) => ({
    pointer: place,
    message: `sends calls to ${plain(url)}${as && ` for the tenant ${JSON.stringify(as)}`}, where none went before`,
  }))

/** Where the OAuth and OpenID Connect schemes of a card send callers and did not before: one host can have many issuers. */
export const newAuthorities = (before: AgentCard, after: AgentCard): CardError[] =>
  added(authorities(before), authorities(after)).map(({ url, place }) => ({
    pointer: place,
    message: `sends credentials to ${plain(url)}, where none went before`,
  }))

/** An address, and as what it is used: what was a place for tokens is no issuer yet. */
type Address = { url: URL; as: string; place: Pointer }

const addressed = (text: string, as: string, place: Pointer): Address[] => {
  const url = URL.parse(text)
  return url === null ? [] : [{ url, as, place }]
}

const endpoints = ({ supportedInterfaces }: AgentCard): Address[] =>
  supportedInterfaces.flatMap(({ url, tenant = '' }, index) =>
    addressed(url, tenant, formatPointer('supportedInterfaces', index, 'url')),
  )

const authorities = ({ securitySchemes = {} }: AgentCard): Address[] =>
  collectStrings(securitySchemes as JsonObject as Json)
    .filter(({ name }) => /url$/i.test(name))
    .flatMap(({ value, name, place }) => addressed(value, name, `/securitySchemes${place()}`))

const added = (before: readonly Address[], after: readonly Address[]): Address[] =>
  after.filter(({ url, as }) => !before.some(known => known.as === as && leadsThere(known.url, url)))

/** An address that is reached without encryption is not the one that was reached with it. */
const leadsThere = (known: URL, url: URL): boolean =>
  withoutScheme(known) === withoutScheme(url) && (known.protocol === url.protocol || url.protocol === 'https:')

const withoutScheme = (url: URL): string => plain(url).slice(url.protocol.length)

const plain = ({ href, hash }: URL): string => href.slice(0, href.length - hash.length)
