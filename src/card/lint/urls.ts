import { isPrivateHost, parseUrl, toHttpUrl } from '../../http/shared.ts'
import { collectStrings, formatPointer, type Json, type Pointer, toText } from '../../json/index.ts'
import { getAuthored, getAuthoredItems, type LintContext, type Rule, rule } from './rule.ts'

type UrlAt = { url: URL; pointer: Pointer }

const toUrlAt = (value: Json | undefined, pointer: Pointer): UrlAt[] => {
  const url = typeof value === 'string' ? parseUrl(toHttpUrl(value)) : null
  return url ? [{ url, pointer }] : []
}

/** Returns the agent's own endpoints. */
const endpoints = (context: LintContext): UrlAt[] => {
  const { value, pointer } = getAuthored(context, '/url')
  return [
    ...toUrlAt(value, pointer),
    ...['/supportedInterfaces', '/additionalInterfaces']
      .flatMap(name => getAuthoredItems(context, name))
      .flatMap(({ item, pointer }) => toUrlAt(item.url, `${pointer}/url`)),
  ]
}

/** Returns the OAuth and OpenID Connect URLs of the security schemes. */
const authorities = (context: LintContext): UrlAt[] => {
  const { value = null, pointer } = getAuthored(context, '/securitySchemes')
  return collectStrings(value)
    .filter(({ name }) => /Url$/.test(name))
    .flatMap(text => toUrlAt(text.value, pointer + text.pointer()))
}

const calledUrls = (context: LintContext): UrlAt[] => [...endpoints(context), ...authorities(context)]

/**
 * Returns the URLs in a public card that clients connect to. A gateway's card has this host's endpoints. One that reaches
 * a private address is on that network, and so are its clients.
 */
const publicUrls = (context: LintContext): UrlAt[] => {
  if (context.manifest.visibility !== 'public') return []
  if (context.manifest.route !== 'gateway') return calledUrls(context)
  return endpoints(context).some(({ url }) => isPrivateHost(url.hostname)) ? [] : authorities(context)
}

/** Returns the links for people with their canonical places. */
const linksOf = ({ card }: LintContext): [Pointer, Json | undefined][] => [
  ...['documentationUrl', 'iconUrl', 'termsOfServiceUrl', 'privacyPolicyUrl', 'supportUrl'].map(
    (name): [Pointer, Json | undefined] => [formatPointer(name), card[name]],
  ),
  ['/provider/url', card.provider?.url],
]

/** Returns the URLs in a gateway's card that are on a host of the agent. */
const urlsOnAgentHost = (context: LintContext): UrlAt[] => {
  if (context.manifest.route !== 'gateway') return []
  // The name of this machine reveals nothing.
  const hosts = endpoints(context)
    .map(({ url }) => url.hostname)
    .filter(name => !/^(localhost|127\..*|\[::1\])$/.test(name))
  const links = linksOf(context).flatMap(([pointer, value]) => toUrlAt(value, context.sourceOf(pointer)))
  return [...links, ...authorities(context)].filter(({ url }) => hosts.includes(url.hostname))
}

/** Finds the URLs for which `isWrong` is true. */
const findUrls =
  (list: (context: LintContext) => UrlAt[], isWrong: (url: URL) => boolean) =>
  (context: LintContext): Pointer[] =>
    list(context)
      .filter(({ url }) => isWrong(url))
      .map(({ pointer }) => pointer)

const exampleHost = /(?:^|\.)example(?:\.(?:com|net|org))?$/
const placeholderHost =
  /(?:^|[.-])(?:your-?(?:agent|api|app|company|domain|host|server)|change-?me|placeholder)(?:[.-]|$)/
const placeholderPath = /YOUR[-_]|CHANGE_?ME|%7B|%3C/

/** Rules about the URLs that clients connect to. */
export const urls: readonly Rule[] = [
  rule(
    'private-url',
    'error',
    'is a local or private address that no client can reach: use a public one, `visibility: internal` or, unless it is for gRPC, `route: gateway`',
    findUrls(publicUrls, url => isPrivateHost(url.hostname)),
  ),
  rule(
    'insecure-url',
    'warning',
    'is http, so others can read and change calls and tokens on the way: use https',
    findUrls(calledUrls, url => url.protocol === 'http:' && !isPrivateHost(url.hostname)),
  ),
  rule(
    'endpoint-is-card',
    'error',
    'is the URL of a card, not of an endpoint: use the URL that accepts calls, such as …/a2a',
    findUrls(endpoints, url => /\/\.well-known\/[^/]*$|\.json$/i.test(url.pathname)),
  ),
  rule(
    'gateway-host',
    'warning',
    "is on the agent's own host, which `route: gateway` is meant to hide: use a page on another host, such as https://www.example.com/weather",
    findUrls(urlsOnAgentHost, () => true),
  ),
  rule(
    'placeholder-url',
    'warning',
    'is a placeholder: replace it with the real URL, such as https://agent.example.com/a2a',
    findUrls(
      calledUrls,
      url =>
        (!exampleHost.test(url.hostname) && placeholderHost.test(url.hostname)) ||
        placeholderPath.test(url.pathname + url.search),
    ),
  ),
]

const canFollow = (value: Json | undefined, isPublic: boolean): boolean => {
  const url = parseUrl(toText(value))
  return url !== null && /^https?:$/.test(url.protocol) && !(isPublic && isPrivateHost(url.hostname))
}

/** Rules about links for people, and about the provider. */
export const links: readonly Rule[] = [
  rule(
    'link-url',
    'warning',
    'is not an http or https URL that everyone can open, such as https://www.example.com/weather',
    context =>
      linksOf(context)
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .filter(([, value]) => !canFollow(value, context.manifest.visibility === 'public'))
        .map(([pointer]) => context.sourceOf(pointer)),
  ),
  rule(
    'provider-incomplete',
    'warning',
    'needs both, as in { "organization": "ACME Corp", "url": "https://acme.example.com" }: A2A 0.3 and 1.0 require them, so their cards and the hybrid are served without a provider',
    ({ card: { provider }, sourceOf }) =>
      provider && (provider.organization === undefined || provider.url === undefined) ? [sourceOf('/provider')] : [],
  ),
]
