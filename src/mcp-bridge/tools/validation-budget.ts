import type { Schema } from '@cfworker/json-schema'
import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { patternCost } from './pattern-cost.ts'
import type { Budget } from './tool-budget.ts'
import { lookCost } from './tool-schema-cost.ts'
import { dataMembers, isOfKind, schemaMaps, schemaMembers } from './tool-schema-kinds.ts'

/** The steps that a match of a pattern may take. */
const mostSteps = 100_000

/** Where a rule inside is one that must not hold, or must not hold twice: without it, what is right would be refused. */
const inverting = /"(?:not|if|oneOf|contains|unevaluatedProperties|unevaluatedItems)":/

const unsound = 'the schema is unsound'
const dear = 'patterns of the schema cost too much'

/** A copy of a schema each look at which is paid for; or why nothing can be checked against it. `text` is the schema's. */
export const guardedSchema = (
  schema: JsonObject,
  text: string,
  budget: Budget,
): { schema: Schema } | { unchecked: string } => {
  const guard = new Guard(!inverting.test(text), budget)
  const copy = guard.schema(schema)
  return guard.why === undefined ? { schema: copy } : { unchecked: guard.why }
}

class Guard {
  readonly #mayLeaveOut: boolean
  readonly #budget: Budget
  why: string | undefined

  constructor(mayLeaveOut: boolean, budget: Budget) {
    this.#mayLeaveOut = mayLeaveOut
    this.#budget = budget
  }

  /** A validator reads `type` of each schema that it looks at, whatever else. */
  schema(given: JsonObject): Schema {
    const kept = Object.fromEntries(Object.entries(given).filter(([name, value]) => this.#keeps(name, value)))
    const budget = this.#budget
    const costs = this.why === undefined ? lookCost(kept) : () => 0
    const copy: Schema = {}
    const define = (name: string, enumerable: boolean, rest: PropertyDescriptor) =>
      Object.defineProperty(copy, name, { ...rest, configurable: true, enumerable })
    for (const [name, value] of Object.entries(kept)) define(name, true, { value: this.#member(name, value) })
    define('type', Object.hasOwn(kept, 'type'), {
      get: () => {
        budget.spend(costs(budget.extent))
        return kept.type
      },
    })
    return copy
  }

  /** What is left out, the server will see to. Formats say nothing that must hold. */
  #keeps(name: string, value: Json): boolean {
    if (name === 'format') return false
    if (!isOfKind(name, value)) return this.#leavesOut(unsound)
    if (name === 'pattern' && isDear(String(value))) return this.#leavesOut(dear)
    if (name === 'patternProperties' && Object.keys(value ?? {}).some(isDear)) this.why = dear
    return true
  }

  #leavesOut(why: string): false {
    if (!this.#mayLeaveOut) this.why = why
    return false
  }

  #member(name: string, value: Json): unknown {
    if (dataMembers.has(name)) return value
    if (schemaMaps.has(name) && isJsonObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([key, each]) => [
          key,
          // Of dependencies, a list is one of names.
          name === 'dependencies' && Array.isArray(each) ? each : this.#inner(each),
        ]),
      )
    const inner = (each: Json) => (isJsonObject(each) || schemaMembers.has(name) ? this.#inner(each) : each)
    return Array.isArray(value) ? value.map(inner) : inner(value)
  }

  /** Each schema is one that is paid for: what allows everything, or nothing, too. */
  #inner(value: Json): unknown {
    if (isJsonObject(value)) return this.schema(value)
    if (typeof value === 'boolean') return this.schema(value ? {} : { enum: [] })
    this.why = unsound
    return value
  }
}

const isDear = (pattern: string): boolean => {
  try {
    new RegExp(pattern, 'u')
    return patternCost(pattern) > mostSteps
  } catch {
    return true
  }
}
