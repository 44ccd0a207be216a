import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { formatPointer, isJsonObject, jsonEntries, jsonEquals, mapMembers, omit } from '../../json/index.ts'
import { MAX_SPLIT_SCHEMES } from '../../limits.ts'
import type { SecurityRequirements } from '../model/index.ts'
import { Provenance } from './provenance.ts'
import type { SecurityContext, SplitSchemes } from './security-schemes.ts'

/** The fields of the requirements of a card or a skill, the one that is read first. */
export const requirementFields = ['securityRequirements', 'security_requirements', 'security'] as const

/** Returns whether callers need no credentials: nothing is required, or one alternative is the empty requirement. */
export const allowsAnonymous = (requirements: SecurityRequirements = []): boolean =>
  requirements.length === 0 || requirements.some(({ schemes }) => Object.keys(schemes).length === 0)

/**
 * Reads the requirements of a card or skill into `securityRequirements`, from v0.3's `{name: [scopes]}` or v1.0's
 * `{schemes: {name: {list}}}`, in a list or alone. v1.0's field takes precedence.
 */
export const readRequirements = (object: JsonObject, at: Pointer, context: SecurityContext, provenance: Provenance) => {
  const { security, securityRequirements, ...rest } = object
  const { split, form } = context
  const [field, fieldV1] = [`${at}/security`, `${at}/securityRequirements`]
  const isV1 = securityRequirements !== undefined
  if (!isV1 && form === 'interfaces' && security !== undefined)
    provenance.noteConversion(field, 'a field of A2A 0.3, read as securityRequirements')
  const read = readList(isV1 ? securityRequirements : security, isV1 ? fieldV1 : field, split, provenance)
  if (isV1 && security !== undefined && !jsonEquals(read, readList(security, field, split, new Provenance())))
    provenance.noteIgnored(field, 'securityRequirements')
  return read === undefined ? rest : { ...rest, securityRequirements: read }
}

/**
 * Reads the requirements in a field. Where a scheme was split by its OAuth flows, each part is an alternative. Of
 * further ones, and beside many schemes, only the first part is read: the alternatives would multiply.
 */
const readList = (value: Json | undefined, field: Pointer, split: SplitSchemes, provenance: Provenance) => {
  const isV1 = field.endsWith('/securityRequirements')
  const canonical = isV1 ? field : `${field}Requirements`
  const authored = provenance.sourceOf(field)
  provenance.mapTo(canonical, authored)
  if (isJsonObject(value) && !isRequirement(value)) {
    provenance.noteConversion(canonical, 'left out: must be a list of requirements, such as [{ "bearer": [] }]')
    return undefined
  }
  if (isJsonObject(value)) provenance.noteConversion(canonical, 'one requirement, read as a list')
  const list = isJsonObject(value) ? [value] : value
  if (!Array.isArray(list)) return value
  const read: Json[] = []
  const note = (pointer: Pointer, message: string) => provenance.converted.push({ pointer, message })
  for (const [index, requirement] of list.entries()) {
    const source = isJsonObject(value) ? authored : authored + formatPointer(index)
    const schemes = listSchemes(requirement, isV1)
    const conversion = schemes && describeConversion(requirement, isV1)
    if (conversion !== undefined) note(source, conversion)
    const schemesSource = schemes === requirement ? source : `${source}/schemes`
    const names = Object.keys(schemes ?? {})
    const found = names.filter(name => split.has(name))
    const divided = names.length > MAX_SPLIT_SCHEMES ? undefined : found.shift()
    for (const name of found) note(schemesSource + formatPointer(name), firstFlowOnly)
    const rest = isJsonObject(requirement) && schemes !== requirement ? omit(requirement, 'schemes') : {}
    for (const part of (divided !== undefined && split.get(divided)) || ['']) {
      const target = canonical + formatPointer(read.length)
      provenance.mapTo(target, source)
      if (isJsonObject(requirement)) provenance.mapTo(`${target}/schemes`, schemesSource)
      const parts = jsonEntries(schemes ?? {}).map(([name, scopes]) => {
        const as = name === divided ? part : name
        const scopesPointer = `${target}/schemes${formatPointer(as)}${isJsonObject(scopes) ? '' : '/list'}`
        if (isJsonObject(requirement)) provenance.mapTo(scopesPointer, schemesSource + formatPointer(name))
        return [as, readScopes(scopes)]
      })
      read.push(schemes === undefined ? requirement : { ...rest, schemes: Object.fromEntries(parts) })
    }
  }
  return read
}

const firstFlowOnly =
  'read with its first OAuth flow only, as this requirement has another scheme with several, ' +
  `or more than ${MAX_SPLIT_SCHEMES} schemes`

/** Returns a note on a requirement that is not in the form of its field. */
const describeConversion = (requirement: Json, isV1: boolean): string | undefined => {
  if (typeof requirement === 'string') return 'a name, read as a requirement without scopes'
  const schemes = isJsonObject(requirement) ? requirement.schemes : undefined
  if (!isV1) return isJsonObject(schemes) ? 'in the form of A2A 1.0' : undefined
  if (!isJsonObject(schemes)) return 'in the form of A2A 0.3, read as { "schemes": … }'
  const hasLists = Object.values(schemes).some(scopes => Array.isArray(scopes))
  return hasLists ? 'lists of scopes, read as { "list": … }' : undefined
}

const isRequirement = (value: JsonObject): boolean =>
  isJsonObject(value.schemes) || Object.values(value).every(scopes => Array.isArray(scopes))

/**
 * Returns the schemes of a requirement in v1.0's form, or in v0.3's, where they are the requirement itself; undefined
 * for a value of a wrong type. In v0.3's field a scheme can have the name "schemes"; in v1.0's that is the member.
 */
const listSchemes = (requirement: Json, isV1: boolean): JsonObject | undefined => {
  if (typeof requirement === 'string') return { [requirement]: [] }
  if (!isJsonObject(requirement) || (isV1 && Array.isArray(requirement.schemes))) return undefined
  return isJsonObject(requirement.schemes) ? requirement.schemes : requirement
}

const readScopes = (scopes: Json): Json =>
  isJsonObject(scopes) ? { ...scopes, list: scopes.list ?? [] } : { list: scopes ?? [] }

/** Writes requirements as in v0.3, and adds the pointers of what it cannot express to `dropped`. */
export const writeV0Requirements = (requirements: SecurityRequirements, pointer: Pointer, dropped: Pointer[]) =>
  requirements.map((requirement, index) => {
    const at = `${pointer}/securityRequirements${formatPointer(index)}`
    dropped.push(...Object.keys(omit(requirement, 'schemes')).map(name => at + formatPointer(name)))
    return mapMembers(requirement.schemes, (scopes, name) => {
      if (!isJsonObject(scopes)) return []
      dropped.push(...Object.keys(omit(scopes, 'list')).map(other => `${at}/schemes${formatPointer(name, other)}`))
      return scopes.list ?? []
    })
  })
