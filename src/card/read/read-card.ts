import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { asObject, formatPointer, isJsonObject, jsonEquals, mapMembers, omit } from '../../json/index.ts'
import { type CapabilityDefaults, majorMinor, modeMembers, toPatchVersion } from '../model/index.ts'
import { readModes, readSkills } from './agent-skills.ts'
import { canonicalFlag, canonicalizeKeys, cardLinks, listCapabilityNames, resolveAliases } from './field-names.ts'
import {
  cardTransports,
  differInTransport,
  interfaceTransports,
  isInterfaceList,
  parseBinding,
  parseCardVersion,
  superxProtocol,
} from './interfaces.ts'
import type { Provenance } from './provenance.ts'
import { readRequirements } from './security-requirements.ts'
import { type CardForm, readAuthentication, readSchemes } from './security-schemes.ts'

/**
 * Reads a card of any generation into the canonical model. Unknown fields stay as authored, and wrong types are left
 * for the schema to report. `assumedVersion` is the protocol version of a card that does not declare one.
 */
export const readCard = (authored: JsonObject, assumedVersion: string, provenance: Provenance): JsonObject => {
  const aliased = resolveAliases(canonicalizeKeys(authored, 'card', '', provenance), provenance)
  const { supportedInterfaces, url } = aliased
  const isHybrid = (supportedInterfaces === undefined) === (url === undefined)
  const form = isHybrid ? undefined : url === undefined ? 'interfaces' : 'url'
  const card = readCapabilities(readInterfaces(aliased, assumedVersion, provenance), form, provenance)
  readVersionAndProvider(card, provenance)
  for (const name of cardLinks)
    if (card[name] !== undefined && typeof card[name] !== 'string') {
      // Optional links are not worth rejecting the card.
      provenance.noteConversion(formatPointer(name), 'left out: must be a URL, as a string')
      delete card[name]
    }
  for (const { defaults: name } of modeMembers) readModes(card, name, '', provenance)
  return readSecurityAndSkills(card, form, provenance)
}

/** Reads capabilities and v0.3's flag for the extended card. */
const readCapabilities = (card: JsonObject, form: CardForm, provenance: Provenance): JsonObject => {
  const { supportsAuthenticatedExtendedCard: extended, ...rest } = card
  const [capabilities, pointer] = [readFlags(card.capabilities, provenance), '/supportsAuthenticatedExtendedCard']
  if (!isJsonObject(capabilities) || extended === undefined) return { ...rest, capabilities }
  const { extendedAgentCard: flag = extended } = capabilities
  if (capabilities.extendedAgentCard === undefined) {
    if (form === 'interfaces' && !provenance.isFilled('/capabilities/extendedAgentCard'))
      provenance.noteConversion(pointer, 'a field of A2A 0.3, read as capabilities.extendedAgentCard')
    provenance.mapFrom('/capabilities/extendedAgentCard', pointer)
  } else if (flag !== extended) provenance.noteIgnored(pointer, 'capabilities.extendedAgentCard')
  return { ...rest, capabilities: { ...capabilities, extendedAgentCard: flag } }
}

/** Reads flags written as an object, a list of names, or a text with names. */
const readFlags = (value: Json | undefined, provenance: Provenance): Json => {
  if (value === undefined) return {}
  if (isJsonObject(value)) return canonicalizeKeys(value, 'capabilities', '/capabilities', provenance)
  const names = listCapabilityNames(value)
  if (names === undefined) return value
  provenance.mapWhole('/capabilities', '/capabilities')
  const unknown = names.find(name => canonicalFlag(name) === undefined)
  if (unknown !== undefined) {
    const advice = 'flags, such as { "streaming": true, "pushNotifications": false }, and what the agent can do'
    const message = `names ${JSON.stringify(unknown.slice(0, 40))}, which is not a capability of A2A`
    provenance.addError('/capabilities', `${message}: write ${advice} under \`skills\``)
    return {}
  }
  provenance.noteConversion('/capabilities', 'a list of names, read as flags')
  return Object.fromEntries(names.map(name => [canonicalFlag(name) ?? name, true]))
}

