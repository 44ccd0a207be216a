// microdiff does not match items of arrays, so skills are keyed by id here. jsondiffpatch does, at ten times the size.
import diff from 'microdiff'
import { formatPointer, isJsonObject, type Json, type JsonObject, jsonEntries, type Pointer } from '../../json/json.ts'
import { containsSecret } from '../lint/index.ts'
import { endpointFields } from '../read/interfaces.ts'

/**
 * The differences between two documents from one source. The last entry counts the differences that are left out, if there are
 * any.
 */
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

/** A drift is stored with every revision, and read by people. */
const MAX_CHANGES = 100
const MAX_VALUE_CHARACTERS = 1000

/** The order of a drift, by field of the card: endpoints, then authentication and capabilities, then skills, then the rest. */
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

/** Returns the differences between two documents from one source. Skills are matched by id if every skill has one of its own. */
export const diffCards = (before: JsonObject, after: JsonObject): Drift => {
  const byId = haveUniqueIds(before.skills) && haveUniqueIds(after.skills)
  const [left, right] = byId ? [keySkillsById(before), keySkillsById(after)] : [before, after]
  const changes = diff(stripPrototypes(left) as JsonObject, stripPrototypes(right) as JsonObject, {
    cyclesFix: false,
  }).toSorted((left, right) => rankOf(left.path) - rankOf(right.path))
  const first = changes.slice(0, MAX_CHANGES).map(
    (change): Change => ({
      op: ops[change.type],
      pointer: toPointer(change.path, change.type === 'REMOVE' ? before : after, byId),
      ...shownValues(nameOf(change.path), {
        ...('oldValue' in change && { before: change.oldValue }),
        ...('value' in change && { after: change.value }),
      }),
    }),
  )
  const count = changes.length - first.length
  return count === 0 ? first : [...first, { op: 'more', pointer: '', count }]
}

const ops = { CREATE: 'add', REMOVE: 'remove', CHANGE: 'replace' } as const

type Path = readonly (string | number)[]

const rankOf = ([field = '']: Path): number => {
  const rank = fieldOrder.findIndex(fields => fields.has(String(field)))
  return rank === -1 ? fieldOrder.length : rank
}

const haveUniqueIds = (skills: Json | undefined): boolean => {
  const ids = idsOf(skills)
  return Array.isArray(skills) && ids.every(id => typeof id === 'string') && new Set(ids).size === ids.length
}

const idsOf = (skills: Json | undefined): (Json | undefined)[] =>
  (Array.isArray(skills) ? skills : []).map(skill => (isJsonObject(skill) ? skill.id : undefined))

const keySkillsById = (document: JsonObject): JsonObject => {
  const skills = document.skills as Json[]
  const ids = idsOf(skills)
  return { ...document, skills: Object.fromEntries(skills.map((skill, index) => [String(ids[index]), skill])) }
}

/** Copies a value without prototypes: microdiff would find an inherited `toString` where a card has a field of that name. */
const stripPrototypes = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(stripPrototypes)
  if (!isJsonObject(value)) return value
  const copy: JsonObject = Object.create(null)
  for (const [name, inner] of jsonEntries(value)) copy[name] = stripPrototypes(inner)
  return copy
}

/** Turns the path of a change into a pointer, with the index of a skill in place of its id. */
const toPointer = (path: Path, document: JsonObject, byId: boolean): Pointer => {
  const [field = '', id, ...rest] = path
  if (!byId || field !== 'skills' || id === undefined) return formatPointer(...path)
  return formatPointer(field, idsOf(document.skills).indexOf(String(id)), ...rest)
}

/** Returns the name of the member that a path leads to, or in whose list it leads to an item. */
const nameOf = (path: Path): string => String(path.findLast(token => typeof token === 'string') ?? '')

/**
 * Returns the values of a change of a member `field`, with a list of those that are not shown. Copies them back to ordinary objects.
 */
const shownValues = (
  field: string,
  values: Pick<Change, 'before' | 'after'>,
): Pick<Change, 'before' | 'after' | 'omitted'> => {
  const entries = Object.entries(values) as ['before' | 'after', Json][]
  const texts = entries.map(([name, value]) => [name, JSON.stringify(value)] as const)
  const secret = entries.filter(([, value]) => containsSecret(value, field)).map(([name]) => name)
  const omitted = texts.flatMap(([name, text]) =>
    text.length > MAX_VALUE_CHARACTERS || secret.includes(name) ? [name] : [],
  )
  const kept = texts.filter(([name]) => !omitted.includes(name)).map(([name, text]) => [name, JSON.parse(text) as Json])
  return { ...Object.fromEntries(kept), ...(omitted.length > 0 && { omitted }) }
}
