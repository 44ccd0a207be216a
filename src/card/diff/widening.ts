import { parseUrl, toHttpUrl } from '../../http/shared.ts'
import { collectStrings, formatPointer, isJsonObject, type JsonObject, type Pointer, toText } from '../../json/index.ts'
import { type CallProfile, getApiKeyHeaders } from '../call-profile.ts'
import type { AgentCard, AgentInterface, CallerPolicy, CallTarget, Finding } from '../model/index.ts'
import { majorMinor, wireVersionOf } from '../model/index.ts'
import { allowsAnonymous, getWrappers } from '../read/index.ts'
import { pairMembers } from './change-rules.ts'
import { createBudget, describeRequirement, findUncovered, type Requirements } from './security-changes.ts'

/**
 * Returns what widens access in the later of two canonical cards: new destinations for calls or credentials, and weaker
 * requirements for callers. Both cards have the agent's own URLs. Pointers are into the later card.
 */
export const findWidenings = (before: AgentCard, after: AgentCard): Finding[] => [
  ...findNewEndpoints(before, after),
  ...findNewCapabilities(before, after),
  // Whole URLs: one host may have many issuers.
  ...findAdded(listAuthorities(before), listAuthorities(after)).map(({ shown, pointer }) => ({
    pointer,
    message: `sends credentials to a new address: ${shown}`,
  })),
  ...findNewApiKeyHeaders(before, after),
  ...findWeakerSecurity(before, after),
  ...findRemovedExtensions(before, after),
]

/** Returns where the later of two canonical cards requires less of callers. */
export const findWeakerSecurity = (before: AgentCard, after: AgentCard): Finding[] => [
  ...findWeakerRequirements(before, after),
  ...findWeakerSchemes(before, after),
]

/** A URL and its role: a token endpoint is not thereby an issuer, nor an endpoint known for another tenant. */
type Destination = { url: string; shown: string; role: string; pointer: Pointer }

/**
 * Compares whole URLs: another path on the same host may belong to another agent. Where the URL is known, it compares
 * binding and version: over HTTP+JSON, calls go to other paths below it.
 */
const findNewEndpoints = (before: AgentCard, after: AgentCard): Finding[] => {
  const addresses = findAdded(listEndpoints(before), listEndpoints(after)).map(({ shown, role: tenant, pointer }) => ({
    pointer,
    message: `sends calls to a new address: ${shown}${tenant && ` for the tenant ${JSON.stringify(tenant)}`}`,
  }))
  const usages = findAdded(listEndpoints(before, usageOf), listEndpoints(after, usageOf))
    .filter(usage => !addresses.some(({ pointer }) => pointer === usage.pointer))
    .map(({ shown, role, pointer }) => ({ pointer, message: `sends calls to ${shown} in a new way: ${role}` }))
  return [...addresses, ...usages]
}

/** Returns the binding of an interface, and its version, of which patch numbers make no difference to calls. */
const usageOf = ({ protocolBinding, protocolVersion }: AgentInterface): string =>
  `${protocolBinding} ${wireVersionOf.get(majorMinor(protocolVersion)) ?? majorMinor(protocolVersion)}`

/** The gate refuses calls of an operation whose capability is not declared. */
const findNewCapabilities = ({ capabilities: before }: AgentCard, { capabilities: after }: AgentCard): Finding[] => {
  const message = 'is new: the agent receives calls that were refused'
  return ['streaming', 'pushNotifications', 'extendedAgentCard']
    .filter(name => after[name] === true && before[name] !== true)
    .map(name => ({ pointer: formatPointer('capabilities', name), message }))
}

const listEndpoints = (
  { supportedInterfaces }: AgentCard,
  roleOf = ({ tenant = '' }: AgentInterface): string => tenant,
): Destination[] =>
  supportedInterfaces.flatMap((each, index) =>
    toDestination(each.url, roleOf(each), formatPointer('supportedInterfaces', index, 'url')),
  )

const listAuthorities = ({ securitySchemes = {} }: AgentCard): Destination[] =>
  collectStrings(securitySchemes)
    .filter(({ name }) => /url$/i.test(name))
    .flatMap(({ value, name, pointer }) => toDestination(value, name, `/securitySchemes${pointer()}`))

const toDestination = (text: string, role: string, pointer: Pointer): Destination[] => {
  const address = toHttpUrl(text)
  const url = parseUrl(address)
  if (url === null) return []
  const shown = address === text ? url.href.slice(0, url.href.length - url.hash.length) : text
  url.hash = ''
  return [{ url: url.href, shown, role, pointer }]
}

