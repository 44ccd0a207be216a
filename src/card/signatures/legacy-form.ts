import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { asList, asObject, formatPointer, isJsonObject, jsonEquals, mapMembers, toText } from '../../json/index.ts'
import { cardMembers, isPreV1 } from '../model/index.ts'
import {
  canonicalizeKeys,
  canonicalKey,
  cardTransports,
  findField,
  interfaceTransports,
  isInterfaceList,
  type ObjectKind,
  Provenance,
  parseBinding,
  parseCardVersion,
  pickV0Interface,
  pickV1Interface,
  schemeWrappers,
} from '../read/index.ts'

/**
 * Returns a card in the form of A2A 1.0, as a2a-python 1.x reads cards of 0.3 (`parse_agent_card`): it converts
 * endpoints, requirements and security schemes before it verifies anything. Its signatures cover the result.
 */
export const toCurrentForm = (card: JsonObject): JsonObject => {
  const { supportsAuthenticatedExtendedCard, security, ...rest } = card
  const { url, preferredTransport, protocolVersion, additionalInterfaces, ...current } = rest
  return {
    ...current,
    ...(current.supportedInterfaces === undefined && url && { supportedInterfaces: readInterfaces(card) }),
    ...(supportsAuthenticatedExtendedCard && {
      capabilities: { extendedAgentCard: true, ...asObject(current.capabilities) },
    }),
    ...(current.securityRequirements === undefined && { securityRequirements: readRequirements(security) }),
    ...(isJsonObject(current.securitySchemes) && { securitySchemes: mapMembers(current.securitySchemes, readScheme) }),
    ...(Array.isArray(current.skills) && { skills: current.skills.map(readSkill) }),
  }
}

/**
 * Returns pointers to the fields that contradict others of the same meaning: those of A2A 0.3 beside those of 1.0, and
 * those under their name in the proto beside their name in JSON. A signature in the form of 1.0 covers one of the two:
 * without this check, whoever passes a card on could change its endpoints for readers of the other. A field of 0.3 that
 * is left out contradicts nothing.
 */
export const listContradictions = (card: JsonObject): Pointer[] => {
  const current = toCurrentForm(card)
  return [
    ...listSecondNames({ ...card, ...current }, 'card', ''),
    ...listOtherEndpoints(card, current),
    ...listOtherFlags(card, current),
    ...listOtherSchemes(card),
    ...listOtherRequirements(card, ''),
    ...asList(card.skills).flatMap(listInSkill),
  ]
}

const listSecondNames = (object: JsonObject, kind: ObjectKind, at: Pointer): Pointer[] =>
  Object.keys(object).flatMap(name => {
    const jsonName = canonicalKey(name, kind)
    return jsonName !== name && Object.hasOwn(object, jsonName) ? [at + formatPointer(name)] : []
  })

/** Returns an object with the names in JSON of its fields. */
const withJsonNames = (object: Json | undefined, kind: ObjectKind): JsonObject =>
  canonicalizeKeys(asObject(object), kind, '', new Provenance())

/** An interface that a signature covers, with what its words for the transport and the version mean. */
type CoveredInterface = { url: Json | undefined; binding: string; protocolVersion: string }

const listOtherEndpoints = (card: JsonObject, current: JsonObject): Pointer[] => {
  const { supportedInterfaces } = withJsonNames(current, 'card')
  const covered = asList(supportedInterfaces).map(item => {
    const { url, protocolBinding, protocolVersion } = withJsonNames(item, 'interface')
    return { url, binding: readBinding(protocolBinding), protocolVersion: readVersion(protocolVersion) }
  })
  const fields = withJsonNames(card, 'card')
  const main = findOtherMain(fields, covered)
  // Readers of 0.3 take each to be of the version at the top.
  const ofV0 = covered.filter(each => isPreV1(each.protocolVersion))
  const additional = ofV0.length > 0 ? ofV0 : covered
  const at = formatPointer(findField(card, 'additionalInterfaces'))
  return [
    ...(main === undefined ? [] : [formatPointer(findField(card, main))]),
    ...listOtherItems(fields.additionalInterfaces, additional, at),
    ...(isInterfaceList(fields.interfaces) ? listOtherItems(fields.interfaces, covered, '/interfaces') : []),
  ]
}

/**
 * Returns the name of the field at the top level that is not one of the interfaces of 1.0. SDKs write there the first
 * interface of 0.3, and this host the first of 0.x; without one, it is the first of all. Only the version may be
 * another one: in `agent.json`, it is the one that GopherHole reads.
 */
const findOtherMain = (card: JsonObject, covered: readonly CoveredInterface[]): string | undefined => {
  const { url, protocolVersion } = card
  const version = readVersion(protocolVersion)
  const main =
    covered.find(each => each.protocolVersion === version && isPreV1(version)) ?? covered[pickV0Interface(covered)]
  if (url !== undefined && url !== main?.url) return 'url'
  if (main === undefined) return undefined
  const [transport] = cardTransports(card)
  // 0.3 has a default. A card of 1.0 with a URL need not name the transport, and without one nobody reads it.
  const hasTransport =
    url !== undefined && (transport !== undefined || isPreV1(version) || isPreV1(main.protocolVersion))
  const binding = readBinding(transport?.value)
  const listed = (url === undefined ? covered : [main]).filter(each => !hasTransport || each.binding === binding)
  if (listed.length === 0) return transport?.name ?? 'url'
  const versions = [...listed, covered[pickV1Interface(covered)]].map(each => each?.protocolVersion)
  return protocolVersion === undefined || versions.includes(version) ? undefined : 'protocolVersion'
}

