import { validateStrict } from 'compare-versions'
import { isPrivateHost, parseUrl, toHttpUrl } from '../../http/shared.ts'
import { collectStrings, formatPointer, type Json, type Pointer, toText } from '../../json/index.ts'
import { majorMinor, wireVersionOf } from '../model/index.ts'
import {
  cardTransports,
  differInTransport,
  interfaceTransports,
  isInterfaceList,
  links as linkFields,
  parseBinding,
  unreadTransports,
} from '../read/index.ts'
import type { Authored, LintContext, Rule } from './rule.ts'
import { error, getAuthored, getAuthoredItems, isBlank, setTo, warning } from './rule.ts'

type UrlAt = { url: URL; pointer: Pointer }

const toUrlAt = (value: Json | undefined, pointer: Pointer): UrlAt[] => {
  const url = typeof value === 'string' ? parseUrl(toHttpUrl(value)) : null
  return url ? [{ url, pointer }] : []
}

const endpoints = (context: LintContext): UrlAt[] => {
  const { value, pointer } = getAuthored(context, '/url')
  const listed = listInterfaces(context).flatMap(({ item, pointer }) => toUrlAt(item.url, `${pointer}/url`))
  return [...toUrlAt(value, pointer), ...listed]
}

const listInterfaces = (context: LintContext, ...others: string[]): ReturnType<typeof getAuthoredItems> =>
  ['/supportedInterfaces', '/additionalInterfaces', ...others].flatMap(name => getAuthoredItems(context, name))

const authorities = (context: LintContext): UrlAt[] => {
  const { value = null, pointer } = getAuthored(context, '/securitySchemes')
  return collectStrings(value)
    .filter(({ name }) => /Url$/.test(name))
    .flatMap(text => toUrlAt(text.value, pointer + text.pointer()))
}

const calledUrls = (context: LintContext): UrlAt[] => [...endpoints(context), ...authorities(context)]

/**
 * Returns the URLs in a public card that clients connect to. A gateway's card has this host's endpoints. One that
 * reaches a private address is on that network, and so are its clients.
 */
const publicUrls = (context: LintContext): UrlAt[] => {
  if (context.manifest.visibility !== 'public') return []
  if (context.manifest.route !== 'gateway') return calledUrls(context)
  return endpoints(context).some(({ url }) => isPrivateHost(url.hostname)) ? [] : authorities(context)
}

const linksOf = ({ card, sourceOf }: LintContext): Authored[] => [
  ...[...linkFields, 'supportUrl'].map(name => ({ pointer: sourceOf(formatPointer(name)), value: card[name] })),
  { pointer: sourceOf('/provider/url'), value: card.provider?.url },
]

/** Returns the URLs in a gateway's card that are on a host of the agent. */
const urlsOnAgentHost = (context: LintContext): UrlAt[] => {
  if (context.manifest.route !== 'gateway') return []
  // The name of this machine reveals nothing.
  const hosts = endpoints(context)
    .map(({ url }) => url.hostname)
    .filter(name => !/^(localhost|127\..*|\[::1\])$/.test(name))
  const links = linksOf(context).flatMap(({ pointer, value }) => toUrlAt(value, pointer))
  return [...links, ...authorities(context)].filter(({ url }) => hosts.includes(url.hostname))
}

const findUrls =
  (list: (context: LintContext) => UrlAt[], isWrong: (url: URL) => boolean) =>
  (context: LintContext): Pointer[] =>
    list(context).flatMap(({ url, pointer }) => (isWrong(url) ? [pointer] : []))

const exampleHost = /(?:^|\.)example(?:\.(?:com|net|org))?$/
const placeholderHost =
  /(?:^|[.-])(?:your-?(?:agent|api|app|company|domain|host|server)|change-?me|placeholder)(?:[.-]|$)/
const placeholderPath = /YOUR[-_]|CHANGE_?ME|%7B|%3C/

/** Returns the places of the values that are not left out and that are wrong. */
const wherePresent = (values: readonly Authored[], isWrong: (text: string) => boolean): Pointer[] =>
  values.filter(({ value }) => !isBlank(value) && isWrong(toText(value))).map(({ pointer }) => pointer)

