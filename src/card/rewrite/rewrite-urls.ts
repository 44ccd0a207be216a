import { parseUrl } from '../../http/shared.ts'
import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { formatPointer, isJsonObject, mapMembers, omit, parsePointer } from '../../json/index.ts'
import type { Manifest } from '../manifest/index.ts'
import type { AgentCard, Finding } from '../model/index.ts'
import type { Provenance } from '../read/index.ts'
import { canonicalKey, cardLinks, endpointFields, interfaceTransports, listNames } from '../read/index.ts'

/**
 * Creates a function that puts this host's URLs of an agent in the place of the agent's own, in the canonical form of a
 * fetched card or, with its provenance, in the card as authored. `addresses` are the agent's URLs, of which
 * `upstream.card` is no endpoint. Removes links to the agent's documentation and icon on its own hosts: this host does
 * not serve these.
 */
export const createRewriter = (
  { upstream: { card, mayShow = [] } }: Manifest,
  direct: AgentCard,
  addresses: readonly string[],
  agentUrl: string,
): ((document: JsonObject, provenance?: Provenance) => JsonObject) => {
  const endpoints = addresses.filter(address => address !== card)
  const rewriteUrl = createUrlRewriter(endpoints, card, agentUrl)
  const self = new URL(agentUrl)
  const agentUrls = addresses.map(address => new URL(address))
  const links = cardLinks.filter(field => {
    const url = parseUrl(String(direct[field] ?? ''))
    if (url === null || mayShow.includes('*') || mayShow.includes(url.hostname)) return false
    // Where the agent has the host name of this host, only the port distinguishes them.
    return agentUrls.some(({ hostname, host }) =>
      url.hostname === self.hostname ? url.host !== self.host && url.host === host : url.hostname === hostname,
    )
  })
  return (document, provenance) => {
    const nameOf = (field: string) => parsePointer(provenance?.sourceOf(formatPointer(field)) ?? '')[0] ?? field
    // A link in an overlay that differs from the public card's is kept, so that the leak search reports it.
    const hidden = links.filter(field => document[nameOf(field)] === direct[field]).map(nameOf)
    return rewriteUrls(omit(document, ...hidden), rewriteUrl)
  }
}

/** Creates a function that returns this host's URL for an endpoint, a path below one or a card; else undefined. */
const createUrlRewriter = (endpoints: readonly string[], cardUrl: string | undefined, agentUrl: string) => {
  const targets = endpoints.map(endpoint => normalizeUrl(new URL(endpoint)))
  // The longest endpoint at or above a URL is the one that it belongs to.
  targets.sort((left, right) => right.address.length - left.address.length)
  const cards = new Set([...(cardUrl === undefined ? [] : cardUrls(cardUrl)), ...targets.flatMap(wellKnownCards)])
  return (text: string): string | undefined => {
    const parsed = parseUrl(text)
    if (parsed === null || !/^https?:$/.test(parsed.protocol)) return undefined
    const { address, search, hash } = normalizeUrl(parsed)
    if (cards.has(address + search)) return `${agentUrl}/.well-known/agent-card.json`
    for (const target of targets) {
      const isTarget = address === target.address && (target.search === '' || target.search === search)
      if (isTarget) return `${agentUrl}/a2a${target.search === '' ? search : ''}${hash}`
      // Every path is below a root, but this host serves calls only.
      if (target.path !== '' && address.startsWith(`${target.address}/`))
        return `${agentUrl}/a2a${address.slice(target.address.length)}${search}${hash}`
    }
    return undefined
  }
}

/** Fields about the people behind an agent, and tokens: this host serves neither. Signatures cover what was signed. */
const notRewritten = new Set(listNames('card', ({ is, keepsUrls }) => is === 'link' || keepsUrls === true))

/** Members that identify an extension, a skill or a resource, and would identify another if rewritten. */
const identifiers = new Set((['skill', 'extension'] as const).flatMap(kind => listNames(kind, ({ is }) => is === 'id')))

