import { formatPointer, type Json, type JsonObject, jsonEntries, omit, parsePointer } from '../../json/json.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard } from '../model/agent-card.ts'
import { canonicalKey } from '../read/field-names.ts'
import type { Provenance } from '../read/provenance.ts'

/** Says where a URL leads at this host; undefined where it leads nowhere here. */
type UrlMap = (url: string) => string | undefined

/** Where an agent is, beside where this host serves it. */
type Addresses = {
  endpoints: readonly string[]
  /** Where its card is, if that was fetched. */
  card: string | undefined
  agentUrl: string
}

/** Who is behind an agent, and where tokens are had: this host stands for neither. Signatures are over what was signed. */
const notServed = new Set([
  'securitySchemes',
  'provider',
  'termsOfServiceUrl',
  'privacyPolicyUrl',
  'documentationUrl',
  'iconUrl',
  'signatures',
])

/** What is told apart by its name, of extensions, skills and resources: another name would be something else. */
const identifiers = new Set(['id', 'uri'])

/** Where the URLs of an agent lead at this host: its endpoints with what is below them, and where its card is read. */
const createUrlRewriter = ({ endpoints, card, agentUrl }: Addresses): UrlMap => {
  const bases = endpoints.map(each => new URL(each))
  const cards = [...wellKnown(card), ...bases.flatMap(cardsBeside)].map(spot)
  // The longest first: what is below one can be below another.
  const spots = bases.map(spot).toSorted((left, right) => right.path.length - left.path.length)
  return text => {
    const url = URL.parse(text)
    if (url === null || !/^https?:$/.test(url.protocol)) return undefined
    const at = spot(url)
    if (cards.some(({ host, path, search }) => host === at.host && path === at.path && search === at.search))
      return `${agentUrl}/.well-known/agent-card.json`
    const rest = spots.map(base => restBelow(base, at)).find(each => each !== undefined)
    return rest === undefined ? undefined : `${agentUrl}/a2a${rest}`
  }
}

/** A document with every URL in it that leads to this host leading there, also those within texts. */
const rewriteUrls = (document: JsonObject, map: UrlMap): JsonObject => {
  const change = (value: Json, within = ''): Json => {
    if (typeof value === 'string') return map(value) ?? value.replace(urlInText, url => trimmed(url, map))
    if (Array.isArray(value)) return value.map(item => change(item, within))
    if (typeof value !== 'object' || value === null) return value
    return members(value, (name, inner) =>
      identifiers.has(name) && within !== 'params' ? inner : change(inner, within === 'params' ? within : name),
    )
  }
  return members(document, (name, value) => (notServed.has(canonicalKey(name, 'card')) ? value : change(value)))
}

const members = (object: JsonObject, change: (name: string, value: Json) => Json): JsonObject =>
  Object.fromEntries(jsonEntries(object).map(([name, value]) => [name, change(name, value)]))

