import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { validateArguments } from '../../src/mcp-bridge/validate-arguments.ts'

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more })

const validate = (args: JsonObject, schema: JsonObject) => validateArguments(JSON.stringify(args), schema)

/** Validates one argument `a`, and returns its violations as text. */
const validateOne = (a: Json, schema: Json, more: JsonObject = {}) => {
  const { violations, unchecked } = validate({ a }, object({ a: schema }, more))
  const found = violations.map(({ path, description }) => `${path} ${description}`)
  return unchecked === undefined ? found : { unchecked, found }
}

describe('validateArguments', () => {
  it.each<[value: Json, schema: JsonObject, violation: string]>([
    [1, { type: 'string' }, '.a must be of type string'],
    ['1', { type: ['integer', 'null'] }, '.a must be of type integer or null'],
    ['c', { enum: ['a', 'b'] }, '.a must be one of ["a","b"]'],
    ['c', { const: 'a' }, '.a must be "a"'],
    ['', { minLength: 1 }, '.a must be at least 1 characters long'],
    ['abc', { maxLength: 2 }, '.a must be at most 2 characters long'],
    ['abc', { pattern: '^[A-Z]{3}$' }, '.a does not match the pattern in the schema'],
    [[], { minItems: 1 }, '.a must have at least 1 items'],
    [[1, 2], { maxItems: 1 }, '.a must have at most 1 items'],
    [[1, 1], { uniqueItems: true }, '.a must not have the same item twice'],
    [[1, 'b'], { items: { type: 'number' } }, '.a[1] must be of type number'],
    [{ 'b/c': 1 }, { properties: { 'b/c': { type: 'string' } } }, '.a.b/c must be of type string'],
    [{ 'ü x': 1 }, { properties: { 'ü x': { type: 'string' } } }, '.a.ü x must be of type string'],
    [{}, { required: ['b'] }, '.a.b is required'],
    [{ c: 1 }, { additionalProperties: false }, '.a.c is not known to this tool'],
    [{ c: 1 }, { minProperties: 2 }, '.a must have at least 2 members'],
    [{ c: 1, d: 2 }, { maxProperties: 1 }, '.a has too many members'],
    [{ b: 1 }, { dependentRequired: { b: ['c'] } }, '.a also requires "c"'],
    [0, { minimum: 1 }, '.a must be at least 1'],
    [2, { maximum: 1 }, '.a must be at most 1'],
    [1, { exclusiveMinimum: 1 }, '.a must be more than 1'],
    [1, { exclusiveMaximum: 1 }, '.a must be less than 1'],
    [3, { multipleOf: 2 }, '.a must be a multiple of 2'],
    ['a', { not: { type: 'string' } }, '.a has a form that is not allowed'],
    [true, { anyOf: [{ type: 'string' }, { type: 'null' }] }, '.a must be of type string, or must be of type null'],
    [{}, { oneOf: [{ required: ['b'] }, { required: ['c'] }] }, '.a is required'],
    [1, { oneOf: [{ type: 'number' }, { minimum: 0 }] }, '.a matches none of the allowed forms'],
    ['a', { $ref: '#/$defs/count' }, '.a must be of type integer'],
    ['a', { allOf: [{ $ref: '#/$defs/count' }] }, '.a must be of type integer'],
    [[1, 2], { prefixItems: [{}], items: false }, '.a[1] is not known to this tool'],
    [{ b: 1 }, { dependencies: { b: ['c'] } }, '.a also requires "c"'],
    [{ b: 1 }, { dependencies: { b: { required: ['d'] } } }, '.a.d is required'],
    [{ b: 1 }, { if: { required: ['x'] }, else: { required: ['c'] } }, '.a.c is required'],
    [
      true,
      { anyOf: [{ anyOf: [{ type: 'string' }] }, { type: 'null' }] },
      '.a must be of type string, or must be of type null',
    ],
  ])('checks %j against %j', (value, schema, violation) => {
    expect(validateOne(value, schema, { $defs: { count: { type: 'integer' } } })).toEqual([violation])
  })

  it('reports at most twenty violations', () => {
    expect(validateOne(Array(50).fill('x'), { items: { type: 'number' } })).toHaveLength(20)
  })

  it.each([
    ['https://json-schema.org/draft/2020-12/schema', 'prefixItems'],
    ['https://json-schema.org/draft/2019-09/schema', 'items'],
    ['http://json-schema.org/draft-07/schema#', 'items'],
  ])('applies the dialect %s', ($schema, tuple) => {
    expect(validateOne(['x'], { [tuple]: [{ type: 'number' }] }, { $schema })).toEqual(['.a[0] must be of type number'])
  })

  it('accepts properties with the names of keywords', () => {
    const schema = object({
      type: { type: 'string' },
      pattern: { type: 'string' },
      format: { type: 'string' },
      const: { type: 'integer' },
      uniqueItems: { type: 'boolean' },
      __proto__: { type: 'string' },
    })
    expect([
      validate({ type: 'a', pattern: '(', format: 'x', const: 1, uniqueItems: true }, schema),
      validate({ const: 'x' }, schema),
    ]).toEqual([{ violations: [] }, { violations: [{ path: '.const', description: 'must be of type integer' }] }])
  })

  it('validates each call from scratch', () => {
    const schema = object({ a: { type: 'array', items: { type: 'number' } } })
    const many = { a: Array(6_000).fill(1) }
    expect([1, 2, 3].map(() => validate(many, schema))).toEqual(Array(3).fill({ violations: [] }))
  })

  it('ignores `format`, which is an annotation', () => {
    expect(validateOne('nobody', { type: 'string', format: 'email' })).toEqual([])
  })

  it('reports the first of more errors than the validator can collect', () => {
    const items = { type: 'string', minimum: 2, multipleOf: 3, const: 4 }
    expect(validateOne(Array(60_000).fill(1), { items })).toEqual([
      '.a[0] must be of type string',
      ...['.a[0] must be 4', '.a[0] must be at least 2', '.a[0] must be a multiple of 3'],
    ])
  })

  it('reports twenty violations of one object', () => {
    const names = Array.from({ length: 1000 }, (_, index) => `k${index}`)
    expect(validateOne({}, { required: names })).toEqual(names.slice(0, 20).map(name => `.a.${name} is required`))
  })
})

