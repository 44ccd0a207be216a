import { type OutputUnit, type Schema, type SchemaDraft, Validator } from '@cfworker/json-schema'
import { type CallError, invalidParams } from '../a2a/errors.ts'
import { log } from '../http/log.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import { mapMembers } from '../json/tree.ts'
import { MAX_PATTERN_LENGTH, MAX_TOOL_ARGUMENTS_LENGTH, MAX_TOOL_SCHEMA_LENGTH } from '../limits.ts'
import type { BridgedToolCall } from './bridge-call.ts'
import { checkTypes, MAX_VIOLATIONS, toMember, truncate, type Violation } from './check-types.ts'

/**
 * Rejects arguments that the tool's schema does not allow, before the server receives the call. This runs in the agent's own
 * Durable Object, so that a hostile schema uses up the CPU time of no other agent. Where this host cannot validate all of the
 * arguments, it logs why, checks what it can, and leaves the rest to the server.
 */
export const rejectInvalidArguments = (agent: string, tool: BridgedToolCall): CallError | undefined => {
  const { violations: found, unchecked } = validateArguments(tool.arguments, tool.inputSchema)
  if (unchecked !== undefined)
    log('info', 'tool-unchecked', { 'gen_ai.agent.id': agent, 'calling_card.detail': unchecked })
  if (found.length === 0) return undefined
  log('info', 'tool-call', { 'gen_ai.agent.id': agent, 'calling_card.outcome': 'invalid-arguments' })
  const violations = found.map(({ path, description }) => ({
    // A text is the whole argument.
    field: tool.field.endsWith('.text') ? tool.field : tool.field + path,
    description,
  }))
  return invalidParams(violations)
}

/** What was found. `unchecked` is why only required members and types were checked, where that is so. */
type Validated = { violations: Violation[]; unchecked?: string }

/** Validates JSON text of arguments against a tool's schema. Returns at most 20 violations. */
export const validateArguments = (args: string, schema: JsonObject): Validated => {
  const validated = validateAll(args, schema)
  return 'unchecked' in validated
    ? { violations: checkTypes(JSON.parse(args), schema), unchecked: validated.unchecked }
    : validated
}

const validateAll = (args: string, schema: JsonObject): { violations: Violation[] } | { unchecked: string } => {
  if (args.length > MAX_TOOL_ARGUMENTS_LENGTH) return { unchecked: 'the arguments are too large' }
  const text = JSON.stringify(schema)
  if (text.length > MAX_TOOL_SCHEMA_LENGTH) return { unchecked: 'the schema is too large' }
  const draft = draftOf(schema.$schema)
  if (draft === undefined) return { unchecked: 'the dialect of the schema is unknown to this host' }
  const checkable = toCheckable(schema)
  if (checkable === undefined) return { unchecked: 'a pattern of the schema is too long' }
  return findErrors(JSON.parse(args), checkable, draft)
}

const dialects: readonly (readonly [name: string, draft: SchemaDraft])[] = [
  ['2020-12', '2020-12'],
  ['2019-09', '2019-09'],
  ['draft-07', '7'],
  ['draft-06', '7'],
  ['draft-04', '4'],
]

/** MCP's default is 2020-12. */
const draftOf = ($schema: Json = '2020-12'): SchemaDraft | undefined =>
  dialects.find(([name]) => typeof $schema === 'string' && $schema.includes(name))?.[1]

/** Validates until the first error, and only then collects all errors. */
const findErrors = (
  args: Json,
  schema: Schema,
  draft: SchemaDraft,
): { violations: Violation[] } | { unchecked: string } => {
  let errors: OutputUnit[]
  try {
    errors = new Validator(schema, draft, true).validate(args).errors
  } catch (error) {
    // An invalid schema makes the validator throw, for a reference to nothing or a pattern that does not compile.
    return { unchecked: error instanceof RangeError ? 'the schema recurses too deeply' : 'the schema is invalid' }
  }
  if (errors.length === 0) return { violations: [] }
  try {
    return { violations: toViolations(new Validator(schema, draft, false).validate(args).errors) }
  } catch {
    // It collects errors as the arguments of a function, of which there can be too many.
    return { violations: toViolations(errors) }
  }
}

/** Keywords whose members are schemas by name. */
const schemaMaps: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'],
])

/** Keywords whose value is data, whatever it looks like. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples'])

/** Where a schema contains one of these, a pattern that is left out could make valid arguments invalid. */
const inverting = /"(?:not|if|oneOf|contains|maxContains|unevaluatedProperties|unevaluatedItems)":/

/**
 * Returns a copy of a schema without `format`, which is an annotation in JSON Schema, and without long patterns. Returns undefined
 * where a long pattern cannot be left out.
 */
const toCheckable = (schema: JsonObject): Schema | undefined => {
  let omitsPattern = false
  let isUncheckable = false
  const copy = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(copy)
    return isJsonObject(value) ? mapMembers(value, copyKeyword) : value
  }
  const copyKeyword = (value: Json, keyword: string): Json | undefined => {
    if (keyword === 'format' || dataKeywords.has(keyword)) return keyword === 'format' ? undefined : value
    if (keyword === 'pattern' && typeof value === 'string' && value.length > MAX_PATTERN_LENGTH) {
      omitsPattern = true
      return undefined
    }
    if (keyword === 'patternProperties' && isJsonObject(value))
      isUncheckable ||= Object.keys(value).some(pattern => pattern.length > MAX_PATTERN_LENGTH)
    return schemaMaps.has(keyword) && isJsonObject(value) ? mapMembers(value, copy) : copy(value)
  }
  const checkable = mapMembers(schema, copyKeyword)
  return isUncheckable || (omitsPattern && inverting.test(JSON.stringify(schema))) ? undefined : checkable
}

