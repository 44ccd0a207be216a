import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { type Extent, TooMuch } from './tool-budget.ts'
import { checkOf } from './tool-schema.ts'
import { type Violation, violationsOf } from './validate-arguments.ts'

/** The longest arguments that are checked here, in characters of JSON text. */
const longest = 128 * 1024

/**
 * What of a tool's arguments its schema does not allow. `unchecked` where that cannot be told at a cost that one call may
 * have: the server checks them too, and has the last word.
 */
export const checkArguments = (
  given: JsonObject,
  schema: JsonObject,
): { violations: Violation[] } | { unchecked: string } => {
  const check = checkOf(schema)
  if ('unchecked' in check) return check
  const text = JSON.stringify(given)
  if (text.length > longest) return { unchecked: 'the arguments are too large' }
  // Numbers that were kept as they were written are numbers again.
  const plain: JsonObject = JSON.parse(text)
  try {
    return { violations: violationsOf(check(plain, extentOf(plain))) }
  } catch (error) {
    return { unchecked: whyNot(error) }
  }
}

/** The stack, too, has an end: what leads around in a circle may come there first. */
const whyNot = (error: unknown): string => {
  if (error instanceof TooMuch) return error.message
  return error instanceof RangeError ? 'the schema costs too much' : 'the schema is unsound'
}

const extentOf = (value: Json): Extent => {
  let longestText = 0
  let mostMembers = 0
  const walk = (each: Json): void => {
    if (typeof each === 'string') longestText = Math.max(longestText, each.length)
    else if (Array.isArray(each)) each.forEach(walk)
    else if (isObject(each)) {
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
