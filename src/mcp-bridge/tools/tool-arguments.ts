import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { BudgetExceeded, type Extent } from './tool-budget.ts'
import { compileSchema } from './tool-schema.ts'
import { toFieldErrors, type Violation } from './validate-arguments.ts'

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
  const walk = (each: Json): void => {
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
