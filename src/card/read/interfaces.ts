import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEquals,
  omit,
  type Pointer,
} from '../../json/index.ts'
import { isPreV1, majorMinor, toPatchVersion } from '../model/index.ts'
import { canonicalizeKeys, takesPrecedence } from './field-names.ts'
import type { Provenance } from './provenance.ts'
import {
  cardTransports,
  differInTransport,
  interfaceTransports,
  parseBinding,
  type TransportField,
} from './transports.ts'

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
    const value = card[name]
    return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
  })

/** Reads the endpoint fields of every dialect into `supportedInterfaces`. */
export const readInterfaces = (card: JsonObject, assumedVersion: string, provenance: Provenance): JsonObject => {
  const { supportedInterfaces, url, additionalInterfaces, protocolVersion } = card
  const collector = new InterfaceCollector(provenance)
  for (const [item, pointer] of listItems(supportedInterfaces, '/supportedInterfaces', provenance))
    collector.addV1(readInterface(item, pointer, assumedVersion, provenance), pointer)

  const version = readVersion(protocolVersion, assumedVersion, '/protocolVersion', provenance)
  const hasPrimary = url !== undefined && !collector.interfaces.some(item => isJsonObject(item) && item.url === url)
  const transport = hasPrimary ? cardTransports(card)[0] : undefined
  if (hasPrimary) {
    if (protocolVersion === undefined)
      provenance.noteDefault('/protocolVersion', `set to "${toPatchVersion(assumedVersion)}"`)
    collector.addPrimary(url, version, transport ?? { name: 'preferredTransport', value: defaultBinding(card) })
  } else noteUnlistedTransport(card, collector.interfaces, provenance)

  // What names the transport of the card is read; `protocol` and `transport` are unknown fields in any other card.
  const { protocol, ...rest } = omit(
    card,
    ...['supportedInterfaces', 'url', 'preferredTransport', 'additionalInterfaces', 'protocolVersion'],
    ...(transport ? [transport.name] : []),
  )
  const hasDraftField = isInterfaceList(rest.interfaces)
  if (hasDraftField) provenance.noteConversion('/interfaces', 'a field of drafts of A2A, read as supportedInterfaces')
  for (const [item, pointer] of [
    ...listItems(additionalInterfaces, '/additionalInterfaces', provenance),
    ...(hasDraftField ? listItems(rest.interfaces, '/interfaces', provenance) : []),
  ])
    collector.addAdditional(readInterface(item, pointer, version, provenance), pointer)

  const { interfaces } = collector
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

/** Returns the binding of a card that names no transport. */
const defaultBinding = ({ protocol }: JsonObject): string => (protocol === 'mcp' ? 'MCP' : 'JSONRPC')

/** Notes that the card lists interfaces for its URL, but none with its preferred transport. */
const noteUnlistedTransport = (
  { url, preferredTransport }: JsonObject,
  interfaces: readonly Json[],
  provenance: Provenance,
): void => {
  if (preferredTransport === undefined || interfaces.length === 0) return
  const isListed = interfaces
    .filter(isJsonObject)
    .filter(item => url === undefined || item.url === url)
    .some(({ protocolBinding = null }) => !differInTransport(protocolBinding, preferredTransport))
  if (!isListed) provenance.noteConversion('/preferredTransport', takesPrecedence('supportedInterfaces'))
}

/** Whether a version has a patch number of v0.x that its Major.Minor does not imply. */
const isPatchVersion = (version: Json | undefined): boolean =>
  typeof version === 'string' && /^0\.\d+\.\d+$/.test(version) && version !== toPatchVersion(majorMinor(version))

/** Collects the interfaces of a card's endpoint fields, in the order of preference. */
class InterfaceCollector {
  readonly interfaces: Json[] = []
  readonly #provenance: Provenance

  constructor(provenance: Provenance) {
    this.#provenance = provenance
  }

  /** Adds an item of v1.0's list, which may have one address several times, for several tenants. */
  addV1(item: Json, authored: Pointer): void {
    const pointer = formatPointer('supportedInterfaces', this.interfaces.length)
    for (const name of ['/protocolBinding', '/protocolVersion', ''])
      this.#provenance.mapFrom(pointer + name, authored + name)
    this.interfaces.push(item)
  }

  /** Adds the interface in the top-level fields of a v0.x card. */
  addPrimary(url: Json, protocolVersion: Json, transport: TransportField): void {
    const provenance = this.#provenance
    const pointer = formatPointer('supportedInterfaces', this.interfaces.length)
    const source = formatPointer(transport.name)
    provenance.mapWhole(pointer, '/url')
    provenance.mapFrom(`${pointer}/protocolBinding`, source)
    provenance.mapFrom(`${pointer}/protocolVersion`, '/protocolVersion')
    const protocolBinding = readBinding(transport, transport.name === 'preferredTransport', source, provenance)
    this.interfaces.push({ url, protocolBinding, protocolVersion })
  }

  /** Adds an item of v0.3's list, unless its URL and binding are there already. */
  addAdditional(item: Json, authored: Pointer): void {
    const same = this.interfaces
      .filter(isJsonObject)
      .filter(other => isJsonObject(item) && other.url === item.url && other.protocolBinding === item.protocolBinding)
    if (!isJsonObject(item) || same.length === 0) this.addV1(item, authored)
    // v0.3 has no version for each interface, so that cannot differ.
    else if (!same.some(other => jsonEquals(other, { ...item, protocolVersion: other.protocolVersion })))
      this.#provenance.noteConversion(authored, 'ignored: an interface with the same URL and binding takes precedence')
  }
}

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
  const canonical = omitEmptyTenant(canonicalizeKeys(item, 'interface', pointer, provenance))
  const { protocolVersion, transport } = canonical
  const [field] = interfaceTransports(canonical)
  if (field === undefined) provenance.noteDefault(`${pointer}/protocolBinding`, 'set to "JSONRPC"')
  else if (field.name !== 'protocolBinding')
    provenance.mapFrom(`${pointer}/protocolBinding`, pointer + formatPointer(field.name))
  // The version of v0.3's lists is the top-level one.
  if (protocolVersion === undefined && !pointer.startsWith('/supportedInterfaces/'))
    provenance.mapFrom(`${pointer}/protocolVersion`, '/protocolVersion')
  else if (protocolVersion === undefined)
    provenance.noteDefault(`${pointer}/protocolVersion`, `set to "${assumedVersion}"`)
  // The lists of v0.3 have `transport`.
  const usualNames = pointer.startsWith('/supportedInterfaces/')
    ? ['protocolBinding']
    : ['protocolBinding', 'transport']
  const binding = field
    ? readBinding(field, usualNames.includes(field.name), `${pointer}/protocolBinding`, provenance)
    : 'JSONRPC'
  const isRedundant = field?.name === 'transport' || transport === binding
  return {
    ...omit(canonical, ...(isRedundant ? ['transport'] : []), ...(field?.name === 'protocol' ? ['protocol'] : [])),
    protocolBinding: binding,
    protocolVersion: readVersion(protocolVersion, assumedVersion, `${pointer}/protocolVersion`, provenance),
  }
}

