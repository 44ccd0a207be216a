import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import { MAX_TYPED_VALUES } from '../limits.ts'

/** What is wrong with an argument. `path` leads to it, as `.filter.years[0]`; it is empty for the arguments as a whole. */
export type Violation = { path: string; description: string }

/** The most violations that a caller gets to know of one call. */
export const MAX_VIOLATIONS = 20

/**
 * Checks required members and types, in members and items at every depth, where the schema as a whole cannot be used. These keywords
 * mean the same in every dialect, and a value that violates one of them violates the schema. The work is bounded.
 */
export const checkTypes = (args: Json, schema: JsonObject): Violation[] => {
  const violations: Violation[] = []
  const pending: { value: Json; schema: Json | undefined; path: string }[] = [{ value: args, schema, path: '' }]
  let work = 0
  for (const { value, schema, path } of pending) {
    // In older dialects, the siblings of a reference mean nothing.
    if (!isJsonObject(schema) || schema.$ref !== undefined) continue
    const types = typesOf(schema.type)
    if (types && !types.some(type => isOfType[type]?.(value)))
      violations.push({ path, description: `must be of type ${types.join(' or ')}` })
    else if (isJsonObject(value))
      for (const name of Array.isArray(schema.required) ? schema.required : []) {
        if (++work > MAX_TYPED_VALUES || violations.length >= MAX_VIOLATIONS) break
        if (typeof name === 'string' && !Object.hasOwn(value, name))
          violations.push({ path: path + toMember(name), description: 'is required' })
      }
    if (violations.length >= MAX_VIOLATIONS) break
    for (const [name, inner, innerSchema] of innerValues(value, schema)) {
      if (++work > MAX_TYPED_VALUES) return violations
      pending.push({ value: inner, schema: innerSchema, path: path + toMember(name) })
    }
  }
  return violations.slice(0, MAX_VIOLATIONS)
}

/** Yields the members and items of a value that its schema describes one by one. */
function* innerValues(value: Json, schema: JsonObject): Generator<[name: string, value: Json, schema: Json]> {
  const { properties, items, prefixItems } = schema
  if (Array.isArray(value) && isJsonObject(items) && prefixItems === undefined)
    for (const [index, item] of value.entries()) yield [String(index), item, items]
  if (!isJsonObject(value) || !isJsonObject(properties)) return
  for (const [name, inner] of Object.entries(value)) {
    const described = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (inner !== undefined && described !== undefined) yield [name, inner, described]
  }
}

const isOfType: Readonly<Record<string, (value: Json) => boolean>> = {
  string: value => typeof value === 'string',
  number: value => typeof value === 'number',
  integer: value => Number.isInteger(value),
  boolean: value => typeof value === 'boolean',
  object: isJsonObject,
  array: Array.isArray,
  null: value => value === null,
}

/** Returns the types that a schema allows; undefined where it allows all, or names one that JSON Schema does not have. */
const typesOf = (type: Json | undefined): string[] | undefined => {
  const types = (Array.isArray(type) ? type : [type]).filter(each => typeof each === 'string')
  return types.length > 0 && types.every(each => Object.hasOwn(isOfType, each)) ? types : undefined
}

/** Returns a step of a path: a member, or an item of a list. */
export const toMember = (name: string): string => (/^\d+$/.test(name) ? `[${name}]` : `.${truncate(name)}`)

/** Returns at most the first 200 characters of what a caller or a schema contains. */
export const truncate = (text: string): string => (text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text)
