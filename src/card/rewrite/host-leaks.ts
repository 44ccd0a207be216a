import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  omit,
  type Pointer,
} from '../../json/json.ts'
import { extractUrls, findPrivateHosts, isPrivateHost, normalizeForSearch, searchVariants } from '../../net/hosts.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { DialectName, RepresentationName } from '../model/constants.ts'
import type { CardError } from '../model/report.ts'
import { endpointFields } from '../read/interfaces.ts'
import type { Provenance } from '../read/provenance.ts'

/** Whether a URL is at this host's address of an agent, or below it. */
export const isSelfUrl = (address: string, agentUrl: string): boolean => {
  const url = URL.parse(address)
  const own = URL.parse(agentUrl)
  return url !== null && own !== null && url.host === own.host && `${url.pathname}/`.startsWith(`${own.pathname}/`)
}

/** Where the agent behind a gateway is. */
type UpstreamAddresses = {
  /** What no link may be on the host of: it is nobody else's business. */
  apart: string[]
  /** Where links for people may be on the same host, unless they lead to the interface itself. */
  interfaces: string[]
}

/**
 * Where the agent is by its manifest and its card. An owner who writes a card knows what its links tell; of a card that was
 * fetched, `fetched` as it came and the interfaces that count are as private as what the manifest says.
 */
export const upstreamAddresses = (
  { upstream: { url, card, mcp } }: Manifest,
  { supportedInterfaces }: AgentCard,
  fetched: JsonObject | undefined,
  agentUrl: string,
): UpstreamAddresses => {
  const written = [url, card, mcp].filter(each => each !== undefined)
  const interfaces = supportedInterfaces.map(each => each.url)
  if (fetched === undefined) return { apart: written, interfaces }
  // An agent that knows where it is called may say this host's address itself.
  const named = [...interfaces, ...endpointUrls(fetched)].filter(each => !isSelfUrl(each, agentUrl))
  return { apart: [...new Set([...written, ...named])], interfaces: [] }
}