const canFollow = (text: string, isPublic: boolean): boolean => {
  const url = parseUrl(text)
  return url !== null && /^https?:$/.test(url.protocol) && !(isPublic && isPrivateHost(url.hostname))
}

/** Rules about the URLs that clients connect to, links for people, and the provider. */
export const urls: readonly Rule[] = [
  /**
   * A public card has no endpoint or token endpoint at a local or private address. Not checked with `visibility:
   * internal`. With `route: gateway`, the card names this host, and token endpoints are checked unless the agent has
   * such an address, too. Reason: No client can reach it, and it reveals how the network is laid out.
   */
  error(
    'private-url',
    'is a private address that no client can reach: use a public one, `visibility: internal` or `route: gateway`',
    findUrls(publicUrls, url => isPrivateHost(url.hostname)),
  ),
  /** Endpoints and token endpoints are https. Reason: Others can read and change calls and tokens on their way. */
  warning(
    'insecure-url',
    'is http, so others can read and change calls and tokens on the way: use https',
    findUrls(calledUrls, url => url.protocol === 'http:' && !isPrivateHost(url.hostname)),
  ),
  /**
   * The endpoint is not a `.json` file or a `/.well-known/` path. Reason: Clients would send calls to a file. This is
   * the most common mistake.
   */
  error(
    'endpoint-is-card',
    'is the URL of a card, not of an endpoint: use the URL that accepts calls, such as …/a2a',
    findUrls(endpoints, url => /\/\.well-known\/[^/]*$|\.json$/i.test(url.pathname)),
  ),
  /**
   * With `route: gateway`, links for people and token endpoints are not on the agent's host. In any other field, a URL
   * of the agent itself is rejected. Reason: The card should name this host only.
   */
  warning(
    'gateway-host',
    "is on the agent's own host, which `route: gateway` is meant to hide: use a page on another host",
    findUrls(urlsOnAgentHost, () => true),
  ),
  /**
   * No URL is a leftover such as `your-agent-domain.com` or `YOUR_AGENT_ID`. Hosts under `example.com` are
   * documentation and fine. Reason: Clients would call another server, or none.
   */
  warning(
    'placeholder-url',
    'is a placeholder: replace it with the real URL, such as https://agent.example.com/a2a',
    findUrls(
      calledUrls,
      url =>
        (!exampleHost.test(url.hostname) && placeholderHost.test(url.hostname)) ||
        placeholderPath.test(url.pathname + url.search),
    ),
  ),
  /**
   * `documentationUrl`, `iconUrl`, `termsOfServiceUrl`, `privacyPolicyUrl`, `supportUrl` and `provider.url` are
   * absolute http or https URLs, and public ones on a public card. Reason: People follow them from other hosts than the
   * agent's.
   */
  warning(
    'link-url',
    'is not an http or https URL that everyone can open, such as https://www.example.com/weather',
    context => {
      const isPublic = context.manifest.visibility === 'public'
      return wherePresent(linksOf(context), text => !canFollow(text, isPublic))
    },
  ),
  /**
   * A provider has both `organization` and `url`. Reason: A2A 0.3 and 1.0 require both, so their cards and the hybrid
   * are served without an incomplete provider.
   */
  warning(
    'provider-incomplete',
    'needs both, as in { "organization": "ACME Corp", "url": "https://acme.example.com" }: A2A requires them, ' +
      'so its cards and the hybrid are served without a provider',
    ({ card: { provider }, sourceOf }) =>
      provider && (provider.organization === undefined || provider.url === undefined) ? [sourceOf('/provider')] : [],
  ),
]

/** Returns the fields that name the transport of the card and of each interface, and the names of unreadable ones. */
const transportsOf = (context: LintContext) => [
  { fields: cardTransports(context.authored), unread: unreadTransports(context.authored), pointer: '' },
  ...listInterfaces(context, ...(isInterfaceList(context.authored.interfaces) ? ['/interfaces'] : [])).map(
    ({ item, pointer }) => ({ fields: interfaceTransports(item), unread: unreadTransports(item), pointer }),
  ),
]

