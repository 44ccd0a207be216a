import { type OutputUnit, type Schema, type SchemaDraft, Validator } from '@cfworker/json-schema'
import { isObject, type Json, type JsonObject } from '../card/json.ts'
import { patternCost } from './pattern-cost.ts'

/** Finds what is wrong with arguments. Throws where the schema is unsound, or would cost more than a check may. */
export type Check = (given: JsonObject, terms: Terms) => OutputUnit[]

/** What the arguments are small enough for: matching patterns, and comparing items with each other. */
export type Terms = { patterns: boolean; unique: boolean }

/** A check that was given up. */
export class TooMuch extends Error {
  override readonly name = 'TooMuch'
}

/** The longest schema that is checked against here, in characters of JSON text. */
const longestSchema = 64 * 1024

/** How often one check looks at a schema, wherever in it: references may lead around, and apart again and again. */
const mostLooks = 10_000

/** The steps that a match of a pattern may take. */
const mostSteps = 100_000

/** Where a rule inside is one that must not hold, or must not hold twice: without it, what is right would be refused. */
const inverting = /"(?:not|if|oneOf|contains|unevaluatedProperties|unevaluatedItems)":/

/** How arguments are checked against a schema, or why they cannot be. */
export const checkOf = (schema: JsonObject): Check | { unchecked: string } => {
  const held = checks.get(schema)
  if (held !== undefined) return held
  const made = makeCheck(schema)
  checks.set(schema, made)
  return made
}

/** Schemas are those of a profile in memory: each is read once. */
const checks = new WeakMap<JsonObject, Check | { unchecked: string }>()

const makeCheck = (schema: JsonObject): Check | { unchecked: string } => {
  const text = JSON.stringify(schema)
  const draft = draftOf(schema.$schema)
  if (text.length > longestSchema) return { unchecked: 'the schema is too large' }
  if (draft === undefined) return { unchecked: 'the schema is of a dialect that this host does not know' }
  const guard = new Guard(!inverting.test(text))
  const copy = guarded(schema, guard)
  if (guard.why !== undefined) return { unchecked: guard.why }
  const validator = new Validator(copy, draft, false)
  return (given, terms) => {
    guard.begin(terms)
    return validator.validate(given).errors
  }
}

const dialects: readonly (readonly [mark: string, draft: SchemaDraft])[] = [
  ['2020-12', '2020-12'],
  ['2019-09', '2019-09'],
  ['draft-07', '7'],
  ['draft-06', '7'],
  ['draft-04', '4'],
]

/** MCP's tools are of 2020-12 where they say nothing else. */
const draftOf = ($schema: Json = '2020-12'): SchemaDraft | undefined =>
  dialects.find(([mark]) => typeof $schema === 'string' && $schema.includes(mark))?.[1]

/** Watches over what a validator does: it reads `type` of each schema that it looks at, whatever else. */
class Guard {
  readonly mayDrop: boolean
  /** Why nothing can be checked against the schema. */
  why: string | undefined
  #looks = 0
  #terms: Terms = { patterns: true, unique: true }

  constructor(mayDrop: boolean) {
    this.mayDrop = mayDrop
  }

  begin(terms: Terms): void {
    this.#looks = 0
    this.#terms = terms
  }

  look(): void {
    this.#looks++
    if (this.#looks > mostLooks) throw new TooMuch('the schema costs too much')
  }

  needs(term: keyof Terms): void {
    if (!this.#terms[term]) throw new TooMuch('the arguments are too large for the schema')
  }
}

/** Members whose members are schemas by name. */
const maps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])

/** Members that are data, whatever it looks like. */
const data = new Set(['const', 'enum', 'default', 'examples', 'required', 'dependentRequired'])

/** A copy of a schema that tells the guard when it is looked at. Formats are left out: they say nothing that must hold. */
const guarded = (schema: JsonObject, guard: Guard): Schema => {
  const copy: Schema = {}
  const define = (name: string, enumerable: boolean, get: () => unknown) =>
    Object.defineProperty(copy, name, { configurable: true, enumerable, get })
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'format' || (name === 'pattern' && typeof value === 'string' && isDropped(value, guard))) continue
    if (name === 'patternProperties' && isObject(value) && Object.keys(value).some(isDear))
      guard.why = 'patterns of the schema cost too much'
    const made = data.has(name) ? value : guardedMember(name, value, guard)
    const term = terms.get(name)
    define(name, true, () => {
      if (term) guard.needs(term)
      return made
    })
  }
  define('type', Object.hasOwn(schema, 'type'), () => {
    guard.look()
    return schema.type
  })
  return copy
}

const terms: ReadonlyMap<string, keyof Terms> = new Map([
  ['pattern', 'patterns'],
  ['patternProperties', 'patterns'],
  ['uniqueItems', 'unique'],
])

const guardedMember = (name: string, value: Json, guard: Guard): unknown => {
  const inner = (each: Json): unknown => (isObject(each) ? guarded(each, guard) : each)
  if (Array.isArray(value)) return value.map(inner)
  if (!isObject(value) || !maps.has(name)) return inner(value)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, Array.isArray(each) ? each : inner(each)]))
}

/** The server will match what is not matched here. */
const isDropped = (pattern: string, guard: Guard): boolean => {
  if (!isDear(pattern)) return false
  if (!guard.mayDrop) guard.why = 'patterns of the schema cost too much'
  return true
}

const isDear = (pattern: string): boolean => {
  try {
    new RegExp(pattern, 'u')
    return patternCost(pattern) > mostSteps
  } catch {
    return true
  }
}
