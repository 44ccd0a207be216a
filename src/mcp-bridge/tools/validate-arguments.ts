import { type OutputUnit, type SchemaDraft, Validator } from '@cfworker/json-schema'
import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { Budget, BudgetExceeded, type Extent, guardedSchema, watchedArguments } from './validation-budget.ts'

/**
 * Finds what is wrong with arguments: all, where that costs no more than a check may; else what is found first. Throws where the
 * schema is unsound, or not even that can be told.
 */
type Check = (given: JsonObject, extent: Extent) => OutputUnit[]

/** The longest schema that is checked against here, in characters of JSON text. */
const longestSchema = 64 * 1024

/** How arguments are checked against a schema, or why they cannot be. */
const compileSchema = (schema: JsonObject): Check | { unchecked: string } => {
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

/** What is wrong with an argument; `path` leads to it, such as `.filter.years[0]`; empty where it is all of them. */
type Violation = { path: string; description: string }

/** The most that is told of one call. */
const most = 20

/** The most ways to be right that are told of one choice. */
const mostWays = 5

/** Which of a validator's errors say that something inside is wrong, which has an error of its own. */
const containers = new Set([
  ...['$ref', '$recursiveRef', 'properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties'],
  ...['propertyNames', 'items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'allOf', 'if'],
  ...['dependentSchemas', 'dependencies'],
])

/** Which say that of several ways to be right none is taken: what is wrong with each is told as one. */
const choices = new Set(['anyOf', 'oneOf', 'contains'])

/**
 * What a validator found, in words for the caller: the field, and what it must be. What it says of a container or a choice stands
 * right before what it says of what is inside: one walk finds the first of them, however many there are.
 */
const toFieldErrors = (errors: readonly OutputUnit[]): Violation[] => {
  const told = new Map<string, Violation>()
  let past = 0
  for (const [index, error] of errors.entries()) {
    if (told.size === most) break
    if (index < past || isContainer(error, errors[index + 1])) continue
    const inside = choices.has(error.keyword) ? insideOf(error, errors, index + 1) : undefined
    past = index + 1 + (inside?.length ?? 0)
    const violation = inside ? ofChoice(error, inside) : ofError(error)
    told.set(`${violation.path} ${violation.description}`, violation)
  }
  return [...told.values()]
}

/** A container is told only where nothing inside says more. What a condition asks for stands beside it. */
const isContainer = (error: OutputUnit, next: OutputUnit | undefined): boolean =>
  containers.has(error.keyword) && next !== undefined && (error.keyword === 'if' || isInside(next, error))

const isInside = ({ keywordLocation }: OutputUnit, outer: OutputUnit): boolean =>
  keywordLocation.startsWith(`${outer.keywordLocation}/`)

const insideOf = (outer: OutputUnit, errors: readonly OutputUnit[], from: number): readonly OutputUnit[] => {
  let end = from
  for (let each = errors[end]; each && isInside(each, outer); each = errors[end]) end++
  return errors.slice(from, end)
}

const ofChoice = ({ instanceLocation }: OutputUnit, inside: readonly OutputUnit[]): Violation => {
  const descriptions = new Set<string>()
  for (const [index, error] of inside.entries()) {
    if (descriptions.size === mostWays) break
    if (error.instanceLocation !== instanceLocation || choices.has(error.keyword)) continue
    if (!isContainer(error, inside[index + 1])) descriptions.add(ofError(error).description)
  }
  const description = descriptions.size > 0 ? [...descriptions].join(', or ') : 'is none of the forms that it may have'
  return { path: pathOf(instanceLocation), description }
}

const ofError = ({ keyword, instanceLocation, error }: OutputUnit): Violation => {
  const [, name] = /"(.*)"/s.exec(error) ?? []
  if (keyword === 'required' && name !== undefined)
    return { path: pathOf(instanceLocation) + memberOf(name), description: 'is required' }
  return { path: pathOf(instanceLocation), description: words[keyword]?.(error) ?? `does not hold to "${keyword}"` }
}

/** The numbers that a validator's message names, in its order. */
const numbers = (error: string): string[] => error.match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g) ?? []

const lastNumber = (error: string): string => numbers(error).at(-1) ?? ''

const after = (error: string, words: string): string => clipped(error.slice(error.indexOf(words) + words.length, -1))

const words: Readonly<Record<string, (error: string) => string>> = {
  type: error => `must be of type ${after(error, 'Expected ').replaceAll('"', '').replaceAll(', ', ' or ')}`,
  // A schema that nothing fits is one that lists nothing.
  enum: error => (error.endsWith(' [].') ? 'is not known to this tool' : `must be one of ${after(error, 'any of ')}`),
  const: error => `must be ${after(error, 'match ')}`,
  not: () => 'is what it must not be',
  pattern: () => 'does not match the pattern that its schema gives',
  minLength: error => `must be at least ${lastNumber(error)} characters long`,
  maxLength: error => `must be at most ${lastNumber(error)} characters long`,
  minItems: error => `must have at least ${lastNumber(error)} items`,
  maxItems: error => `must have at most ${lastNumber(error)} items`,
  uniqueItems: () => 'must not have an item twice',
  minProperties: error => `must have at least ${lastNumber(error)} members`,
  maxProperties: () => 'has too many members',
  minimum: error => `must be at least ${lastNumber(error)}`,
  maximum: error => `must be at most ${lastNumber(error)}`,
  exclusiveMinimum: error => `must be more than ${lastNumber(error)}`,
  exclusiveMaximum: error => `must be less than ${lastNumber(error)}`,
  multipleOf: error => `must be a multiple of ${lastNumber(error)}`,
  dependentRequired: error => `needs ${after(error, 'have ')} too`,
  dependencies: error => `needs ${after(error, 'have ')} too`,
}

const clipped = (text: string): string => (text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text)

/** A validator's location (`#/filter/years/0`) as people write it (`.filter.years[0]`). */
const pathOf = (location: string): string =>
  location
    .split('/')
    .slice(1)
    .map(token => memberOf(decodePointer(token)))
    .join('')

/** Locations are URI fragments of JSON pointers. */
const decodePointer = (token: string): string => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')

const memberOf = (name: string): string => (/^\d+$/.test(name) ? `[${name}]` : `.${clipped(name)}`)

/** The longest arguments that are checked here, in characters of JSON text. */
const longest = 128 * 1024

/**
 * What of a tool's arguments its schema does not allow. `unchecked` where that cannot be told at a cost that one call may
 * have: the server checks them too, and has the last word.
 */
export const validateArguments = (
  given: JsonObject,
  schema: JsonObject,
): { violations: Violation[] } | { unchecked: string } => {
  const check = compileSchema(schema)
  if ('unchecked' in check) return check
  const text = JSON.stringify(given)
  if (text.length > longest) return { unchecked: 'the arguments are too large' }
  // Numbers that were kept as they were written are numbers again.
  const plain: JsonObject = JSON.parse(text)
  try {
    return { violations: toFieldErrors(check(plain, extentOf(plain))) }
  } catch (error) {
    return { unchecked: whyNot(error) }
  }
}

/** The stack, too, has an end: what leads around in a circle may come there first. */
const whyNot = (error: unknown): string => {
  if (error instanceof BudgetExceeded) return error.message
  return error instanceof RangeError ? 'the schema costs too much' : 'the schema is unsound'
}

const extentOf = (value: Json): Extent => {
  let longestText = 0
  let mostMembers = 0
  const walk = (each: Json | undefined): void => {
    if (typeof each === 'string') longestText = Math.max(longestText, each.length)
    else if (Array.isArray(each)) each.forEach(walk)
    else if (isJsonObject(each)) {
      const members = Object.entries(each)
      mostMembers = Math.max(mostMembers, members.length)
      for (const [name, member] of members) {
        longestText = Math.max(longestText, name.length)
        walk(member)
      }
    }
  }
  walk(value)
  return { longestText, mostMembers }
}
