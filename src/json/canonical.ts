import { isJsonObject, type Json } from './json.ts'

/**
 * Serializes JSON in the canonical form of RFC 8785: without white space, the members of an object in the order of their names.
 * Members that are undefined are left out. JavaScript writes numbers and strings as the standard has it.
 */
export const canonicalJson = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  // The order of UTF-16 units, in which JavaScript compares strings.
  const members = Object.keys(value)
    .sort()
    .flatMap(name => {
      const member = value[name]
      return member === undefined ? [] : [`${JSON.stringify(name)}:${canonicalJson(member)}`]
    })
  return `{${members.join(',')}}`
}
