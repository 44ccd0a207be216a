import { parseUrl, toHttpUrl } from '../../http/shared.ts'
import {
  collectStrings,
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  type Pointer,
  toText,
} from '../../json/index.ts'
import { getApiKeyHeaders } from '../call-profile.ts'
import {
  type AgentCard,
  type AgentInterface,
  type AgentSkill,
  type CardError,
  majorMinor,
  wireVersionOf,
} from '../model/index.ts'
import { allowsAnonymous, getWrappers } from '../read/index.ts'
import { type Budget, createBudget, describeRequirement, findUncovered, type Requirements } from './requirements.ts'

/**
 * Returns what widens access in the later of two canonical cards: new destinations for calls or credentials, and weaker
 * requirements for callers. Both cards have the agent's own URLs. Pointers are into the later card.
 */
export const findWidenings = (before: AgentCard, after: AgentCard): CardError[] => [
  ...findNewEndpoints(before, after),
  ...findNewCapabilities(before, after),
  ...findNewAuthorities(before, after),
  ...findNewApiKeyHeaders(before, after),
  ...findWeakerSecurity(before, after),
  ...findRemovedExtensions(before, after),
]

/** Returns where the later of two canonical cards requires less of callers. */
export const findWeakerSecurity = (before: AgentCard, after: AgentCard): CardError[] => [
  ...findWeakerRequirements(before, after),
  ...findWeakerSchemes(before, after),
]

/** A URL and its role: a known token endpoint is not thereby a known issuer, nor an endpoint known for another tenant. */
type Destination = { url: URL; shown: string; role: string; pointer: Pointer }

/**
 * Compares whole URLs: another path on the same host may belong to another agent. Where the URL is known, it compares binding and
 * version: over HTTP+JSON, calls go to other paths below it.
 */
const findNewEndpoints = (before: AgentCard, after: AgentCard): CardError[] => {
  const addresses = findAdded(listEndpoints(before), listEndpoints(after))
  const found = new Set(addresses.map(({ pointer }) => pointer))
  const usages = findAdded(listEndpoints(before, usageOf), listEndpoints(after, usageOf))
  return [
    ...addresses.map(({ shown, role: tenant, pointer }) => ({
      pointer,
      message: `sends calls to a new address: ${shown}${tenant && ` for the tenant ${JSON.stringify(tenant)}`}`,
    })),
    ...usages
      .filter(({ pointer }) => !found.has(pointer))
      .map(({ shown, role: usage, pointer }) => ({
        pointer,
        message: `sends calls to ${shown} in a new way: ${usage}`,
      })),
  ]
}

/** Returns the binding of an interface, and its version, of which patch numbers make no difference to calls. */
const usageOf = ({ protocolBinding, protocolVersion }: AgentInterface): string =>
  `${protocolBinding} ${wireVersionOf.get(majorMinor(protocolVersion)) ?? majorMinor(protocolVersion)}`

const capabilityNames = ['streaming', 'pushNotifications', 'extendedAgentCard'] as const

/** The gate refuses calls of an operation whose capability is not declared. */
const findNewCapabilities = ({ capabilities: before }: AgentCard, { capabilities: after }: AgentCard): CardError[] =>
  capabilityNames
    .filter(name => after[name] === true && before[name] !== true)
    .map(name => ({
      pointer: formatPointer('capabilities', name),
      message: 'is new: the agent receives calls that were refused',
    }))

/** Compares whole URLs: one host may have many issuers. */
const findNewAuthorities = (before: AgentCard, after: AgentCard): CardError[] =>
  findAdded(listAuthorities(before), listAuthorities(after)).map(({ shown, pointer }) => ({
    pointer,
    message: `sends credentials to a new address: ${shown}`,
  }))

const listEndpoints = ({ supportedInterfaces }: AgentCard, roleOf = tenantOf): Destination[] =>
  supportedInterfaces.flatMap((agentInterface, index) =>
    toDestination(agentInterface.url, roleOf(agentInterface), formatPointer('supportedInterfaces', index, 'url')),
  )

