import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { formatPointer, hasItems, isJsonObject, omit } from '../../json/index.ts'
import { type AgentCard, type AgentInterface, isPreV1, majorMinor, toPatchVersion } from '../model/index.ts'

/** The fields in which a card of any generation has the agent's endpoints. */
export const endpointFields = [
  'url',
  'supportedInterfaces',
  'supported_interfaces',
  'additionalInterfaces',
  'additional_interfaces',
  'interfaces',
] as const

/** Returns whether a card has an endpoint field that is not empty. */
export const hasEndpoint = (card: JsonObject): boolean =>
  endpointFields.some(name => [card[name] ?? []].flat().length > 0)

/** Returns whether `interfaces` is a list of endpoints, as in drafts of A2A. In other cards it is something else. */
export const isInterfaceList = (list: Json | undefined): boolean =>
  Array.isArray(list) &&
  list.every(
    item =>
      isJsonObject(item) &&
      typeof item.url === 'string' &&
      interfaceTransports(item).some(({ value }) => typeof value === 'string'),
  )

/** By binding of A2A, the words that cards use for it, in lower case without punctuation. */
const words = {
  JSONRPC: 'jsonrpc jsonrpc2 jsonrpc20 jsonrpchttp jsonrpchttps jsonrpcoverhttp httpjsonrpc',
  'HTTP+JSON':
    'httpjson httpsjson jsonhttp jsonoverhttp http https rest restful restapi restjson resthttp httprest jsonrest',
  GRPC: 'grpc grpcs grpchttp2 grpcoverhttp2',
} as const

const bindings: ReadonlyMap<string, string> = new Map(
  Object.entries(words).flatMap(([binding, list]) => list.split(' ').map(word => [word, binding] as const)),
)

const MAX_WORD_LENGTH = 40

/** Returns the A2A binding that a word means, such as HTTP+JSON for "rest"; undefined if it means none. */
export const parseBinding = (word: Json | undefined): string | undefined =>
  typeof word === 'string' && word.length <= MAX_WORD_LENGTH
    ? bindings.get(word.toLowerCase().replace(/[^a-z\d]/g, ''))
    : undefined

type TransportField = { name: string; value: Json }

/** Fields that name a transport, the one that takes precedence first. */
const cardTransportFields = ['preferredTransport', 'preferred_transport', 'transport', 'protocol']
const interfaceTransportFields = ['protocolBinding', 'protocol_binding', 'transport', 'protocol']

/** Returns the fields of a card that name its own transport, the one that is read first. */
export const cardTransports = (card: JsonObject): TransportField[] =>
  listFields(card, cardTransportFields).filter(({ name, value }) =>
    name === 'transport'
      ? // In SuperX's card of an MCP server, `transport` is one of MCP's.
        typeof value === 'string' && !isMcp(card)
      : // With a list of interfaces, a `protocol` of any other word may be anything.
        name !== 'protocol' || parseBinding(value) !== undefined || !hasInterfaceList(card),
  )

/** Returns the fields of an interface that name its transport, the one that is read first. */
export const interfaceTransports = (item: JsonObject): TransportField[] => listFields(item, interfaceTransportFields)

/** Returns the fields that name a transport in a form that is not read, such as a list. */
export const unreadTransports = (object: JsonObject): string[] =>
  isMcp(object)
    ? []
    : ['transport', 'protocol'].filter(name => typeof object[name] === 'object' && object[name] !== null)

const isMcp = ({ protocol }: JsonObject): boolean => typeof protocol === 'string' && /^mcp$/i.test(protocol)

const hasInterfaceList = (card: JsonObject): boolean =>
  [card.supportedInterfaces, card.supported_interfaces].some(hasItems)

const listFields = (object: JsonObject, names: readonly string[]): TransportField[] => {
  const fields = names.flatMap(name => {
    const value = object[name]
    return value === undefined || value === null ? [] : [{ name, value }]
  })
  return fields.filter(
    ({ name, value }) =>
      name !== 'protocol' || parseBinding(value) !== undefined || (fields.length === 1 && isTransportWord(value)),
  )
}

/** Returns whether a `protocol` names a transport: SuperX's has the words "a2a" and "mcp"; others add the version. */
const isTransportWord = (value: Json): boolean => typeof value === 'string' && !/^\s*(?:a2a|mcp)(?![a-z])/i.test(value)

/** Returns whether two words stand for different transports. */
export const differInTransport = (left: Json, right: Json): boolean => normalize(left) !== normalize(right)

const normalize = (word: Json): string => parseBinding(word) ?? JSON.stringify(word).toLowerCase()

/** Returns the Major.Minor of a version in a card, which may begin with "v" or lack Minor; any other text unchanged. */
export const parseCardVersion = (version: string): string => {
  const [, major, minor = '.0'] = /^v?(\d+)(\.\d+)?(?:\.\d+)?$/i.exec(version.trim()) ?? []
  return major === undefined ? version : major + minor
}

/** Returns the top-level `protocolVersion` for an interface: as the author wrote it, where it is the interface's. */
export const topLevelVersion = ({ protocolVersion: written }: JsonObject, { protocolVersion }: AgentInterface) =>
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

/** Returns the value of SuperX's `protocol` for the interface that readers of v0.x use. */
export const superxProtocol = (interfaces: readonly unknown[]): 'a2a' | 'mcp' => {
  const primary = interfaces[pickV0Interface(interfaces)]
  return isJsonObject(primary) && primary.protocolBinding === 'MCP' ? 'mcp' : 'a2a'
}

/** Writes v0.x's endpoint fields with `primary` at the top. Adds pointers to what they cannot express to `dropped`. */
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
