import { isObject, type Json, type JsonObject } from '../card/json.ts'
import { longestMatched } from './pattern-cost.ts'
import { checkOf, TooMuch } from './tool-schema.ts'
import { type Violation, violationsOf } from './tool-violations.ts'

/** The longest arguments that are checked here, in characters of JSON text, and the most items that are compared. */
const longest = 128 * 1024
const mostCompared = 1000

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
  const { values, longestText } = measured(plain)
  try {
    const errors = check(plain, { patterns: longestText <= longestMatched, unique: values <= mostCompared })
    return { violations: violationsOf(errors) }
  } catch (error) {
    return { unchecked: whyNot(error) }
  }
}

/** The stack, too, has an end: what leads around in a circle may come there first. */
const whyNot = (error: unknown): string => {
  if (error instanceof TooMuch) return error.message
  return error instanceof RangeError ? 'the schema costs too much' : 'the schema is unsound'
}

const measured = (value: Json): { values: number; longestText: number } => {
  let values = 0
  let longestText = 0
  const walk = (each: Json): void => {
    values++
    if (typeof each === 'string') longestText = Math.max(longestText, each.length)
    else if (Array.isArray(each)) each.forEach(walk)
    else if (isObject(each))
      for (const [name, member] of Object.entries(each)) {
        longestText = Math.max(longestText, name.length)
        walk(member)
      }
  }
  walk(value)
  return { values, longestText }
}
