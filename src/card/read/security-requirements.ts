import { isObject, type Json, type JsonObject, sameJson } from '../../json/json.ts'
import { type Pointer, pointer } from '../../json/pointer.ts'
import { Reading } from './provenance.ts'
import type { SplitSchemes } from './security-schemes.ts'

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
    // In v0.3's field a scheme can be called "schemes"; in v1.0's that is the member.
    const odd = name === 'securityRequirements' && isObject(requirement) && Array.isArray(requirement.schemes)
    const alternatives = odd ? [{ read: requirement }] : readRequirement(requirement, split)
    for (const { read: alternative, parts } of alternatives) {
      const at = canonical + pointer(read.length)
      reading.placed(at, from)
      if (isObject(requirement) && parts !== undefined) place(requirement, parts, at, from, reading)
      read.push(alternative)
    }
  }
  return read
}

const isRequirement = (value: JsonObject): boolean =>
  isObject(value.schemes) || Object.values(value).every(scopes => Array.isArray(scopes))

/** One requirement as it is read, and the name under which its scheme was authored, if it now bears another. */
type Alternative = { read: Json; parts?: ReadonlyMap<string, string> }

/** A scheme that was split is an alternative each where it is asked for alone; beside others it counts by its first flow. */
const readRequirement = (requirement: Json, split: SplitSchemes): Alternative[] => {
  if (typeof requirement === 'string')
    return readRequirement({ [requirement]: [] }, split).map(({ read }) => ({ read }))
  if (!isObject(requirement)) return [{ read: requirement }]
  const { schemes, ...rest } = isObject(requirement.schemes) ? requirement : { schemes: requirement }
  const scopes = Object.entries(schemes as JsonObject)
  const [alone, another] = scopes
  const parts = (alone && !another && split.get(alone[0])) || [undefined]
  return parts.map(part => ({
    read: { ...rest, schemes: Object.fromEntries(scopes.map(([name, said]) => [part ?? name, readScopes(said)])) },
    parts: new Map(scopes.map(([name]) => [part ?? name, name])),
  }))
}

const readScopes = (scopes: Json): Json =>
  isObject(scopes) ? { ...scopes, list: scopes.list ?? [] } : { list: scopes ?? [] }

/** Says where the scopes of each scheme of a requirement were authored. */
const place = (
  requirement: JsonObject,
  parts: ReadonlyMap<string, string>,
  at: Pointer,
  from: Pointer,
  reading: Reading,
): void => {
  const wrapped = isObject(requirement.schemes)
  const schemes = wrapped ? (requirement.schemes as JsonObject) : requirement
  const within = wrapped ? `${from}/schemes` : from
  reading.placed(`${at}/schemes`, within)
  for (const [part, name] of parts) {
    const scopes = isObject(schemes[name]) ? '' : '/list'
    if (part !== name || scopes !== '') reading.placed(`${at}/schemes${pointer(part)}${scopes}`, within + pointer(name))
  }
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
