import { isObject, type Json, type JsonObject } from './json.ts'

/** Reads requirements of v0.3 (`{name: [scopes]}`), of v1.0 (`{schemes: {name: {list}}}`), and one without its list. */
export const readRequirements = (requirements: Json): Json => {
  if (isObject(requirements)) return [readRequirement(requirements)]
  return Array.isArray(requirements) ? requirements.map(readRequirement) : requirements
}

const readRequirement = (requirement: Json): Json => {
  if (typeof requirement === 'string') return { schemes: { [requirement]: { list: [] } } }
  if (!isObject(requirement)) return requirement
  const schemes = isObject(requirement.schemes) ? requirement.schemes : requirement
  return { schemes: Object.fromEntries(Object.entries(schemes).map(([name, scopes]) => [name, readScopes(scopes)])) }
}

const readScopes = (scopes: Json): Json => {
  if (isObject(scopes)) return { list: scopes.list ?? [] }
  return { list: scopes ?? [] }
}

/** A v1.0 requirement as v0.3 writes it. */
export const writeV0Requirements = (requirements: unknown): JsonObject[] =>
  (requirements as { schemes: Record<string, { list?: string[] }> }[]).map(({ schemes }) =>
    Object.fromEntries(Object.entries(schemes).map(([name, { list }]) => [name, list ?? []])),
  )
