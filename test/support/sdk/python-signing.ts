import { isJsonObject, type Json, type JsonObject, jsonEntries } from '../../../src/json/json.ts'

/**
 * What a2a-python verifies, restated from its sources (`client/card_resolver.py`, `utils/signing.py`, the descriptors of its
 * `a2a_pb2.py`) and those of protobuf's `json_format.py`. It shares no code with src/card/signatures, which uses the JavaScript SDK.
 */

/** The fields of a message: `?` has presence of its own, `[]` is repeated, `{}` a map. `oneof` fields exclude each other. */
type Message = { fields: Readonly<Record<string, string>>; oneof?: readonly string[] }

const message = (fields: Record<string, string>, oneof: readonly string[] = []): Message => ({ fields, oneof })
const oneof = (fields: Record<string, string>): Message => ({ fields, oneof: Object.keys(fields) })
const text = (...names: string[]): Record<string, string> => Object.fromEntries(names.map(name => [name, 'string']))

const messages: Readonly<Record<string, Message>> = {
  AgentCard: message({
    ...text('name', 'description', 'version'),
    supportedInterfaces: 'AgentInterface[]',
    provider: 'AgentProvider',
    documentationUrl: 'string?',
    capabilities: 'AgentCapabilities',
    securitySchemes: 'SecurityScheme{}',
    securityRequirements: 'SecurityRequirement[]',
    defaultInputModes: 'string[]',
    defaultOutputModes: 'string[]',
    skills: 'AgentSkill[]',
    signatures: 'AgentCardSignature[]',
    iconUrl: 'string?',
  }),
  AgentInterface: message(text('url', 'protocolBinding', 'tenant', 'protocolVersion')),
  AgentProvider: message(text('url', 'organization')),
  AgentCapabilities: message({
    streaming: 'bool?',
    pushNotifications: 'bool?',
    extensions: 'AgentExtension[]',
    extendedAgentCard: 'bool?',
  }),
  AgentExtension: message({ ...text('uri', 'description'), required: 'bool', params: 'Struct' }),
  AgentSkill: message({
    ...text('id', 'name', 'description'),
    tags: 'string[]',
    examples: 'string[]',
    inputModes: 'string[]',
    outputModes: 'string[]',
    securityRequirements: 'SecurityRequirement[]',
  }),
  AgentCardSignature: message({ ...text('protected', 'signature'), header: 'Struct' }),
  SecurityRequirement: message({ schemes: 'StringList{}' }),
  StringList: message({ list: 'string[]' }),
  SecurityScheme: oneof({
    apiKeySecurityScheme: 'APIKeySecurityScheme',
    httpAuthSecurityScheme: 'HTTPAuthSecurityScheme',
    oauth2SecurityScheme: 'OAuth2SecurityScheme',
    openIdConnectSecurityScheme: 'OpenIdConnectSecurityScheme',
    mtlsSecurityScheme: 'MutualTlsSecurityScheme',
  }),
  APIKeySecurityScheme: message(text('description', 'location', 'name')),
  HTTPAuthSecurityScheme: message(text('description', 'scheme', 'bearerFormat')),
  OAuth2SecurityScheme: message({ ...text('description', 'oauth2MetadataUrl'), flows: 'OAuthFlows' }),
  OpenIdConnectSecurityScheme: message(text('description', 'openIdConnectUrl')),
  MutualTlsSecurityScheme: message(text('description')),
  OAuthFlows: oneof({
    authorizationCode: 'AuthorizationCodeOAuthFlow',
    clientCredentials: 'ClientCredentialsOAuthFlow',
    implicit: 'ImplicitOAuthFlow',
    password: 'PasswordOAuthFlow',
    deviceCode: 'DeviceCodeOAuthFlow',
  }),
  AuthorizationCodeOAuthFlow: message({
    ...text('authorizationUrl', 'tokenUrl', 'refreshUrl'),
    scopes: 'string{}',
    pkceRequired: 'bool',
  }),
  ClientCredentialsOAuthFlow: message({ ...text('tokenUrl', 'refreshUrl'), scopes: 'string{}' }),
  ImplicitOAuthFlow: message({ ...text('authorizationUrl', 'refreshUrl'), scopes: 'string{}' }),
  PasswordOAuthFlow: message({ ...text('tokenUrl', 'refreshUrl'), scopes: 'string{}' }),
  DeviceCodeOAuthFlow: message({
    ...text('deviceAuthorizationUrl', 'tokenUrl', 'refreshUrl'),
    scopes: 'string{}',
  }),
}

