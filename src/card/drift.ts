import diff from 'microdiff'
import { isObject, type Json, type JsonObject } from './json.ts'
import { type Pointer, pointer } from './pointer.ts'

/**
 * What differs between two documents of one source. A pointer is into the later one, or into the earlier one where something
 * is gone from it; a value that is long is not repeated.
 */
export type Drift = { op: 'add' | 'remove' | 'replace'; pointer: Pointer; before?: Json; after?: Json }[]

/** It is kept with every revision, and read by people. */
const most = { entries: 100, characters: 1000 }

const ops = { CREATE: 'add', REMOVE: 'remove', CHANGE: 'replace' } as const

/** What differs between two documents of one source. Skills are told apart by their ids, in whatever order they come. */
export const drift = (before: JsonObject, after: JsonObject): Drift => {
  const byId = hasIds(before.skills) && hasIds(after.skills)
  const changes = diff(comparable(before, byId), comparable(after, byId), { cyclesFix: false })
  return changes.slice(0, most.entries).map(change => ({
    op: ops[change.type],
    pointer: placeOf(change.path, change.type === 'REMOVE' ? before : after, byId),
    ...('oldValue' in change && said('before', change.oldValue)),
    ...('value' in change && said('after', change.value)),
  }))
}

/** Whether skills are all known by their ids, each by its own. */
const hasIds = (skills: Json | undefined): boolean => {
  const ids = idsOf(skills)
  return Array.isArray(skills) && ids.every(id => typeof id === 'string') && new Set(ids).size === ids.length
}

const idsOf = (skills: Json | undefined): (Json | undefined)[] =>
  (Array.isArray(skills) ? skills : []).map(skill => (isObject(skill) ? skill.id : undefined))

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
  return isObject(value) ? named(Object.entries(value).map(([name, inner]) => [name, bare(inner)])) : value
}

const named = (entries: readonly (readonly [string, Json])[]): JsonObject => {
  const object: JsonObject = Object.create(null)
  for (const [name, value] of entries) object[name] = value
  return object
}

const placeOf = (path: readonly (string | number)[], document: JsonObject, byId: boolean): Pointer => {
  const [first = '', id, ...within] = path
  if (!byId || first !== 'skills' || id === undefined) return pointer(...path)
  return pointer(first, idsOf(document.skills).indexOf(String(id)), ...within)
}

const said = (when: 'before' | 'after', value: Json): { before?: Json; after?: Json } => {
  const text = JSON.stringify(value)
  return text.length > most.characters ? {} : { [when]: JSON.parse(text) as Json }
}
