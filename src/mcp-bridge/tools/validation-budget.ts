import type { Schema } from '@cfworker/json-schema'
import { isJsonObject, type Json, type JsonObject, jsonEntries } from '../../json/json.ts'

/** A check that was given up. */
export class BudgetExceeded extends Error {
  override readonly name = 'TooMuch'
}

/** What of the arguments decides how dear it is to look at them: their longest text, and the most members of one object. */
export type Extent = { longestText: number; mostMembers: number }

/** What one check may cost, in units of about a nanosecond of work, or a byte of what is said of errors. */
export const mostCost = 10_000_000

/** Counts what the check of one call's arguments costs, wherever a validator reads something, and gives it up past a bound. */
export class Budget {
  extent: Extent = { longestText: 0, mostMembers: 0 }
  #left = 0

  begin(extent: Extent): void {
    this.extent = extent
    this.#left = mostCost
  }

  spend(cost: number): void {
    this.#left -= cost
    if (this.#left < 0) throw new BudgetExceeded('the schema costs too much')
  }
}

/** The longest text that is matched against a schema's patterns, in characters. */
export const longestMatched = 256

/** A part of a pattern: how many ways there are through it, at most. */
type Group = { ways: number; alternatives: number }

/**
 * How many steps a regular expression may take with a text of that length, at most, roughly: the choices that it has are
 * multiplied. Infinity where that cannot be told so easily: for what repeats a group, or refers back to one.
 */
export const patternCost = (pattern: string): number => {
  const open: Group[] = [{ ways: 1, alternatives: 1 }]
  // A pattern that may begin anywhere is tried everywhere.
  let cost = pattern.startsWith('^') ? 1 : longestMatched
  let last: Group | undefined
  for (const [token, quantifier] of pattern.matchAll(tokens)) {
    const group = open.at(-1)
    if (group === undefined || /^\\[1-9k]/.test(token)) return Number.POSITIVE_INFINITY
    if (token.startsWith('(')) open.push({ ways: 1, alternatives: 1 })
    else if (token === '|') group.alternatives++
    else if (token === ')') {
      last = open.pop()
      const outer = open.at(-1)
      if (last === undefined || outer === undefined) return Number.POSITIVE_INFINITY
      outer.ways *= last.ways * last.alternatives
      continue
    } else if (quantifier !== undefined) {
      const { least, lengths } = repetition(quantifier)
      if (last !== undefined && lengths > 2) return Number.POSITIVE_INFINITY
      group.ways *= lengths * (last ? (last.ways * last.alternatives) ** Math.max(least + lengths - 2, 0) : 1)
    }
    last = undefined
  }
  cost *= open.reduce((ways, group) => ways * group.ways * group.alternatives, 1)
  return open.length === 1 ? cost : Number.POSITIVE_INFINITY
}

/** An escape, a class of characters, the beginning of a group, a quantifier, or a character. */
const tokens =
  /\\(?:u\{[^}]*\}|[pP]\{[^}]*\}|.)|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?|([*+?]|\{\d*,?\d*\})\??|./gsu

/** How often at least, and among how many lengths, a quantifier repeats. */
const repetition = (quantifier: string): { least: number; lengths: number } => {
  if (quantifier === '?') return { least: 0, lengths: 2 }
  const [, least, comma, most] = /^\{(\d*)(,?)(\d*)\}$/.exec(quantifier) ?? []
  if (least === undefined || (comma === ',' && most === ''))
    return { least: Number(least ?? 0), lengths: longestMatched }
  return { least: Number(least), lengths: comma === '' ? 1 : Number(most) - Number(least) + 1 }
}

/** What each look at a schema costs, whatever it holds, and the error that comes of it. */
const look = 1_000

/** What reading a pattern costs: each look does so anew. */
const reading = 2_000

