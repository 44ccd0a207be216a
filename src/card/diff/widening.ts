import { parseUrl, toHttpUrl } from '../../http/shared.ts'
import { collectStrings, formatPointer, type Pointer } from '../../json/index.ts'
import { type CallProfile, getApiKeyHeaders, getRequiredExtensions } from '../call-profile.ts'
import type { AgentCard, AgentInterface, CallerPolicy, CallTarget, Finding } from '../model/index.ts'
import { majorMinor, wireVersionOf } from '../model/index.ts'
import { cardFlags } from '../read/index.ts'
import { findNew } from './change-rules.ts'
import { findWeakerSecurity } from './security.ts'

/**
 * Returns what widens access in the later of two canonical cards: new destinations for calls or credentials, and weaker
 * requirements for callers. Both cards have the agent's own URLs. Pointers are into the later card.
 */
export const findWidenings = (before: AgentCard, after: AgentCard): Finding[] => [
  ...findNewEndpoints(before, after),
  ...findNewCapabilities(before, after),
  // Whole URLs: one host may have many issuers.
  ...findNewDestinations(listAuthorities(before), listAuthorities(after)).map(({ shown, pointer }) => ({
    pointer,
    message: `sends credentials to a new address: ${shown}`,
  })),
  // The gateway forwards callers' headers to the agent only if an API key scheme names them.
  ...findNew(getApiKeyHeaders(after), getApiKeyHeaders(before), ({ header }) => header.toLowerCase()).map(
    ({ scheme, header }) => ({
      pointer: formatPointer('securitySchemes', scheme, 'apiKeySecurityScheme', 'name'),
      message: `forwards the callers' header ${header} to the agent, which was not forwarded before`,
    }),
  ),
  ...findWeakerSecurity(before, after),
  ...findNew(getRequiredExtensions(before), getRequiredExtensions(after)).map(uri => ({
    pointer: '/capabilities/extensions',
    message: `no longer requires the extension ${uri}`,
  })),
]

/** A URL and its role: a token endpoint is not thereby an issuer, nor an endpoint known for another tenant. */
type Destination = { url: string; shown: string; role: string; pointer: Pointer }

/**
 * Compares whole URLs: another path on the same host may belong to another agent. Where the URL is known, it compares
 * binding and version: over HTTP+JSON, calls go to other paths below it.
 */
const findNewEndpoints = (before: AgentCard, after: AgentCard): Finding[] => {
  const addresses = findNewDestinations(listEndpoints(before), listEndpoints(after))
  const usages = findNewDestinations(listEndpoints(before, usageOf), listEndpoints(after, usageOf))
  return [
    ...addresses.map(({ shown, role: tenant, pointer }) => ({
      pointer,
      message: `sends calls to a new address: ${shown}${tenant && ` for the tenant ${JSON.stringify(tenant)}`}`,
    })),
    ...findNew(usages, addresses, ({ pointer }) => pointer).map(({ shown, role, pointer }) => ({
      pointer,
      message: `sends calls to ${shown} in a new way: ${role}`,
    })),
  ]
}

/** Returns the binding of an interface, and its version, of which patch numbers make no difference to calls. */
const usageOf = ({ protocolBinding, protocolVersion }: AgentInterface): string =>
  `${protocolBinding} ${wireVersionOf.get(majorMinor(protocolVersion)) ?? majorMinor(protocolVersion)}`

const listEndpoints = ({ supportedInterfaces }: AgentCard, roleOf = ({ tenant = '' }: AgentInterface) => tenant) =>
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
const findNewDestinations = (before: readonly Destination[], after: readonly Destination[]): Destination[] => {
  const secure = before.map(destination => ({ ...destination, url: destination.url.replace(/^http:/, 'https:') }))
  return findNew(after, [...before, ...secure], ({ role, url }) => JSON.stringify([role, url]))
}

/** The gate refuses calls of an operation whose capability is not declared. */
const findNewCapabilities = ({ capabilities: before }: AgentCard, { capabilities: after }: AgentCard): Finding[] =>
  cardFlags
    .filter(name => after[name] === true && before[name] !== true)
    .map(name => ({
      pointer: formatPointer('capabilities', name),
      message: 'is new: the agent receives calls that were refused',
    }))

const CALLS = 'would be used for other calls'
const CALLERS = 'would be available to other callers'

/** Returns how a later profile newly uses the agent's secret or service binding; undefined if it does not. */
type Comparison = (before: CallProfile, after: CallProfile) => string | false | undefined

const addressOf = ({ url, tenant, agentName }: CallTarget): string => JSON.stringify([url, tenant, agentName])

const addsCapability =
  (field: keyof CallProfile, name: string = field): Comparison =>
  (before, after) =>
    after[field] && !before[field] && `${CALLS}: card.capabilities.${name} is new`

/** From the fewest callers to the most. */
const openness: readonly CallerPolicy[] = ['tokens', 'issuer', 'anyone']

/**
 * Fields that have no effect on the use of a secret, or depend on `upstream` alone. This host answers calls for its own
 * extended cards, and calls that are translated, or made for MCP clients, are those that the agent gets anyway.
 */
type OtherField =
  | 'extendedAgentCard'
  | 'bridge'
  | 'tiers'
  | 'modes'
  | 'secret'
  | 'service'
  | 'mcp'
  | 'mcpServer'
  | 'cardMissing'

/** How each field is compared. For one that must not change, the name of what the owner writes. */
const comparisons: Record<Exclude<keyof CallProfile, OtherField>, Comparison | string> = {
  targets: ({ targets: before }, { targets: after }) => {
    if (findNew(after, before, addressOf).length > 0) return 'would be sent to a different address'
    const [added] = findNew(after, before, target => `${target.binding} ${target.version} ${addressOf(target)}`)
    return added && `${CALLS}: the interface ${added.binding} ${added.version} is new`
  },
  visibility: 'visibility',
  route: 'route',
  gate: 'gate',
  tasks: 'gate.tasks',
  apiKeyHeaders: 'card.securitySchemes',
  openIdConnectUrls: 'card.securitySchemes',
  jwt: 'jwt',
  callers: ({ callers: before }, { callers: after }) =>
    openness.indexOf(after) > openness.indexOf(before) && `${CALLERS}: callers would be ${after}`,
  streaming: addsCapability('streaming'),
  pushNotifications: addsCapability('pushNotifications'),
  agentServesExtendedCard: addsCapability('agentServesExtendedCard', 'extendedAgentCard'),
  requiredExtensions: ({ requiredExtensions: before }, { requiredExtensions: after }) =>
    findNew(before, after).length > 0 && `${CALLS}: an extension of card.capabilities.extensions is no longer required`,
  identity: 'hosts',
}

/** Finds a use of the secret or service binding that a later profile adds. `upstream` must be the same in both. */
export const findNewUse = (before: CallProfile, after: CallProfile): string | undefined =>
  (Object.keys(comparisons) as (keyof typeof comparisons)[]).flatMap(field => {
    const compare = comparisons[field]
    if (typeof compare === 'function') return compare(before, after) || []
    return JSON.stringify(before[field]) === JSON.stringify(after[field]) ? [] : `${CALLERS}: ${compare} has changed`
  })[0]
