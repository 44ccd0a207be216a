import { parseUrl } from '../../http/shared.ts'
import { formatPointer, type Json, type JsonObject, mapMembers, omit, parsePointer } from '../../json/index.ts'
import type { Manifest } from '../manifest/index.ts'
import type { AgentCard } from '../model/index.ts'
import { canonicalKey, type Provenance } from '../read/index.ts'

/** Puts this host's URLs of an agent in the place of the agent's own. */
type GatewayRewriter = {
  /** Rewrites a canonical card. */
  rewriteCard: (card: AgentCard) => AgentCard
  /** Rewrites the card as authored. */
  rewriteDocument: (authored: JsonObject, provenance: Provenance) => JsonObject
}

/**
 * Creates the rewriter of a fetched card. `addresses` are the agent's URLs, of which `upstream.card` is no endpoint. Removes
 * links to the agent's documentation and icon on its own hosts: this host does not serve these.
 */
export const rewriteForGateway = (
  manifest: Manifest,
  direct: AgentCard,
  addresses: readonly string[],
  agentUrl: string,
): GatewayRewriter => {
  const { card, mayShow = [] } = manifest.upstream
  const endpoints = addresses.filter(address => address !== card)
  const rewriteUrl = createUrlRewriter(endpoints, card, agentUrl)
  const links = mayShow.includes('*') ? [] : findHiddenLinks(direct, addresses, mayShow, new URL(agentUrl))
  // A link in an overlay that differs from the public card's is kept, so that the leak search reports it.
  const withoutLinks = (document: JsonObject, nameOf: (field: string) => string): JsonObject =>
    omit(document, ...links.flatMap(field => (document[nameOf(field)] === direct[field] ? [nameOf(field)] : [])))
  return {
    rewriteCard: card =>
      rewriteUrls(
        withoutLinks(card, field => field),
        rewriteUrl,
      ) as AgentCard,
    rewriteDocument: (authored, provenance) => {
      const authoredName = (field: string) => parsePointer(provenance.sourceOf(formatPointer(field)))[0] ?? field
      return rewriteUrls(withoutLinks(authored, authoredName), rewriteUrl)
    },
  }
}

const linkFields = ['documentationUrl', 'iconUrl'] as const

/** Returns the optional links of a card that are on a host of the agent, except on those that the owner allows. */
const findHiddenLinks = (
  card: AgentCard,
  addresses: readonly string[],
  mayShow: readonly string[],
  self: URL,
): (typeof linkFields)[number][] => {
  const agentUrls = addresses.map(address => new URL(address))
  // Where the agent has the host name of this host, only the port distinguishes them.
  const isOnAgentHost = ({ hostname, host }: URL): boolean =>
    agentUrls.some(agent =>
      hostname === self.hostname ? host !== self.host && host === agent.host : hostname === agent.hostname,
    )
  return linkFields.filter(field => {
    const url = parseUrl(card[field] ?? '')
    return url !== null && !mayShow.includes(url.hostname) && isOnAgentHost(url)
  })
}

/** Returns this host's URL for a URL of the agent; undefined for any other URL. */
type UrlRewriter = (url: string) => string | undefined

/** Creates a rewriter of an agent's endpoints, with all paths below them, and of the URLs where its card may be read. */
const createUrlRewriter = (
  endpoints: readonly string[],
  cardUrl: string | undefined,
  agentUrl: string,
): UrlRewriter => {
  const bases = endpoints.map(endpoint => new URL(endpoint))
  const cards = new Set([...cardUrls(cardUrl), ...bases.flatMap(wellKnownCards)].map(url => keyOf(normalizeUrl(url))))
  const findSuffix = createSuffixFinder(bases.map(normalizeUrl))
  return text => {
    const parsed = parseUrl(text)
    if (parsed === null || !/^https?:$/.test(parsed.protocol)) return undefined
    const url = normalizeUrl(parsed)
    if (cards.has(keyOf(url))) return `${agentUrl}/.well-known/agent-card.json`
    const suffix = findSuffix(url)
    return suffix === undefined ? undefined : `${agentUrl}/a2a${suffix}`
  }
}

/** Fields about the people behind an agent, and about tokens: this host serves neither. A signature covers what was signed. */
const notRewritten = new Set([
  'securitySchemes',
  'provider',
  'termsOfServiceUrl',
  'privacyPolicyUrl',
  'documentationUrl',
  'iconUrl',
  'signatures',
])

/** Members that identify an extension, a skill or a resource, and would identify another if rewritten. */
const identifiers = new Set(['id', 'uri'])