const tenantOf = ({ tenant = '' }: AgentInterface): string => tenant

const listAuthorities = ({ securitySchemes = {} }: AgentCard): Destination[] =>
  collectStrings(securitySchemes)
    .filter(({ name }) => /url$/i.test(name))
    .flatMap(({ value, name, pointer }) => toDestination(value, name, `/securitySchemes${pointer()}`))

const toDestination = (text: string, role: string, pointer: Pointer): Destination[] => {
  const address = toHttpUrl(text)
  const url = parseUrl(address)
  return url === null ? [] : [{ url, shown: address === text ? withoutHash(url) : text, role, pointer }]
}

/** Accepts a change from http to https, but not the reverse. */
const findAdded = (before: readonly Destination[], after: readonly Destination[]): Destination[] => {
  const known = new Set(before.flatMap(({ url, role }) => [keyOf(role, url), keyOf(role, url, 'https:')]))
  return after.filter(({ url, role }) => !known.has(keyOf(role, url)))
}

const keyOf = (role: string, url: URL, protocol = url.protocol): string =>
  JSON.stringify([role, protocol, withoutScheme(url)])

const withoutScheme = (url: URL): string => withoutHash(url).slice(url.protocol.length)

const withoutHash = ({ href, hash }: URL): string => href.slice(0, href.length - hash.length)

/** The gateway forwards callers' headers to the agent only if an API key scheme names them. */
const findNewApiKeyHeaders = (before: AgentCard, after: AgentCard): CardError[] => {
  const known = new Set(getApiKeyHeaders(before).map(({ header }) => header.toLowerCase()))
  return getApiKeyHeaders(after)
    .filter(({ header }) => !known.has(header.toLowerCase()))
    .map(({ scheme, header }) => ({
      pointer: formatPointer('securitySchemes', scheme, 'apiKeySecurityScheme', 'name'),
      message: `forwards the callers' header ${header} to the agent, which was not forwarded before`,
    }))
}

/** Compares the requirements of the card, and those of each skill, which replace the card's. */
const findWeakerRequirements = (before: AgentCard, after: AgentCard): CardError[] => {
  const previousRequirements = createRequirementLookup(before, after)
  const budget = createBudget()
  return [
    ...compareRequirements(before.securityRequirements, after.securityRequirements, '/securityRequirements', budget),
    ...after.skills.flatMap((skill, index) => {
      const pointer = formatPointer('skills', index, 'securityRequirements')
      const current = skill.securityRequirements ?? after.securityRequirements
      const errors = previousRequirements(skill).flatMap(previous =>
        compareRequirements(previous, current, pointer, budget),
      )
      return [...new Map(errors.map(error => [`${error.pointer} ${error.message}`, error])).values()]
    }),
  ]
}

/**
 * Creates a function that returns the requirements a skill had before. A new id may be a renamed skill, so it is compared with
 * every removed skill's own requirements.
 */
const createRequirementLookup = (before: AgentCard, after: AgentCard) => {
  const knownSkills = new Map(before.skills.map(skill => [skill.id, skill]))
  const removed = removedRequirements(before, after)
  return ({ id, securityRequirements: own }: AgentSkill): (Requirements | undefined)[] => {
    const known = knownSkills.get(id)
    if (known?.securityRequirements) return [known.securityRequirements]
    const ofCard = own ? [before.securityRequirements] : []
    return known ? ofCard : [...ofCard, ...removed]
  }
}

/** Returns the distinct requirements of the skills that are removed. */
const removedRequirements = (before: AgentCard, after: AgentCard): Requirements[] => {
  const kept = new Set(after.skills.map(({ id }) => id))
  const removed = before.skills.flatMap(({ id, securityRequirements: own }) => (own && !kept.has(id) ? [own] : []))
  return [...new Map(removed.map(own => [JSON.stringify(own), own])).values()]
}