/** Accepts a change from http to https, but not the reverse. */
const findAdded = (before: readonly Destination[], after: readonly Destination[]): Destination[] => {
  const keyOf = (role: string, url: string) => JSON.stringify([role, url])
  const urls = before.flatMap(({ url, role }) => [keyOf(role, url), keyOf(role, url.replace(/^http:/, 'https:'))])
  const known = new Set(urls)
  return after.filter(({ url, role }) => !known.has(keyOf(role, url)))
}

/** The gateway forwards callers' headers to the agent only if an API key scheme names them. */
const findNewApiKeyHeaders = (before: AgentCard, after: AgentCard): Finding[] => {
  const known = new Set(getApiKeyHeaders(before).map(({ header }) => header.toLowerCase()))
  return getApiKeyHeaders(after)
    .filter(({ header }) => !known.has(header.toLowerCase()))
    .map(({ scheme, header }) => ({
      pointer: formatPointer('securitySchemes', scheme, 'apiKeySecurityScheme', 'name'),
      message: `forwards the callers' header ${header} to the agent, which was not forwarded before`,
    }))
}

/** Compares the requirements of the card, and those of each skill, which replace the card's. */
const findWeakerRequirements = (before: AgentCard, after: AgentCard): Finding[] => {
  const budget = createBudget()
  // Each alternative must cover an earlier one.
  const compare = (earlier: Requirements = [], later: Requirements = [], pointer: Pointer): Finding[] => {
    const found = (message: string, at = '') => ({ pointer: pointer + at, message })
    if (budget.comparisons <= 0) return [found('has too many alternatives to be compared with those before')]
    if (allowsAnonymous(earlier)) return []
    if (allowsAnonymous(later)) return [found('lets callers in without credentials, which were required')]
    return findUncovered(later, earlier, budget).map(index =>
      found(`lets callers in with ${describeRequirement(later[index])}, which was not enough`, formatPointer(index)),
    )
  }
  const earlierSkills = new Map(before.skills.map(skill => [skill.id, skill]))
  const kept = new Set(after.skills.map(({ id }) => id))
  const removed = distinct(
    before.skills.flatMap(({ id, securityRequirements: own }) => (own && !kept.has(id) ? [own] : [])),
  )
  return [
    ...compare(before.securityRequirements, after.securityRequirements, '/securityRequirements'),
    ...after.skills.flatMap(({ id, securityRequirements: own }, index) => {
      const known = earlierSkills.get(id)
      const ofCard = own ? [before.securityRequirements] : []
      // A new id may be a renamed skill, so it is compared with each removed skill's own requirements.
      const earlier = known?.securityRequirements
        ? [known.securityRequirements]
        : [...ofCard, ...(known ? [] : removed)]
      const pointer = formatPointer('skills', index, 'securityRequirements')
      return distinct(earlier.flatMap(each => compare(each, own ?? after.securityRequirements, pointer)))
    }),
  ]
}

const distinct = <Item>(items: readonly Item[]): Item[] => [
  ...new Map(items.map(item => [JSON.stringify(item), item])).values(),
]

type SchemeKind = { name: string; wrapper: string; strength: number; is?: (scheme: JsonObject) => boolean }

const hasValue = (member: string, pattern: RegExp) => (scheme: JsonObject) => pattern.test(toText(scheme[member]))

/** OAuth 2.1 removes these flows: they expose a token in a URL, or a password to the client. */
const hasDeprecatedFlow = ({ flows }: JsonObject): boolean =>
  isJsonObject(flows) && ['implicit', 'password'].some(flow => flows[flow] !== undefined)

/** Schemes by strength: a stronger one proves more about a caller and exposes less of the credentials. */
const schemeKinds: readonly SchemeKind[] = [
  { name: 'mutual TLS', wrapper: 'mtlsSecurityScheme', strength: 6 },
  { name: 'OpenID Connect', wrapper: 'openIdConnectSecurityScheme', strength: 5 },
  { name: 'OAuth with a deprecated flow', wrapper: 'oauth2SecurityScheme', strength: 3, is: hasDeprecatedFlow },
  { name: 'OAuth', wrapper: 'oauth2SecurityScheme', strength: 5 },
  { name: 'a bearer token', wrapper: 'httpAuthSecurityScheme', strength: 4, is: hasValue('scheme', /^bearer$/i) },
  { name: 'another HTTP authentication scheme', wrapper: 'httpAuthSecurityScheme', strength: 2 },
  { name: 'an API key in the URL', wrapper: 'apiKeySecurityScheme', strength: 1, is: hasValue('location', /^query$/) },
  { name: 'an API key', wrapper: 'apiKeySecurityScheme', strength: 2 },
]

