import { isJsonObject, type Json, type JsonObject, omit } from '../../json/json.ts'
import { formatPointer, type Pointer } from '../../json/pointer.ts'
import { majorMinor, toPatchVersion } from '../model/protocol-version.ts'
import { InterfaceCollector } from './gathered-interfaces.ts'
import { protocolOf } from './interfaces.ts'
import type { Provenance } from './provenance.ts'
import { canonicalizeKeys } from './spelling.ts'

/** The bindings that A2A names itself, by their lower-case spelling. */
const bindings = new Map(['JSONRPC', 'HTTP+JSON', 'GRPC'].map(name => [name.toLowerCase(), name]))

/** Gathers every dialect's endpoint fields into `supportedInterfaces`. */
export const readInterfaces = (card: JsonObject, assumedVersion: string, reading: Provenance): JsonObject => {
  const { supportedInterfaces, url, preferredTransport, additionalInterfaces, protocolVersion, protocol, ...rest } =
    card
  const gathered = new InterfaceCollector(reading)
  for (const [item, at] of items(supportedInterfaces, '/supportedInterfaces', reading))
    gathered.addListed(readItem(item, at, assumedVersion, reading), at)

  const version = readVersion(protocolVersion, assumedVersion, '/protocolVersion', reading)
  if (url !== undefined && !gathered.list.some(item => isJsonObject(item) && item.url === url)) {
    const transport = preferredTransport ?? (protocol === 'mcp' ? 'MCP' : 'JSONRPC')
    if (protocolVersion === undefined)
      reading.noteDefault('/protocolVersion', `set to "${toPatchVersion(assumedVersion)}"`)
    gathered.addTop(url, readBinding(transport, '/preferredTransport', reading), version)
  }

  const odd = isInterfaces(rest.interfaces)
  for (const [item, at] of [
    ...items(additionalInterfaces, '/additionalInterfaces', reading),
    ...(odd ? items(rest.interfaces, '/interfaces', reading) : []),
  ])
    gathered.addAdditional(readItem(item, at, version, reading), at)

  const { list } = gathered
  if (list.length === 0 && supportedInterfaces === undefined) reading.mapFrom('/supportedInterfaces', '/url')
  return {
    ...(odd ? omit(rest, 'interfaces') : rest),
    ...(list.length > 0 && { supportedInterfaces: list }),
    // SuperX's word says nothing more than the interface does, unless it says something else.
    ...(protocol !== undefined && protocol !== protocolOf(list) && { protocol }),
  }
}

const items = (list: Json | undefined, at: Pointer, reading: Provenance): [Json, Pointer][] => {
  if (Array.isArray(list)) return list.map((item, index) => [item, at + formatPointer(index)])
  if (list !== undefined) reading.addError(at, 'must be a list of interfaces')
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

const readItem = (item: Json, at: Pointer, assumedVersion: Json, reading: Provenance): Json => {
  if (!isJsonObject(item)) return item
  const { transport, ...rest } = withoutNothing(canonicalizeKeys(item, 'interface', at, reading))
  if (rest.protocolBinding === undefined && transport !== undefined)
    reading.mapFrom(`${at}/protocolBinding`, `${at}/transport`)
  if (rest.protocolBinding === undefined && transport === undefined)
    reading.noteDefault(`${at}/protocolBinding`, 'set to "JSONRPC"')
  // A list of v0.3 has one version, that on top.
  if (rest.protocolVersion === undefined && !at.startsWith('/supportedInterfaces/'))
    reading.mapFrom(`${at}/protocolVersion`, '/protocolVersion')
  else if (rest.protocolVersion === undefined)
    reading.noteDefault(`${at}/protocolVersion`, `set to "${assumedVersion}"`)
  const binding = readBinding(rest.protocolBinding ?? transport ?? 'JSONRPC', `${at}/protocolBinding`, reading)
  const said = transport === undefined || rest.protocolBinding === undefined || transport === binding
  return {
    ...rest,
    ...(!said && { transport }),
    protocolBinding: binding,
    protocolVersion: readVersion(rest.protocolVersion, assumedVersion, `${at}/protocolVersion`, reading),
  }
}

/** What a server made with ProtoJSON's libraries says for "no tenant". */
const withoutNothing = (item: JsonObject): JsonObject => (item.tenant === '' ? omit(item, 'tenant') : item)

const readBinding = (binding: Json, at: Pointer, reading: Provenance): Json => {
  const known = typeof binding === 'string' ? bindings.get(binding.toLowerCase()) : undefined
  if (known === undefined || known === binding) return binding
  reading.noteConversion(at, `read as "${known}"`)
  return known
}

const readVersion = (version: Json | undefined, assumed: Json, at: Pointer, reading: Provenance): Json => {
  if (version === undefined) return assumed
  if (typeof version !== 'number') return typeof version === 'string' ? majorMinor(version) : version
  reading.noteConversion(at, 'a number, read as text')
  return Number.isInteger(version) ? version.toFixed(1) : String(version)
}
