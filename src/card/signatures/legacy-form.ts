import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  jsonEquals,
  omit,
  type Pointer,
} from '../../json/json.ts'
import { mapMembers } from '../../json/tree.ts'

/**
 * Returns a card in the form of A2A 1.0, as the Python SDK reads cards of 0.3 (`parse_agent_card` of a2a-python 1.x): it converts
 * endpoints, requirements and security schemes before it verifies anything. Its signatures cover the result.
 */
export const toCurrentForm = (card: JsonObject): JsonObject => {
  const { url, preferredTransport, protocolVersion, additionalInterfaces, security, ...rest } = card
  const { supportsAuthenticatedExtendedCard, ...current } = rest
  return {
    ...current,
    ...(current.supportedInterfaces === undefined && url && { supportedInterfaces: readInterfaces(card) }),
    ...(supportsAuthenticatedExtendedCard && { capabilities: withExtendedCard(current.capabilities) }),
    ...(current.securityRequirements === undefined && {
      securityRequirements: readRequirements(security),
    }),
    ...(isJsonObject(current.securitySchemes) && {
      securitySchemes: Object.fromEntries(
        jsonEntries(current.securitySchemes).map(([name, scheme]) => [name, readScheme(scheme)]),
      ),
    }),
    ...(Array.isArray(current.skills) && { skills: current.skills.map(readSkill) }),
  }
}

/**
 * Returns a pointer to the first field that contradicts another of the same meaning: one of A2A 0.3 beside one of 1.0, or one under
 * its name in the proto beside its name in JSON. A signature in the form of 1.0 covers one of the two: without this check, whoever
 * passes a card on could change its endpoints for readers of the other.
 */
export const findContradiction = (card: JsonObject): Pointer | undefined =>
  findSecondName(toCurrentForm(card)) ??
  findOtherEndpoint(card) ??
  findOtherScheme(card) ??
  findOtherRequirement(card, '') ??
  findInSkills(card)

const findSecondName = (card: JsonObject): Pointer | undefined => {
  const name = Object.keys(card).find(name => name.includes('_') && Object.hasOwn(card, toJsonName(name)))
  return name && formatPointer(name)
}

const findOtherEndpoint = ({ url, additionalInterfaces, ...card }: JsonObject): Pointer | undefined => {
  const interfaces = card.supportedInterfaces ?? card.supported_interfaces
  if (!Array.isArray(interfaces)) return undefined
  const covered = new Set(interfaces.filter(isJsonObject).map(each => each.url))
  const others = Array.isArray(additionalInterfaces) ? additionalInterfaces.filter(isJsonObject) : []
  const index = others.findIndex(each => !covered.has(each.url))
  if (url !== undefined && !covered.has(url)) return '/url'
  return index === -1 ? undefined : formatPointer('additionalInterfaces', index)
}

const findOtherScheme = (card: JsonObject): Pointer | undefined => {
  const name = card.securitySchemes === undefined ? 'security_schemes' : 'securitySchemes'
  const schemes = isJsonObject(card[name]) ? jsonEntries(card[name]) : []
  const other = schemes.find(([, scheme]) => isJsonObject(scheme) && (isAmbiguous(scheme) || isTwofold(scheme)))
  return other && formatPointer(name, other[0])
}

/** A scheme may be in both forms: what 0.3 has beside the wrapper of 1.0 must be what is in it. */
const isTwofold = (scheme: JsonObject): boolean => {
  const wrapper = WRAPPERS.get(String(scheme.type))
  if (wrapper === undefined || scheme[wrapper] === undefined) return false
  const read = readScheme(omit(scheme, wrapper))
  return !isJsonObject(read) || !jsonEquals(read[wrapper], scheme[wrapper])
}