/** Rejects each alternative that does not cover any earlier one. */
const compareRequirements = (
  before: Requirements = [],
  after: Requirements = [],
  pointer: Pointer,
  budget: Budget,
): CardError[] => {
  if (budget.comparisons <= 0)
    return [{ pointer, message: 'has too many alternatives to be compared with those before' }]
  if (allowsAnonymous(before)) return []
  if (allowsAnonymous(after)) return [{ pointer, message: 'lets callers in without credentials, which were required' }]
  return findUncovered(after, before, budget).map(index => ({
    pointer: pointer + formatPointer(index),
    message: `lets callers in with ${describeRequirement(after[index])}, which was not enough`,
  }))
}

/** Schemes by strength: a stronger one proves more about a caller and exposes less of the credentials. */
const schemeKinds: readonly {
  name: string
  wrapper: string
  strength: number
  is?: (scheme: JsonObject) => boolean
}[] = [
  { name: 'mutual TLS', wrapper: 'mtlsSecurityScheme', strength: 6 },
  { name: 'OpenID Connect', wrapper: 'openIdConnectSecurityScheme', strength: 5 },
  { name: 'OAuth with a deprecated flow', wrapper: 'oauth2SecurityScheme', strength: 3, is: hasDeprecatedFlow },
  { name: 'OAuth', wrapper: 'oauth2SecurityScheme', strength: 5 },
  { name: 'a bearer token', wrapper: 'httpAuthSecurityScheme', strength: 4, is: hasValue('scheme', /^bearer$/i) },
  { name: 'another HTTP authentication scheme', wrapper: 'httpAuthSecurityScheme', strength: 2 },
  { name: 'an API key in the URL', wrapper: 'apiKeySecurityScheme', strength: 1, is: hasValue('location', /^query$/) },
  { name: 'an API key', wrapper: 'apiKeySecurityScheme', strength: 2 },
]
const unknownScheme = { name: 'a scheme that A2A does not define', strength: 0 }

function hasValue(member: string, pattern: RegExp) {
  return (scheme: JsonObject): boolean => pattern.test(toText(scheme[member]))
}

/** OAuth 2.1 removes these flows: they expose a token in a URL, or a password to the client. */
function hasDeprecatedFlow({ flows }: { flows?: Json }): boolean {
  return isJsonObject(flows) && ['implicit', 'password'].some(flow => flows[flow] !== undefined)
}

/** Finds the schemes that are removed, or that require weaker credentials than before. */
const findWeakerSchemes = (
  { securitySchemes: before = {} }: AgentCard,
  { securitySchemes: after = {} }: AgentCard,
): CardError[] =>
  Object.entries(before).flatMap(([name, scheme]) => {
    const pointer = formatPointer('securitySchemes', name)
    const current = Object.hasOwn(after, name) ? after[name] : undefined
    if (current === undefined) return [{ pointer, message: 'is removed' }]
    const [previousKind, kind] = [kindOf(scheme), kindOf(current)]
    return kind.strength < previousKind.strength
      ? [{ pointer, message: `is ${kind.name}, which is weaker than before: ${previousKind.name}` }]
      : []
  })

const kindOf = (scheme: JsonObject): { name: string; strength: number } => {
  const [[wrapper, inner] = []] = getWrappers(scheme)
  return (
    schemeKinds.find(kind => kind.wrapper === wrapper && isJsonObject(inner) && (kind.is?.(inner) ?? true)) ??
    unknownScheme
  )
}

/** Finds the extensions that callers no longer have to activate. */
const findRemovedExtensions = (before: AgentCard, after: AgentCard): CardError[] => {
  const required = new Set(requiredExtensions(after))
  return requiredExtensions(before)
    .filter(uri => !required.has(uri))
    .map(uri => ({ pointer: '/capabilities/extensions', message: `no longer requires the extension ${uri}` }))
}

const requiredExtensions = ({ capabilities: { extensions = [] } }: AgentCard): string[] =>
  extensions.filter(({ required }) => required).map(({ uri }) => uri)