const readVersionAndProvider = (card: JsonObject, provenance: Provenance): void => {
  const { version, provider } = card
  if (typeof version === 'number') {
    provenance.noteConversion('/version', 'a number, read as text')
    card.version = String(version)
  }
  if (typeof provider === 'string') {
    provenance.mapWhole('/provider', '/provider', 'a name, read as the organization')
    card.provider = { organization: provider }
  } else if (isJsonObject(provider)) card.provider = canonicalizeKeys(provider, 'provider', '/provider', provenance)
}

const readSecurityAndSkills = (card: JsonObject, form: CardForm, provenance: Provenance): JsonObject => {
  const { securitySchemes, skills } = card
  const { split, ...schemes } = isJsonObject(securitySchemes)
    ? readSchemes(securitySchemes, form, provenance)
    : { split: new Map<string, string[]>() }
  const context = { split, form }
  const secured = { ...readRequirements(card, '', context, provenance), ...schemes }
  return {
    ...(securitySchemes === undefined ? readAuthentication(secured, provenance) : secured),
    ...(Array.isArray(skills) && { skills: readSkills(skills, context, provenance) }),
  }
}

/** Reads the endpoint fields of every dialect into `supportedInterfaces`, in the order of preference. */
const readInterfaces = (card: JsonObject, assumedVersion: string, provenance: Provenance): JsonObject => {
  const { supportedInterfaces, url, additionalInterfaces, protocolVersion } = card
  const interfaces: Json[] = []
  const nextPointer = () => formatPointer('supportedInterfaces', interfaces.length)
  const add = (item: Json, authored: Pointer): void => {
    for (const name of ['/protocolBinding', '/protocolVersion', ''])
      provenance.mapFrom(nextPointer() + name, authored + name)
    interfaces.push(item)
  }
  // The list of 1.0 may have one address several times, for several tenants.
  for (const [item, pointer] of listItems(supportedInterfaces, '/supportedInterfaces', provenance))
    add(readInterface(item, pointer, assumedVersion, provenance), pointer)

  const version = readVersion(protocolVersion, assumedVersion, '/protocolVersion', provenance)
  const hasPrimary = url !== undefined && !interfaces.some(item => isJsonObject(item) && item.url === url)
  const transport = hasPrimary ? cardTransports(card)[0] : undefined
  if (hasPrimary) {
    if (protocolVersion === undefined) provenance.noteDefault('/protocolVersion', toPatchVersion(assumedVersion))
    const assumed = card.protocol === 'mcp' ? 'MCP' : 'JSONRPC'
    const { name, value } = transport ?? { name: 'preferredTransport', value: assumed }
    const source = formatPointer(name)
    provenance.mapWhole(nextPointer(), '/url')
    provenance.mapFrom(`${nextPointer()}/protocolBinding`, source)
    provenance.mapFrom(`${nextPointer()}/protocolVersion`, '/protocolVersion')
    const protocolBinding = readBinding(value, name === 'preferredTransport', source, provenance)
    interfaces.push({ url, protocolBinding, protocolVersion: version })
  } else if (interfaces.length > 0 && isUnlistedTransport(card, interfaces))
    provenance.noteIgnored('/preferredTransport', 'supportedInterfaces')

  // What names the transport of the card is read; `protocol` and `transport` are unknown fields in any other card.
  const { protocol, ...rest } = omit(
    card,
    ...['supportedInterfaces', 'url', 'preferredTransport', 'additionalInterfaces', 'protocolVersion'],
    ...(transport ? [transport.name] : []),
  )
  const hasDraftField = isInterfaceList(rest.interfaces)
  if (hasDraftField) provenance.noteConversion('/interfaces', 'a field of drafts of A2A, read as supportedInterfaces')
  for (const [read, pointer] of [
    ...listItems(additionalInterfaces, '/additionalInterfaces', provenance),
    ...(hasDraftField ? listItems(rest.interfaces, '/interfaces', provenance) : []),
  ]) {
    const item = readInterface(read, pointer, version, provenance)
    const same = interfaces
      .filter(isJsonObject)
      .filter(other => isJsonObject(item) && other.url === item.url && other.protocolBinding === item.protocolBinding)
    if (!isJsonObject(item) || same.length === 0) add(item, pointer)
    // v0.3 has no version for each interface, so that cannot differ.
    else if (!same.some(other => jsonEquals(other, { ...item, protocolVersion: other.protocolVersion })))
      provenance.noteConversion(pointer, 'ignored: an interface with the same URL and binding takes precedence')
  }

  if (interfaces.length === 0 && supportedInterfaces === undefined) provenance.mapFrom('/supportedInterfaces', '/url')
  const isVersionUsed = interfaces.some(item => isJsonObject(item) && item.protocolVersion === version)
  if (protocolVersion !== undefined && interfaces.length > 0 && !isVersionUsed)
    provenance.noteIgnored('/protocolVersion', 'supportedInterfaces')
  return {
    ...(hasDraftField ? omit(rest, 'interfaces') : rest),
    ...(interfaces.length > 0 && { supportedInterfaces: interfaces }),
    // Kept only where they differ from what the interfaces imply.
    ...(protocol !== undefined && protocol !== superxProtocol(interfaces) && { protocol }),
    ...(isVersionUsed && isPatchVersion(protocolVersion) && { protocolVersion }),
  }
}