const urlInText = /https?:\/\/[^\s"'<>`{}|\\^()[\]]+/gi

/** A full stop after a URL ends the sentence, not the URL. */
const trimmed = (url: string, map: UrlMap): string => {
  const length = lengthWithout('.,;:!?*_', url)
  const mapped = map(url.slice(0, length))
  return mapped === undefined ? url : mapped + url.slice(length)
}

/** How long a text is without some characters at its end: a pattern would look for the end from each of them. */
const lengthWithout = (characters: string, text: string): number => {
  let length = text.length
  while (length > 0 && characters.includes(text.charAt(length - 1))) length--
  return length
}

/** What is below an endpoint, with what follows the path; undefined where a URL is not there. */
const restBelow = (base: NormalizedUrl, { host, path, search, hash }: NormalizedUrl): string | undefined => {
  if (base.host !== host) return undefined
  if (base.path === path && base.search === '') return search + hash
  if (base.path === path) return base.search === search ? hash : undefined
  // Everything is below a root, and only calls are served here.
  return base.path !== '' && path.startsWith(`${base.path}/`) ? path.slice(base.path.length) + search + hash : undefined
}

const cardNames = ['agent-card.json', 'agent.json']

/** A card is at both well-known paths beside each other, and may be at one that is not. */
const wellKnown = (card: string | undefined): URL[] => {
  if (card === undefined) return []
  const folder = /^(.*\/\.well-known\/)agent(?:-card)?\.json$/.exec(new URL(card).pathname)?.[1]
  return [new URL(card), ...(folder === undefined ? [] : cardNames.map(name => atPath(new URL(card), folder + name)))]
}

/** Where the card of an endpoint is looked for: at its host, beside it and below it. */
const cardsBeside = (base: URL): URL[] => {
  const { path } = spot(base)
  const folders = new Set(['', path, path.slice(0, Math.max(0, path.lastIndexOf('/')))])
  return [...folders].flatMap(folder => cardNames.map(name => atPath(base, `${folder}/.well-known/${name}`)))
}

const atPath = (base: URL, path: string): URL => {
  const url = new URL(base)
  url.pathname = path
  url.search = ''
  return url
}

/** Where a URL is, in one spelling. */
type NormalizedUrl = { host: string; path: string; search: string; hash: string }

/** The ports of http and https are one door, whichever is written. */
const spot = ({ hostname, port, pathname, search, hash }: URL): NormalizedUrl => {
  const path = pathname.replace(/%[\da-f]{2}/gi, plainEscape)
  return {
    host: `${hostname.replace(/\.$/, '')}:${port}`,
    path: path.slice(0, lengthWithout('/', path)),
    search,
    hash,
  }
}

/** An escape that says nothing is the letter itself (RFC 3986 §6.2.2). */
const plainEscape = (escaped: string): string => {
  const letter = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
  return /[\w.~-]/.test(letter) ? letter : escaped.toUpperCase()
}

const linkFields = ['documentationUrl', 'iconUrl'] as const

/** Returns the optional links of a card that lead to one of the agent's hosts, unless `upstream.mayShow` names that host. */
const hiddenLinks = (
  { upstream: { mayShow = [] } }: Manifest,
  direct: AgentCard,
  addresses: readonly string[],
  agentUrl: string,
): (typeof linkFields)[number][] => {
  const isHidden = onHosts(addresses, new URL(agentUrl))
  return linkFields.filter(field => {
    const url = URL.parse(direct[field] ?? '')
    return url !== null && !mayShow.includes('*') && !mayShow.includes(url.hostname) && isHidden(url)
  })
}

/** Whether a URL is on one of the hosts of some addresses; on this host's own name, an agent is at another port. */
const onHosts =
  (addresses: readonly string[], own: URL) =>
  ({ hostname, host }: URL): boolean =>
    addresses
      .map(each => new URL(each))
      .some(each => (hostname === own.hostname ? host !== own.host && host === each.host : hostname === each.hostname))

/** A card that was fetched, with this host in the agent's place wherever it says where the agent is. */
type HiddenUpstream = {
  card: (card: AgentCard) => AgentCard
  document: (authored: JsonObject, provenance: Provenance) => JsonObject
}

/** Puts this host into the place of an agent that is at some addresses, in the canonical card as in that of its author. */
export const rewriteForGateway = (
  manifest: Manifest,
  direct: AgentCard,
  addresses: readonly string[],
  agentUrl: string,
): HiddenUpstream => {
  const { card: source } = manifest.upstream
  const map = createUrlRewriter({ endpoints: addresses.filter(each => each !== source), card: source, agentUrl })
  const links = hiddenLinks(manifest, direct, addresses, agentUrl)
  const withoutLinks = (document: JsonObject, nameOf: (field: string) => string): JsonObject =>
    omit(document, ...links.flatMap(field => (document[nameOf(field)] === direct[field] ? [nameOf(field)] : [])))
  return {
    card: card =>
      rewriteUrls(
        withoutLinks(card, field => field),
        map,
      ) as AgentCard,
    document: (authored, provenance) =>
      rewriteUrls(
        withoutLinks(authored, field => parsePointer(provenance.sourceOf(formatPointer(field)))[0] ?? field),
        map,
      ),
  }
}
