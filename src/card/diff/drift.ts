import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { formatPointer, isJsonObject, jsonEntries, jsonEquals, omit, parsePointer } from '../../json/index.ts'
import { containsSecret } from '../lint/index.ts'
import type { PatchOperation } from '../model/index.ts'
import { endpointFields } from '../read/index.ts'
import { pairValues } from './change-rules.ts'

/** The differences between two documents from one source. The last entry counts those that are left out, if any. */
export type Drift = (Change | { op: 'more'; pointer: ''; count: number })[]

/** One difference. The pointer is into the later document, or into the earlier one for a removal. */
type Change = {
  op: 'add' | 'remove' | 'replace'
  pointer: Pointer
  before?: Json
  after?: Json
  /** The values that are too long to be included, or look like secrets. */
  omitted?: ('before' | 'after')[]
}

// A drift is stored with every revision, and read by people.
const MAX_CHANGES = 100
const MAX_VALUE_CHARACTERS = 1000

/** The order of a drift, by field of the card: endpoints, security and capabilities, skills, then the rest. */
const fieldOrder: readonly (readonly string[])[] = [
  endpointFields,
  ['securitySchemes', 'security_schemes', 'security', 'securityRequirements', 'authentication', 'capabilities'],
  ['skills'],
]

/** Returns the differences between two documents from one source: the first ones, without long values and secrets. */
export const diffCards = (before: JsonObject, after: JsonObject): Drift => {
  const changes = listChanges(before, after)
  const first = changes.slice(0, MAX_CHANGES).map(omitValues)
  const count = changes.length - first.length
  return count === 0 ? first : [...first, { op: 'more', pointer: '', count }]
}

/** Returns all differences between two cards or manifests. Skills are matched by id if their ids are distinct. */
export const listChanges = (before: JsonObject, after: JsonObject): Change[] =>
  compareValues(before, after, 'id').toSorted((left, right) => rankOf(left) - rankOf(right))

const ranks = new Map(fieldOrder.flatMap((fields, rank) => fields.map(field => [field, rank])))

const rankOf = ({ pointer }: Change): number => ranks.get(parsePointer(pointer)[0] ?? '') ?? fieldOrder.length

/** Returns what makes one document of another, as a JSON Patch. */
export const createPatch = (before: JsonObject, after: JsonObject): PatchOperation[] => {
  const changes = compareValues(before, after)
  // Items are removed from the end of a list only, the last one first.
  const removed = changes.filter(({ op }) => op === 'remove').toReversed()
  return [...changes.filter(({ op }) => op !== 'remove'), ...removed].map(({ op, pointer, after }) => ({
    op,
    path: pointer,
    ...(after !== undefined && { value: after }),
  }))
}

/** Returns the differences between two values. Skills are matched by index, or by their distinct ids. */
export const compareValues = (
  before: Json,
  after: Json,
  skillsBy: 'index' | 'id' = 'index',
  [from, to]: readonly [Pointer, Pointer] = ['', ''],
): Change[] => {
  if (!(isJsonObject(before) && isJsonObject(after)) && !(Array.isArray(before) && Array.isArray(after)))
    return jsonEquals(before, after) ? [] : [{ op: 'replace', pointer: to, before, after }]
  const byId = skillsBy === 'id' && to.endsWith('/skills') && haveUniqueIds(before) && haveUniqueIds(after)
  return pairValues(indexMembers(before, byId), indexMembers(after, byId)).flatMap(([, old, current]): Change[] => {
    if (!old) return current ? [{ op: 'add', pointer: to + formatPointer(current[0]), after: current[1] }] : []
    const pointer = from + formatPointer(old[0])
    return current
      ? compareValues(old[1], current[1], skillsBy, [pointer, to + formatPointer(current[0])])
      : [{ op: 'remove', pointer, before: old[1] }]
  })
}

const indexMembers = (value: JsonObject | Json[], byId: boolean) =>
  new Map(jsonEntries(value).map(entry => [byId ? idOf(entry[1]) : entry[0], entry] as const))

const idOf = (skill: Json): Json | undefined => (isJsonObject(skill) ? skill.id : undefined)

const haveUniqueIds = (skills: JsonObject | Json[]): boolean => {
  const ids = Array.isArray(skills) ? skills.map(idOf) : [undefined]
  return ids.every(id => typeof id === 'string') && new Set(ids).size === ids.length
}

/** Leaves out the values of a change that are long or look like secrets, and lists them. */
const omitValues = ({ op, pointer, ...values }: Change): Change => {
  const field = memberOf(pointer)
  const omitted = (['before', 'after'] as const).filter(side => {
    const value = values[side]
    return value !== undefined && (JSON.stringify(value).length > MAX_VALUE_CHARACTERS || containsSecret(value, field))
  })
  return { op, pointer, ...omit(values, ...omitted), ...(omitted.length > 0 && { omitted }) }
}

/** Returns the name of the member that a pointer leads to, or in whose list it leads to an item. */
export const memberOf = (pointer: Pointer): string =>
  parsePointer(pointer).findLast(token => !/^\d+$/.test(token)) ?? ''