/** Returns whether no interface that the card lists for its URL has its preferred transport. */
const isUnlistedTransport = ({ url, preferredTransport }: JsonObject, interfaces: readonly Json[]): boolean =>
  preferredTransport !== undefined &&
  interfaces
    .filter(isJsonObject)
    .filter(item => url === undefined || item.url === url)
    .every(({ protocolBinding = null }) => differInTransport(protocolBinding, preferredTransport))

/** Returns whether a version has a patch number of v0.x that its Major.Minor does not imply. */
const isPatchVersion = (version: Json | undefined): boolean =>
  typeof version === 'string' && /^0\.\d+\.\d+$/.test(version) && version !== toPatchVersion(majorMinor(version))

const listItems = (list: Json | undefined, pointer: Pointer, provenance: Provenance): [Json, Pointer][] => {
  if (Array.isArray(list)) return list.map((item, index) => [item, pointer + formatPointer(index)])
  if (list !== undefined) provenance.addError(pointer, 'must be a list of interfaces')
  return []
}

const readInterface = (item: Json, pointer: Pointer, assumedVersion: Json, provenance: Provenance): Json => {
  if (!isJsonObject(item)) return item
  const canonical = canonicalizeKeys(item, 'interface', pointer, provenance)
  const [field] = interfaceTransports(canonical)
  const bindingPointer = `${pointer}/protocolBinding`
  if (field === undefined) provenance.noteDefault(bindingPointer, 'JSONRPC')
  else if (field.name !== 'protocolBinding') provenance.mapFrom(bindingPointer, pointer + formatPointer(field.name))
  // The lists of v0.3 have `transport`, and their version is the top-level one.
  const isV1 = pointer.startsWith('/supportedInterfaces/')
  const { protocolVersion } = canonical
  if (protocolVersion === undefined && isV1) provenance.noteDefault(`${pointer}/protocolVersion`, assumedVersion)
  else if (protocolVersion === undefined) provenance.mapFrom(`${pointer}/protocolVersion`, '/protocolVersion')
  const isUsual = field?.name === 'protocolBinding' || (!isV1 && field?.name === 'transport')
  const binding = field ? readBinding(field.value, isUsual, bindingPointer, provenance) : 'JSONRPC'
  const redundant = [
    ...(field?.name === 'transport' || canonical.transport === binding ? ['transport'] : []),
    ...(field?.name === 'protocol' ? ['protocol'] : []),
    // Servers built with ProtoJSON libraries write "" for "no tenant".
    ...(canonical.tenant === '' ? ['tenant'] : []),
  ]
  return {
    ...omit(canonical, ...redundant),
    protocolBinding: binding,
    protocolVersion: readVersion(protocolVersion, assumedVersion, `${pointer}/protocolVersion`, provenance),
  }
}