/** Every URL that a card of any generation says calls go to. */
const endpointUrls = (card: JsonObject): string[] =>
  endpointFields
    .flatMap(name => card[name] ?? [])
    .map(item => (isJsonObject(item) ? item.url : item))
    .flatMap(url => (typeof url === 'string' && /^https?:\/\//i.test(url) && URL.canParse(url) ? [url] : []))

/** A host that a text names and should not; `isPrivate` where it is one of a private network. */
type HostMatch = { host: string; isPrivate: boolean }

/** What is looked for, and what may be said all the same. */
type HostSearch = UpstreamAddresses & {
  /** Where this host serves the agent. */
  agentUrl: string
  /** Whether hosts of private networks, and those below the agent's own, are looked for besides: the card is a stranger's. */
  fetched: boolean
  /** The hosts that may be named. */
  mayShow: readonly string[]
}

/** Says which host a text names that it should not; `isLabel` where it is a version or an id, which looks like a name of one. */
export const createHostMatcher = (search: HostSearch): ((text: string, isLabel: boolean) => HostMatch | undefined) => {
  const { agentUrl, fetched } = search
  const ours = new RegExp(`${literal(agentUrl.toLowerCase())}(?![\\w-])`, 'g')
  const own = URL.parse(agentUrl)
  const hidden = hiddenSayer(search, own)
  const isShown = shown(search)
  const privateIn = (plain: string, isLabel: boolean): string | undefined => {
    const url = extractUrls(plain).find(
      ({ hostname, host }) => isPrivateHost(hostname) && host !== own?.host && !isShown(hostname),
    )
    const bare = isLabel ? [] : findPrivateHosts(plain)
    return url?.hostname ?? bare.find(name => name !== own?.hostname && !isShown(name))
  }
  return (text, isLabel) => {
    for (const spelling of searchVariants(text)) {
      const plain = spelling.replace(ours, '')
      const name = hidden(plain)
      if (name !== undefined) return { host: name, isPrivate: false }
      const other = fetched ? privateIn(plain, isLabel) : undefined
      if (other !== undefined) return { host: other, isPrivate: true }
    }
    return undefined
  }
}

/** What is before a name that stands alone, and before one that ends a longer: this is looked for from the beginning of that only. */
const alone = '(?<![\\w.-])'
const between = '\\s/?#:@"\'<>()[\\]{},;\\\\'
const below = `(?<![^${between}])(?:[^.${between}]+\\.)+`

/** Says which host of the agent a text names, in a URL or alone; of a fetched card, also which below it. */
const hiddenSayer = (search: HostSearch, own: URL | null): ((plain: string) => string | undefined) => {
  const { apart, interfaces, fetched } = search
  const isShown = shown(search)
  const hidden = [...apart, ...interfaces].filter(each => !isShown(hostnameOf(each)))
  const names = new Set(hidden.flatMap(each => [...namesOf(new URL(each), own), ...inOtherLetters(each)]))
  const from = fetched ? `(?:${below}|${alone})` : alone
  const any = new RegExp(`${from}(?:${[...names].map(literal).join('|')})(?![\\w-]|\\.\\w)`, 'g')
  const hosts = new Set(hidden.map(hostnameOf).filter(hostname => hostname !== own?.hostname))
  const isHidden = (hostname: string): boolean =>
    hosts.has(hostname) || (fetched && [...hosts].some(each => hostname.endsWith(`.${each}`)))
  const mayBe = (name: string): boolean => isShown(name) || name === own?.hostname
  return plain => {
    const said = names.size === 0 ? [] : Array.from(plain.matchAll(any), ([name]) => name.replace(/^\/\//, ''))
    const inUrls = extractUrls(plain).flatMap(({ hostname }) => (isHidden(hostname) ? [hostname] : []))
    return [...said, ...inUrls].find(name => !mayBe(name))
  }
}

/** A point at the end of a name says what the name says. */
export const hostnameOf = (url: string): string => new URL(url).hostname.replace(/\.$/, '')

const shown =
  ({ mayShow }: HostSearch) =>
  (hostname: string): boolean =>
    mayShow.includes(hostname) || mayShow.includes('*')

const literal = (text: string): string => text.replace(/\W/g, '\\$&')

/** What a text says that names the host of an endpoint; where that is this host too, the endpoint. */
const namesOf = (url: URL, own: URL | null): string[] => {
  const { pathname } = url
  const [hostname, host] = [url.hostname, url.host].map(name => name.replace(/\.(?=$|:)/, '')) as [string, string]
  if (host === own?.host) return pathname === '/' ? [] : [host + pathname.toLowerCase().replace(/\/+$/, '')]
  if (hostname === own?.hostname) return [host]
  // A word without a point is a word like any other, but in a URL.
  return [/[.:]/.test(hostname) ? hostname : `//${hostname}`]
}

/** The name of a host as it was written, where URLs spell it in ASCII. */
const inOtherLetters = (url: string): string[] =>
  /(?<=\/\/)[^/?#:]*[^\0-\x7f][^/?#:]*/.exec(normalizeForSearch(url)) ?? []

/** Where a document says the agent's address, and which host that is. */
export type Found = HostMatch & { place: Pointer }

/** Finds where a card behind a gateway says where its agent is, in whatever field. */
type AddressFinder = (document: JsonObject) => Found[]

/** What owners write for people, and where tokens are had: often on the agent's host, without saying where the agent is. */
const publicLinks =
  /^\/(?:icon|(?:documentation|icon|terms_?of_?service|privacy_?policy)_?url|provider\/url|security_?schemes\/.*url)$/i

/** What is signed is read too: it can name where its key is. */
const protectedHeader = /^\/signatures\/\d+\/protected$/

/** What programs tell things apart by: a version of four numbers is no address, and an id with a point no host. */
const label = /\/(?:id|\w*version)$/i

/**
 * Finds the agent's address by the names of its hosts. Links for people may be on the host of an interface, unless they lead to
 * the interface itself; on that of what is apart, nothing may.
 */
export const createLeakFinder = (search: HostSearch): AddressFinder => {
  const { interfaces, apart } = search
  const said = createHostMatcher(search)
  const known = new Map<string, HostMatch | undefined>()
  const says = (text: string, isLabel = false): HostMatch | undefined => {
    const key = `${isLabel} ${text}`
    if (!known.has(key)) known.set(key, said(text, isLabel))
    return known.get(key)
  }
  const hiddenHosts = new Set(apart.map(hostnameOf))
  const mayBe = (link: string): boolean => {
    const url = URL.parse(link)
    return (
      url !== null &&
      says(url.pathname + url.search + url.hash) === undefined &&
      !hiddenHosts.has(hostnameOf(link)) &&
      interfaces.every(each => hostnameOf(each) !== hostnameOf(link) || !isBelow(url, new URL(each)))
    )
  }
  return document => {
    const found: Found[] = []
    const visit = (value: Json, place: Pointer): void => {
      if (typeof value === 'string') {
        const what = says(value, label.test(place)) ?? (protectedHeader.test(place) ? says(decoded(value)) : undefined)
        if (what && !(interfaces.length > 0 && publicLinks.test(place) && mayBe(value))) found.push({ place, ...what })
      }
      if (typeof value !== 'object' || value === null) return
      for (const [name, inner] of jsonEntries(value)) {
        const at = place + formatPointer(name)
        const what = says(name)
        if (what) found.push({ place: at, ...what })
        else visit(inner, at)
      }
    }
    visit(document, '')
    return found
  }
}

/** Everything is below a root: there only the root itself is where the agent is. */
const isBelow = (url: URL, endpoint: URL): boolean =>
  endpoint.pathname === '/'
    ? url.pathname === '/'
    : `${url.pathname}/`.startsWith(endpoint.pathname.replace(/\/*$/, '/'))

/** The text of a JWS header; nothing where it is none. */
const decoded = (header: string): string => {
  try {
    return atob(header.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return ''
  }
}

/** A card as it is served for a gateway, and every document of it. */
type Served = {
  card: AgentCard
  dialect: DialectName
  provenance: Provenance
  documents: Record<RepresentationName, JsonObject>
}

/**
 * Why a card that is served for a gateway is refused: at the places where it was authored. The document in the author's
 * dialect may come back with words that the card has no place for, and no other document may say more than both.
 */
export const findLeaks = (
  find: AddressFinder,
  { card, dialect, provenance, documents }: Served,
  says: (found: Found) => string,
): CardError[] => {
  // Signatures are served only where they still hold.
  const inCard = find(omit(card, 'signatures'))
    .filter(({ place }) => !provenance.isFilled(place))
    .map(found => ({ ...found, place: provenance.sourceOf(found.place) }))
  const found = [inCard, ...[documents[dialect], ...Object.values(documents)].map(each => () => find(each))]
  for (const each of found) {
    const places = typeof each === 'function' ? each() : each
    if (places.length > 0) return places.map(each => ({ pointer: each.place, message: says(each) }))
  }
  return []
}