/** Servers built with ProtoJSON libraries write "" for "no tenant". */
const omitEmptyTenant = (item: JsonObject): JsonObject => (item.tenant === '' ? omit(item, 'tenant') : item)

/** Reads the word for a transport. `isUsual`: the field is the one for it. */
const readBinding = ({ value }: TransportField, isUsual: boolean, pointer: Pointer, provenance: Provenance): Json => {
  const binding = parseBinding(value) ?? value
  if (binding !== value || !isUsual) provenance.noteConversion(pointer, `read as ${JSON.stringify(binding)}`)
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

/** Returns the Major.Minor of a version in a card, where it may begin with "v" or lack Minor. Returns any other text unchanged. */
export const parseCardVersion = (version: string): string => {
  const [, major, minor = '.0'] = /^v?(\d+)(\.\d+)?(?:\.\d+)?$/i.exec(version.trim()) ?? []
  return major === undefined ? version : major + minor
}

/** Returns the top-level `protocolVersion` of a v0.x card for an interface: as the author wrote it, where it is the interface's. */
export const topLevelVersion = ({ protocolVersion: written }: JsonObject, { protocolVersion }: Interface): string =>
  typeof written === 'string' && majorMinor(written) === protocolVersion ? written : toPatchVersion(protocolVersion)

/** An interface of a valid canonical card. */
export type Interface = {
  url: string
  protocolBinding: string
  protocolVersion: string
  [name: string]: Json | undefined
}

/** Returns the index of the interface for readers of v0.x: the first that speaks 0.x, else the preferred one. */
export const pickV0Interface = (interfaces: readonly unknown[]): number => Math.max(0, interfaces.findIndex(speaksV0))

/** Returns the index of the interface for readers of GopherHole: the first of 1.0 or later, else the preferred one. */
export const pickV1Interface = (interfaces: readonly unknown[]): number =>
  Math.max(
    0,
    interfaces.findIndex(item => !speaksV0(item)),
  )

const speaksV0 = (item: unknown): boolean =>
  isJsonObject(item) && typeof item.protocolVersion === 'string' && isPreV1(item.protocolVersion)

/** Whether an interface of a valid card speaks A2A 1.0 or later. Versions of MCP are dates. */
export const speaksV1 = ({ protocolVersion }: Pick<Interface, 'protocolVersion'>): boolean =>
  /^[1-9]\d?\.\d/.test(protocolVersion)

/** Returns the value of SuperX's `protocol` for the interface that readers of v0.x use. */
export const superxProtocol = (interfaces: readonly unknown[]): 'a2a' | 'mcp' => {
  const primary = interfaces[pickV0Interface(interfaces)]
  return isJsonObject(primary) && primary.protocolBinding === 'MCP' ? 'mcp' : 'a2a'
}

/** Writes v0.x's endpoint fields with `primary` at the top. Returns the pointers of what they cannot express, too. */
export const writeV0Interfaces = (
  {
    supportedInterfaces: interfaces,
    ...card
  }: { supportedInterfaces: readonly Interface[]; protocolVersion?: Json | undefined },
  primary: number,
): { fields: JsonObject; dropped: Pointer[] } => {
  const chosen = interfaces[primary] as Interface
  const dropped = Object.keys(chosen)
    .filter(name => !['url', 'protocolBinding', 'protocolVersion'].includes(name))
    .map(name => formatPointer('supportedInterfaces', primary, name))
  const additional: JsonObject[] = []
  const written = new Set([keyOf(chosen)])
  for (const [index, item] of interfaces.entries()) {
    if (index === primary) continue
    const pointer = formatPointer('supportedInterfaces', index)
    // Readers of v0.x take every interface to speak the top-level version.
    if (item.protocolVersion !== chosen.protocolVersion || written.has(keyOf(item))) {
      dropped.push(pointer)
      continue
    }
    written.add(keyOf(item))
    if (item.transport !== undefined) dropped.push(`${pointer}/transport`)
    const rest = omit(item, 'protocolBinding', 'protocolVersion')
    additional.push({ ...rest, transport: item.protocolBinding })
  }
  const fields: JsonObject = {
    url: chosen.url,
    preferredTransport: chosen.protocolBinding,
    ...(additional.length > 0 && { additionalInterfaces: additional }),
    protocolVersion: topLevelVersion(card, chosen),
  }
  if (card.protocolVersion !== undefined && fields.protocolVersion !== card.protocolVersion)
    dropped.push('/protocolVersion')
  return { fields, dropped }
}

const keyOf = ({ protocolBinding, url }: Interface): string => `${protocolBinding} ${url}`
