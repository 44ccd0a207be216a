import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { validateArguments } from '../../src/mcp-bridge/tools/validate-arguments.ts'
import { mostCost } from '../../src/mcp-bridge/tools/validation-budget.ts'

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more })

/** What is wrong with one argument `a` of a schema. */
const wrong = (a: Json, schema: Json, more: JsonObject = {}) => {
  const checked = validateArguments({ a }, object({ a: schema }, more))
  return 'unchecked' in checked ? checked : checked.violations.map(({ path, description }) => `${path} ${description}`)
}

describe('what is wrong with arguments', () => {
  it.each<[value: Json, schema: JsonObject, told: string]>([
    [1, { type: 'string' }, '.a must be of type string'],
    ['1', { type: ['integer', 'null'] }, '.a must be of type integer or null'],
    ['c', { enum: ['a', 'b'] }, '.a must be one of ["a","b"]'],
    ['c', { const: 'a' }, '.a must be "a"'],
    ['', { minLength: 1 }, '.a must be at least 1 characters long'],
    ['abc', { maxLength: 2 }, '.a must be at most 2 characters long'],
    ['abc', { pattern: '^[A-Z]{3}$' }, '.a does not match the pattern that its schema gives'],
    [[], { minItems: 1 }, '.a must have at least 1 items'],
    [[1, 2], { maxItems: 1 }, '.a must have at most 1 items'],
    [[1, 1], { uniqueItems: true }, '.a must not have an item twice'],
    [[1, 'b'], { items: { type: 'number' } }, '.a[1] must be of type number'],
    [{ 'b/c': 1 }, { properties: { 'b/c': { type: 'string' } } }, '.a.b/c must be of type string'],
    [{ 'ü x': 1 }, { properties: { 'ü x': { type: 'string' } } }, '.a.ü x must be of type string'],
    [{}, { required: ['b'] }, '.a.b is required'],
    [{ c: 1 }, { additionalProperties: false }, '.a.c is not known to this tool'],
    [{ c: 1 }, { minProperties: 2 }, '.a must have at least 2 members'],
    [{ c: 1, d: 2 }, { maxProperties: 1 }, '.a has too many members'],
    [{ b: 1 }, { dependentRequired: { b: ['c'] } }, '.a needs "c" too'],
    [0, { minimum: 1 }, '.a must be at least 1'],
    [2, { maximum: 1 }, '.a must be at most 1'],
    [1, { exclusiveMinimum: 1 }, '.a must be more than 1'],
    [1, { exclusiveMaximum: 1 }, '.a must be less than 1'],
    [3, { multipleOf: 2 }, '.a must be a multiple of 2'],
    ['a', { not: { type: 'string' } }, '.a is what it must not be'],
    [true, { anyOf: [{ type: 'string' }, { type: 'null' }] }, '.a must be of type string, or must be of type null'],
    [{}, { oneOf: [{ required: ['b'] }, { required: ['c'] }] }, '.a is required'],
    [1, { oneOf: [{ type: 'number' }, { minimum: 0 }] }, '.a is none of the forms that it may have'],
    ['a', { $ref: '#/$defs/count' }, '.a must be of type integer'],
    ['a', { allOf: [{ $ref: '#/$defs/count' }] }, '.a must be of type integer'],
    [[1, 2], { prefixItems: [{}], items: false }, '.a[1] is not known to this tool'],
    [{ b: 1 }, { dependencies: { b: ['c'] } }, '.a needs "c" too'],
    [{ b: 1 }, { dependencies: { b: { required: ['d'] } } }, '.a.d is required'],
    [{ b: 1 }, { if: { required: ['x'] }, else: { required: ['c'] } }, '.a.c is required'],
    [
      true,
      { anyOf: [{ anyOf: [{ type: 'string' }] }, { type: 'null' }] },
      '.a must be of type string, or must be of type null',
    ],
  ])('%j for %j', (value, schema, told) => {
    expect(wrong(value, schema, { $defs: { count: { type: 'integer' } } })).toEqual([told])
  })

  it('is told twenty times at most', () => {
    expect(wrong(Array(50).fill('x'), { items: { type: 'number' } })).toHaveLength(20)
  })

  it.each([
    ['https://json-schema.org/draft/2020-12/schema', 'prefixItems'],
    ['https://json-schema.org/draft/2019-09/schema', 'items'],
    ['http://json-schema.org/draft-07/schema#', 'items'],
  ])('goes by the dialect %s', ($schema, tuple) => {
    expect(wrong(['x'], { [tuple]: [{ type: 'number' }] }, { $schema })).toEqual(['.a[0] must be of type number'])
  })

  it('leaves alone what the schema calls like its own keywords', () => {
    const schema = object({
      type: { type: 'string' },
      pattern: { type: 'string' },
      format: { type: 'string' },
      const: { type: 'integer' },
      uniqueItems: { type: 'boolean' },
      __proto__: { type: 'string' },
    })
    expect([
      validateArguments({ type: 'a', pattern: '(', format: 'x', const: 1, uniqueItems: true }, schema),
      validateArguments({ const: 'x' }, schema),
    ]).toEqual([{ violations: [] }, { violations: [{ path: '.const', description: 'must be of type integer' }] }])
  })

  it('is told anew for each call: a check leaves nothing behind', () => {
    const schema = object({ a: { type: 'array', items: { type: 'number' } } })
    const many = { a: Array(6_000).fill(1) }
    expect([1, 2, 3].map(() => validateArguments(many, schema))).toEqual(Array(3).fill({ violations: [] }))
  })

  it('is not what the format of a text says, which is a remark', () => {
    expect(wrong('nobody', { type: 'string', format: 'email' })).toEqual([])
  })
})