/** Lists the items that are not one of the interfaces of 1.0. */
const listOtherItems = (list: Json | undefined, covered: readonly CoveredInterface[], at: Pointer): Pointer[] => {
  const urls = new Set(covered.map(({ url }) => url))
  const endpoints = new Set(covered.map(({ url, binding }) => `${binding} ${url}`))
  return asList(list).flatMap((item, index) => {
    // Readers of 0.3 read `transport`, and this host what it finds first; without any, JSONRPC.
    const [found] = interfaceTransports(asObject(item))
    const isListed =
      isJsonObject(item) &&
      urls.has(item.url) &&
      [item.transport ?? found?.value, found?.value].every(word => endpoints.has(`${readBinding(word)} ${item.url}`))
    return isListed ? [] : [at + formatPointer(index)]
  })
}

/** Reads the word for a transport: JSONRPC is the default of this host for interfaces, and of 0.3 for the top level. */
const readBinding = (word: Json | undefined): string => {
  const named = word || 'JSONRPC'
  return parseBinding(named) ?? JSON.stringify(named)
}

/** Reads a version. That of an interface without one is 0.3, as in a2a-python. */
const readVersion = (version: Json | undefined): string => parseCardVersion(toText(version)) || '0.3'

const listOtherFlags = (card: JsonObject, current: JsonObject): Pointer[] => {
  const { supportsAuthenticatedExtendedCard: flag } = withJsonNames(card, 'card')
  const { extendedAgentCard = false } = withJsonNames(current.capabilities, 'capabilities')
  if (flag === undefined || flag === extendedAgentCard) return []
  return [formatPointer(findField(card, 'supportsAuthenticatedExtendedCard'))]
}

const listOtherSchemes = (card: JsonObject): Pointer[] => {
  const name = card.securitySchemes === undefined ? 'security_schemes' : 'securitySchemes'
  return listSet(asObject(card[name])).flatMap(([key, scheme]) =>
    isJsonObject(scheme) && isAmbiguous(scheme) ? [formatPointer(name, key)] : [],
  )
}

/**
 * Checks whether readers may see another scheme than a signature covers: of several wrappers or flows, it covers one
 * (`oneof` in the proto), and the members of 0.3 may differ from those in the wrapper of 1.0.
 */
const isAmbiguous = (scheme: JsonObject): boolean => {
  const wrapper = schemeWrappers.get(toText(scheme.type))
  const wrappers = listSet(scheme)
    .map(([name, value]) => [name.replace(/_([a-z\d])/g, (_, letter) => letter.toUpperCase()), value] as const)
    .filter(([name]) => cardMembers.wrappers.has(name))
  if (new Set([wrapper ?? [], wrappers.map(([name]) => name)].flat()).size > 1) return true
  const holders = [scheme, ...wrappers.map(([, inner]) => asObject(inner))]
  if (holders.some(({ flows }) => listSet(asObject(flows)).length > 1)) return true
  if (wrapper === undefined) return scheme.type !== undefined && wrappers.length > 0
  const { [wrapper]: wrapped, ...rest } = scheme
  return wrapped !== undefined && !jsonEquals(asObject(readScheme(rest))[wrapper], wrapped)
}

/** Lists the members that are set: in ProtoJSON, null stands for a member that is not. */
const listSet = (object: JsonObject) => Object.entries(object).filter(([, value]) => (value ?? null) !== null)

const listInSkill = (skill: Json, index: number): Pointer[] => {
  const [at, read] = [formatPointer('skills', index), readSkill(skill)]
  if (!isJsonObject(skill) || !isJsonObject(read)) return []
  return [...listSecondNames({ ...skill, ...read }, 'skill', at), ...listOtherRequirements(skill, at)]
}

const listOtherRequirements = ({ security, securityRequirements }: JsonObject, at: Pointer): Pointer[] => {
  if (security === undefined || securityRequirements === undefined) return []
  const isSame = jsonEquals(listScopes(readRequirements(security)), listScopes(securityRequirements))
  return isSame ? [] : [`${at}/security`]
}

/** Returns the scopes of each scheme in each requirement. A list without scopes may be left out. */
const listScopes = (requirements: Json | undefined): Json[] =>
  asList(requirements).map(requirement =>
    mapMembers(asObject(asObject(requirement).schemes), scopes => asObject(scopes).list ?? []),
  )

const readInterfaces = ({ url, preferredTransport, protocolVersion, additionalInterfaces }: JsonObject): Json[] => {
  const version = protocolVersion ?? '0.3.0'
  const others = asList(additionalInterfaces).filter(isJsonObject)
  return [{ url, transport: preferredTransport ?? 'JSONRPC' }, ...others].map(({ url, transport }) => {
    return { url, protocolBinding: transport, protocolVersion: version }
  })
}

const readRequirements = (security: Json | undefined): Json | undefined =>
  Array.isArray(security)
    ? security.map(requirement => ({ schemes: mapMembers(asObject(requirement), list => ({ list })) }))
    : undefined

const readSkill = (skill: Json): Json => {
  const { security, ...rest } = asObject(skill)
  if (security === undefined) return skill
  return rest.securityRequirements === undefined ? { ...rest, securityRequirements: readRequirements(security) } : rest
}

const readScheme = (scheme: Json): Json => {
  if (!isJsonObject(scheme)) return scheme
  const { type, ...members } = scheme
  const wrapper = schemeWrappers.get(toText(type))
  if (wrapper === undefined) return members
  const { in: location, ...rest } = members
  return { [wrapper]: type === 'apiKey' && location !== undefined ? { ...rest, location } : members }
}
