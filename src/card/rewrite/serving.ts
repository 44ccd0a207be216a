import { parseUrl, toHttpUrl } from '../../http/shared.ts'
import type { JsonObject, StringValue } from '../../json/index.ts'
import { collectStrings, formatPointer, isJsonObject, omit, toText } from '../../json/index.ts'
import { writeRepresentations } from '../dialects/index.ts'
import type { Manifest } from '../manifest/index.ts'
import { type AgentCard, type DialectName, type Finding, relocate } from '../model/index.ts'
import { endpointFields, links, type Provenance } from '../read/index.ts'
import { gatewayInterfaces, withBridgeInterfaces } from './interfaces.ts'
import { createRewriter } from './rewrite-urls.ts'

/** A canonical card to be served, with the document that it was read from and the one that its signatures cover. */
type ServedCard = Record<'authored' | 'signed', JsonObject> & {
  card: AgentCard
  dialect: DialectName
  provenance: Provenance
}

/** A writer of the cards of one agent for its route. */
export type RouteWriter = {
  /** Returns a canonical card as it is served. */
  toServedCard: (card: AgentCard) => AgentCard
  /** Writes every representation, and returns the places in the authored card that reveal the agent's host. */
  writeRepresentations: (served: ServedCard) => ReturnType<typeof writeRepresentations> & { errors: Finding[] }
}

/** Creates the writer of an agent's cards: unchanged, or with this host's URLs. `fetched` are those from the agent. */
export const createRouteWriter = (
  manifest: Manifest,
  direct: AgentCard,
  fetched: readonly JsonObject[],
  agentUrl: string,
): RouteWriter => {
  const { route, signatures, bridge, upstream } = manifest
  const write = ({ card, authored, dialect, signed }: ServedCard, document = authored) =>
    writeRepresentations(card, { dialect, document, signed: signatures === 'keep' ? signed : undefined }, route)
  if (route !== 'gateway')
    return { toServedCard: card => card, writeRepresentations: served => ({ ...write(served), errors: [] }) }
  const addresses = collectAgentAddresses(manifest, direct, fetched, agentUrl)
  const find = createLeakFinder(addresses, agentUrl, upstream.mayShow ?? [])
  const rewrite = addresses.isFetched ? createRewriter(manifest, direct, addresses.hidden, agentUrl) : undefined
  return {
    toServedCard: card => {
      const supportedInterfaces = gatewayInterfaces(withBridgeInterfaces(manifest, card), bridge, agentUrl)
      const routed = { ...card, ...gatewayCardLink(card, agentUrl), supportedInterfaces }
      return rewrite ? (rewrite(routed) as AgentCard) : routed
    },
    writeRepresentations: served => {
      const { card, dialect, provenance } = served
      const written = write(served, rewrite?.(served.authored, provenance))
      // Signatures are served only where they are still valid, so they are searched in the documents.
      const inCard = find(omit(card, 'signatures')).filter(({ pointer }) => !provenance.isFilled(pointer))
      // The document in the author's dialect may keep fields that the canonical card does not have.
      const documents = new Set([written.documents[dialect], ...Object.values(written.documents)])
      const leaks = [relocate(inCard, provenance.sourceOf), ...[...documents].map(find)]
      return { ...written, errors: leaks.find(list => list.length > 0) ?? [] }
    },
  }
}

/** Points SuperX's `agentCard`, where a card has one, to the card that this host serves. */
const gatewayCardLink = ({ agentCard }: JsonObject, agentUrl: string): JsonObject =>
  isJsonObject(agentCard) && agentCard.url !== undefined
    ? { agentCard: { ...agentCard, url: `${agentUrl}/.well-known/agent-card.json` } }
    : {}

/** Returns whether a URL is this host's URL of an agent, or below it. */
export const isSelfUrl = (address: string, agentUrl: string): boolean => {
  const [url, self] = [parseUrl(address), parseUrl(agentUrl)]
  return url !== null && self !== null && url.host === self.host && isAtOrBelow(url, self)
}

/** Returns whether the path of a URL is that of another, or below it. Nothing is below a root. */
const isAtOrBelow = ({ pathname }: URL, base: URL): boolean =>
  `${pathname}/`.startsWith(`${base.pathname.replace(/(?<=.)\/$/, '')}/`)

/**
 * The URLs of an agent behind a gateway. The hosts of hidden ones must not appear anywhere in the card; those of
 * interfaces may appear in links for people, except at the endpoint itself.
 */
