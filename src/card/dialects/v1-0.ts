import { asList, asObject, formatPointer, isJsonObject, type Json, type Pointer } from '../../json/index.ts'
import { cardMembers, type Members } from '../model/index.ts'
import { absentMeansFalse, getWrappers, hasField, readCard } from '../read/index.ts'
import type { Dialect } from './dialect.ts'

const markerFields = new Set(['supportedInterfaces', 'securityRequirements'])

/** A2A v1.0. Writes strict ProtoJSON: a parser may reject fields that the proto does not define. */
export const v1_0: Dialect = {
  detect: card =>
    hasField(card, 'card', markerFields) || asList(card.skills).some(skill => hasField(skill, 'skill', markerFields)),
  capabilityDefaults: () => absentMeansFalse('A2A 1.0'),
  read: (card, provenance) => readCard(card, '1.0', provenance),
  form: 'interfaces',
  write: card => {
    const dropped: Pointer[] = []
    return { document: asObject(prune(card, cardMembers.card, '', dropped)), dropped }
  },
}

/** Returns whether an object has what the proto requires and the canonical card need not have. Others are dropped. */
const isAllowed = (value: Json, inner: Members | undefined): boolean => {
  if (!isJsonObject(value)) return true
  if (inner === cardMembers.provider) return value.organization !== undefined && value.url !== undefined
  if (inner !== cardMembers.wrappers) return true
  const { flows } = asObject(value.oauth2SecurityScheme)
  const isFlow = (name: string) => cardMembers.flows.has(name)
  return getWrappers(value).length === 1 && (!isJsonObject(flows) || Object.keys(flows).filter(isFlow).length === 1)
}

/** Returns what the proto has of a value with these members in it, and adds pointers to the rest to `dropped`. */
const prune = (value: Json, members: Members | undefined, at: Pointer, dropped: Pointer[]): Json => {
  if (members && Array.isArray(value))
    return value.map((item, index) => prune(item, members, at + formatPointer(index), dropped))
  if (!members || !isJsonObject(value)) return value
  const ofMap = members.get('*')
  // In the order of the proto, whatever the author's order.
  const fields = ofMap ? Object.keys(value).map(name => [name, ofMap] as const) : [...members]
  const kept = fields.flatMap(([name, { presence, inner }]): [string, Json, Members | undefined][] => {
    const field = presence !== undefined && Object.hasOwn(value, name) ? value[name] : undefined
    return field !== undefined && isAllowed(field, inner) ? [[name, field, inner]] : []
  })
  const names = new Set(kept.map(([name]) => name))
  for (const name of Object.keys(value)) if (!names.has(name)) dropped.push(at + formatPointer(name))
  const pruneField = (name: string, field: Json, inner: Members | undefined) =>
    inner ? prune(field, inner, at + formatPointer(name), dropped) : field
  return Object.fromEntries(kept.map(([name, field, inner]) => [name, pruneField(name, field, inner)]))
}