describe('arguments that this host cannot check as a whole', () => {
  const invalid = { unchecked: 'the schema is invalid' }
  const recursive = { unchecked: 'the schema recurses too deeply' }
  const unknownDialect = { unchecked: 'the dialect of the schema is unknown to this host' }
  const longPattern = { unchecked: 'a pattern of the schema is too long' }
  const pattern = `^${'a'.repeat(256)}$`

  it.each<[title: string, value: Json, schema: JsonObject, more: JsonObject, expected: object]>([
    ['a reference to itself', 1, { $ref: '#/$defs/a' }, { $defs: { a: { $ref: '#/$defs/a' } } }, recursive],
    [
      'references in a cycle',
      1,
      { $ref: '#/$defs/a' },
      { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
      recursive,
    ],
    ['a reference to another host', 1, { $ref: 'https://schemas.example/a.json' }, {}, invalid],
    ['a reference to a missing definition', 1, { $ref: '#/$defs/x' }, {}, invalid],
    ['`required` that is not a list', {}, { required: 7 }, {}, invalid],
    ['a pattern that does not compile', 'a', { pattern: '(' }, {}, invalid],
    ['an unknown dialect', 1, {}, { $schema: 'https://schemas.example/' }, unknownDialect],
    ['a dialect that is not a string', 1, {}, { $schema: 7 }, unknownDialect],
    ['a schema over 64 KiB', 1, { description: 'x'.repeat(65_536) }, {}, { unchecked: 'the schema is too large' }],
    ['arguments over 128 KiB', 'x'.repeat(131_072), {}, {}, { unchecked: 'the arguments are too large' }],
    ['a long pattern inside `not`', 'a', { not: { pattern } }, {}, longPattern],
    ['a long pattern for property names', {}, { patternProperties: { [pattern]: {} } }, {}, longPattern],
  ])('include %s', (_, value, schema, more, expected) => {
    expect(validateOne(value, schema, more)).toEqual({ ...expected, found: [] })
  })

  it.each<[args: JsonObject, violations: string[]]>([
    [{}, ['.a is required']],
    [{ a: 1 }, ['.a must be of type object']],
    [{ a: {} }, ['.a.list is required']],
    [{ a: { list: 'x' } }, ['.a.list must be of type array or null']],
    [
      { a: { list: [{ n: 1 }, { n: 1.5 }, { n: 'x' }] } },
      ['.a.list[1].n must be of type integer', '.a.list[2].n must be of type integer'],
    ],
    [{ a: { list: null, other: 1 }, more: 1 }, []],
  ])('are checked for required members and types all the same: %j', (args, expected) => {
    const item = { type: 'object', properties: { n: { type: 'integer' } } }
    const list = { type: ['array', 'null'], items: item }
    const properties = { list, other: { type: 'colour' }, linked: { $ref: '#/nowhere', type: 'string' } }
    const schema = object({ a: object(properties, { required: ['list'] }) }, { required: ['a'], pattern: '(' })
    const { violations, unchecked } = validate(args, { ...schema, $schema: 'https://schemas.example/' })
    expect([unchecked, violations.map(({ path, description }) => `${path} ${description}`)]).toEqual([
      'the dialect of the schema is unknown to this host',
      expected,
    ])
  })

  it('are checked up to a number of values, and for twenty violations', () => {
    const schema = object({ a: { type: 'array', items: { type: 'string' } } }, { $schema: 'https://schemas.example/' })
    const list = (length: number, value: Json) => Array.from({ length }, () => value)
    expect([
      validate({ a: list(100, 1) }, schema).violations.length,
      validate({ a: [...list(9_000, 'x'), 1] }, schema).violations,
      validate({ a: [...list(11_000, 'x'), 1] }, schema).violations,
    ]).toEqual([20, [{ path: '.a[9000]', description: 'must be of type string' }], []])
  })

  it('include a value with a long pattern, whose siblings are validated', () => {
    const schema = object({ a: { type: 'string', pattern } }, { required: ['a', 'b'] })
    expect([validate({ a: 'x', b: 1 }, schema), validate({ a: 'x' }, schema)]).toEqual([
      { violations: [] },
      { violations: [{ path: '.b', description: 'is required' }] },
    ])
  })

  it('exclude a value whose pattern has 256 characters', () => {
    expect(validateOne('x', { pattern: pattern.slice(0, 256) })).toEqual([
      '.a does not match the pattern in the schema',
    ])
  })

  it('exclude constants that look like keywords', () => {
    const value = { format: 'x', pattern }
    expect([
      validateOne(value, { const: value }),
      validateOne(value, { enum: [value] }),
      validateOne({}, { const: value }),
    ]).toEqual([[], [], [expect.stringContaining('.a must be {')]])
  })
})