type AgentAddresses = { hidden: string[]; interfaces: string[]; isFetched: boolean }

/**
 * Collects the URLs of an agent from its manifest and its card. The owner of a written card knows what its links
 * reveal; the interfaces of a fetched card, before and after the manifest is merged over it, are as private as
 * `upstream`.
 */
const collectAgentAddresses = (
  { upstream: { url, card, mcp } }: Manifest,
  { supportedInterfaces }: AgentCard,
  fetched: readonly JsonObject[],
  agentUrl: string,
): AgentAddresses => {
  const configured = [url, card, mcp].filter(address => address !== undefined)
  const interfaces = supportedInterfaces.map(each => toHttpUrl(each.url))
  if (fetched.length === 0) return { hidden: configured, interfaces, isFetched: false }
  // An agent that knows its gateway may list this host's URL itself.
  const listed = [...interfaces, ...fetched.flatMap(endpointUrls)].filter(address => !isSelfUrl(address, agentUrl))
  return { hidden: [...new Set([...configured, ...listed])], interfaces: [], isFetched: true }
}

const endpointUrls = (card: JsonObject): string[] =>
  endpointFields
    .flatMap(name => card[name] ?? [])
    .map(item => toHttpUrl(toText((isJsonObject(item) ? item.url : item) ?? '')))
    .filter(url => /^https?:$/.test(parseUrl(url)?.protocol ?? ''))

/** Links that owners often put on the agent's public host, in any spelling: pages for people, and OAuth endpoints. */
const publicPaths = ['icon', ...links, 'provider/url', 'securitySchemes/.*url']
const publicLinks = new RegExp(`^/(?:${publicPaths.join('|').replace(/[A-Z]/g, '_?$&')})$`, 'i')

/**
 * Creates a function that finds every string and member name of a document that names a host of the agent, in any case.
 * Names in `mayShow` may appear; `*` is any. Takes time linear in the document.
 */
const createLeakFinder = (
  { hidden, interfaces, isFetched }: AgentAddresses,
  agentUrl: string,
  mayShow: readonly string[],
): ((document: JsonObject) => Finding[]) => {
  // Where the agent has the host name of this host, the name reveals nothing.
  const shown = new Set([...mayShow, hostnameOf(new URL(agentUrl))])
  // A name without a dot is a word like any other.
  const isPrivate = (name: string): boolean => name.includes('.') && !shown.has('*') && !shown.has(name)
  const endpoints = interfaces.map(each => new URL(each))
  const hiddenNames = new Set(hidden.map(each => hostnameOf(new URL(each))).filter(isPrivate))
  const publicNames = new Set(endpoints.map(hostnameOf).filter(isPrivate))
  const isBesideEndpoints = (link: string): boolean => {
    const url = parseUrl(link)
    if (url === null || !publicNames.has(hostnameOf(url))) return false
    const isEndpoint = endpoints.some(each => hostnameOf(each) === hostnameOf(url) && isAtOrBelow(url, each))
    return !isEndpoint && !wordsOf(url.pathname + url.search + url.hash).some(word => publicNames.has(word))
  }
  return document => {
    const members: StringValue[] = []
    const strings = collectStrings(document, members)
    const names = members.map(({ value, pointer: parent }) => ({
      value,
      pointer: () => parent() + formatPointer(value),
    }))
    return [...names, ...strings].flatMap(({ value, pointer }) => {
      const words = wordsOf(value)
      const hiddenName = words.find(word => hiddenNames.has(word))
      const host = hiddenName ?? words.find(word => publicNames.has(word))
      if (host === undefined) return []
      const leak = { pointer: pointer(), message: isFetched ? describeLeak(host) : OWN_ADDRESS }
      const isAllowed = hiddenName === undefined && publicLinks.test(leak.pointer) && isBesideEndpoints(value)
      return isAllowed ? [] : [leak]
    })
  }
}

const OWN_ADDRESS = "contains the agent's own address, which `route: gateway` hides: remove it"

const describeLeak = (host: string): string =>
  `names the agent's host ${host}, which \`route: gateway\` hides: ` +
  'override the field under `card`, or list the host in `upstream.mayShow`'

/** Returns the words of a text that may be host names, in lower case. */
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\w-]+(?:\.[\w-]+)*/g) ?? []

/** Returns the host name of a URL without the dot of a fully qualified name. */
const hostnameOf = ({ hostname }: URL): string => hostname.replace(/\.$/, '')
