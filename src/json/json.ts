/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | JsonObject

/** A JSON object. Members that are `undefined` count as absent, as `JSON.stringify` leaves them out. */
export type JsonObject = { [name: string]: Json | undefined }

/** Checks whether a value is a JSON object: neither null nor an array. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// V8 has these; TypeScript's library does not yet: https://github.com/tc39/proposal-json-parse-with-source
declare global {
  interface JSON {
    parse(text: string, reviver: (this: unknown, name: string, value: Json, context: { source?: string }) => Json): Json
    rawJSON(text: string): { rawJSON: string }
    isRawJSON(value: unknown): boolean
  }
}

/** Checks whether a value is a JSON object, and not a number that stays as it was sent. */
export const isPlainObject = (value: unknown): value is JsonObject => isJsonObject(value) && !JSON.isRawJSON(value)

/** Returns a number that stays as it was sent as one of JavaScript, and any other value unchanged. */
export const readNumber = (value: Json | undefined): Json | undefined =>
  JSON.isRawJSON(value) ? Number(JSON.stringify(value)) : value

/** Checks whether two JSON values are equal, whatever the order of their members. */
export const jsonEquals = (left: Json | undefined, right: Json | undefined): boolean => {
  if (left === right) return true
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, index) => jsonEquals(item, right[index]))
  if (!isJsonObject(left) || !isJsonObject(right)) return false
  const members = jsonEntries(left)
  return (
    members.length === jsonEntries(right).length &&
    members.every(([name, value]) => Object.hasOwn(right, name) && jsonEquals(value, right[name]))
  )
}

/** Returns the members of an object, or the items of an array by index, without those that are `undefined`. */
export const jsonEntries = (value: JsonObject | Json[]): [name: string, value: Json][] =>
  Object.entries<Json | undefined>(value).filter((entry): entry is [string, Json] => entry[1] !== undefined)

/** Returns a copy of an object without the named members. */
export const omit = (object: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))

/** Returns a string, a number or a boolean as text; '' for any other value: an object may have a member `toString`. */
export const toText = (value: Json | undefined): string =>
  value === undefined || typeof value === 'object' ? '' : String(value)

/** A JSON Pointer (RFC 6901); '' is the whole document. */
export type Pointer = string

/** Builds a JSON Pointer from its reference tokens, escaping `~` and `/`. */
export const formatPointer = (...tokens: readonly (string | number)[]): Pointer =>
  tokens.reduce<Pointer>((pointer, token) => `${pointer}/${escapeToken(String(token))}`, '')

/** Tests first, as hardly any token needs escaping. */
const escapeToken = (token: string) => (/[~/]/.test(token) ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token)

/** Returns the reference tokens of a JSON Pointer, unescaped. */
export const parsePointer = (pointer: Pointer): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))
