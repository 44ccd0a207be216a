import { formatPointer, isJsonObject, type Json, type JsonObject, type Pointer } from '../../json/index.ts'
import type { Message, Shape } from '../model/index.ts'
import { agentCardMessage, getField, providerMessage, securitySchemeMessage } from '../model/index.ts'
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
    return { document: pruneObject(card, agentCardMessage, '', dropped), dropped }
  },
}

/** Returns whether an object has what the proto requires of its shape. Any other object is dropped whole. */
const isAllowed = (value: Json, shape: Shape): boolean => {
  if (!isJsonObject(value)) return true
  if (shape === providerMessage) return value.organization !== undefined && value.url !== undefined
  if (shape !== securitySchemeMessage) return true
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
  return isJsonObject(value) ? pruneObject(value, shape as Message, at, dropped) : value
}

const pruneObject = (object: JsonObject, message: Message, at: Pointer, dropped: Pointer[]): JsonObject => {
  // In the order of the proto, whatever the author's order.
  const names = '*' in message ? Object.keys(object) : Object.keys(message).map(name => name.replace('?', ''))
  const kept = names.flatMap((name): [string, Json, Shape][] => {
    const value = Object.hasOwn(object, name) ? object[name] : undefined
    const shape = getField(message, name)
    return value !== undefined && shape !== undefined && isAllowed(value, shape) ? [[name, value, shape]] : []
  })
  const keptNames = new Set(kept.map(([name]) => name))
  const others = Object.keys(object).filter(name => !keptNames.has(name))
  dropped.push(...others.map(name => at + formatPointer(name)))
  return Object.fromEntries(
    kept.map(([name, value, shape]) => [name, prune(value, shape, at + formatPointer(name), dropped)]),
  )
}
