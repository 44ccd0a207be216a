import diff from 'microdiff'
import { formatPointer, isJsonObject, type Json, type JsonObject, jsonEntries, type Pointer } from '../../json/json.ts'
import { endpointFields } from '../read/interfaces.ts'

/**
 * What differs between two documents of one source. A pointer is into the later one, or into the earlier one where something
 * is gone from it; a value that is long is left out, which `leftOut` says. The last says how many more there are, if there are.
 */
export type Drift = (Change | { op: 'more'; pointer: ''; count: number })[]

/** One thing that differs. */
type Change = {
  op: 'add' | 'remove' | 'replace'
  pointer: Pointer
  before?: Json
  after?: Json
  leftOut?: ('before' | 'after')[]
}

/** It is kept with every revision, and read by people. */
const most = { entries: 100, characters: 1000 }

const ops = { CREATE: 'add', REMOVE: 'remove', CHANGE: 'replace' } as const

/** What is told first, by the field of the card: where calls go, who may make them, what they may be. */
const fieldOrder = [
  new Set<string>(endpointFields),
  new Set([
    'securitySchemes',
    'security_schemes',
    'security',
    'securityRequirements',
    'authentication',
    'capabilities',
  ]),
  new Set(['skills']),
]

/**
 * What differs between two documents of one source, the weightiest first. Skills are told apart by their ids, in whatever order
 * they come.
 */
export const diffCards = (before: JsonObject, after: JsonObject): Drift => {
  const byId = hasIds(before.skills) && hasIds(after.skills)
  const changes = diff(comparable(before, byId), comparable(after, byId), { cyclesFix: false }).toSorted(
    (left, right) => weightOf(left) - weightOf(right),
  )
  const told = changes.slice(0, most.entries).map(change => ({
    op: ops[change.type],
    pointer: placeOf(change.path, change.type === 'REMOVE' ? before : after, byId),
    ...said({
      ...('oldValue' in change && { before: change.oldValue }),
      ...('value' in change && { after: change.value }),
    }),
  }))
  const count = changes.length - told.length
  return count === 0 ? told : [...told, { op: 'more', pointer: '', count }]
}

const weightOf = ({ path: [field = ''] }: { path: readonly (string | number)[] }): number => {
  const weight = fieldOrder.findIndex(fields => fields.has(String(field)))
  return weight === -1 ? fieldOrder.length : weight
}

/** Whether skills are all known by their ids, each by its own. */
const hasIds = (skills: Json | undefined): boolean => {
  const ids = idsOf(skills)
  return Array.isArray(skills) && ids.every(id => typeof id === 'string') && new Set(ids).size === ids.length
}

const idsOf = (skills: Json | undefined): (Json | undefined)[] =>
  (Array.isArray(skills) ? skills : []).map(skill => (isJsonObject(skill) ? skill.id : undefined))

/** A copy in which only own members are found, its skills by their ids: `toString` may be the name of a field. */
const comparable = (document: JsonObject, byId: boolean): JsonObject => {
  const { skills } = document
  const copy = bare(document) as JsonObject
  if (!byId || !Array.isArray(skills)) return copy
  const ids = idsOf(skills)
  copy.skills = named(skills.map((skill, index) => [String(ids[index]), bare(skill)]))
  return copy
}

const bare = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(bare)
  return isJsonObject(value) ? named(jsonEntries(value).map(([name, inner]) => [name, bare(inner)])) : value
}

const named = (entries: readonly (readonly [string, Json])[]): JsonObject => {
  const object: JsonObject = Object.create(null)
  for (const [name, value] of entries) object[name] = value
  return object
}

const placeOf = (path: readonly (string | number)[], document: JsonObject, byId: boolean): Pointer => {
  const [first = '', id, ...within] = path
  if (!byId || first !== 'skills' || id === undefined) return formatPointer(...path)
  return formatPointer(first, idsOf(document.skills).indexOf(String(id)), ...within)
}

const said = (values: { before?: Json; after?: Json }): Omit<Change, 'op' | 'pointer'> => {
  const entries = Object.entries(values) as ['before' | 'after', Json][]
  const texts = entries.map(([when, value]) => [when, JSON.stringify(value)] as const)
  const leftOut = texts.flatMap(([when, text]) => (text.length > most.characters ? [when] : []))
  const told = texts.flatMap(([when, text]) =>
    text.length > most.characters ? [] : [[when, JSON.parse(text) as Json]],
  )
  return { ...Object.fromEntries(told), ...(leftOut.length > 0 && { leftOut }) }
}
