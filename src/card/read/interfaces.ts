import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { formatPointer, isJsonObject, jsonEquals, omit } from '../../json/index.ts'
import { type AgentCard, type AgentInterface, isPreV1, majorMinor, toPatchVersion } from '../model/index.ts'
import { canonicalizeKeys, takesPrecedence } from './field-names.ts'
import type { Provenance } from './provenance.ts'
import { cardTransports, differInTransport, interfaceTransports, parseBinding } from './transports.ts'

/** The fields in which a card of any generation has the agent's endpoints. */
export const endpointFields = [
  'url',
  'supportedInterfaces',
  'supported_interfaces',
  'additionalInterfaces',
  'additional_interfaces',
  'interfaces',
] as const

/** Returns the endpoint fields that a card has and that are not empty. */
export const presentEndpointFields = (card: JsonObject): string[] =>
  endpointFields.filter(name => {
    const value = card[name] ?? []
    return !(Array.isArray(value) && value.length === 0)
  })

/** Reads the endpoint fields of every dialect into `supportedInterfaces`, in the order of preference. */
export const readInterfaces = (card: JsonObject, assumedVersion: string, provenance: Provenance): JsonObject => {
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
    if (protocolVersion === undefined)
      provenance.noteDefault('/protocolVersion', `set to "${toPatchVersion(assumedVersion)}"`)
    const { name, value } = transport ?? {
      name: 'preferredTransport',
      value: card.protocol === 'mcp' ? 'MCP' : 'JSONRPC',
    }
    const source = formatPointer(name)
    provenance.mapWhole(nextPointer(), '/url')
    provenance.mapFrom(`${nextPointer()}/protocolBinding`, source)
    provenance.mapFrom(`${nextPointer()}/protocolVersion`, '/protocolVersion')
    const protocolBinding = readBinding(value, name === 'preferredTransport', source, provenance)
    interfaces.push({ url, protocolBinding, protocolVersion: version })
  } else if (interfaces.length > 0 && isUnlistedTransport(card, interfaces))
    provenance.noteConversion('/preferredTransport', takesPrecedence('supportedInterfaces'))

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
    provenance.noteConversion('/protocolVersion', takesPrecedence('supportedInterfaces'))
  return {
    ...(hasDraftField ? omit(rest, 'interfaces') : rest),
    ...(interfaces.length > 0 && { supportedInterfaces: interfaces }),
    // Kept only where they differ from what the interfaces imply.
    ...(protocol !== undefined && protocol !== superxProtocol(interfaces) && { protocol }),
    ...(isVersionUsed && isPatchVersion(protocolVersion) && { protocolVersion }),
  }
}

/** Whether no interface that the card lists for its URL has its preferred transport. */
const isUnlistedTransport = ({ url, preferredTransport }: JsonObject, interfaces: readonly Json[]): boolean =>
  preferredTransport !== undefined &&
  interfaces
    .filter(isJsonObject)
    .filter(item => url === undefined || item.url === url)
    .every(({ protocolBinding = null }) => differInTransport(protocolBinding, preferredTransport))

/** Whether a version has a patch number of v0.x that its Major.Minor does not imply. */
const isPatchVersion = (version: Json | undefined): boolean =>
  typeof version === 'string' && /^0\.\d+\.\d+$/.test(version) && version !== toPatchVersion(majorMinor(version))

const listItems = (list: Json | undefined, pointer: Pointer, provenance: Provenance): [Json, Pointer][] => {
  if (Array.isArray(list)) return list.map((item, index) => [item, pointer + formatPointer(index)])
  if (list !== undefined) provenance.addError(pointer, 'must be a list of interfaces')
  return []
}

/** Whether `interfaces` is a list of endpoints, as in drafts of A2A. Other cards use the name for something else. */
export const isInterfaceList = (list: Json | undefined): boolean =>
  Array.isArray(list) &&
  list.every(
    item =>
      isJsonObject(item) &&
      typeof item.url === 'string' &&
      interfaceTransports(item).some(({ value }) => typeof value === 'string'),
  )