/** Returns what `MessageToDict(parse_agent_card(card))` does, without signatures. Throws where `ParseDict` does. */
const readAsPython = (card: JsonObject): JsonObject => {
  const known = readCards.get(card)
  if (known) return known
  const { signatures: _, ...read } = readMessage('AgentCard', convertLegacyFields(structuredClone(card)))
  readCards.set(card, read)
  return read
}

/** Every version of a2a-python reads a card in the same way. */
const readCards = new WeakMap<JsonObject, JsonObject>()

/** Returns the text that a2a-python verifies: up to 1.1, and from 1.2 on, which has RFC 8785. */
export const pythonPayload = (card: JsonObject, version: '1.1' | '1.2'): string =>
  (version === '1.1' ? dumps : canonicalize)(cleanEmpty(readAsPython(card)) ?? null)

/** `parse_agent_card`: fields of A2A 0.3 become those of 1.0, if these are missing. */
const convertLegacyFields = (card: JsonObject): JsonObject => {
  const take = (object: JsonObject, name: string): Json | undefined => {
    const value = object[name]
    delete object[name]
    return value
  }
  if (take(card, 'supportsAuthenticatedExtendedCard')) {
    card.capabilities ??= {}
    const capabilities = card.capabilities as JsonObject
    if (!('extendedAgentCard' in capabilities)) capabilities.extendedAgentCard = true
  }
  const url = take(card, 'url')
  const transport = take(card, 'preferredTransport')
  const protocolVersion = take(card, 'protocolVersion') ?? '0.3.0'
  const additional = (take(card, 'additionalInterfaces') ?? []) as JsonObject[]
  if (!('supportedInterfaces' in card) && url)
    card.supportedInterfaces = [
      { url, protocolBinding: transport ?? 'JSONRPC', protocolVersion },
      ...additional.map(each => ({
        url: each.url ?? null,
        protocolBinding: each.transport ?? null,
        protocolVersion,
      })),
    ]
  for (const object of [card, ...((card.skills ?? []) as JsonObject[])]) {
    const security = take(object, 'security') as JsonObject[] | undefined
    if (!('securityRequirements' in object) && security)
      object.securityRequirements = security.map(each => ({
        schemes: Object.fromEntries(jsonEntries(each).map(([name, list]) => [name, { list }])),
      }))
  }
  for (const scheme of Object.values((card.securitySchemes ?? {}) as Record<string, JsonObject>)) {
    const type = take(scheme, 'type')
    const wrapper = typeof type === 'string' && Object.hasOwn(wrappers, type) ? wrappers[type] : undefined
    if (wrapper === undefined) continue
    if (type === 'apiKey' && 'in' in scheme) scheme.location = take(scheme, 'in')
    const inner = { ...scheme }
    for (const name of Object.keys(scheme)) delete scheme[name]
    scheme[wrapper] = inner
  }
  return card
}

const wrappers: Record<string, string> = {
  apiKey: 'apiKeySecurityScheme',
  http: 'httpAuthSecurityScheme',
  oauth2: 'oauth2SecurityScheme',
  openIdConnect: 'openIdConnectSecurityScheme',
  mutualTLS: 'mtlsSecurityScheme',
}

const snake = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** `ParseDict(…, ignore_unknown_fields=True)` and back: JSON names and proto names are read, values that were not set are left out. */
const readMessage = (type: string, value: Json): JsonObject => {
  const { fields, oneof = [] } = messages[type] as Message
  if (!isJsonObject(value)) throw new Error(`${type} must be an object`)
  const result: JsonObject = {}
  for (const [key, member] of jsonEntries(value)) {
    const name = Object.keys(fields).find(name => key === name || key === snake(name))
    if (name === undefined || member === null) continue
    if (oneof.includes(name) && oneof.some(other => other in result)) throw new Error(`${type} has two of a oneof`)
    const read = readField(fields[name] as string, member)
    if (read === undefined) delete result[name]
    else result[name] = read
  }
  return result
}

