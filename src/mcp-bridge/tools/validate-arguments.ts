import type { OutputUnit } from '@cfworker/json-schema'

/** What is wrong with an argument; `path` leads to it, such as `.filter.years[0]`; empty where it is all of them. */
export type Violation = { path: string; description: string }

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
export const toFieldErrors = (errors: readonly OutputUnit[]): Violation[] => {
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
