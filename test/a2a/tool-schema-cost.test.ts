import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { Budget, lookCost, mostCost, watchedArguments } from '../../src/mcp-bridge/tools/validation-budget.ts'

describe('a look at a schema', () => {
  it.each<[schema: JsonObject, beside: number]>([
    [{}, 0],
    [{ description: 'x'.repeat(1_000), default: ['x'] }, 0],
    [{ type: 'string' }, 20 + 8],
    [{ enum: ['ab', { c: 1 }] }, 20 + 4 + 20 + 7],
    [{ const: { c: ['ab'] } }, 20 + 12],
    [{ required: ['a', 'b'] }, 2 * (200 + 3)],
    [{ dependentRequired: { a: ['b', 'c'] } }, 3 * (200 + 3)],
    [{ dependencies: { a: ['b'], c: { enum: ['not looked at yet'] } } }, 3 * (200 + 3)],
    [{ properties: { a: { enum: ['not looked at yet'] }, b: {} } }, 2 * (100 + 3)],
    [{ minLength: 1, maxLength: 2 }, 50],
    [{ pattern: '^ab$' }, 2_000 + 6 + 1],
    [{ patternProperties: { '^ab$': {} } }, 2_000 + 6 + 1 * 7],
  ])('%j', (schema, beside) => {
    expect(lookCost(schema)({ longestText: 50, mostMembers: 7 })).toBe(1_000 + beside)
  })
})

describe('arguments that are watched', () => {
  const spentOn = (value: Json, look: (watched: Json) => unknown): number => {
    let spent = 0
    look(
      watchedArguments(value, cost => {
        spent += cost
      }),
    )
    return spent
  }

  it.each<[title: string, value: Json, look: (watched: Json) => unknown, cost: number]>([
    ['an item', [1, 2, 3], value => (value as Json[])[1], 100],
    ['an item in an item', [[1]], value => ((value as Json[])[0] as Json[])[0], 200],
    ['whether there is a member', { ab: 1 }, value => Object.hasOwn(value as JsonObject, 'cd'), 100],
    ['all names', { ab: 1, c: 2 }, value => Object.keys(value as JsonObject), 102 + 101 + 2 * 100],
    ['what is no container', 'text', String, 0],
  ])('tell what it costs to read %s', (_, value, look, cost) => {
    expect(spentOn(value, look)).toBe(cost)
  })

  it('are what they are', () => {
    const value = { a: [1, { b: null }], c: 'd' }
    expect(watchedArguments(value, () => undefined)).toEqual(value)
  })
})

it('gives a check up that costs more than it may, and begins the next anew', () => {
  const budget = new Budget()
  budget.begin({ longestText: 0, mostMembers: 0 })
  budget.spend(mostCost)
  expect(() => budget.spend(1)).toThrow('costs too much')
  budget.begin({ longestText: 0, mostMembers: 0 })
  budget.spend(mostCost)
})