/** Returns the top-level transport if no listed interface has it: at the card's URL, or anywhere if it has none. */
const findUnlistedTransport = (context: LintContext): Pointer[] => {
  const { url = null } = context.authored
  const [field] = cardTransports(context.authored)
  const listed = getAuthoredItems(context, '/supportedInterfaces')
    .filter(({ item }) => url === null || item.url === url)
    .flatMap(({ item }) => interfaceTransports(item).slice(0, 1))
  return field && listed.length > 0 && listed.every(({ value }) => differInTransport(value, field.value))
    ? [formatPointer(field.name)]
    : []
}

/** Returns the fields that name another transport than the field that is read. */
const findTransportClashes = (context: LintContext): Pointer[] => [
  ...transportsOf(context).flatMap(({ fields: [read, ...others], pointer }) =>
    others.flatMap(({ name, value }) =>
      read && differInTransport(read.value, value) ? [pointer + formatPointer(name)] : [],
    ),
  ),
  ...findUnlistedTransport(context),
]

/** Returns whether a binding is neither one of A2A or MCP nor, as A2A asks of custom bindings, a URI. */
const isUnknownTransport = (binding: string): boolean =>
  parseBinding(binding) === undefined && binding.toUpperCase() !== 'MCP' && !/^[a-z][a-z\d+.-]*:/i.test(binding)

/** The versions besides those of calls: the first one of A2A, 1.0 as a number, and those of MCP, which are dates. */
const otherVersion = /^(?:0\.1|1|\d{4}-\d\d-\d\d)$/

const isPublished = (version: string): boolean => wireVersionOf.has(version) || otherVersion.test(version)

/** Returns the protocol versions of a card: one for each interface in its list, else the one at the top level. */
const protocolVersions = (context: LintContext): Authored[] => {
  const listed = getAuthoredItems(context, '/supportedInterfaces').map(({ item, pointer }) => ({
    pointer: `${pointer}/protocolVersion`,
    value: item.protocolVersion,
  }))
  return listed.length > 0 ? listed : [getAuthored(context, '/protocolVersion')]
}

/** Rules about the version of the agent, and about the versions and transports of the protocol. */
export const protocol: readonly Rule[] = [
  /** The version is a semantic version. Reason: Clients cannot compare others. */
  warning('version-semver', 'is not a semantic version, such as "1.4.0"', context => {
    const authored = getAuthored(context, '/version')
    const parts = /^v?(\d+(?:\.\d+){0,2})$/.exec(toText(authored.value))?.[1]?.split('.') ?? []
    const version = [...parts, '0', '0'].slice(0, 3).join('.')
    return wherePresent([authored], written => !validateStrict(written)).map(pointer =>
      parts.length > 0 && validateStrict(version) ? setTo(pointer, version) : pointer,
    )
  }),
  /**
   * The protocol version is one that A2A has published, or a date, as MCP's versions are. Reason: Clients refuse
   * versions that they do not know.
   */
  warning(
    'protocol-version-unknown',
    'is not a version of A2A, such as "1.0", so clients may reject the agent',
    context => wherePresent(protocolVersions(context), version => !isPublished(majorMinor(version))),
  ),
  /**
   * A card names one transport for an endpoint: `preferredTransport`, `transport`, `protocol` and `supportedInterfaces`
   * agree, and so do the fields of each interface. Reason: The first of them is read; clients that read another
   * one use the wrong transport.
   */
  error(
    'transport-clash',
    'names another transport than the field that clients read, so calls would go wrong: keep the one that is true',
    findTransportClashes,
  ),
  /**
   * A transport is text: JSONRPC, HTTP+JSON, GRPC, MCP or a URI. So is a `protocol` other than A2A and MCP.
   * Reason: A2A asks for URIs of custom bindings; most clients cannot call others.
   */
  warning(
    'transport-unknown',
    'is not a transport of A2A (JSONRPC, HTTP+JSON or GRPC), so most clients cannot call: use one, or a URI',
    context =>
      transportsOf(context).flatMap(({ fields: [read], unread, pointer }) => {
        if (read === undefined) return unread.map(name => pointer + formatPointer(name))
        return typeof read.value === 'string' && isUnknownTransport(read.value)
          ? [pointer + formatPointer(read.name)]
          : []
      }),
  ),
]
