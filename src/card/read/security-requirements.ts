import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  jsonEquals,
  omit,
  type Pointer,
} from '../../json/index.ts'
import { MAX_SPLIT_SCHEMES } from '../../limits.ts'
import type { AgentCard } from '../model/index.ts'
import { takesPrecedence } from './field-names.ts'
import { Provenance } from './provenance.ts'
import type { SecurityContext } from './security-schemes.ts'

type Requirements = NonNullable<AgentCard['securityRequirements']>

/**
 * Whether callers need no credentials: nothing is required, or one alternative is the empty requirement (`{}` in OpenAPI),
 * which allows anonymous access.
 */
export const allowsAnonymous = (requirements: Requirements = []): boolean =>
  requirements.length === 0 || requirements.some(({ schemes }) => Object.keys(schemes).length === 0)

/**
 * Reads the requirements of a card or skill into `securityRequirements`, from v0.3's `{name: [scopes]}` or v1.0's
 * `{schemes: {name: {list}}}`, in a list or alone. v1.0's field takes precedence.
 */
export const readRequirements = (
  object: JsonObject,
  pointer: Pointer,
  context: SecurityContext,
  provenance: Provenance,
): JsonObject => {
  const { security, securityRequirements, ...rest } = object
  const field = securityRequirements === undefined ? 'security' : 'securityRequirements'
  if (context.form === '1.0' && object[field] !== undefined && field === 'security')
    provenance.noteConversion(`${pointer}/security`, 'a field of A2A 0.3, read as securityRequirements')
  const requirements = readList(object, field, { pointer, context, provenance })
  if (security !== undefined && securityRequirements !== undefined) {
    const other = readList(object, 'security', { pointer, context, provenance: new Provenance() })
    if (!jsonEquals(requirements, other))
      provenance.noteConversion(`${pointer}/security`, takesPrecedence('securityRequirements'))
  }
  return requirements === undefined ? rest : { ...rest, securityRequirements: requirements }
}

const readList = (
  object: JsonObject,
  field: 'security' | 'securityRequirements',
  { pointer, context, provenance }: { pointer: Pointer; context: SecurityContext; provenance: Provenance },
): Json | undefined => {
  const value = object[field]
  const canonical = `${pointer}/securityRequirements`
  const authored = provenance.sourceOf(pointer + formatPointer(field))
  provenance.mapTo(canonical, authored)
  if (isJsonObject(value) && !isRequirement(value)) {
    provenance.noteConversion(canonical, 'left out: must be a list of requirements, such as [{ "bearer": [] }]')
    return undefined
  }
  if (isJsonObject(value)) provenance.noteConversion(canonical, 'one requirement, read as a list')
  const list = isJsonObject(value) ? [value] : value
  if (!Array.isArray(list)) return value
  const read: Json[] = []
  for (const [index, requirement] of list.entries()) {
    const source = isJsonObject(value) ? authored : authored + formatPointer(index)
    // In v0.3's field a scheme can have the name "schemes"; in v1.0's that is the member, and this its wrong type.
    const isInvalid =
      field === 'securityRequirements' && isJsonObject(requirement) && Array.isArray(requirement.schemes)
    const conversion = isInvalid ? undefined : describeConversion(requirement, field)
    if (conversion !== undefined) provenance.converted.push({ pointer: source, message: conversion })
    for (const name of splitSchemesOf(requirement, context.split).others) {
      const schemes = schemesOf(requirement as JsonObject) === requirement ? '' : '/schemes'
      provenance.converted.push({ pointer: source + schemes + formatPointer(name), message: firstFlowOnly })
    }
    const alternatives = isInvalid ? [{ read: requirement }] : readRequirement(requirement, context.split)
    for (const { read: alternative, authoredNames } of alternatives) {
      const target = canonical + formatPointer(read.length)
      provenance.mapTo(target, source)
      if (isJsonObject(requirement) && authoredNames !== undefined)
        mapScopes(requirement, authoredNames, { target, source }, provenance)
      read.push(alternative)
    }
  }
  return read
}

const firstFlowOnly = `read with its first OAuth flow only, as this requirement has another scheme with several, or more than ${MAX_SPLIT_SCHEMES} schemes`

