import { isObject, type Json, type JsonObject, without } from './json.ts'
import { pointer } from './pointer.ts'
import { beforeV1, majorMinor, withPatch } from './protocol-version.ts'
import type { Reading } from './reading.ts'

/** The fields by which the dialects say where an agent is and what it speaks there. */
const endpointFields = ['supportedInterfaces', 'url', 'preferredTransport', 'additionalInterfaces', 'protocolVersion']

/** The bindings that A2A names itself, by their lower-case spelling. */
const bindings: Record<string, string> = { jsonrpc: 'JSONRPC', 'http+json': 'HTTP+JSON', grpc: 'GRPC' }

/** Gathers every dialect's endpoint fields into `supportedInterfaces`. */
export const readInterfaces = (card: JsonObject, assumedVersion: string, reading: Reading): JsonObject => {
  const listed = listedInterfaces(card, assumedVersion, reading)
  const interfaces = Array.isArray(listed) ? [...listed] : []
  if (listed !== undefined && !Array.isArray(listed))
    return { ...without(card, ...endpointFields), supportedInterfaces: listed }
  const known = (url: Json | undefined, binding: Json | undefined) =>
    interfaces.some(
      item => isObject(item) && item.url === url && (binding === undefined || item.protocolBinding === binding),
    )

  const version = readVersion(card.protocolVersion, assumedVersion, reading)
  if (card.url !== undefined && (interfaces.length === 0 || !known(card.url, undefined))) {
    const at = pointer('supportedInterfaces', interfaces.length)
    reading.moved(`${at}/url`, '/url')
    reading.moved(`${at}/protocolVersion`, '/protocolVersion')
    reading.moved(`${at}/protocolBinding`, '/preferredTransport')
    if (interfaces.length === 0) reading.moved(at, '/url')
    interfaces.push({
      url: card.url,
      protocolBinding: readBinding(card.preferredTransport ?? 'JSONRPC', '/preferredTransport', reading),
      protocolVersion: version,
    })
    if (card.protocolVersion === undefined && interfaces.length === 1)
      reading.fill(`${at}/protocolVersion`, `set to "${withPatch(assumedVersion)}"`)
  }

  const additional = Array.isArray(card.additionalInterfaces) ? card.additionalInterfaces : []
  for (const [index, item] of additional.entries()) {
    if (!isObject(item)) {
      interfaces.push(item)
      continue
    }
    const authored = pointer('additionalInterfaces', index)
    const binding = readBinding(item.transport ?? item.protocolBinding ?? 'JSONRPC', `${authored}/transport`, reading)
    if (known(item.url, binding)) continue
    const at = pointer('supportedInterfaces', interfaces.length)
    reading.moved(at, authored)
    reading.moved(`${at}/protocolBinding`, `${authored}/transport`)
    interfaces.push({
      ...without(item, 'transport'),
      protocolBinding: binding,
      protocolVersion: item.protocolVersion ?? version,
    })
  }
  const rest = without(card, ...endpointFields)
  if (interfaces.length === 0) {
    reading.moved('/supportedInterfaces', listed === undefined ? '/url' : '/supportedInterfaces')
    return rest
  }
  return { ...rest, supportedInterfaces: interfaces }
}

const listedInterfaces = (card: JsonObject, assumedVersion: string, reading: Reading): Json | undefined => {
  const listed = card.supportedInterfaces
  if (!Array.isArray(listed)) return listed
  return listed.map((item, index) => {
    if (!isObject(item)) return item
    const at = pointer('supportedInterfaces', index)
    if (item.protocolVersion === undefined) reading.fill(`${at}/protocolVersion`, `set to "${assumedVersion}"`)
    if (item.protocolBinding === undefined) reading.fill(`${at}/protocolBinding`, 'set to "JSONRPC"')
    return {
      ...item,
      protocolBinding: readBinding(item.protocolBinding ?? 'JSONRPC', `${at}/protocolBinding`, reading),
      protocolVersion: readVersion(item.protocolVersion, assumedVersion, reading),
    }
  })
}

const readBinding = (binding: Json, authored: string, reading: Reading): Json => {
  if (typeof binding !== 'string') return binding
  const known = bindings[binding.toLowerCase()]
  if (known === undefined || known === binding) return binding
  reading.convert(authored, `read as "${known}"`)
  return known
}

const readVersion = (version: Json | undefined, assumed: string, reading: Reading): Json => {
  if (version === undefined) return assumed
  if (typeof version === 'number') {
    reading.convert('/protocolVersion', 'a number, read as text')
    return Number.isInteger(version) ? version.toFixed(1) : String(version)
  }
  return typeof version === 'string' ? majorMinor(version) : version
}

/** One endpoint as the canonical card holds it. */
type Interface = { url: string; protocolBinding: string; protocolVersion: string; [name: string]: unknown }

/** The interface that v0.x readers are sent to: the first that speaks 0.x, else the preferred one. */
export const v0Interface = (interfaces: readonly Interface[]): number =>
  Math.max(
    0,
    interfaces.findIndex(item => beforeV1(item.protocolVersion)),
  )

/** The interface that GopherHole's readers are sent to: the first that speaks 1.0 or later, else the preferred one. */
export const v1Interface = (interfaces: readonly Interface[]): number =>
  Math.max(
    0,
    interfaces.findIndex(item => !beforeV1(item.protocolVersion)),
  )

/** The v0.x endpoint fields for the interface at `main`, and the pointers of what they cannot say. */
export const writeV0Interfaces = (
  interfaces: readonly Interface[],
  main: number,
): { fields: JsonObject; dropped: string[] } => {
  const chosen = interfaces[main] as Interface
  const extras = Object.keys(chosen).filter(name => !['url', 'protocolBinding', 'protocolVersion'].includes(name))
  const dropped = extras.map(name => pointer('supportedInterfaces', main, name))
  const additional: JsonObject[] = []
  const said = new Set([`${chosen.protocolBinding} ${chosen.url}`])
  for (const [index, item] of interfaces.entries()) {
    if (index === main) continue
    const key = `${item.protocolBinding} ${item.url}`
    if (item.protocolVersion !== chosen.protocolVersion || said.has(key)) {
      dropped.push(pointer('supportedInterfaces', index))
      continue
    }
    said.add(key)
    const { protocolBinding, protocolVersion: _, ...rest } = item
    additional.push({ ...(rest as JsonObject), transport: protocolBinding })
  }
  return {
    fields: {
      url: chosen.url,
      preferredTransport: chosen.protocolBinding,
      ...(additional.length > 0 && { additionalInterfaces: additional }),
      protocolVersion: withPatch(chosen.protocolVersion),
    },
    dropped,
  }
}
