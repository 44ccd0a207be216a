/** Any value that JSON text can carry. */
export type Json = null | boolean | number | string | Json[] | JsonObject

/** A JSON object, as `JSON.parse` makes it. */
export type JsonObject = { [name: string]: Json }

/** Whether a value is a JSON object: not null, not an array. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether two JSON values say the same, whatever the order of their members. */
export const jsonEquals = (left: Json | undefined, right: Json | undefined): boolean => {
  if (left === right) return true
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, index) => jsonEquals(item, right[index]))
  if (!isJsonObject(left) || !isJsonObject(right)) return false
  const names = Object.keys(left)
  return (
    names.length === Object.keys(right).length &&
    names.every(name => Object.hasOwn(right, name) && jsonEquals(left[name], right[name]))
  )
}

/** A copy of an object without the named members. */
export const omit = (object: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