/** Reads the word for a transport. `isUsual`: it is in the field for it. */
const readBinding = (word: Json, isUsual: boolean, pointer: Pointer, provenance: Provenance): Json => {
  const binding = parseBinding(word) ?? word
  if (binding !== word || !isUsual) provenance.noteConversion(pointer, `read as ${JSON.stringify(binding)}`)
  return binding
}

const readVersion = (version: Json | undefined, assumed: Json, pointer: Pointer, provenance: Provenance): Json => {
  if (version === undefined) return assumed
  if (typeof version === 'number') {
    provenance.noteConversion(pointer, 'a number, read as text')
    return Number.isInteger(version) ? version.toFixed(1) : String(version)
  }
  if (typeof version !== 'string') return version
  const read = parseCardVersion(version)
  // At the top level, the versions of v0.x have a patch number, which stays as written.
  const isConverted = read !== version && !(pointer === '/protocolVersion' && /^0\.\d+\.\d+$/.test(version))
  if (isConverted) provenance.noteConversion(pointer, `read as "${read}"`)
  return read
}

/** GopherHole's default media types for input and output. */
export const modeDefaults = ['text/plain', 'application/json'] as const

/** Adds capabilities by the defaults of the dialect, then what A2A requires. Authored values of any type stay. */
export const fillDefaults = (card: JsonObject, capabilityDefaults: CapabilityDefaults, provenance: Provenance) => {
  const { name, description, capabilities, securitySchemes } = card
  const filled: JsonObject = {
    ...card,
    ...(isJsonObject(capabilities) && { capabilities: fillCapabilities(capabilities, capabilityDefaults, provenance) }),
    ...(isJsonObject(securitySchemes) && {
      securitySchemes: mapMembers(securitySchemes, (scheme, name) => fillScheme(scheme, name, provenance)),
    }),
  }
  const defaults: Record<string, Json> = {
    version: '1.0.0',
    defaultInputModes: [...modeDefaults],
    defaultOutputModes: [...modeDefaults],
    skills: [mapMembers({ id: 'main', name, description, tags: ['general'] }, value => value)],
  }
  for (const [field, value] of Object.entries(defaults)) {
    const authored = card[field]
    if (authored !== undefined && !(Array.isArray(authored) && authored.length === 0)) continue
    provenance.noteDefault(formatPointer(field), value)
    filled[field] = value
  }
  return filled
}

const fillCapabilities = (declared: JsonObject, defaults: CapabilityDefaults, provenance: Provenance): JsonObject => {
  const { flags, reason, isAssumed } = defaults
  const missing = Object.entries(flags).filter(([name]) => !(name in declared))
  for (const [name, value] of missing) {
    const assumed = `will be advertised as supported; set it to true or false (${reason})`
    const message = value && isAssumed ? assumed : `set to ${value}: ${reason}`
    provenance.noteDefault(formatPointer('capabilities', name), value, message)
  }
  return { ...declared, ...Object.fromEntries(missing) }
}

/** Describes mutual TLS, which has no other members: most SDKs' signatures cover no scheme that is empty. */
const fillScheme = (scheme: Json, name: string, provenance: Provenance): Json => {
  const { mtlsSecurityScheme: mtls } = asObject(scheme)
  if (!isJsonObject(scheme) || !isJsonObject(mtls) || (mtls.description ?? '') !== '') return scheme
  provenance.noteDefault(
    formatPointer('securitySchemes', name, 'mtlsSecurityScheme', 'description'),
    MTLS_DESCRIPTION,
    `set to "${MTLS_DESCRIPTION}": most verifiers of signatures leave out a scheme that is empty`,
  )
  return { ...scheme, mtlsSecurityScheme: { ...mtls, description: MTLS_DESCRIPTION } }
}

const MTLS_DESCRIPTION = 'Mutual TLS'