/** Alternatives that the description of one failed choice names. */
const MAX_ALTERNATIVES = 5

/** Keywords that fail because of a subschema, which has an error of its own. */
const containers = new Set([
  ...['$ref', '$recursiveRef', 'properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties'],
  ...['propertyNames', 'items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'allOf', 'if'],
  ...['dependentSchemas', 'dependencies'],
])

/** Keywords that fail because no alternative fits: the errors of all alternatives become one violation. */
const choices = new Set(['anyOf', 'oneOf', 'contains'])

/**
 * Describes a validator's errors to the caller. The error of a container or a choice stands right before the errors of its
 * subschemas.
 */
const toViolations = (errors: readonly OutputUnit[]): Violation[] => {
  const violations = new Map<string, Violation>()
  let next = 0
  for (const [index, error] of errors.entries()) {
    if (violations.size === MAX_VIOLATIONS) break
    if (index < next || isContainer(error, errors[index + 1])) continue
    const inside = choices.has(error.keyword) ? errorsInside(error, errors, index + 1) : undefined
    next = index + 1 + (inside?.length ?? 0)
    const violation = inside ? describeChoice(error, inside) : describe(error)
    violations.set(`${violation.path} ${violation.description}`, violation)
  }
  return [...violations.values()]
}

/** The errors of `then` and `else` are beside that of `if`, not inside it. */
const isContainer = (error: OutputUnit, next: OutputUnit | undefined): boolean =>
  containers.has(error.keyword) && next !== undefined && (error.keyword === 'if' || isInside(next, error))

/** The validator gives the error of the schema `false` no location of its own. */
const isInside = ({ keyword, keywordLocation }: OutputUnit, outer: OutputUnit): boolean =>
  keyword === 'false' || keywordLocation.startsWith(`${outer.keywordLocation}/`)

const errorsInside = (outer: OutputUnit, errors: readonly OutputUnit[], from: number): readonly OutputUnit[] => {
  let end = from
  for (let each = errors[end]; each && isInside(each, outer); each = errors[end]) end++
  return errors.slice(from, end)
}

const describeChoice = ({ instanceLocation }: OutputUnit, inside: readonly OutputUnit[]): Violation => {
  const descriptions = new Set<string>()
  for (const [index, error] of inside.entries()) {
    if (descriptions.size === MAX_ALTERNATIVES) break
    if (error.instanceLocation !== instanceLocation || choices.has(error.keyword)) continue
    if (!isContainer(error, inside[index + 1])) descriptions.add(describe(error).description)
  }
  const description = descriptions.size > 0 ? [...descriptions].join(', or ') : 'matches none of the allowed forms'
  return { path: toPath(instanceLocation), description }
}

const describe = ({ keyword, instanceLocation, error }: OutputUnit): Violation => {
  const [, name] = /"(.*)"/s.exec(error) ?? []
  if (keyword === 'required' && name !== undefined)
    return { path: toPath(instanceLocation) + toMember(name), description: 'is required' }
  return {
    path: toPath(instanceLocation),
    description: descriptions[keyword]?.(error) ?? `violates "${keyword}" of the schema`,
  }
}

/** The descriptions quote the validator's own messages, such as "Expected "string"." and "String is too short (0 < 2).". */
const descriptions: Readonly<Record<string, (error: string) => string>> = {
  type: error => `must be of type ${textAfter(error, 'Expected ').replaceAll('"', '').replaceAll(', ', ' or ')}`,
  enum: error => `must be one of ${textAfter(error, 'any of ')}`,
  const: error => `must be ${textAfter(error, 'match ')}`,
  false: () => 'is not known to this tool',
  not: () => 'has a form that is not allowed',
  pattern: () => 'does not match the pattern in the schema',
  minLength: error => `must be at least ${lastNumber(error)} characters long`,
  maxLength: error => `must be at most ${lastNumber(error)} characters long`,
  minItems: error => `must have at least ${lastNumber(error)} items`,
  maxItems: error => `must have at most ${lastNumber(error)} items`,
  uniqueItems: () => 'must not have the same item twice',
  minProperties: error => `must have at least ${lastNumber(error)} members`,
  maxProperties: () => 'has too many members',
  minimum: error => `must be at least ${lastNumber(error)}`,
  maximum: error => `must be at most ${lastNumber(error)}`,
  exclusiveMinimum: error => `must be more than ${lastNumber(error)}`,
  exclusiveMaximum: error => `must be less than ${lastNumber(error)}`,
  multipleOf: error => `must be a multiple of ${lastNumber(error)}`,
  dependentRequired: error => `also requires ${textAfter(error, 'have ')}`,
  dependencies: error => `also requires ${textAfter(error, 'have ')}`,
}

const lastNumber = (error: string): string => error.match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g)?.at(-1) ?? ''

const textAfter = (error: string, words: string): string =>
  truncate(error.slice(error.indexOf(words) + words.length, -1))

/** Turns a validator's location, as `#/filter/years/0`, into a path, as `.filter.years[0]`. */
const toPath = (location: string): string =>
  location
    .split('/')
    .slice(1)
    .map(token => toMember(decodePointerToken(token)))
    .join('')

/** Locations are JSON Pointers as URI fragments (RFC 6901 §6). */
const decodePointerToken = (token: string): string =>
  decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
