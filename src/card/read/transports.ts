import type { Json, JsonObject } from '../../json/json.ts'

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

/** Returns the binding of A2A that a word stands for, such as HTTP+JSON for "rest"; undefined if it is none of A2A's. */
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
  listFields(card, cardFields).filter(
    // In SuperX's card of an MCP server, `transport` is one of MCP's.
    ({ name, value }) => name !== 'transport' || (typeof value === 'string' && card.protocol !== 'mcp'),
  )

/** Returns the fields of an interface that name its transport, the one that is read first. */
export const interfaceTransports = (item: JsonObject): TransportField[] => listFields(item, interfaceFields)

/** SuperX's `protocol` is another field: it has the words "a2a" and "mcp". */
const listFields = (object: JsonObject, names: readonly string[]): TransportField[] =>
  names.flatMap(name => {
    const value = object[name]
    const isTransport = value !== undefined && value !== null && (name !== 'protocol' || parseBinding(value))
    return isTransport ? [{ name, value }] : []
  })

/** Whether two words stand for different transports. */
export const differInTransport = (left: Json, right: Json): boolean => normalize(left) !== normalize(right)

const normalize = (word: Json): string => parseBinding(word) ?? JSON.stringify(word).toLowerCase()
