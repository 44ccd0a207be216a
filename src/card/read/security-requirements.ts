import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  jsonEquals,
  type Pointer,
} from '../../json/json.ts'
import type { AgentCard } from '../model/agent-card.ts'
import { Provenance } from './provenance.ts'
import type { SplitSchemes } from './security-schemes.ts'

/**
 * Reads the requirements of a card or a skill into `securityRequirements`: v0.3's `{name: [scopes]}`, v1.0's
 * `{schemes: {name: {list}}}`, and one without its list. Where both fields are there, v1.0's counts.
 */
export const readRequirements = (
  object: JsonObject,
  at: Pointer,
  split: SplitSchemes,
  provenance: Provenance,
): JsonObject => {
  const { security, securityRequirements, ...rest } = object
  const name = securityRequirements === undefined ? 'security' : 'securityRequirements'
  const requirements = readList(object[name], at, name, split, provenance)
  const other = name === 'securityRequirements' ? security : undefined
  if (other !== undefined && !jsonEquals(requirements, readList(other, at, 'security', split, new Provenance())))
    provenance.noteConversion(`${at}/security`, 'left out: securityRequirements is there too, and counts')
  return requirements === undefined ? rest : { ...rest, securityRequirements: requirements }
}

const readList = (
  value: Json | undefined,
  at: Pointer,
  name: string,
  split: SplitSchemes,
  provenance: Provenance,
): Json | undefined => {
  const canonical = `${at}/securityRequirements`
  const authored = provenance.sourceOf(at + formatPointer(name))
  provenance.mapTo(canonical, authored)
  if (isJsonObject(value) && !isRequirement(value)) {
    provenance.noteConversion(canonical, 'left out: must be a list of requirements, such as [{ "bearer": [] }]')
    return undefined
  }
  const list = isJsonObject(value) ? [value] : value
  if (!Array.isArray(list)) return value
  const read: Json[] = []
  for (const [index, requirement] of list.entries()) {
    const from = isJsonObject(value) ? authored : authored + formatPointer(index)
    // In v0.3's field a scheme can be called "schemes"; in v1.0's that is the member.
    const odd = name === 'securityRequirements' && isJsonObject(requirement) && Array.isArray(requirement.schemes)
    const alternatives = odd ? [{ read: requirement }] : readRequirement(requirement, split)
    for (const { read: alternative, parts } of alternatives) {
      const at = canonical + formatPointer(read.length)
      provenance.mapTo(at, from)
      if (isJsonObject(requirement) && parts !== undefined) place(requirement, parts, at, from, provenance)
      read.push(alternative)
    }
  }
  return read
}

const isRequirement = (value: JsonObject): boolean =>
  isJsonObject(value.schemes) || Object.values(value).every(scopes => Array.isArray(scopes))

/** One requirement as it is read, and the name under which its scheme was authored, if it now bears another. */
type Alternative = { read: Json; parts?: ReadonlyMap<string, string> }

/** A scheme that was split is an alternative each where it is asked for alone; beside others it counts by its first flow. */
const readRequirement = (requirement: Json, split: SplitSchemes): Alternative[] => {
  if (typeof requirement === 'string')
    return readRequirement({ [requirement]: [] }, split).map(({ read }) => ({ read }))
  if (!isJsonObject(requirement)) return [{ read: requirement }]
  const { schemes = requirement, ...rest } = isJsonObject(requirement.schemes)
    ? { ...requirement, schemes: requirement.schemes }
    : {}
  const scopes = jsonEntries(schemes)
  const [alone, another] = scopes
  const parts = (alone && !another && split.get(alone[0])) || [undefined]
  return parts.map(part => ({
    read: { ...rest, schemes: Object.fromEntries(scopes.map(([name, said]) => [part ?? name, readScopes(said)])) },
    parts: new Map(scopes.map(([name]) => [part ?? name, name])),
  }))
}

const readScopes = (scopes: Json): Json =>
  isJsonObject(scopes) ? { ...scopes, list: scopes.list ?? [] } : { list: scopes ?? [] }

/** Says where the scopes of each scheme of a requirement were authored. */
const place = (
  requirement: JsonObject,
  parts: ReadonlyMap<string, string>,
  at: Pointer,
  from: Pointer,
  provenance: Provenance,
): void => {
  const schemes = isJsonObject(requirement.schemes) ? requirement.schemes : requirement
  const within = schemes === requirement ? from : `${from}/schemes`
  provenance.mapTo(`${at}/schemes`, within)
  for (const [part, name] of parts) {
    const scopes = isJsonObject(schemes[name]) ? '' : '/list'
    if (part !== name || scopes !== '')
      provenance.mapTo(`${at}/schemes${formatPointer(part)}${scopes}`, within + formatPointer(name))
  }
}

/**
 * Whether callers need no credentials: nothing is required, or one of the alternatives is the empty requirement (OpenAPI's
 * `{}`), which allows anonymous access.
 */
export const allowsAnonymous = (requirements: AgentCard['securityRequirements'] = []): boolean =>
  requirements.length === 0 || requirements.some(({ schemes }) => Object.keys(schemes).length === 0)

/** Requirements as v0.3 writes them, and the pointers of what it has no place for. */
export const writeV0Requirements = (
  requirements: readonly { schemes: Record<string, { list?: string[] | undefined }> }[],
  at: Pointer,
  dropped: Pointer[],
): JsonObject[] =>
  requirements.map((requirement, index) => {
    const here = `${at}/securityRequirements${formatPointer(index)}`
    dropped.push(...others(requirement, 'schemes').map(name => here + formatPointer(name)))
    return Object.fromEntries(
      Object.entries(requirement.schemes).map(([name, scopes]) => {
        dropped.push(...others(scopes, 'list').map(other => `${here}/schemes${formatPointer(name, other)}`))
        return [name, scopes.list ?? []]
      }),
    )
  })

const others = (object: object, known: string): string[] => Object.keys(object).filter(name => name !== known)
