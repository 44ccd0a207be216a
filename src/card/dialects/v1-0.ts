import { formatPointer, isJsonObject, type Json, type JsonObject, type Pointer } from '../../json/index.ts'
import { absentMeansFalse, getWrappers, hasField, oauthFlows, readCard } from '../read/index.ts'
import type { Dialect } from './dialect.ts'

const markerFields = new Set(['supportedInterfaces', 'securityRequirements'])

/** A2A v1.0. Writes strict ProtoJSON: a parser may reject fields that the proto does not define. */
export const v1_0: Dialect = {
  detect: card =>
    hasField(card, 'card', markerFields) ||
    (Array.isArray(card.skills) && card.skills.some(skill => hasField(skill, 'skill', markerFields))),
  capabilityDefaults: () => absentMeansFalse('A2A 1.0'),
  read: (card, provenance) => readCard(card, '1.0', provenance),
  write: card => {
    const dropped: Pointer[] = []
    return { document: pruneObject(card, agentCard, '', dropped), dropped }
  },
}

/** What the proto defines: `any` is kept whole, an object is pruned member by member, `[x]` is a list, `{'*': x}` a map. */
type Shape = 'any' | readonly [Shape] | { readonly [name: string]: Shape }

const fields = (names: string): { readonly [name: string]: Shape } =>
  Object.fromEntries(names.split(' ').map(name => [name, 'any']))

const requirements: Shape = [{ schemes: { '*': fields('list') } }]
const token = fields('tokenUrl refreshUrl scopes')
const scheme: Shape = {
  apiKeySecurityScheme: fields('description location name'),
  httpAuthSecurityScheme: fields('description scheme bearerFormat'),
  oauth2SecurityScheme: {
    ...fields('description oauth2MetadataUrl'),
    flows: {
      authorizationCode: { ...fields('authorizationUrl'), ...token, ...fields('pkceRequired') },
      clientCredentials: token,
      implicit: fields('authorizationUrl refreshUrl scopes'),
      password: token,
      deviceCode: { ...fields('deviceAuthorizationUrl'), ...token },
    },
  },
  openIdConnectSecurityScheme: fields('description openIdConnectUrl'),
  mtlsSecurityScheme: fields('description'),
}
const provider = fields('organization url')
const agentCard: Shape = {
  ...fields('name description'),
  supportedInterfaces: [fields('url protocolBinding tenant protocolVersion')],
  provider,
  ...fields('version documentationUrl'),
  capabilities: {
    ...fields('streaming pushNotifications extendedAgentCard'),
    extensions: [fields('uri description required params')],
  },
  securitySchemes: { '*': scheme },
  securityRequirements: requirements,
  ...fields('defaultInputModes defaultOutputModes'),
  skills: [
    { ...fields('id name description tags examples inputModes outputModes'), securityRequirements: requirements },
  ],
  signatures: [fields('protected signature header')],
  ...fields('iconUrl'),
}

/** Returns whether an object has what the proto requires of its shape. Any other object is dropped whole. */
const isAllowed = (value: Json, shape: Shape): boolean => {
  if (!isJsonObject(value)) return true
  if (shape === provider) return value.organization !== undefined && value.url !== undefined
  if (shape !== scheme) return true
  const { oauth2SecurityScheme: oauth } = value
  const flows = isJsonObject(oauth) ? oauth.flows : undefined
  return (
    getWrappers(value).length === 1 && (!isJsonObject(flows) || oauthFlows.filter(flow => flow in flows).length === 1)
  )
}

/** Returns what of a value fits a shape, and adds pointers to the rest to `dropped`. */
const prune = (value: Json, shape: Shape, at: Pointer, dropped: Pointer[]): Json => {
  if (shape === 'any') return value
  if (Array.isArray(value)) {
    const [inner] = shape as readonly [Shape]
    return value.map((item, index) => prune(item, inner, at + formatPointer(index), dropped))
  }
  return isJsonObject(value) ? pruneObject(value, shape, at, dropped) : value
}

const pruneObject = (object: JsonObject, shape: Shape, at: Pointer, dropped: Pointer[]): JsonObject => {
  const shapes = shape as { readonly [name: string]: Shape }
  const shapeOf = (name: string) => shapes['*'] ?? (Object.hasOwn(shapes, name) ? shapes[name] : undefined)
  // In the order of the proto, whatever the author's order.
  const names = '*' in shapes ? Object.keys(object) : Object.keys(shapes)
  const kept: [string, Json, Shape][] = []
  for (const name of names) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined
    const inner = shapeOf(name)
    if (value !== undefined && inner !== undefined && isAllowed(value, inner)) kept.push([name, value, inner])
  }
  const keptNames = new Set(kept.map(([name]) => name))
  dropped.push(
    ...Object.keys(object)
      .filter(name => !keptNames.has(name))
      .map(name => at + formatPointer(name)),
  )
  return Object.fromEntries(
    kept.map(([name, value, inner]) => [name, prune(value, inner, at + formatPointer(name), dropped)]),
  )
}
