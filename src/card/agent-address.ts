import type { Json, JsonObject } from './json.ts'
import { isPrivateHost } from './lint/private-host.ts'
import { type Pointer, pointer } from './pointer.ts'
import type { UpstreamAddresses } from './upstream-addresses.ts'
import { plainly, urlsIn } from './urls-in.ts'

/** Where a document says the agent's address, and which host that is; `isPrivate` where it is one of a private network. */
export type Found = { place: Pointer; host: string; isPrivate: boolean }

/** Finds where a card behind a gateway says where its agent is, in whatever field. */
export type AddressFinder = (document: JsonObject) => Found[]

/** What a finder looks for, and what may be said all the same. */
type Search = UpstreamAddresses & {
  /** Where this host serves the agent. */
  agentUrl: string
  /** Whether the hosts of private networks are looked for besides. */
  privateHosts: boolean
  /** The hosts that may be named. */
  mayShow: readonly string[]
}

/** What owners write for people, and where tokens are had: often on the agent's host, without saying where the agent is. */
const publicLinks =
  /^\/(?:icon|(?:documentation|icon|terms_?of_?service|privacy_?policy)_?url|provider\/url|security_?schemes\/.*url)$/i

/** What is signed is read too: it can name where its key is. */
const protectedHeader = /^\/signatures\/\d+\/protected$/

/**
 * Finds the agent's address by the names of its hosts. Links for people may be on the host of an interface, unless they lead to
 * the interface itself; on that of what is apart, nothing may.
 */
export const addressFinder = (search: Search): AddressFinder => {
  const { interfaces, apart } = search
  const said = sayer(search)
  const known = new Map<string, Omit<Found, 'place'> | undefined>()
  const says = (text: string): Omit<Found, 'place'> | undefined => {
    if (!known.has(text)) known.set(text, said(text))
    return known.get(text)
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
        const what = says(value) ?? (protectedHeader.test(place) ? says(decoded(value)) : undefined)
        if (what && !(interfaces.length > 0 && publicLinks.test(place) && mayBe(value))) found.push({ place, ...what })
      }
      if (typeof value !== 'object' || value === null) return
      for (const [name, inner] of Object.entries(value)) {
        const at = place + pointer(name)
        const what = says(name)
        if (what) found.push({ place: at, ...what })
        else visit(inner, at)
      }
    }
    visit(document, '')
    return found
  }
}

/** Says which host a text names that it should not. */
const sayer = ({ apart, interfaces, agentUrl, privateHosts, mayShow }: Search) => {
  const own = URL.parse(agentUrl)
  const isShown = (hostname: string): boolean => mayShow.includes(hostname) || mayShow.includes('*')
  const hidden = [...apart, ...interfaces].filter(each => !isShown(hostnameOf(each)))
  const names = hidden.flatMap(each => [...namesOf(new URL(each), own), ...inOtherLetters(each)])
  const escaped = [...new Set(names)].map(name => name.replace(/\W/g, '\\$&'))
  const any = escaped.length > 0 ? new RegExp(`(?<![\\w.-])(?:${escaped.join('|')})(?![\\w-]|\\.\\w)`) : undefined
  const hosts = new Set(hidden.map(hostnameOf).filter(hostname => hostname !== own?.hostname))
  const ours = new RegExp(`${agentUrl.toLowerCase().replace(/\W/g, '\\$&')}(?![\\w-])`, 'g')
  return (text: string): Omit<Found, 'place'> | undefined => {
    const plain = plainly(text).replace(ours, '')
    const [name] = any?.exec(plain) ?? []
    if (name !== undefined) return { host: name.replace(/^\/\//, ''), isPrivate: false }
    for (const { hostname, host } of urlsIn(plain)) {
      if (hosts.has(hostname)) return { host: hostname, isPrivate: false }
      if (privateHosts && isPrivateHost(hostname) && host !== own?.host && !isShown(hostname))
        return { host: hostname, isPrivate: true }
    }
    return undefined
  }
}

/** A point at the end of a name says what the name says. */
const hostnameOf = (url: string): string => new URL(url).hostname.replace(/\.$/, '')

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
const inOtherLetters = (url: string): string[] => /(?<=\/\/)[^/?#:]*[^\0-\x7f][^/?#:]*/.exec(plainly(url)) ?? []

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