/** Returns a note on a requirement that is not in the form of its field. */
const describeConversion = (requirement: Json, field: 'security' | 'securityRequirements'): string | undefined => {
  if (typeof requirement === 'string') return 'a name, read as a requirement without scopes'
  if (!isJsonObject(requirement)) return undefined
  const { schemes } = requirement
  if (field === 'security') return isJsonObject(schemes) ? 'in the form of A2A 1.0' : undefined
  if (!isJsonObject(schemes)) return 'in the form of A2A 0.3, read as { "schemes": … }'
  const hasLists = Object.values(schemes).some(scopes => Array.isArray(scopes))
  return hasLists ? 'lists of scopes, read as { "list": … }' : undefined
}

const isRequirement = (value: JsonObject): boolean =>
  isJsonObject(value.schemes) || Object.values(value).every(scopes => Array.isArray(scopes))

/** A canonical requirement, and the authored name of each of its schemes, which may have been split. */
type Alternative = { read: Json; authoredNames?: ReadonlyMap<string, string> }

/**
 * Reads one requirement. Where a scheme was split by its OAuth flows, each part is an alternative. Of further ones, and
 * beside many schemes, only the first part is read: the alternatives would multiply.
 */
const readRequirement = (requirement: Json, split: SecurityContext['split']): Alternative[] => {
  if (typeof requirement === 'string')
    return readRequirement({ [requirement]: [] }, split).map(({ read }) => ({ read }))
  if (!isJsonObject(requirement)) return [{ read: requirement }]
  const schemes = schemesOf(requirement)
  const rest = schemes === requirement ? {} : omit(requirement, 'schemes')
  const { divided } = splitSchemesOf(requirement, split)
  return ((divided !== undefined && split.get(divided)) || ['']).map(part => {
    const entries = jsonEntries(schemes).map(([name, scopes]) => ({ name, as: name === divided ? part : name, scopes }))
    return {
      read: { ...rest, schemes: Object.fromEntries(entries.map(({ as, scopes }) => [as, readScopes(scopes)])) },
      authoredNames: new Map(entries.map(({ as, name }) => [as, name])),
    }
  })
}

/**
 * Returns the schemes of a requirement that were split by their OAuth flows: the one that is read with all of them, and
 * the others.
 */
const splitSchemesOf = (
  requirement: Json,
  split: SecurityContext['split'],
): { divided?: string | undefined; others: string[] } => {
  const names = isJsonObject(requirement) ? Object.keys(schemesOf(requirement)) : []
  const found = names.filter(name => split.has(name))
  return names.length > MAX_SPLIT_SCHEMES ? { others: found } : { divided: found[0], others: found.slice(1) }
}

/** The schemes of a requirement in v1.0's form, or in v0.3's, where they are the requirement itself. */
const schemesOf = (requirement: JsonObject): JsonObject =>
  isJsonObject(requirement.schemes) ? requirement.schemes : requirement

const readScopes = (scopes: Json): Json =>
  isJsonObject(scopes) ? { ...scopes, list: scopes.list ?? [] } : { list: scopes ?? [] }

/** Maps the scopes of each scheme of a requirement to where they were authored. */
const mapScopes = (
  requirement: JsonObject,
  authoredNames: ReadonlyMap<string, string>,
  { target, source }: { target: Pointer; source: Pointer },
  provenance: Provenance,
): void => {
  const schemes = schemesOf(requirement)
  const authoredSchemes = schemes === requirement ? source : `${source}/schemes`
  provenance.mapTo(`${target}/schemes`, authoredSchemes)
  for (const [name, authoredName] of authoredNames) {
    const list = isJsonObject(schemes[authoredName]) ? '' : '/list'
    if (name !== authoredName || list !== '')
      provenance.mapTo(`${target}/schemes${formatPointer(name)}${list}`, authoredSchemes + formatPointer(authoredName))
  }
}

/** Writes requirements as in v0.3, and adds the pointers of what it cannot express to `dropped`. */
export const writeV0Requirements = (requirements: Requirements, pointer: Pointer, dropped: Pointer[]): JsonObject[] =>
  requirements.map((requirement, index) => {
    const at = `${pointer}/securityRequirements${formatPointer(index)}`
    dropped.push(...otherNames(requirement, 'schemes').map(name => at + formatPointer(name)))
    return Object.fromEntries(
      Object.entries(requirement.schemes).map(([name, scopes]) => {
        dropped.push(...otherNames(scopes, 'list').map(other => `${at}/schemes${formatPointer(name, other)}`))
        return [name, scopes.list ?? []]
      }),
    )
  })

const otherNames = (object: object, known: string): string[] => Object.keys(object).filter(name => name !== known)