describe('schemas that cost too much, or say nothing sound', () => {
  const cost = { unchecked: 'the schema costs too much' }
  const patterns = { unchecked: 'patterns of the schema cost too much' }
  const unsound = { unchecked: 'the schema is unsound' }
  const large = { unchecked: 'the arguments are too large for the schema' }
  /** Each of these refers to the next one twice. */
  const bomb = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `d${index}`,
      index === 39
        ? { type: 'number' }
        : { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
    ]),
  )
  /** Twice as much at each level of the value. */
  const tree = { properties: { a: { anyOf: [{ $ref: '#/$defs/tree' }, { $ref: '#/$defs/tree' }] } } }
  const nested = (depth: number): Json => (depth === 0 ? 1 : { a: nested(depth - 1) })

  it.each<[title: string, value: Json, schema: JsonObject, more: JsonObject, told: Json]>([
    ['references that double', 1, { $ref: '#/$defs/d0' }, { $defs: bomb }, cost],
    ['a reference to itself', 1, { $ref: '#/$defs/a' }, { $defs: { a: { $ref: '#/$defs/a' } } }, cost],
    [
      'references in a circle',
      1,
      { $ref: '#/$defs/a' },
      { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
      cost,
    ],
    ['a value that doubles', nested(40), { $ref: '#/$defs/tree' }, { $defs: { tree } }, cost],
    ['more values than looks', Array(20_000).fill(1), { items: { type: 'number' } }, {}, cost],
    ['a reference to elsewhere', 1, { $ref: 'https://schemas.example/a.json' }, {}, unsound],
    ['a reference to nothing', 1, { $ref: '#/$defs/x' }, {}, unsound],
    ['a list that is none', {}, { not: { required: 7 } }, {}, unsound],
    ['a pattern that is none', 'a', { not: { pattern: ['(a+)+$'] } }, {}, unsound],
    ['a schema that is none', 1, { anyOf: [0] }, {}, unsound],
    ['a member that is no schema', {}, { properties: { b: 'x' } }, {}, unsound],
    [
      'a dialect that is unknown',
      1,
      {},
      { $schema: 'https://schemas.example/' },
      { unchecked: 'the schema is of a dialect that this host does not know' },
    ],
    [
      'a dialect that is none',
      1,
      {},
      { $schema: 7 },
      { unchecked: 'the schema is of a dialect that this host does not know' },
    ],
    [
      'a schema that is too large',
      1,
      { description: 'x'.repeat(70_000) },
      {},
      { unchecked: 'the schema is too large' },
    ],
    ['arguments that are too large', 'x'.repeat(140_000), {}, {}, { unchecked: 'the arguments are too large' }],
    ['a long text for a pattern', 'x'.repeat(257), { pattern: '^x+$' }, {}, large],
    ['many items to compare', Array.from({ length: 2_000 }, (_, index) => index), { uniqueItems: true }, {}, cost],
    ['a name to be matched with a dear pattern', {}, { patternProperties: { '(a+)+$': {} } }, {}, patterns],
    ['a dear pattern that must not match', 'a', { not: { pattern: '(a+)+$' } }, {}, patterns],
  ])('%s', (_, value, schema, more, told) => {
    expect(wrong(value, schema, more)).toEqual(told)
  })

  it.each(['(a+)+$', '[\\w-.]', '('])('leaves the pattern %s to the server, and checks the rest', pattern => {
    const schema = object({ a: { type: 'string', pattern } }, { required: ['a', 'b'] })
    expect([
      validateArguments({ a: `${'a'.repeat(40)}!`, b: 1 }, schema),
      validateArguments({ a: 'a' }, schema),
    ]).toEqual([{ violations: [] }, { violations: [{ path: '.b', description: 'is required' }] }])
  })

  it.each<[member: string, value: Json]>([
    ['required', 7],
    ['required', 'x'.repeat(60_000)],
    ['pattern', ['(a+)+$']],
    ['minimum', [1]],
    ['properties', []],
  ])('leaves a %s that is none to the server, and checks the rest', (member, value) => {
    expect([wrong({}, { [member]: value }), wrong({}, { [member]: value, minProperties: 1 })]).toEqual([
      [],
      ['.a must have at least 1 members'],
    ])
  })
})

