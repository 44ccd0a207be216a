import type { Json, JsonObject } from '../../json/index.ts'

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

/** The longest text that is compared with the words. */
const MAX_WORD_LENGTH = 40

/** Returns the A2A binding that a word means, such as HTTP+JSON for "rest"; undefined if it means none. */
export const parseBinding = (word: Json | undefined): string | undefined =>
  typeof word === 'string' && word.length <= MAX_WORD_LENGTH
    ? bindings.get(word.toLowerCase().replace(/[^a-z\d]/g, ''))
    : undefined

/** A field of a card or an interface that names its transport. */
export type TransportField = { name: string; value: Json }

/** Fields that name a transport, the one that takes precedence first. */
const cardFields = ['preferredTransport', 'preferred_transport', 'transport', 'protocol']
const interfaceFields = ['protocolBinding', 'protocol_binding', 'transport', 'protocol']

/** Returns the fields of a card that name its own transport, the one that is read first. */
export const cardTransports = (card: JsonObject): TransportField[] =>
  listFields(card, cardFields).filter(({ name, value }) =>
    name === 'transport'
      ? // In SuperX's card of an MCP server, `transport` is one of MCP's.
        typeof value === 'string' && !isMcp(card)
      : // With a list of interfaces, a `protocol` of any other word may be anything.
        name !== 'protocol' || parseBinding(value) !== undefined || !hasInterfaceList(card),
  )

/** Returns the fields of an interface that name its transport, the one that is read first. */
export const interfaceTransports = (item: JsonObject): TransportField[] => listFields(item, interfaceFields)

/** Returns the fields that name a transport in a form that is not read, such as a list. */
export const unreadTransports = (object: JsonObject): string[] =>
  isMcp(object)
    ? []
    : ['transport', 'protocol'].filter(name => typeof object[name] === 'object' && object[name] !== null)

const isMcp = ({ protocol }: JsonObject): boolean => typeof protocol === 'string' && /^mcp$/i.test(protocol)

const hasInterfaceList = (card: JsonObject): boolean =>
  [card.supportedInterfaces, card.supported_interfaces].some(list => Array.isArray(list) && list.length > 0)

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

/** Whether a `protocol` names a transport: SuperX's has the words "a2a" and "mcp", and others add the version. */
const isTransportWord = (value: Json): boolean => typeof value === 'string' && !/^\s*(?:a2a|mcp)(?![a-z])/i.test(value)

/** Whether two words stand for different transports. */
export const differInTransport = (left: Json, right: Json): boolean => normalize(left) !== normalize(right)

const normalize = (word: Json): string => parseBinding(word) ?? JSON.stringify(word).toLowerCase()
