import { formatPointer, type Json, type Pointer } from '../../json/json.ts'
import { collectStrings } from '../../json/tree.ts'
import { isPrivateHost } from '../../net/hosts.ts'
import type { Severity } from '../model/report.ts'
import { getAuthored, getAuthoredItems, type LintContext, type Rule, rule } from './rule.ts'

/** Links for people, and where each stands in the canonical card. */
const linksOf = ({ card }: LintContext): [Pointer, Json | undefined][] => [
  ...['documentationUrl', 'iconUrl', 'termsOfServiceUrl', 'privacyPolicyUrl'].map(
    (name): [Pointer, Json | undefined] => [formatPointer(name), card[name]],
  ),
  ['/provider/url', card.provider?.url],
]

const isFollowable = (value: unknown, isPublic: boolean): boolean => {
  const url = URL.parse(String(value))
  return url !== null && /^https?:$/.test(url.protocol) && !(isPublic && isPrivateHost(url.hostname))
}

/** What tells people who is behind an agent, and where to read on. */
export const links: readonly Rule[] = [
  rule('link-url', 'warning', 'is not an http or https URL that everyone can follow', subject =>
    linksOf(subject)
      .filter(([, value]) => value !== undefined && value !== null && value !== '')
      .filter(([, value]) => !isFollowable(value, subject.manifest.visibility === 'public'))
      .map(([place]) => subject.at(place)),
  ),
  rule(
    'provider-incomplete',
    'warning',
    'needs both organization and url: A2A 0.3 and 1.0 require them, so their cards are served without a provider',
    ({ card: { provider }, at }) =>
      provider && (provider.organization === undefined || provider.url === undefined) ? [at('/provider')] : [],
  ),
]

type Address = { url: URL; place: Pointer }

const asAddress = (value: Json | undefined, place: Pointer): Address[] => {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url ? [{ url, place }] : []
}

/** Where the author says that calls go. */
const endpoints = (subject: LintContext): Address[] => {
  const { value, place } = getAuthored(subject, '/url')
  return [
    ...asAddress(value, place),
    ...['/supportedInterfaces', '/additionalInterfaces']
      .flatMap(name => getAuthoredItems(subject, name))
      .flatMap(({ item, place }) => asAddress(item.url, `${place}/url`)),
  ]
}

/** Where clients are sent for tokens and for metadata about them. */
const authorities = (subject: LintContext): Address[] => {
  const { value = null, place } = getAuthored(subject, '/securitySchemes')
  return collectStrings(value)
    .filter(({ name }) => /Url$/.test(name))
    .flatMap(text => asAddress(text.value, place + text.pointer()))
}

const ofEach = (
  id: string,
  severity: Severity,
  message: string,
  addresses: (subject: LintContext) => Address[],
  wrong: (url: URL) => boolean,
): Rule =>
  rule(id, severity, message, subject =>
    addresses(subject)
      .filter(({ url }) => wrong(url))
      .map(({ place }) => place),
  )

const followed = (subject: LintContext): Address[] => [...endpoints(subject), ...authorities(subject)]

/** What the card tells the public; a gateway tells its own address instead of the agent's. */
const published = (subject: LintContext): Address[] => {
  if (subject.manifest.visibility !== 'public') return []
  return subject.manifest.route === 'gateway' ? authorities(subject) : followed(subject)
}

/** What a gateway's card tells of its agent's host. */
const onAgentHost = (subject: LintContext): Address[] => {
  if (subject.manifest.route !== 'gateway') return []
  const hosts = endpoints(subject).map(({ url }) => url.hostname)
  const links = linksOf(subject).flatMap(([place, value]) => asAddress(value, subject.at(place)))
  return [...links, ...authorities(subject)].filter(({ url }) => hosts.includes(url.hostname))
}

const exampleHost = /(?:^|\.)example(?:\.(?:com|net|org))?$/
const placeholderHost =
  /(?:^|[.-])(?:your-?(?:agent|api|app|company|domain|host|server)|change-?me|placeholder)(?:[.-]|$)/
const placeholderPath = /YOUR[-_]|CHANGE_?ME|%7B|%3C/

/** Where calls and tokens go. */
export const urls: readonly Rule[] = [
  ofEach(
    'private-url',
    'error',
    'is a local or private address that no client reaches: use a public one, `route: gateway` or `visibility: internal`',
    published,
    url => isPrivateHost(url.hostname),
  ),
  ofEach(
    'insecure-url',
    'warning',
    'is http, so calls and tokens can be read and changed on the way: use https',
    followed,
    url => url.protocol === 'http:' && !isPrivateHost(url.hostname),
  ),
  ofEach(
    'endpoint-is-card',
    'error',
    'is where a card is read, not where calls go: give the endpoint, such as …/a2a',
    endpoints,
    url => /\/\.well-known\/[^/]*$|\.json$/i.test(url.pathname),
  ),
  ofEach(
    'gateway-host',
    'warning',
    "is on the agent's own host: `route: gateway` hides where the agent is, and this tells",
    onAgentHost,
    () => true,
  ),
  ofEach(
    'placeholder-url',
    'warning',
    'is a placeholder: put the real address there',
    followed,
    url =>
      (!exampleHost.test(url.hostname) && placeholderHost.test(url.hostname)) ||
      placeholderPath.test(url.pathname + url.search),
  ),
]
