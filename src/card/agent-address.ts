import type { AgentCard } from './agent-card.ts'
import type { Json, JsonObject } from './json.ts'
import type { Manifest } from './manifest.ts'
import { type Pointer, pointer } from './pointer.ts'
import type { Reading } from './reading.ts'
import type { CardError } from './report.ts'

/** Where a gateway's card says this host's address in place of the agent's; and signatures, which are not served then. */
const rerouted = /^\/(?:url|supportedInterfaces|additionalInterfaces|agentCard\/url|signatures)(?:\/|$)/

/** What owners write for people, and where tokens are had: often on the agent's host, without saying where the agent is. */
const publicLinks =
  /^\/(?:(?:documentation|icon|terms_?of_?service|privacy_?policy)_?url|provider\/url|security_?schemes\/.*url)$/i

/** Finds where a card behind a gateway says where its agent is, in whatever field; undefined is a text that does not. */
export type AddressFinder = (card: JsonObject) => Pointer[]

/**
 * Finds the agent's address by the names of its hosts. Links for people may be on the host of an interface, unless they lead to
 * the interface itself; on that of an `upstream`, which is nobody else's business, nothing may.
 */
export const addressFinder = (
  { upstream: { url, card, mcp } }: Manifest,
  { supportedInterfaces }: AgentCard,
  origin: string,
): AddressFinder => {
  const own = URL.parse(origin)
  const written = [url, card, mcp].filter(each => each !== undefined)
  const apart = written.map(each => new URL(each))
  const interfaces = supportedInterfaces.map(each => new URL(each.url))
  const names = [
    ...[...apart, ...interfaces].flatMap(each => namesOf(each, own)),
    ...[...written, ...supportedInterfaces.map(each => each.url)].flatMap(inOtherLetters),
  ]
  if (names.length === 0) return () => []
  const escaped = [...new Set(names)].map(name => name.replace(/\W/g, '\\$&'))
  const any = new RegExp(`(?<![\\w.-])(?:${escaped.join('|')})(?![\\w-]|\\.\\w)`)
  const says = (text: string): boolean => any.test(text.toLowerCase().replaceAll('%2f', '/'))

  const mayBe = (link: string): boolean => {
    const url = URL.parse(link)
    return (
      url !== null &&
      !says(url.pathname + url.search + url.hash) &&
      !apart.some(({ hostname }) => hostname === url.hostname) &&
      !interfaces.some(each => each.hostname === url.hostname && isBelow(url, each))
    )
  }
  return document => {
    const places: Pointer[] = []
    const visit = (value: Json, place: Pointer): void => {
      if (rerouted.test(place)) return
      if (typeof value === 'string' && says(value) && !(publicLinks.test(place) && mayBe(value))) places.push(place)
      if (typeof value !== 'object' || value === null) return
      for (const [name, inner] of Object.entries(value)) {
        const at = place + pointer(name)
        if (says(name)) places.push(at)
        else visit(inner, at)
      }
    }
    visit(document, '')
    return places
  }
}

/**
 * Why a card that is served for a gateway is refused: at the places where it was authored. `own` is its document in the
 * author's dialect, which may come back with words that the card has no place for.
 */
export const addressErrors = (find: AddressFinder, card: AgentCard, own: JsonObject, reading: Reading): CardError[] => {
  const places = find(card as JsonObject)
    .filter(place => !reading.isFilled(place))
    .map(place => reading.authored(place))
  return (places.length > 0 ? places : find(own)).map(pointer => ({
    pointer,
    message: "holds the agent's own address, which `route: gateway` is to hide: leave it out",
  }))
}

/** What a text says that names the host of an endpoint; where that is this host too, the endpoint. */
const namesOf = ({ hostname, host, pathname }: URL, own: URL | null): string[] => {
  if (host === own?.host) return pathname === '/' ? [] : [host + pathname.toLowerCase().replace(/\/+$/, '')]
  if (hostname === own?.hostname) return [host]
  // A word without a point is a word like any other, but in a URL.
  return [/[.:]/.test(hostname) ? hostname : `//${hostname}`]
}

/** The name of a host as it was written, where URLs spell it in ASCII. */
const inOtherLetters = (url: string): string[] => /(?<=\/\/)[^/?#:]*[^\0-\x7f][^/?#:]*/.exec(url.toLowerCase()) ?? []

/** Everything is below a root: there only the root itself is where the agent is. */
const isBelow = (url: URL, endpoint: URL): boolean =>
  endpoint.pathname === '/'
    ? url.pathname === '/'
    : `${url.pathname}/`.startsWith(endpoint.pathname.replace(/\/*$/, '/'))
