import { extractUrls, normalizeForSearch, searchVariants } from '../../net/hosts.ts'
import { isPrivateHost } from '../../net/private-host.ts'
import { findPrivateHosts } from '../../net/private-names.ts'
import type { UpstreamAddresses } from './upstream-addresses.ts'

/** A host that a text names and should not; `isPrivate` where it is one of a private network. */
export type HostMatch = { host: string; isPrivate: boolean }

/** What is looked for, and what may be said all the same. */
export type HostSearch = UpstreamAddresses & {
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
