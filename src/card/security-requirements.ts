import { isObject, type Json, type JsonObject, sameJson } from './json.ts'
import { type Pointer, pointer } from './pointer.ts'
import { Reading } from './reading.ts'

/** The parts that security schemes were split into, by name; a scheme that was not split is absent. */
export type SplitSchemes = ReadonlyMap<string, readonly string[]>

/** More alternatives than this would tell a person nothing, and be a way to make a host work. */
const mostAlternatives = 32

/**
 * Reads the requirements of a card or a skill into `securityRequirements`: v0.3's `{name: [scopes]}`, v1.0's
 * `{schemes: {name: {list}}}`, and one without its list. Where both fields are there, v1.0's counts.
 */
export const readRequirements = (
  object: JsonObject,
  at: Pointer,
  split: SplitSchemes,
  reading: Reading,
): JsonObject => {
  const { security, securityRequirements, ...rest } = object
  const name = securityRequirements === undefined ? 'security' : 'securityRequirements'
  const requirements = readList(object[name], at, name, split, reading)
  const other = name === 'securityRequirements' ? security : undefined
  if (other !== undefined && !sameJson(requirements, readList(other, at, 'security', split, new Reading())))
    reading.convert(`${at}/security`, 'left out: securityRequirements is there too, and counts')
  return requirements === undefined ? rest : { ...rest, securityRequirements: requirements }
}

const readList = (
  value: Json | undefined,
  at: Pointer,
  name: string,
  split: SplitSchemes,
  reading: Reading,
): Json | undefined => {
  const canonical = `${at}/securityRequirements`
  const authored = reading.authored(at + pointer(name))
  reading.placed(canonical, authored)
  if (isObject(value) && !isRequirement(value)) {
    reading.convert(canonical, 'left out: must be a list of requirements, such as [{ "bearer": [] }]')
    return undefined
  }
  const list = isObject(value) ? [value] : value
  if (!Array.isArray(list)) return value
  const read: Json[] = []
  for (const [index, requirement] of list.entries()) {
    const from = isObject(value) ? authored : authored + pointer(index)
    for (const alternative of readRequirement(requirement, canonical, split, reading)) {
      place(requirement, alternative, canonical + pointer(read.length), from, reading)
      read.push(alternative)
    }
  }
  return read
}

const isRequirement = (value: JsonObject): boolean =>
  isObject(value.schemes) || Object.values(value).every(scopes => Array.isArray(scopes))

const readRequirement = (requirement: Json, at: Pointer, split: SplitSchemes, reading: Reading): Json[] => {
  if (typeof requirement === 'string') return [{ schemes: { [requirement]: { list: [] } } }]
  if (!isObject(requirement)) return [requirement]
  const { schemes, ...rest } = isObject(requirement.schemes) ? requirement : { schemes: requirement }
  let alternatives: [string, Json][][] = [[]]
  for (const [name, scopes] of Object.entries(schemes as JsonObject)) {
    const read: Json = isObject(scopes) ? { ...scopes, list: scopes.list ?? [] } : { list: scopes ?? [] }
    let parts = split.get(name) ?? [name]
    if (parts.length * alternatives.length > mostAlternatives) {
      reading.convert(
        at,
        `needs more than ${mostAlternatives} alternatives: only the first OAuth flow of "${name}" counts`,
      )
      parts = parts.slice(0, 1)
    }
    alternatives = alternatives.flatMap(done => parts.map((part): [string, Json][] => [...done, [part, read]]))
  }
  return alternatives.map(entries => ({ ...rest, schemes: Object.fromEntries(entries) }))
}

/** Says where the scopes of each scheme of a requirement were authored. */
const place = (requirement: Json, read: Json, at: Pointer, from: Pointer, reading: Reading): void => {
  reading.placed(at, from)
  if (!isObject(requirement) || !isObject(read) || !isObject(read.schemes)) return
  const wrapped = isObject(requirement.schemes)
  const schemes = wrapped ? (requirement.schemes as JsonObject) : requirement
  const within = wrapped ? `${from}/schemes` : from
  reading.placed(`${at}/schemes`, within)
  for (const name of Object.keys(read.schemes))
    if (Object.hasOwn(schemes, name) && !isObject(schemes[name]))
      reading.placed(`${at}/schemes${pointer(name)}/list`, within + pointer(name))
}

/** Requirements as v0.3 writes them, and the pointers of what it has no place for. */
export const writeV0Requirements = (
  requirements: readonly { schemes: Record<string, { list?: string[] | undefined }> }[],
  at: Pointer,
  dropped: Pointer[],
): JsonObject[] =>
  requirements.map((requirement, index) => {
    const here = `${at}/securityRequirements${pointer(index)}`
    dropped.push(...others(requirement, 'schemes').map(name => here + pointer(name)))
    return Object.fromEntries(
      Object.entries(requirement.schemes).map(([name, scopes]) => {
        dropped.push(...others(scopes, 'list').map(other => `${here}/schemes${pointer(name, other)}`))
        return [name, scopes.list ?? []]
      }),
    )
  })

const others = (object: object, known: string): string[] => Object.keys(object).filter(name => name !== known)
