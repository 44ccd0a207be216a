// microdiff does not match items of arrays, so skills are keyed by id here.
import diff, { type Difference } from 'microdiff'
import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  type Pointer,
  parsePointer,
} from '../../json/index.ts'
import { containsSecret } from '../lint/index.ts'
import { endpointFields } from '../read/index.ts'

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

/** Returns the differences between two documents from one source: the first ones, without long values and secrets. */
export const diffCards = (before: JsonObject, after: JsonObject): Drift => {
  const changes = listChanges(before, after)
  const first = changes
    .slice(0, MAX_CHANGES)
    .map(({ op, pointer, ...values }): Change => ({ op, pointer, ...shownValues(pointer, values) }))
  const count = changes.length - first.length
  return count === 0 ? first : [...first, { op: 'more', pointer: '', count }]
}

/** Returns all differences between two cards or manifests. Skills are matched by id if every skill has one of its own. */
export const listChanges = (before: JsonObject, after: JsonObject): Change[] => {
  const byId = haveUniqueIds(before) && haveUniqueIds(after)
  return compare(byId ? keySkillsById(before) : before, byId ? keySkillsById(after) : after)
    .toSorted((left, right) => rankOf(left.path) - rankOf(right.path))
    .map(change => ({
      op: ops[change.type],
      pointer: toPointer(change.path, change.type === 'REMOVE' ? before : after),
      ...('oldValue' in change && { before: change.oldValue }),
      ...('value' in change && { after: change.value }),
    }))
}

/** Returns what makes one document of another, as a JSON Patch (RFC 6902). */
export const createPatch = (before: JsonObject, after: JsonObject): PatchOperation[] => {
  const changes = compare(before, after)
  // Items are removed from the end of a list only, the last one first.
  const removed = changes.filter(({ type }) => type === 'REMOVE').toReversed()
  return [...changes.filter(({ type }) => type !== 'REMOVE'), ...removed].map(change => ({
    op: ops[change.type],
    path: formatPointer(...change.path),
    ...('value' in change && { value: change.value }),
  }))
}

/** An operation of a JSON Patch. */
export type PatchOperation = { op: Change['op']; path: Pointer; value?: Json }

const compare = (before: JsonObject, after: JsonObject): Difference[] =>
  diff(stripPrototypes(before) as JsonObject, stripPrototypes(after) as JsonObject, { cyclesFix: false })

const ops = { CREATE: 'add', REMOVE: 'remove', CHANGE: 'replace' } as const

type Path = readonly (string | number)[]

const rankOf = ([field = '']: Path): number => {
  const rank = fieldOrder.findIndex(fields => fields.has(String(field)))
  return rank === -1 ? fieldOrder.length : rank
}

const idsOf = (skills: readonly Json[]): (Json | undefined)[] =>
  skills.map(skill => (isJsonObject(skill) ? skill.id : undefined))

/** Whether a card, or the card of a manifest, has skills that their ids tell apart. */
const haveUniqueIds = ({ card, skills }: JsonObject): boolean => {
  if (isJsonObject(card)) return haveUniqueIds(card)
  const ids = Array.isArray(skills) ? idsOf(skills) : [undefined]
  return ids.every(id => typeof id === 'string') && new Set(ids).size === ids.length
}

const keySkillsById = (document: JsonObject): JsonObject => {
  const { card, skills } = document
  if (isJsonObject(card)) return { ...document, card: keySkillsById(card) }
  return { ...document, skills: Object.fromEntries((skills as JsonObject[]).map(skill => [skill.id, skill])) }
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
const toPointer = (path: Path, document: JsonObject): Pointer => {
  let value: Json | undefined = document
  const tokens = path.map(name => {
    const isId = Array.isArray(value) && typeof name === 'string'
    const token: string | number = isId ? idsOf(value as Json[]).indexOf(name) : name
    value = Array.isArray(value) ? value[Number(token)] : isJsonObject(value) ? value[token] : undefined
    return token
  })
  return formatPointer(...tokens)
}

/**
 * Returns the values of a change, with a list of those that are not shown. Copies them back to ordinary objects.
 */
const shownValues = (
  pointer: Pointer,
  values: Pick<Change, 'before' | 'after'>,
): Pick<Change, 'before' | 'after' | 'omitted'> => {
  const field = memberOf(pointer)
  const entries = Object.entries(values) as ['before' | 'after', Json][]
  const texts = entries.map(([name, value]) => [name, JSON.stringify(value)] as const)
  const secret = entries.filter(([, value]) => containsSecret(value, field)).map(([name]) => name)
  const omitted = texts.flatMap(([name, text]) =>
    text.length > MAX_VALUE_CHARACTERS || secret.includes(name) ? [name] : [],
  )
  const kept = texts.filter(([name]) => !omitted.includes(name)).map(([name, text]) => [name, JSON.parse(text) as Json])
  return { ...Object.fromEntries(kept), ...(omitted.length > 0 && { omitted }) }
}

/** Returns the name of the member that a pointer leads to, or in whose list it leads to an item. */
export const memberOf = (pointer: Pointer): string =>
  parsePointer(pointer).findLast(token => !/^\d+$/.test(token)) ?? ''
