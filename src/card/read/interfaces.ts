import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEquals,
  omit,
  type Pointer,
} from '../../json/json.ts'
import { isPreV1, majorMinor, toPatchVersion } from '../model/calls.ts'
import { canonicalizeKeys } from './field-names.ts'
import type { Provenance } from './provenance.ts'

/** The interfaces that the endpoint fields of a card say together, in the order of preference. */
class InterfaceCollector {
  readonly list: Json[] = []
  readonly #provenance: Provenance

  constructor(provenance: Provenance) {
    this.#provenance = provenance
  }

  /** Adds an interface of the list of v1.0, which may say the same address for several tenants. */
  addListed(item: Json, authored: Pointer): void {
    const at = formatPointer('supportedInterfaces', this.list.length)
    for (const name of ['/protocolBinding', '/protocolVersion', ''])
      this.#provenance.mapFrom(at + name, authored + name)
    this.list.push(item)
  }

  /** Adds what the top of a v0.x card says, unless the list says it. */
  addTop(url: Json, protocolBinding: Json, protocolVersion: Json): void {
    const at = formatPointer('supportedInterfaces', this.list.length)
    this.#provenance.mapWhole(at, '/url')
    this.#provenance.mapFrom(`${at}/protocolBinding`, '/preferredTransport')
    this.#provenance.mapFrom(`${at}/protocolVersion`, '/protocolVersion')
    this.list.push({ url, protocolBinding, protocolVersion })
  }

  /** Adds an interface of v0.3's list, unless it says one again that is there. */
  addAdditional(item: Json, authored: Pointer): void {
    const there = this.list
      .filter(isJsonObject)
      .filter(other => isJsonObject(item) && other.url === item.url && other.protocolBinding === item.protocolBinding)
    if (!isJsonObject(item) || there.length === 0) this.addListed(item, authored)
    // v0.3 has no place for the version of each.
    else if (!there.some(other => jsonEquals(other, { ...item, protocolVersion: other.protocolVersion })))
      this.#provenance.noteConversion(
        authored,
        'left out: another interface with this address says otherwise, and counts',
      )
  }
}

/** One endpoint as the canonical card holds it. */
type Interface = { url: string; protocolBinding: string; protocolVersion: string; [name: string]: Json | undefined }

/** The interface that v0.x readers are sent to: the first that speaks 0.x, else the preferred one. */
export const pickV0Interface = (interfaces: readonly unknown[]): number =>
  Math.max(
    0,
    interfaces.findIndex(item => speaksV0(item)),
  )

/** The interface that GopherHole's readers are sent to: the first that speaks 1.0 or later, else the preferred one. */
export const pickV1Interface = (interfaces: readonly unknown[]): number =>
  Math.max(
    0,
    interfaces.findIndex(item => !speaksV0(item)),
  )

const speaksV0 = (item: unknown): boolean =>
  isJsonObject(item) && typeof item.protocolVersion === 'string' && isPreV1(item.protocolVersion)

/** SuperX's name for the protocol that v0.x readers are told of. */
export const superxProtocol = (interfaces: readonly unknown[]): 'a2a' | 'mcp' => {
  const main = interfaces[pickV0Interface(interfaces)]
  return isJsonObject(main) && main.protocolBinding === 'MCP' ? 'mcp' : 'a2a'
}

/** The v0.x endpoint fields for the interface at `main`, and the pointers of what they cannot say. */
export const writeV0Interfaces = (
  interfaces: readonly Interface[],
  main: number,
): { fields: JsonObject; dropped: Pointer[] } => {
  const chosen = interfaces[main] as Interface
  const dropped = Object.keys(chosen)
    .filter(name => !['url', 'protocolBinding', 'protocolVersion'].includes(name))
    .map(name => formatPointer('supportedInterfaces', main, name))
  const additional: JsonObject[] = []
  const said = new Set([keyOf(chosen)])
  for (const [index, item] of interfaces.entries()) {
    if (index === main) continue
    const at = formatPointer('supportedInterfaces', index)
    // Readers of v0.x take every interface to speak the version that is on top.
    if (item.protocolVersion !== chosen.protocolVersion || said.has(keyOf(item))) {
      dropped.push(at)
      continue
    }
    said.add(keyOf(item))
    if (item.transport !== undefined) dropped.push(`${at}/transport`)
    const rest = omit(item, 'protocolBinding', 'protocolVersion')
    additional.push({ ...rest, transport: item.protocolBinding })
  }
  const fields: JsonObject = {
    url: chosen.url,
    preferredTransport: chosen.protocolBinding,
    ...(additional.length > 0 && { additionalInterfaces: additional }),
    protocolVersion: toPatchVersion(chosen.protocolVersion),
  }
  return { fields, dropped }
}

const keyOf = ({ protocolBinding, url }: Interface): string => `${protocolBinding} ${url}`

/** The bindings that A2A names itself, by their lower-case spelling. */
const bindings = new Map(['JSONRPC', 'HTTP+JSON', 'GRPC'].map(name => [name.toLowerCase(), name]))