/** Of several wrappers or flows, a message of the proto has one (`oneof`): the signature covers no other, and readers see all. */
const isAmbiguous = (scheme: JsonObject): boolean => {
  const wrapper = WRAPPERS.get(String(scheme.type))
  const wrappers = listMembers(scheme, name => WRAPPER_NAMES.has(name))
  if (new Set([...(wrapper === undefined ? [] : [wrapper]), ...wrappers.map(([name]) => name)]).size > 1) return true
  const holders = [scheme, ...wrappers.map(([, inner]) => inner).filter(isJsonObject)]
  return holders.some(({ flows }) => isJsonObject(flows) && listMembers(flows, () => true).length > 1)
}

/** Lists the members that are set, under their names in JSON. */
const listMembers = (object: JsonObject, isListed: (name: string) => boolean): [string, Json][] =>
  jsonEntries(object)
    .map(([name, value]): [string, Json] => [toJsonName(name), value])
    .filter(([name, value]) => value !== null && isListed(name))

const toJsonName = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase())

const findInSkills = ({ skills }: JsonObject): Pointer | undefined => {
  for (const [index, skill] of (Array.isArray(skills) ? skills : []).entries()) {
    const found = isJsonObject(skill) ? findOtherRequirement(skill, formatPointer('skills', index)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

const findOtherRequirement = ({ security, securityRequirements }: JsonObject, at: Pointer): Pointer | undefined =>
  security === undefined ||
  securityRequirements === undefined ||
  jsonEquals(listRequirements(readRequirements(security)), listRequirements(securityRequirements))
    ? undefined
    : `${at}/security`

/** Returns the scopes of each scheme in each requirement. A list without scopes may be left out. */
const listRequirements = (requirements: Json | undefined): Json[] =>
  (Array.isArray(requirements) ? requirements : []).map(requirement => {
    const schemes = isJsonObject(requirement) && isJsonObject(requirement.schemes) ? requirement.schemes : {}
    return mapMembers(schemes, scopes => (isJsonObject(scopes) ? (scopes.list ?? []) : []))
  })

const readInterfaces = ({ url, preferredTransport, protocolVersion, additionalInterfaces }: JsonObject): Json[] => {
  const version = protocolVersion ?? '0.3.0'
  const others = Array.isArray(additionalInterfaces) ? additionalInterfaces.filter(isJsonObject) : []
  return [
    { url, protocolBinding: preferredTransport ?? 'JSONRPC', protocolVersion: version },
    ...others.map(({ url, transport }) => ({ url, protocolBinding: transport, protocolVersion: version })),
  ]
}

const withExtendedCard = (capabilities: Json | undefined): JsonObject => ({
  extendedAgentCard: true,
  ...(isJsonObject(capabilities) && capabilities),
})

const readRequirements = (security: Json | undefined): Json | undefined =>
  Array.isArray(security)
    ? security.map(requirement => ({
        schemes: isJsonObject(requirement)
          ? Object.fromEntries(jsonEntries(requirement).map(([name, scopes]) => [name, { list: scopes }]))
          : {},
      }))
    : undefined

const readSkill = (skill: Json): Json => {
  if (!isJsonObject(skill) || skill.security === undefined) return skill
  const { security, ...rest } = skill
  return rest.securityRequirements === undefined ? { ...rest, securityRequirements: readRequirements(security) } : rest
}

const WRAPPERS = new Map([
  ['apiKey', 'apiKeySecurityScheme'],
  ['http', 'httpAuthSecurityScheme'],
  ['oauth2', 'oauth2SecurityScheme'],
  ['openIdConnect', 'openIdConnectSecurityScheme'],
  ['mutualTLS', 'mtlsSecurityScheme'],
])
const WRAPPER_NAMES = new Set(WRAPPERS.values())

const readScheme = (scheme: Json): Json => {
  if (!isJsonObject(scheme)) return scheme
  const { type, ...rest } = scheme
  const wrapper = typeof type === 'string' ? WRAPPERS.get(type) : undefined
  if (wrapper === undefined) return rest
  const inner = type === 'apiKey' && rest.in !== undefined ? { ...omit(rest, 'in'), location: rest.in } : rest
  return { [wrapper]: inner }
}
