import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  omit,
  type Pointer,
} from '../../json/json.ts'
import { parseUrl } from '../../net/urls.ts'
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
  const interfaces = supportedInterfaces.map(each => each.url)
  if (fetched.length === 0) return { hidden: configured, interfaces }
  // An agent that knows its gateway may list this host's URL itself.
  const listed = [...interfaces, ...fetched.flatMap(endpointUrls)].filter(address => !isSelfUrl(address, agentUrl))
  return { hidden: [...new Set([...configured, ...listed])], interfaces: [] }
}

/** Returns every endpoint URL in a card of any generation. */
const endpointUrls = (card: JsonObject): string[] =>
  endpointFields
    .flatMap(name => card[name] ?? [])
    .map(item => (isJsonObject(item) ? item.url : item))
    .flatMap(url => (typeof url === 'string' && /^https?:\/\//i.test(url) && parseUrl(url) !== null ? [url] : []))

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
  const { interfaces, hidden } = options
  const matchHost = createHostMatcher(options)
  const hiddenHosts = new Set(hidden.map(hostnameOf))
  const isAllowedLink = (link: string): boolean => {
    const url = parseUrl(link)
    return (
      url !== null &&
      matchHost(url.pathname + url.search + url.hash) === undefined &&
      !hiddenHosts.has(hostnameOf(link)) &&
      interfaces.every(each => hostnameOf(each) !== hostnameOf(link) || !isBelow(url, new URL(each)))
    )
  }
  return document => {
    const leaks: HostLeak[] = []
    const visit = (value: Json, pointer: Pointer): void => {
      if (typeof value === 'string') {
        const host = matchHost(value)
        const isAllowed = interfaces.length > 0 && publicLinks.test(pointer) && isAllowedLink(value)
        if (host !== undefined && !isAllowed) leaks.push({ pointer, host })
      }
      if (typeof value !== 'object' || value === null) return
      for (const [name, inner] of jsonEntries(value)) {
        const at = pointer + formatPointer(name)
        const host = matchHost(name)
        if (host === undefined) visit(inner, at)
        else leaks.push({ pointer: at, host })
      }
    }
    visit(document, '')
    return leaks
  }
}

/** At a root endpoint, only the root itself counts: everything is below it. */
const isBelow = (url: URL, endpoint: URL): boolean =>
  endpoint.pathname === '/'
    ? url.pathname === '/'
    : `${url.pathname}/`.startsWith(endpoint.pathname.replace(/(?<!\/)\/*$/, '/'))

/** Creates a function that returns the first hidden host that a text names, in ASCII or in Unicode, in any case. */
const createHostMatcher = (options: LeakFinderOptions): ((text: string) => string | undefined) => {
  const { hidden, interfaces, agentUrl, fetched, mayShow } = options
  const isShown = (host: string): boolean => mayShow.includes(host) || mayShow.includes('*')
  const self = new URL(agentUrl)
  const urls = [...hidden, ...interfaces].filter(url => !isShown(hostnameOf(url)))
  const names = [...new Set(urls.flatMap(url => [...searchTerms(new URL(url), self), ...unicodeSpelling(url)]))]
  const hasUnicodeSpelling = names.some(name => name.includes('xn--'))
  // A name starts a text, or follows a delimiter, which may be percent-encoded, or (a subdomain) a dot.
  const start = `(?<=^|[^\\w.-]|%(?:25)*[\\da-f]{2}${fetched ? '|\\.' : ''})`
  const anyName = new RegExp(`${start}(?:${names.map(escapeRegExp).join('|')})(?![\\w-]|\\.\\w)`, 'g')
  const selfUrl = new RegExp(`${escapeRegExp(agentUrl.toLowerCase())}(?![\\w-])`, 'g')
  const find = (text: string): string | undefined => {
    if (!names.some(name => text.includes(name))) return undefined
    const others = text.replace(selfUrl, '')
    for (const { 0: name, index } of others.matchAll(anyName)) {
      const host = subdomainBefore(others, index) + name.replace(/^\/\//, '')
      if (!isShown(host) && host !== self.hostname) return host
    }
    return undefined
  }
  return text => {
    const lowerCase = text.toLowerCase()
    return find(lowerCase) ?? (hasUnicodeSpelling ? find(toAsciiNames(lowerCase)) : undefined)
  }
}

/** Returns the host name of a URL without the dot of a fully qualified name. */
const hostnameOf = (url: string): string => new URL(url).hostname.replace(/\.$/, '')

const escapeRegExp = (text: string): string => text.replace(/\W/g, '\\$&')

/** Returns the texts that reveal the host of a URL; if this host has the same name, only those that distinguish the two. */
const searchTerms = (url: URL, self: URL): string[] => {
  const { pathname } = url
  const [hostname, host] = [url.hostname, url.host].map(name => name.replace(/\.(?=$|:)/, '')) as [string, string]
  if (host === self.host) return pathname === '/' ? [] : [host + pathname.toLowerCase().replace(/(?<!\/)\/+$/, '')]
  if (hostname === self.hostname) return [host]
  // Outside of a URL, a name without a dot is a word like any other.
  return [/[.:]/.test(hostname) ? hostname : `//${hostname}`]
}

/** Returns the host name of a URL as its author wrote it, if that is not in ASCII. */
const unicodeSpelling = (url: string): string[] => /(?<=\/\/)[^/?#:]*[^\0-\x7f][^/?#:]*/.exec(url.toLowerCase()) ?? []

/** Returns the labels that stand before a host name, such as `cdn.`. */
const subdomainBefore = (text: string, index: number): string => {
  if (text.charAt(index - 1) !== '.') return ''
  let start = index
  while (/[\p{L}\p{N}.-]/u.test(text.charAt(start - 1))) start--
  return text.slice(start, index)
}

/** The longest host name that DNS allows. */
const MAX_HOSTNAME_CHARACTERS = 253

/** Spells each internationalized host name that stands alone in a text in ASCII, as `URL` does. */
const toAsciiNames = (text: string): string =>
  text.replace(/[\p{L}\p{M}\p{N}.-]+/gu, name =>
    name.length > MAX_HOSTNAME_CHARACTERS || !name.includes('.') || /^[\0-\x7f]*$/.test(name)
      ? name
      : (parseUrl(`http://${name}`)?.hostname ?? name),
  )

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
  for (const document of [documents[dialect], ...Object.values(documents)]) {
    const leaks = find(document)
    if (leaks.length > 0) return leaks
  }
  return []
}