/** Rewrites every URL in a document, also within longer texts. */
const rewriteUrls = (document: JsonObject, rewriteUrl: UrlRewriter): JsonObject => {
  const rewrite = (value: Json, parent = ''): Json => {
    if (typeof value === 'string')
      return rewriteUrl(value) ?? value.replace(urlInText, url => rewriteWithinText(url, rewriteUrl))
    if (Array.isArray(value)) return value.map(item => rewrite(item, parent))
    if (typeof value !== 'object' || value === null) return value
    // In the parameters of an extension, `id` and `uri` are like any other member.
    return mapMembers(value, (inner, name) =>
      identifiers.has(name) && parent !== 'params' ? inner : rewrite(inner, parent === 'params' ? parent : name),
    )
  }
  return mapMembers(document, (value, name) => (notRewritten.has(canonicalKey(name, 'card')) ? value : rewrite(value)))
}

const urlInText = /https?:\/\/[^\s"'<>`{}|\\^()[\]]+/gi

/** Rewrites a URL in a sentence, without the punctuation that follows it. */
const rewriteWithinText = (url: string, rewriteUrl: UrlRewriter): string => {
  const length = lengthWithoutTrailing('.,;:!?*_', url)
  const rewritten = rewriteUrl(url.slice(0, length))
  return rewritten === undefined ? url : rewritten + url.slice(length)
}

/** Returns the length of a text without some characters at its end. A regular expression would take quadratic time. */
const lengthWithoutTrailing = (characters: string, text: string): number => {
  let length = text.length
  while (length > 0 && characters.includes(text.charAt(length - 1))) length--
  return length
}

/** A URL in one spelling; http and https are not distinguished. */
type NormalizedUrl = { host: string; path: string; search: string; hash: string }

const normalizeUrl = ({ hostname, port, pathname, search, hash }: URL): NormalizedUrl => {
  const path = pathname.replace(/%[\da-f]{2}/gi, decodeUnreserved)
  return {
    host: `${hostname.replace(/\.$/, '')}:${port}`,
    path: path.slice(0, lengthWithoutTrailing('/', path)),
    search,
    hash,
  }
}

/** Decodes an escape of an unreserved character, and writes others in upper case (RFC 3986 §6.2.2). */
const decodeUnreserved = (escaped: string): string => {
  const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
  return /[\w.~-]/.test(character) ? character : escaped.toUpperCase()
}

/** Returns what identifies a URL, apart from its fragment. */
const keyOf = ({ host, path, search }: NormalizedUrl): string => host + path + search

/**
 * Creates a function that returns the part of a URL that follows the longest endpoint at or above it; undefined if
 * there is none. A URL is not compared with each endpoint: a card may have many of both.
 */
const createSuffixFinder = (endpoints: readonly NormalizedUrl[]): ((url: NormalizedUrl) => string | undefined) => {
  const exact = new Set(endpoints.map(keyOf))
  const above = new Set(endpoints.map(({ host, path }) => host + path))
  const lengths = [...new Set(endpoints.map(({ path }) => path.length))].sort((left, right) => right - left)
  return ({ host, path, search, hash }) => {
    if (exact.has(host + path)) return search + hash
    if (exact.has(host + path + search)) return hash
    // Every path is below a root, but this host serves calls only.
    const length = lengths.find(each => each > 0 && path.charAt(each) === '/' && above.has(host + path.slice(0, each)))
    return length === undefined ? undefined : path.slice(length) + search + hash
  }
}

const cardNames = ['agent-card.json', 'agent.json']

/** Returns the URL of a card, and where that is well known, both well-known URLs. */
const cardUrls = (cardUrl: string | undefined): URL[] => {
  if (cardUrl === undefined) return []
  const url = new URL(cardUrl)
  const folder = /^(.*\/\.well-known\/)agent(?:-card)?\.json$/.exec(url.pathname)?.[1]
  return [url, ...(folder === undefined ? [] : cardNames.map(name => atPath(url, folder + name)))]
}

/** Returns the well-known URLs of an endpoint's card: at the root of its host, beside the endpoint and below it. */
const wellKnownCards = (endpoint: URL): URL[] => {
  const { path } = normalizeUrl(endpoint)
  const folders = new Set(['', path, path.slice(0, Math.max(0, path.lastIndexOf('/')))])
  return [...folders].flatMap(folder => cardNames.map(name => atPath(endpoint, `${folder}/.well-known/${name}`)))
}

const atPath = (base: URL, path: string): URL => {
  const url = new URL(base)
  url.pathname = path
  url.search = ''
  return url
}