const kindOf = (scheme: JsonObject): Pick<SchemeKind, 'name' | 'strength'> => {
  const [[wrapper, inner] = []] = getWrappers(scheme)
  const kind = schemeKinds.find(kind => kind.wrapper === wrapper && inner !== undefined && (kind.is?.(inner) ?? true))
  return kind ?? { name: 'a scheme that A2A does not define', strength: 0 }
}

/** Finds the schemes that are removed, or that require weaker credentials than before. */
const findWeakerSchemes = ({ securitySchemes: before = {} }: AgentCard, after: AgentCard): Finding[] =>
  pairMembers(before, after.securitySchemes ?? {}).flatMap(([name, scheme, current]) => {
    const pointer = formatPointer('securitySchemes', name)
    if (scheme === undefined) return []
    if (current === undefined) return [{ pointer, message: 'is removed' }]
    const [previous, kind] = [kindOf(scheme), kindOf(current)]
    return kind.strength < previous.strength
      ? [{ pointer, message: `is ${kind.name}, which is weaker than before: ${previous.name}` }]
      : []
  })

/** Finds the extensions that callers no longer have to activate. */
const findRemovedExtensions = (before: AgentCard, after: AgentCard): Finding[] => {
  const listRequired = ({ capabilities: { extensions = [] } }: AgentCard) =>
    extensions.flatMap(({ uri, required }) => (required ? [uri] : []))
  const required = new Set(listRequired(after))
  return listRequired(before)
    .filter(uri => !required.has(uri))
    .map(uri => ({ pointer: '/capabilities/extensions', message: `no longer requires the extension ${uri}` }))
}

/** Returns how a later profile newly uses the agent's secret or service binding; undefined if it does not. */
type Comparison = (before: CallProfile, after: CallProfile, field: keyof CallProfile) => string | undefined

const mustNotChange =
  (name?: string): Comparison =>
  (before, after, field) =>
    JSON.stringify(before[field]) === JSON.stringify(after[field])
      ? undefined
      : `would be available to other callers: ${name ?? field} has changed`

const mustNotAppear =
  (name?: string): Comparison =>
  (before, after, field) =>
    after[field] === true && before[field] !== true
      ? `would be used for other calls: card.capabilities.${name ?? field} is new`
      : undefined

const compareTargets: Comparison = ({ targets: before }, { targets: after }) => {
  const addresses = new Set(before.map(addressKey))
  if (!after.every(target => addresses.has(addressKey(target)))) return 'would be sent to a different address'
  const usages = new Set(before.map(usageKey))
  const added = after.find(target => !usages.has(usageKey(target)))
  return added && `would be used for other calls: the interface ${added.binding} ${added.version} is new`
}

const addressKey = ({ url, tenant, agentName }: CallTarget): string => JSON.stringify([url, tenant, agentName])

const usageKey = (target: CallTarget): string => `${target.binding} ${target.version} ${addressKey(target)}`

const compareExtensions: Comparison = ({ requiredExtensions: before }, { requiredExtensions: after }) =>
  before.every(uri => after.includes(uri))
    ? undefined
    : 'would be used for other calls: an extension of card.capabilities.extensions is no longer required'

/** From the fewest callers to the most. */
const openness: readonly CallerPolicy[] = ['tokens', 'issuer', 'anyone']

const compareCallers: Comparison = (before, after) =>
  openness.indexOf(after.callers) > openness.indexOf(before.callers)
    ? `would be available to other callers: callers would be ${after.callers}`
    : undefined

/**
 * Fields that have no effect on the use of a secret, or depend on `upstream` alone. This host answers calls for its own
 * extended cards, and translated calls are those that the agent gets anyway.
 */
type OtherField = 'extendedAgentCard' | 'bridge' | 'tiers' | 'modes' | 'secret' | 'service' | 'mcp' | 'cardMissing'

const comparisons: Record<Exclude<keyof CallProfile, OtherField>, Comparison> = {
  targets: compareTargets,
  visibility: mustNotChange(),
  route: mustNotChange(),
  gate: mustNotChange(),
  tasks: mustNotChange('gate.tasks'),
  apiKeyHeaders: mustNotChange('card.securitySchemes'),
  openIdConnectUrls: mustNotChange('card.securitySchemes'),
  jwt: mustNotChange(),
  callers: compareCallers,
  streaming: mustNotAppear(),
  pushNotifications: mustNotAppear(),
  agentServesExtendedCard: mustNotAppear('extendedAgentCard'),
  requiredExtensions: compareExtensions,
  identity: mustNotChange('hosts'),
}

/** Finds a use of the secret or service binding that a later profile adds. `upstream` must be the same in both. */
export const findNewUse = (before: CallProfile, after: CallProfile): string | undefined => {
  const names = Object.keys(comparisons) as (keyof typeof comparisons)[]
  return names.flatMap(field => comparisons[field](before, after, field) ?? [])[0]
}