/** What a validator goes through at each look, and what an entry costs beside its text: to compare it, or an error of each. */
const entryCosts: ReadonlyMap<string, number> = new Map([
  ['const', 20],
  ['enum', 20],
  ['type', 20],
  ['properties', 100],
  ['dependentSchemas', 100],
  ['required', 200],
  ['dependentRequired', 200],
  ['dependencies', 200],
  ['multipleOf', reading],
  ['pattern', reading],
  ['patternProperties', reading],
])

/** What one look at a schema itself costs, for arguments of that extent. Throws where its patterns cannot be matched with them. */
export const lookCost = (schema: JsonObject): ((extent: Extent) => number) => {
  let own = look
  for (const [member, value] of jsonEntries(schema)) {
    const each = entryCosts.get(member)
    if (each !== undefined) for (const entry of entriesOf(member, value)) own += each + JSON.stringify(entry).length
  }
  const { pattern, patternProperties = {} } = schema
  const matching = typeof pattern === 'string' ? patternCost(pattern) : 0
  const matchingName = Object.keys(patternProperties ?? {}).reduce((sum, each) => sum + patternCost(each), 0)
  const measures = Object.hasOwn(schema, 'minLength') || Object.hasOwn(schema, 'maxLength')
  return ({ longestText, mostMembers }) => {
    if (matching + matchingName > 0 && longestText > longestMatched)
      throw new BudgetExceeded('the arguments are too large for the schema')
    return own + matching + matchingName * mostMembers + (measures ? longestText : 0)
  }
}

/** The items of a list, or the names of an object's members, and the items of those that are lists. */
const entriesOf = (member: string, value: Json): Json[] => {
  if (Array.isArray(value)) return value
  if (member === 'const' || !isJsonObject(value)) return [value]
  return Object.entries(value).flatMap(([name, each]) => (Array.isArray(each) ? [name, ...each] : [name]))
}

const isText = (value: Json): boolean => typeof value === 'string'

const isNumber = (value: Json): boolean => typeof value === 'number'

const isListOfTexts = (value: Json): boolean => Array.isArray(value) && value.every(isText)

/** What a member of a schema must be, so that a validator does with it what it is meant to do, at a cost that can be told. */
const kinds: ReadonlyMap<string, (value: Json) => boolean> = new Map([
  ['type', value => isText(value) || isListOfTexts(value)],
  ['enum', Array.isArray],
  ['required', isListOfTexts],
  ['dependentRequired', value => isJsonObject(value) && jsonEntries(value).every(([, each]) => isListOfTexts(each))],
  ['pattern', isText],
  ['$ref', isText],
  ...['properties', 'patternProperties', 'dependentSchemas', 'dependencies'].map(name => [name, isJsonObject] as const),
  // Of draft 4, these say of the other bound whether it is one.
  ...['exclusiveMinimum', 'exclusiveMaximum'].map(
    name => [name, (value: Json) => isNumber(value) || typeof value === 'boolean'] as const,
  ),
  ...['minimum', 'maximum', 'multipleOf', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties']
    .concat(['maxProperties', 'minContains', 'maxContains'])
    .map(name => [name, isNumber] as const),
])

/** Whether a member of a schema is of the kind that it must be. */
const isOfKind = (name: string, value: Json): boolean => kinds.get(name)?.(value) ?? true

/** Members that are one schema, or a list of them. */
const schemaMembers: ReadonlySet<string> = new Set([
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'],
  ...['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains'],
  ...['additionalProperties', 'unevaluatedProperties', 'propertyNames'],
])

/** Members whose members are schemas by name. */
const schemaMaps: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'],
])

/** Members that are data, whatever it looks like. */
const dataMembers: ReadonlySet<string> = new Set([
  ...['const', 'enum', 'default', 'examples', 'required', 'dependentRequired'],
])

/** The steps that a match of a pattern may take. */
const mostSteps = 100_000

/** Where a rule inside is one that must not hold, or must not hold twice: without it, what is right would be refused. */
const inverting = /"(?:not|if|oneOf|contains|unevaluatedProperties|unevaluatedItems)":/

