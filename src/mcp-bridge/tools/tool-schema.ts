import { type OutputUnit, type SchemaDraft, Validator } from '@cfworker/json-schema'
import type { Json, JsonObject } from '../../json/json.ts'
import { Budget, type Extent } from './tool-budget.ts'
import { watchedArguments } from './tool-watched-arguments.ts'
import { guardedSchema } from './validation-budget.ts'

/**
 * Finds what is wrong with arguments: all, where that costs no more than a check may; else what is found first. Throws where the
 * schema is unsound, or not even that can be told.
 */
export type Check = (given: JsonObject, extent: Extent) => OutputUnit[]

/** The longest schema that is checked against here, in characters of JSON text. */
const longestSchema = 64 * 1024

/** How arguments are checked against a schema, or why they cannot be. */
export const compileSchema = (schema: JsonObject): Check | { unchecked: string } => {
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
  const budget = new Budget()
  const guarded = guardedSchema(schema, text, budget)
  if ('unchecked' in guarded) return guarded
  const first = new Validator(guarded.schema, draft, true)
  const all = new Validator(guarded.schema, draft, false)
  return (given, extent) => {
    const errorsOf = (validator: Validator): OutputUnit[] => {
      budget.begin(extent)
      return validator.validate(watchedArguments(given, cost => budget.spend(cost))).errors
    }
    const found = errorsOf(first)
    if (found.length === 0) return found
    try {
      return errorsOf(all)
    } catch {
      return found
    }
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