describe('what a check costs', () => {
  afterEach(() => vi.restoreAllMocks())

  const tooDear = { unchecked: 'the schema costs too much' }
  const list = (length: number, item: Json): Json => Array(length).fill(item)
  const long = 'x'.repeat(16_000)
  const names = Array.from({ length: 1000 }, (_, index) => `k${index}`)

  it.each<[title: string, value: Json, items: JsonObject, told: string]>([
    ['long texts of which each is to be one', list(9_900, 1), { enum: [long, `${long}a`] }, 'must be one of ["xxx'],
    ['a long text that each is to be', list(9_900, 1), { const: long }, 'must be "xxx'],
    ['a type that is none', list(9_900, 1), { type: long }, 'must be of type xxx'],
    ['one of two hundred', list(9_000, 'zz'), { enum: names.slice(0, 200) }, 'must be one of ["k0","k1",'],
    ['what nothing may be', list(20_000, 1), { not: {} }, 'is what it must not be'],
  ])('that is too much for all that is wrong is told what is wrong first: %s', (_, value, items, told) => {
    expect(wrong(value, { items })).toEqual([expect.stringContaining(`.a[0] ${told}`)])
  })

  it('is told all that is wrong with one item, where that is too much for all items', () => {
    expect(wrong(list(9_900, {}), { items: { required: names } })).toEqual(
      names.slice(0, 20).map(name => `.a[0].${name} is required`),
    )
  })

  const refer = (times: number): JsonObject => ({ allOf: list(times, { $ref: '#/$defs/x' }) })
  const members = (length: number): Json => Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, 1]))

  it.each<[title: string, value: Json, schema: JsonObject, x: JsonObject]>([
    ['a choice that each item fails in part', list(9_900, 1), { items: { anyOf: [{ enum: [long] }, {}] } }, {}],
    ['names that each item lacks in part', list(9_900, {}), { items: { anyOf: [{ required: names }, {}] } }, {}],
    [
      'properties that no item has',
      list(3_000, {}),
      { items: { properties: Object.fromEntries(names.map(name => [name, {}])) } },
      {},
    ],
    ['many members, again and again', members(9_000), refer(2_000), {}],
    ['members that are not known, again and again', members(9_000), refer(2_000), { additionalProperties: true }],
    ['items that may be anything, again and again', list(9_000, 1), refer(2_000), { items: true }],
    [
      'items that are compared, again and again',
      Array.from({ length: 100 }, (_, i) => i),
      refer(2_000),
      { uniqueItems: true },
    ],
    ['a long text that is measured, again and again', 'x'.repeat(100_000), refer(2_000), { minLength: 1 }],
    ['a long name that is written, again and again', { [long]: 1 }, refer(2_000), { additionalProperties: true }],
    ['what is compared with lists, again and again', members(9_000), refer(1_000), { not: { enum: list(1_000, {}) } }],
    ['names that are matched, again and again', members(900), refer(100), { patternProperties: { '^k\\d+9$': {} } }],
  ])('is not paid for %s', (_, value, schema, x) => {
    expect(wrong(value, schema, { $defs: { x } })).toEqual(tooDear)
  })

  it('has a bound that counts what is read, and made', () => {
    const values = [long, `${long}a`]
    const made = vi.spyOn(JSON, 'stringify')
    wrong(list(9_900, 1), { items: { enum: values } })
    const texts = made.mock.calls.filter(([value]) => value === values)
    // The first alone, then as many as may be.
    expect(texts).toHaveLength(1 + Math.floor(mostCost / (1_000 + 100 + 2 * (20 + 16_002) + 1)))
  })
})
