import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  omit,
  type Pointer,
  toText,
} from '../../json/json.ts'
import { parseUrl, toHttpUrl } from '../../net/urls.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { DialectName, RepresentationName } from '../model/constants.ts'
import { endpointFields } from '../read/interfaces.ts'
import type { Provenance } from '../read/provenance.ts'

/** Returns whether a URL is this host's URL of an agent, or below it. */
export const isSelfUrl = (address: string, agentUrl: string): boolean => {
  const url = parseUrl(address)
  const self = parseUrl(agentUrl)
  return url !== null && self !== null && url.host === self.host && `${url.pathname}/`.startsWith(`${self.pathname}/`)
}

/** The URLs of an agent behind a gateway. */
type AgentAddresses = {
  /** URLs whose hosts must not appear anywhere in the card. */
  hidden: string[]
  /** URLs whose hosts may appear in links for people, except at the endpoint itself. Empty for a fetched card. */
  interfaces: string[]
}

/**
 * Collects the URLs of an agent from its manifest and its card. The owner of a written card knows what its links reveal; the
 * interfaces of a fetched card, before and after the manifest is merged over it, are as private as `upstream`.
 */
export const collectAgentAddresses = (
  { upstream: { url, card, mcp } }: Manifest,
  { supportedInterfaces }: AgentCard,
  fetched: readonly JsonObject[],
  agentUrl: string,
): AgentAddresses => {
  const configured = [url, card, mcp].filter(address => address !== undefined)
  const interfaces = supportedInterfaces.map(each => toHttpUrl(each.url))
  if (fetched.length === 0) return { hidden: configured, interfaces }
  // An agent that knows its gateway may list this host's URL itself.
  const listed = [...interfaces, ...fetched.flatMap(endpointUrls)].filter(address => !isSelfUrl(address, agentUrl))
  return { hidden: [...new Set([...configured, ...listed])], interfaces: [] }
}

