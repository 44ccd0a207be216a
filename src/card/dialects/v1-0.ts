import { isObject, type Json, type JsonObject } from '../json.ts'
import { type Pointer, pointer } from '../pointer.ts'
import { readCard } from '../read-card.ts'
import { wrapperOf } from '../security-schemes.ts'
import type { Dialect } from './dialect.ts'

/** A2A v1.0. Its representation is strict ProtoJSON: a parser may refuse what the proto does not name. */
export const v1_0: Dialect = {
  detect: card => 'supportedInterfaces' in card || 'supported_interfaces' in card || 'securityRequirements' in card,
  // A hybrid card speaks GopherHole's words too.
  read: (card, reading) => readCard(card, { card: hybridWords }, '1.0', reading),
  write: card => {
    const dropped: Pointer[] = []
    return { document: prune(card as JsonObject, agentCard, '', dropped) as JsonObject, dropped }
  },
}

const hybridWords = [
  ['supportedInputModes', 'defaultInputModes'],
  ['supportedOutputModes', 'defaultOutputModes'],
] as const

/** What the proto names: `any` is kept whole, an object is pruned member by member, `[x]` is a list, `{'*': x}` a map. */
type Shape = 'any' | readonly [Shape] | { readonly [name: string]: Shape }

const requirement: Shape = { schemes: { '*': { list: 'any' } } }
const flow: Shape = {
  authorizationUrl: 'any',
  tokenUrl: 'any',
  deviceAuthorizationUrl: 'any',
  refreshUrl: 'any',
  scopes: 'any',
  pkceRequired: 'any',
}
const scheme: Shape = {
  apiKeySecurityScheme: { description: 'any', location: 'any', name: 'any' },
  httpAuthSecurityScheme: { description: 'any', scheme: 'any', bearerFormat: 'any' },
  oauth2SecurityScheme: {
    description: 'any',
    oauth2MetadataUrl: 'any',
    flows: { authorizationCode: flow, clientCredentials: flow, implicit: flow, password: flow, deviceCode: flow },
  },
  openIdConnectSecurityScheme: { description: 'any', openIdConnectUrl: 'any' },
  mtlsSecurityScheme: { description: 'any' },
}
const agentCard: Shape = {
  name: 'any',
  description: 'any',
  supportedInterfaces: [{ url: 'any', protocolBinding: 'any', tenant: 'any', protocolVersion: 'any' }],
  provider: { organization: 'any', url: 'any' },
  version: 'any',
  documentationUrl: 'any',
  capabilities: {
    streaming: 'any',
    pushNotifications: 'any',
    extendedAgentCard: 'any',
    extensions: [{ uri: 'any', description: 'any', required: 'any', params: 'any' }],
  },
  securitySchemes: { '*': scheme },
  securityRequirements: [requirement],
  defaultInputModes: 'any',
  defaultOutputModes: 'any',
  skills: [
    {
      id: 'any',
      name: 'any',
      description: 'any',
      tags: 'any',
      examples: 'any',
      inputModes: 'any',
      outputModes: 'any',
      securityRequirements: [requirement],
    },
  ],
  signatures: [{ protected: 'any', signature: 'any', header: 'any' }],
  iconUrl: 'any',
}

/** Objects that the proto allows only whole. */
const wholeOnly: Record<string, (value: JsonObject) => boolean> = {
  '/provider': value => typeof value.organization === 'string' && typeof value.url === 'string',
}

const prune = (value: Json, shape: Shape, at: Pointer, dropped: Pointer[]): Json => {
  if (shape === 'any') return value
  if (Array.isArray(shape))
    return (value as Json[]).map((item, index) => prune(item, shape[0], at + pointer(index), dropped))
  const named = shape as { readonly [name: string]: Shape }
  return Object.fromEntries(
    Object.entries(value as JsonObject).flatMap(([name, inner]) => {
      const place = at + pointer(name)
      const innerShape = named[name] ?? named['*']
      const unknownScheme = innerShape === scheme && isObject(inner) && wrapperOf(inner) === undefined
      const partial = isObject(inner) && wholeOnly[place]?.(inner) === false
      if (innerShape !== undefined && !unknownScheme && !partial)
        return [[name, prune(inner, innerShape, place, dropped)]]
      dropped.push(place)
      return []
    }),
  )
}