/** Rewrites every URL in a document, also within longer texts. */
const rewriteUrls = (document: JsonObject, rewriteUrl: ReturnType<typeof createUrlRewriter>): JsonObject => {
  const rewrite = (value: Json, parent = ''): Json => {
    if (typeof value === 'string') return rewriteUrl(value) ?? value.replace(urlInText, url => rewriteUrl(url) ?? url)
    if (Array.isArray(value)) return value.map(item => rewrite(item, parent))
    if (!isJsonObject(value)) return value
    // In the parameters of an extension, `id` and `uri` are like any other member.
    return mapMembers(value, (inner, name) =>
      identifiers.has(name) && parent !== 'params' ? inner : rewrite(inner, parent === 'params' ? parent : name),
    )
  }
  return mapMembers(document, (value, name) => (notRewritten.has(canonicalKey(name, 'card')) ? value : rewrite(value)))
}

/** A URL in a sentence, without the punctuation that follows it. */
const urlInText = /https?:\/\/[^\s"'<>`{}|\\^()[\]]*[^\s"'<>`{}|\\^()[\].,;:!?*_]/gi

/** A URL in one spelling; http and https are not distinguished. */
type NormalizedUrl = { address: string; path: string; search: string; hash: string }

const normalizeUrl = ({ hostname, port, pathname, search, hash }: URL): NormalizedUrl => {
  const path = pathname.replace(/%[\da-f]{2}/gi, decodeUnreserved).replace(/\/$/, '')
  return { address: `${hostname.replace(/\.$/, '')}:${port}${path}`, path, search, hash }
}

/** Decodes an escape of an unreserved character, and writes others in upper case (RFC 3986 §6.2.2). */
const decodeUnreserved = (escaped: string): string => {
  const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
  return /[\w.~-]/.test(character) ? character : escaped.toUpperCase()
}

const cardNames = ['agent-card.json', 'agent.json']

/** Returns the URL of a card, and where that is well known, both well-known URLs. */
const cardUrls = (cardUrl: string): string[] => {
  const { address, search } = normalizeUrl(new URL(cardUrl))
  const folder = /^(.*\/\.well-known\/)agent(?:-card)?\.json$/.exec(address)?.[1]
  return [address + search, ...(folder === undefined ? [] : cardNames.map(name => folder + name))]
}

/** Returns the well-known URLs of an endpoint's card: at the root of its host, beside the endpoint and below it. */
const wellKnownCards = ({ address, path }: NormalizedUrl): string[] => {
  const host = address.slice(0, address.length - path.length)
  const folders = [host, address, host + path.slice(0, Math.max(0, path.lastIndexOf('/')))]
  return folders.flatMap(folder => cardNames.map(name => `${folder}/.well-known/${name}`))
}

/** A reference that is clearly relative: a name alone may be a host without a scheme, or a placeholder. */
const relativeReference = /^(?:\.{0,2}\/)[^\s\p{Cc}<>{}\\]*$/u

/** Resolves relative URLs of interfaces against the address of the fetched card (RFC 3986 §5.1.3). Notes each. */
export const resolveInterfaceUrls = (card: JsonObject, base: string): { card: JsonObject; notes: Finding[] } => {
  const notes: Finding[] = []
  const resolve = (value: Json | undefined, pointer: Pointer): Json | undefined => {
    const url = typeof value === 'string' && relativeReference.test(value) ? parseUrl(value, base) : null
    if (url === null) return value
    notes.push({ pointer, message: `relative, resolved against the address of the card: ${url.href}` })
    return url.href
  }
  const present = endpointFields.filter(name => card[name] !== undefined)
  const resolved = present.map((name): [string, Json | undefined] => {
    const field = card[name]
    const pointer = formatPointer(name)
    if (!Array.isArray(field)) return [name, resolve(field, pointer)]
    const items = field.map((item, index) =>
      isJsonObject(item) && item.url !== undefined && (name !== 'interfaces' || interfaceTransports(item).length > 0)
        ? { ...item, url: resolve(item.url, pointer + formatPointer(index, 'url')) }
        : item,
    )
    return [name, items]
  })
  return { card: notes.length > 0 ? { ...card, ...Object.fromEntries(resolved) } : card, notes }
}
