import * as v from 'valibot'
import { parseUrl } from '../../http/shared.ts'
import { formatPointer, isJsonObject, type Json, type JsonObject, type Pointer } from '../../json/index.ts'
import { MAX_HOSTS } from '../../limits.ts'

/** Adds the sentence that documents a schema. */
export const described = <Schema extends v.GenericSchema>(schema: Schema, description: string) =>
  v.pipe(schema, v.description(description))

/** Any JSON value: documents come from `JSON.parse`, so there is nothing to check. */
export const json = v.custom<Json>(() => true)

/** A change of a document: an operation of a JSON Patch (RFC 6902). */
export const PatchOperation = v.object({
  op: v.picklist(['add', 'remove', 'replace', 'move']),
  path: described(v.string(), 'A JSON Pointer (RFC 6901).'),
  from: v.optional(described(v.string(), 'Where a value is that is moved.')),
  value: v.optional(json),
})
export type PatchOperation = v.InferOutput<typeof PatchOperation>

/** What was found at a place in a document: why it is rejected, or what was changed in it. */
export const Finding = v.object({
  pointer: described(v.string(), 'A JSON Pointer (RFC 6901).'),
  message: described(v.string(), 'What is wrong or was changed, as a clause for people.'),
  change: v.optional(described(PatchOperation, 'What corrects or writes this, where that is certain.')),
})
export type Finding = v.InferOutput<typeof Finding>

/** A JSON object of any members. */
export const jsonObject = (message = 'must be an object') => v.custom<JsonObject>(isJsonObject, message)

/** An object with these members and any others. */
export const looseObject = <Entries extends v.ObjectEntries>(entries: Entries, message?: string) =>
  notAnArray(v.objectWithRest(entries, v.optional(json)), message)

/** An object with these members and no others. */
export const strictObject = <Entries extends v.ObjectEntries>(entries: Entries, message?: string) =>
  notAnArray(v.strictObject(entries, unknownField(entries)), message)

/** Returns the message for a member that a strict object does not have. */
export const unknownField = (entries: v.ObjectEntries): string =>
  `is not a known field here. Known fields: ${Object.keys(entries).join(', ')}`

/** An object whose members all match one schema, and their names another. */
export const record = <Value extends v.GenericSchema>(
  value: Value,
  message?: string,
  name: v.GenericSchema<string> = v.string(),
) => notAnArray(v.record(name, value), message)

/** valibot's own object schemas accept arrays. */
const notAnArray = <Schema extends v.GenericSchema>(schema: Schema, message = 'must be an object') =>
  v.lazy(value => (isJsonObject(value) ? schema : v.never(message)))

/** A whole number that JavaScript represents exactly. */
export const wholeNumber = (
  min: number,
  max = Number.MAX_SAFE_INTEGER,
  message = `must be a whole number from ${min} to ${max}`,
) => v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message))

/** The end of the year 2188: a Durable Object throws for alarms after 2189. */
export const MAX_TIME_SECONDS = 6_911_049_599

/** A time in ms since 1970. */
export const timestamp = wholeNumber(0, MAX_TIME_SECONDS * 1000)

/** The number of a revision: 15 digits are exact. */
export const revisionNumber = wholeNumber(1, 999_999_999_999_999)

/** A link that people follow. The linter reports one that is relative, or has another scheme than http and https. */
export const link = v.pipe(
  v.string(),
  v.check(url => !/^https?:/i.test(url) || isHttp(url), 'must be a valid URL'),
)

/** An absolute http or https URL without credentials. */
export const httpUrl = v.pipe(
  v.string('must be a URL, as a string'),
  v.regex(
    /^(?!\$|[A-Z0-9_ -]*$)[^{}<>]*$/,
    "looks like a placeholder: replace it with the agent's URL, such as https://agent.example.com/a2a",
  ),
  v.regex(/^[a-z][a-z0-9+.-]*:/i, 'is relative: it must be absolute, such as https://agent.example.com/a2a'),
  v.check(value => isHttp(value), 'must be an absolute URL with http or https, such as https://agent.example.com/a2a'),
  v.check(value => !hasUserInfo(value), 'must not contain a user name or password'),
)

const isHttp = (value: string): boolean => /^https?:\/\/[^\s\p{Cc}<>{}\\]+$/iu.test(value) && parseUrl(value) !== null

const hasUserInfo = (value: string): boolean => Boolean(parseUrl(value)?.username || parseUrl(value)?.password)

const invalidHostname = 'must be a host name in lower case, without scheme, port or path; or "*"'

/** A host name in lower case that a URL can have, or `*` for any other host. A name that ends in a number is none. */
export const hostname = v.pipe(
  v.string('must be a host name'),
  v.regex(
    /^(?:\*|(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*)$/,
    invalidHostname,
  ),
  v.check(name => name === '*' || parseUrl(`https://${name}`)?.hostname === name, invalidHostname),
)

/** A list of host names. */
export const hostList = v.pipe(
  v.array(hostname, 'must be a list of host names'),
  v.maxLength(MAX_HOSTS, `must have at most ${MAX_HOSTS} host names`),
)

/** Validates a value; every error has a JSON Pointer and a message for people, and a pointer has one error. */
export const validate = <Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): { output: v.InferOutput<Schema> } | { errors: Finding[] } => {
  const result = v.safeParse(schema, value, { message: ({ type, message }) => defaultMessages.get(type) ?? message })
  if (result.success) return { output: result.output }
  const errors = result.issues.map(({ path = [], received, expected, input, message }) => {
    const pointer = formatPointer(...path.map(item => String(item.key)))
    const value = findMeant(expected, input)
    const change = { op: 'replace', path: pointer, value } as const
    return {
      pointer,
      message: received === 'undefined' ? 'is missing' : message,
      ...(value !== undefined && { change }),
    }
  })
  return { errors: dedupeByPointer(errors) }
}

/** Returns the one of the expected words, or of true and false, that a text is but for the case of its letters. */
const findMeant = (expected: string | null, input: unknown): string | boolean | undefined => {
  if (typeof input !== 'string') return undefined
  const word = input.trim().toLowerCase()
  if (expected === 'boolean') return word === 'true' || (word === 'false' ? false : undefined)
  return expected?.split(/[()| ]+/).includes(JSON.stringify(word)) ? word : undefined
}

/** The messages of schemas that set none, by their type. */
const defaultMessages = new Map([
  ['array', 'must be a list'],
  ['boolean', 'must be true or false'],
  ['object', 'must be an object'],
  ['string', 'must be a string'],
])

/** Keeps the first error of each pointer: a value of the wrong type is not also a bad URL. */
export const dedupeByPointer = (errors: readonly Finding[]): Finding[] => {
  const seen = new Set<Pointer>()
  return errors.filter(error => !seen.has(error.pointer) && seen.add(error.pointer))
}
