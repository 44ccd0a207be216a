import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { longestMatched, patternCost } from './pattern-cost.ts'
import { BudgetExceeded, type Extent } from './tool-budget.ts'

/** What each look at a schema costs, whatever it holds, and the error that comes of it. */
const look = 1_000

/** What reading a pattern costs: each look does so anew. */
const reading = 2_000

/** What a validator goes through at each look, and what an entry costs beside its text: to compare it, or an error of each. */
const entryCosts: ReadonlyMap<string, number> = new Map([
  ['const', 20],
  ['enum', 20],
  ['type', 20],
  ['properties', 100],
  ['dependentSchemas', 100],
  ['required', 200],
  ['dependentRequired', 200],
  ['dependencies', 200],
  ['multipleOf', reading],
  ['pattern', reading],
  ['patternProperties', reading],
])

/** What one look at a schema itself costs, for arguments of that extent. Throws where its patterns cannot be matched with them. */
export const lookCost = (schema: JsonObject): ((extent: Extent) => number) => {
  let own = look
  for (const [member, value] of Object.entries(schema)) {
    const each = entryCosts.get(member)
    if (each !== undefined) for (const entry of entriesOf(member, value)) own += each + JSON.stringify(entry).length
  }
  const { pattern, patternProperties = {} } = schema
  const matching = typeof pattern === 'string' ? patternCost(pattern) : 0
  const matchingName = Object.keys(patternProperties ?? {}).reduce((sum, each) => sum + patternCost(each), 0)
  const measures = Object.hasOwn(schema, 'minLength') || Object.hasOwn(schema, 'maxLength')
  return ({ longestText, mostMembers }) => {
    if (matching + matchingName > 0 && longestText > longestMatched)
      throw new BudgetExceeded('the arguments are too large for the schema')
    return own + matching + matchingName * mostMembers + (measures ? longestText : 0)
  }
}

/** The items of a list, or the names of an object's members, and the items of those that are lists. */
const entriesOf = (member: string, value: Json): Json[] => {
  if (Array.isArray(value)) return value
  if (member === 'const' || !isJsonObject(value)) return [value]
  return Object.entries(value).flatMap(([name, each]) => (Array.isArray(each) ? [name, ...each] : [name]))
}