/** Returns every endpoint URL in a card of any generation. */
const endpointUrls = (card: JsonObject): string[] =>
  endpointFields
    .flatMap(name => card[name] ?? [])
    .map(item => toHttpUrl(toText((isJsonObject(item) ? item.url : item) ?? '')))
    .filter(url => /^https?:\/\//i.test(url) && parseUrl(url) !== null)

type LeakFinderOptions = AgentAddresses & {
  /** This host's URL of the agent. */
  agentUrl: string
  /** Whether subdomains of the agent's hosts are hidden too: a fetched card is not the owner's own text. */
  fetched: boolean
  /** Host names that may appear; `*` is any. */
  mayShow: readonly string[]
}

/** A place in a document that names a host of the agent. */
export type HostLeak = { pointer: Pointer; host: string }

type LeakFinder = (document: JsonObject) => HostLeak[]

/** Links that owners often put on the agent's public host: pages for people, and OAuth endpoints. */
const publicLinks =
  /^\/(?:icon|(?:documentation|icon|terms_?of_?service|privacy_?policy)_?url|provider\/url|security_?schemes\/.*url)$/i

/** Creates a function that finds every string and member name of a document that names a host of the agent. */
export const createLeakFinder = (options: LeakFinderOptions): LeakFinder => {
  const findHost = createHostFinder(options)
  const hiddenHosts = new Set(options.hidden.map(hostnameOf))
  const endpoints = options.interfaces.map(each => ({ hostname: hostnameOf(each), path: pathOf(each) }))
  const isAllowedLink = (link: string): boolean => {
    const url = parseUrl(link)
    if (url === null || findHost(url.pathname + url.search + url.hash) !== undefined) return false
    const hostname = hostnameOf(link)
    return (
      !hiddenHosts.has(hostname) &&
      !endpoints.some(endpoint => endpoint.hostname === hostname && isBelow(url.pathname, endpoint.path))
    )
  }
  return document => {
    const leaks: HostLeak[] = []
    const visit = (value: Json, pointer: Pointer): void => {
      if (typeof value === 'string') {
        const host = findHost(value)
        if (host === undefined || (endpoints.length > 0 && publicLinks.test(pointer) && isAllowedLink(value))) return
        leaks.push({ pointer, host })
      }
      if (typeof value !== 'object' || value === null) return
      for (const [name, inner] of jsonEntries(value)) {
        const at = pointer + formatPointer(name)
        const host = findHost(name)
        if (host === undefined) visit(inner, at)
        else leaks.push({ pointer: at, host })
      }
    }
    visit(document, '')
    return leaks
  }
}

/** Returns the host name of a URL without the dot of a fully qualified name. */
const hostnameOf = (url: string): string => new URL(url).hostname.replace(/\.$/, '')

/** Returns the path of a URL with one slash at its end. */
const pathOf = (url: string): string => new URL(url).pathname.replace(/(?<!\/)\/*$/, '/')

/** At a root endpoint, only the root itself counts: everything is below it. */
const isBelow = (path: string, endpoint: string): boolean =>
  endpoint === '/' ? path === '/' : `${path}/`.startsWith(endpoint)

/** A host name or an IPv6 address, with `//` before it, or an escape, which ends a name in the query of another URL. */
const hostInText = /%[\da-f]{2}|(?:\/\/)?(?:\[[\da-f:.]+\]|[\w-]+(?:\.[\w-]+)*)/g

/**
 * Creates a function that returns the first hidden host that a text names, in any case. Takes time linear in the text.
 */
const createHostFinder = (options: LeakFinderOptions): ((text: string) => string | undefined) => {
  const { hidden, interfaces, agentUrl, fetched, mayShow } = options
  // Where the agent has the host name of this host, the name reveals nothing.
  const shown = new Set([...mayShow, hostnameOf(agentUrl)])
  const agentHosts = mayShow.includes('*') ? [] : [...hidden, ...interfaces].map(hostnameOf)
  const hiddenHosts = agentHosts.filter(host => !shown.has(host))
  // Outside of a URL, a name without a dot is a word like any other.
  const names = new Set(hiddenHosts.map(host => (/[.:]/.test(host) ? host : `//${host}`)))
  const lengths = [...names].map(name => name.length)
  const [shortest, longest] = [Math.min(...lengths), Math.max(...lengths)]
  const isInHiddenDomain = (host: string): boolean => {
    // With one character more than the longest name, no name can begin in the middle of a label.
    for (let domain = host.slice(-longest - 1); domain.includes('.'); domain = domain.slice(domain.indexOf('.') + 1))
      if (names.has(domain)) return true
    return false
  }
  return text => {
    if (names.size === 0) return undefined
    for (const found of text.toLowerCase().match(hostInText) ?? []) {
      // Most words are short.
      if (found.length < shortest) continue
      const host = found.replace('//', '')
      const isHidden = names.has(found) || names.has(host) || (fetched && isInHiddenDomain(host))
      if (isHidden && !shown.has(host)) return host
    }
    return undefined
  }
}

/** A canonical card behind a gateway with its documents. */
type GatewayDocuments = {
  card: AgentCard
  dialect: DialectName
  provenance: Provenance
  documents: Record<RepresentationName, JsonObject>
}

/**
 * Returns the leaks of a gateway's card, with pointers into the card as authored. Searches the canonical card first, then the
 * document in the author's dialect, which may keep fields that the canonical card does not have, then the others.
 */
export const findLeaks = (find: LeakFinder, { card, dialect, provenance, documents }: GatewayDocuments): HostLeak[] => {
  // Signatures are served only where they are still valid, so they are searched in the documents.
  const inCard = find(omit(card, 'signatures'))
    .filter(({ pointer }) => !provenance.isFilled(pointer))
    .map(leak => ({ ...leak, pointer: provenance.sourceOf(leak.pointer) }))
  if (inCard.length > 0) return inCard
  for (const document of new Set([documents[dialect], ...Object.values(documents)])) {
    const leaks = find(document)
    if (leaks.length > 0) return leaks
  }
  return []
}