const unsound = 'the schema is unsound'
const dear = 'patterns of the schema cost too much'

/** A copy of a schema each look at which is paid for; or why nothing can be checked against it. `text` is the schema's. */
export const guardedSchema = (
  schema: JsonObject,
  text: string,
  budget: Budget,
): { schema: Schema } | { unchecked: string } => {
  const guard = new Guard(!inverting.test(text), budget)
  const copy = guard.schema(schema)
  return guard.why === undefined ? { schema: copy } : { unchecked: guard.why }
}

class Guard {
  readonly #mayLeaveOut: boolean
  readonly #budget: Budget
  why: string | undefined

  constructor(mayLeaveOut: boolean, budget: Budget) {
    this.#mayLeaveOut = mayLeaveOut
    this.#budget = budget
  }

  /** A validator reads `type` of each schema that it looks at, whatever else. */
  schema(given: JsonObject): Schema {
    const kept = Object.fromEntries(jsonEntries(given).filter(([name, value]) => this.#keeps(name, value)))
    const budget = this.#budget
    const costs = this.why === undefined ? lookCost(kept) : () => 0
    const copy: Schema = {}
    const define = (name: string, enumerable: boolean, rest: PropertyDescriptor) =>
      Object.defineProperty(copy, name, { ...rest, configurable: true, enumerable })
    for (const [name, value] of jsonEntries(kept)) define(name, true, { value: this.#member(name, value) })
    define('type', Object.hasOwn(kept, 'type'), {
      get: () => {
        budget.spend(costs(budget.extent))
        return kept.type
      },
    })
    return copy
  }

  /** What is left out, the server will see to. Formats say nothing that must hold. */
  #keeps(name: string, value: Json): boolean {
    if (name === 'format') return false
    if (!isOfKind(name, value)) return this.#leavesOut(unsound)
    if (name === 'pattern' && isDear(String(value))) return this.#leavesOut(dear)
    if (name === 'patternProperties' && Object.keys(value ?? {}).some(isDear)) this.why = dear
    return true
  }

  #leavesOut(why: string): false {
    if (!this.#mayLeaveOut) this.why = why
    return false
  }

  #member(name: string, value: Json): unknown {
    if (dataMembers.has(name)) return value
    if (schemaMaps.has(name) && isJsonObject(value))
      return Object.fromEntries(
        jsonEntries(value).map(([key, each]) => [
          key,
          // Of dependencies, a list is one of names.
          name === 'dependencies' && Array.isArray(each) ? each : this.#inner(each),
        ]),
      )
    const inner = (each: Json) => (isJsonObject(each) || schemaMembers.has(name) ? this.#inner(each) : each)
    return Array.isArray(value) ? value.map(inner) : inner(value)
  }

  /** Each schema is one that is paid for: what allows everything, or nothing, too. */
  #inner(value: Json): unknown {
    if (isJsonObject(value)) return this.schema(value)
    if (typeof value === 'boolean') return this.schema(value ? {} : { enum: [] })
    this.why = unsound
    return value
  }
}

const isDear = (pattern: string): boolean => {
  try {
    new RegExp(pattern, 'u')
    return patternCost(pattern) > mostSteps
  } catch {
    return true
  }
}

/** What it costs to read a member or an item, and each name of an object where all are asked for. */
const read = 100

/** Arguments that tell what reading them costs: how often a validator goes through them, its schema decides. */
export const watchedArguments = (value: Json, spend: (cost: number) => void): Json => {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get: (target, name) => {
      spend(read)
      const member: Json = Reflect.get(target, name)
      return watchedArguments(member, spend)
    },
    getOwnPropertyDescriptor: (target, name) => {
      spend(read)
      return Reflect.getOwnPropertyDescriptor(target, name)
    },
    ownKeys: target => {
      const names = Reflect.ownKeys(target)
      spend(names.reduce((sum, name) => sum + read + String(name).length, 0))
      return names
    },
  })
}