const readField = (type: string, value: Json): Json | undefined => {
  const kind = type.replace(/\W+$/, '')
  if (type.endsWith('[]')) {
    if (!Array.isArray(value)) throw new Error(`${type} must be a list`)
    return value.length > 0 ? value.map(item => readSingle(kind, item)) : undefined
  }
  if (type.endsWith('{}')) {
    if (!isJsonObject(value)) throw new Error(`${type} must be an object`)
    const entries = jsonEntries(value).map(([name, item]) => [name, readSingle(kind, item)] as const)
    return entries.length > 0 ? Object.fromEntries(entries) : undefined
  }
  const single = readSingle(kind, value)
  return !type.endsWith('?') && (single === '' || single === false) ? undefined : single
}

const readSingle = (kind: string, value: Json): Json => {
  if (kind === 'Struct') {
    if (!isJsonObject(value)) throw new Error('a Struct must be an object')
    return value
  }
  if (kind in messages) return readMessage(kind, value)
  const wanted = kind === 'bool' ? 'boolean' : kind
  if (typeof value !== wanted) throw new Error(`${JSON.stringify(value)} is no ${kind}`)
  return value
}

/** `_clean_empty`: removes empty strings, lists and objects, and null. */
const cleanEmpty = (value: Json): Json | undefined => {
  if (value === '' || value === null) return undefined
  if (Array.isArray(value)) {
    const items = value.map(cleanEmpty).filter(item => item !== undefined)
    return items.length > 0 ? items : undefined
  }
  if (!isJsonObject(value)) return value
  const members = jsonEntries(value).flatMap(([name, member]) => {
    const cleaned = cleanEmpty(member)
    return cleaned === undefined ? [] : [[name, cleaned] as const]
  })
  return members.length > 0 ? Object.fromEntries(members) : undefined
}

/** `json.dumps(…, separators=(',', ':'), sort_keys=True)`: ASCII only, names by code points, every number of a Struct a double. */
const dumps = (value: Json): string =>
  serialize(value, {
    // UTF-8 has the order of code points.
    name: (left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)),
    text: text =>
      text.replace(
        /[^ !#-[\]-~]/g,
        unit => shortEscapes[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
    number: repr,
  })

const shortEscapes: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '\b': '\\b',
}

/** Python's `repr` of a float: in full from 1e-4 up to 1e16, always with a fraction or an exponent of two digits at least. */
const repr = (value: number): string => {
  const [digits = '', exponent = ''] = Math.abs(value).toExponential().split('e')
  const power = Number(exponent)
  const sign = value < 0 ? '-' : ''
  if (value !== 0 && (power < -4 || power >= 16))
    return `${sign}${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
  const figures = digits.replace('.', '')
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${figures}`
  const whole = figures.padEnd(power + 1, '0')
  return `${sign}${whole.slice(0, power + 1)}.${whole.slice(power + 1) || '0'}`
}

/**
 * RFC 8785, restated: names in the order of UTF-16 units, strings with the escapes that JSON demands and no others, and numbers as
 * ECMAScript writes them.
 */
export const canonicalize = (value: Json): string =>
  serialize(value, {
    name: (left, right) => (left < right ? -1 : 1),
    text: text =>
      text.replace(
        // biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8785 §3.2.2.2 escapes them.
        /[\x00-\x1f"\\]/g,
        character => shortEscapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
    number: value => String(value === 0 ? 0 : value),
  })

type Format = {
  name: (left: string, right: string) => number
  text: (text: string) => string
  number: (value: number) => string
}

const serialize = (value: Json, format: Format): string => {
  if (Array.isArray(value)) return `[${value.map(item => serialize(item, format)).join(',')}]`
  if (typeof value === 'number') return format.number(value)
  if (typeof value === 'string') return `"${format.text(value)}"`
  if (!isJsonObject(value)) return String(value)
  const members = jsonEntries(value)
    .sort(([left], [right]) => format.name(left, right))
    .map(([name, member]) => `"${format.text(name)}":${serialize(member, format)}`)
  return `{${members.join(',')}}`
}
