import { isJsonObject, type Json, type JsonObject, omit } from '../../json/json.ts'
import { formatPointer, type Pointer } from '../../json/pointer.ts'
import { isPreV1, toPatchVersion } from '../model/protocol-version.ts'

/** One endpoint as the canonical card holds it. */
type Interface = { url: string; protocolBinding: string; protocolVersion: string; [name: string]: unknown }

/** The interface that v0.x readers are sent to: the first that speaks 0.x, else the preferred one. */
export const pickV0Interface = (interfaces: readonly unknown[]): number =>
  Math.max(
    0,
    interfaces.findIndex(item => speaksV0(item)),
  )

/** The interface that GopherHole's readers are sent to: the first that speaks 1.0 or later, else the preferred one. */
export const v1Interface = (interfaces: readonly unknown[]): number =>
  Math.max(
    0,
    interfaces.findIndex(item => !speaksV0(item)),
  )

const speaksV0 = (item: unknown): boolean =>
  isJsonObject(item) && typeof item.protocolVersion === 'string' && isPreV1(item.protocolVersion)

/** SuperX's name for the protocol that v0.x readers are told of. */
export const protocolOf = (interfaces: readonly unknown[]): 'a2a' | 'mcp' => {
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
    const rest = omit(item as JsonObject, 'protocolBinding', 'protocolVersion')
    additional.push({ ...rest, transport: item.protocolBinding })
  }
  const fields: JsonObject = {
    url: chosen.url,
    preferredTransport: chosen.protocolBinding,
    ...(additional.length > 0 && { additionalInterfaces: additional as Json }),
    protocolVersion: toPatchVersion(chosen.protocolVersion),
  }
  return { fields, dropped }
}

const keyOf = ({ protocolBinding, url }: Interface): string => `${protocolBinding} ${url}`