/** Gathers every dialect's endpoint fields into `supportedInterfaces`. */
export const readInterfaces = (card: JsonObject, assumedVersion: string, provenance: Provenance): JsonObject => {
  const { supportedInterfaces, url, preferredTransport, additionalInterfaces, protocolVersion, protocol, ...rest } =
    card
  const gathered = new InterfaceCollector(provenance)
  for (const [item, at] of items(supportedInterfaces, '/supportedInterfaces', provenance))
    gathered.addListed(readItem(item, at, assumedVersion, provenance), at)

  const version = readVersion(protocolVersion, assumedVersion, '/protocolVersion', provenance)
  if (url !== undefined && !gathered.list.some(item => isJsonObject(item) && item.url === url)) {
    const transport = preferredTransport ?? (protocol === 'mcp' ? 'MCP' : 'JSONRPC')
    if (protocolVersion === undefined)
      provenance.noteDefault('/protocolVersion', `set to "${toPatchVersion(assumedVersion)}"`)
    gathered.addTop(url, readBinding(transport, '/preferredTransport', provenance), version)
  }

  const odd = isInterfaces(rest.interfaces)
  for (const [item, at] of [
    ...items(additionalInterfaces, '/additionalInterfaces', provenance),
    ...(odd ? items(rest.interfaces, '/interfaces', provenance) : []),
  ])
    gathered.addAdditional(readItem(item, at, version, provenance), at)

  const { list } = gathered
  if (list.length === 0 && supportedInterfaces === undefined) provenance.mapFrom('/supportedInterfaces', '/url')
  return {
    ...(odd ? omit(rest, 'interfaces') : rest),
    ...(list.length > 0 && { supportedInterfaces: list }),
    // SuperX's word says nothing more than the interface does, unless it says something else.
    ...(protocol !== undefined && protocol !== superxProtocol(list) && { protocol }),
  }
}

const items = (list: Json | undefined, at: Pointer, provenance: Provenance): [Json, Pointer][] => {
  if (Array.isArray(list)) return list.map((item, index) => [item, at + formatPointer(index)])
  if (list !== undefined) provenance.addError(at, 'must be a list of interfaces')
  return []
}

/** Some cards say `interfaces` for the list; others mean something else by it. */
const isInterfaces = (list: Json | undefined): boolean =>
  Array.isArray(list) &&
  list.every(
    item =>
      isJsonObject(item) &&
      typeof item.url === 'string' &&
      ['protocolBinding', 'protocol_binding', 'transport'].some(name => typeof item[name] === 'string'),
  )

const readItem = (item: Json, at: Pointer, assumedVersion: Json, provenance: Provenance): Json => {
  if (!isJsonObject(item)) return item
  const { transport, ...rest } = withoutNothing(canonicalizeKeys(item, 'interface', at, provenance))
  if (rest.protocolBinding === undefined && transport !== undefined)
    provenance.mapFrom(`${at}/protocolBinding`, `${at}/transport`)
  if (rest.protocolBinding === undefined && transport === undefined)
    provenance.noteDefault(`${at}/protocolBinding`, 'set to "JSONRPC"')
  // A list of v0.3 has one version, that on top.
  if (rest.protocolVersion === undefined && !at.startsWith('/supportedInterfaces/'))
    provenance.mapFrom(`${at}/protocolVersion`, '/protocolVersion')
  else if (rest.protocolVersion === undefined)
    provenance.noteDefault(`${at}/protocolVersion`, `set to "${assumedVersion}"`)
  const binding = readBinding(rest.protocolBinding ?? transport ?? 'JSONRPC', `${at}/protocolBinding`, provenance)
  const said = transport === undefined || rest.protocolBinding === undefined || transport === binding
  return {
    ...rest,
    ...(!said && { transport }),
    protocolBinding: binding,
    protocolVersion: readVersion(rest.protocolVersion, assumedVersion, `${at}/protocolVersion`, provenance),
  }
}

/** What a server made with ProtoJSON's libraries says for "no tenant". */
const withoutNothing = (item: JsonObject): JsonObject => (item.tenant === '' ? omit(item, 'tenant') : item)

const readBinding = (binding: Json, at: Pointer, provenance: Provenance): Json => {
  const known = typeof binding === 'string' ? bindings.get(binding.toLowerCase()) : undefined
  if (known === undefined || known === binding) return binding
  provenance.noteConversion(at, `read as "${known}"`)
  return known
}

const readVersion = (version: Json | undefined, assumed: Json, at: Pointer, provenance: Provenance): Json => {
  if (version === undefined) return assumed
  if (typeof version !== 'number') return typeof version === 'string' ? majorMinor(version) : version
  provenance.noteConversion(at, 'a number, read as text')
  return Number.isInteger(version) ? version.toFixed(1) : String(version)
}

/** The fields by which a card says where its agent is, in either spelling. */
export const endpointFields = [
  'url',
  'supportedInterfaces',
  'supported_interfaces',
  'additionalInterfaces',
  'additional_interfaces',
  'interfaces',
] as const

/** The fields of a card that say where its agent is; none where it does not say. */
export const presentEndpointFields = (card: JsonObject): string[] =>
  endpointFields.filter(name => {
    const value = card[name]
    return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
  })