const readInterface = (item: Json, pointer: Pointer, assumedVersion: Json, provenance: Provenance): Json => {
  if (!isJsonObject(item)) return item
  const canonical = canonicalizeKeys(item, 'interface', pointer, provenance)
  const [field] = interfaceTransports(canonical)
  const bindingPointer = `${pointer}/protocolBinding`
  if (field === undefined) provenance.noteDefault(bindingPointer, 'set to "JSONRPC"')
  else if (field.name !== 'protocolBinding') provenance.mapFrom(bindingPointer, pointer + formatPointer(field.name))
  // The lists of v0.3 have `transport`, and their version is the top-level one.
  const isV1 = pointer.startsWith('/supportedInterfaces/')
  const { protocolVersion } = canonical
  if (protocolVersion === undefined && isV1)
    provenance.noteDefault(`${pointer}/protocolVersion`, `set to "${assumedVersion}"`)
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

/** Returns the Major.Minor of a version in a card, which may begin with "v" or lack Minor; any other text unchanged. */
export const parseCardVersion = (version: string): string => {
  const [, major, minor = '.0'] = /^v?(\d+)(\.\d+)?(?:\.\d+)?$/i.exec(version.trim()) ?? []
  return major === undefined ? version : major + minor
}

/** Returns the top-level `protocolVersion` for an interface: as the author wrote it, where it is the interface's. */
export const topLevelVersion = (
  { protocolVersion: written }: JsonObject,
  { protocolVersion }: AgentInterface,
): string =>
  typeof written === 'string' && majorMinor(written) === protocolVersion ? written : toPatchVersion(protocolVersion)

/** Returns the index of the interface for readers of v0.x: the first that speaks 0.x, else the preferred one. */
export const pickV0Interface = (interfaces: readonly unknown[]): number => Math.max(0, interfaces.findIndex(speaksV0))

/** Returns the index of the interface for readers of GopherHole: the first of 1.0 or later, else the preferred one. */
export const pickV1Interface = (interfaces: readonly unknown[]): number => {
  const index = interfaces.findIndex(item => !speaksV0(item))
  return Math.max(0, index)
}

const speaksV0 = (item: unknown): boolean =>
  isJsonObject(item) && typeof item.protocolVersion === 'string' && isPreV1(item.protocolVersion)

/** Whether an interface of a valid card speaks A2A 1.0 or later. Versions of MCP are dates. */
export const speaksV1 = ({ protocolVersion }: AgentInterface): boolean => /^[1-9]\d?\.\d/.test(protocolVersion)

/** Returns the value of SuperX's `protocol` for the interface that readers of v0.x use. */
export const superxProtocol = (interfaces: readonly unknown[]): 'a2a' | 'mcp' => {
  const primary = interfaces[pickV0Interface(interfaces)]
  return isJsonObject(primary) && primary.protocolBinding === 'MCP' ? 'mcp' : 'a2a'
}

/** Writes v0.x's endpoint fields with `primary` at the top. Adds the pointers of what they cannot express to `dropped`. */
export const writeV0Interfaces = (card: AgentCard, primary: number, dropped: Pointer[]): JsonObject => {
  const chosen = card.supportedInterfaces[primary] as AgentInterface
  const names = Object.keys(omit(chosen, 'url', 'protocolBinding', 'protocolVersion'))
  dropped.push(...names.map(name => formatPointer('supportedInterfaces', primary, name)))
  const additional: JsonObject[] = []
  const written = new Set([keyOf(chosen)])
  for (const [index, item] of card.supportedInterfaces.entries()) {
    if (index === primary) continue
    const pointer = formatPointer('supportedInterfaces', index)
    // Readers of v0.x take every interface to speak the top-level version.
    if (item.protocolVersion !== chosen.protocolVersion || written.has(keyOf(item))) {
      dropped.push(pointer)
      continue
    }
    written.add(keyOf(item))
    if (item.transport !== undefined) dropped.push(`${pointer}/transport`)
    additional.push({ ...omit(item, 'protocolBinding', 'protocolVersion'), transport: item.protocolBinding })
  }
  const protocolVersion = topLevelVersion(card, chosen)
  if (card.protocolVersion !== undefined && protocolVersion !== card.protocolVersion) dropped.push('/protocolVersion')
  return {
    url: chosen.url,
    preferredTransport: chosen.protocolBinding,
    ...(additional.length > 0 && { additionalInterfaces: additional }),
    protocolVersion,
  }
}

const keyOf = ({ protocolBinding, url }: AgentInterface): string => `${protocolBinding} ${url}`
