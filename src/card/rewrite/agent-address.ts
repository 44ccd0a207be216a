import type { Json, JsonObject } from '../../json/json.ts'
import { formatPointer, type Pointer } from '../../json/pointer.ts'
import { createHostMatcher, type HostMatch, type HostSearch, hostnameOf } from './host-leaks.ts'

/** Where a document says the agent's address, and which host that is. */
export type Found = HostMatch & { place: Pointer }

/** Finds where a card behind a gateway says where its agent is, in whatever field. */
export type AddressFinder = (document: JsonObject) => Found[]

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
      for (const [name, inner] of Object.entries(value)) {
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
