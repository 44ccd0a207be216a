import { agentIdPattern, wireVersions } from '../../card/model/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { MAX_PAGE_SIZE } from '../../limits.ts'
import type { ProblemCode } from '../../problems.ts'

/** A parameter in the path or a header, as documents describe it. */
export type Parameter = { description: string; schema: JsonObject }

/** A parameter of the query. `Value` is what its handler gets: undefined, if there is none and no default. */
export type QueryParameter<Value = unknown> = Parameter & {
  /** Returns the value of the texts that were sent; undefined if they are invalid. */
  parse: (texts: string[]) => Value | undefined
  fallback: Value
  /** The error for an invalid value, and what it must be instead, such as "a number from 1 to 100". */
  problem: ProblemCode
  expected: string
  /** What this parameter requires of the caller: any token, or one with `write` for some agent. */
  needs?: 'token' | 'write'
}

/** The values of a query that is described like this, by their names. */
export type QueryValues<Query> = {
  [Name in keyof Query]: Query[Name] extends QueryParameter<infer Value> ? Value : never
}

type Options = Partial<Pick<QueryParameter, 'problem' | 'expected' | 'needs'>>

const defaults = { problem: 'bad-query', fallback: undefined } as const

/** Describes a parameter in the path or a header that is any text. */
export const anyText = (description: string): Parameter => ({ description, schema: { type: 'string' } })

/** Describes a parameter that names a version of A2A. */
export const version = (of: string) =>
  anyText(`The version of A2A that ${of}: ${wireVersions.toReversed().join(' or ')}.`)

/** The parameters of a path below `/agents/:id`. */
export const agentPath = {
  id: { description: 'The id of the agent.', schema: { type: 'string', pattern: agentIdPattern.source } },
} as const satisfies Record<string, Parameter>

/** A number from 1, in a path or a cursor. Numbers of this length are exact. */
export const numberPattern = /^[1-9]\d{0,14}$/

/** Describes a text. */
export const text = (
  description: string,
  { pattern, schema, ...options }: Options & { pattern?: RegExp; schema?: JsonObject } = {},
): QueryParameter<string | undefined> => ({
  ...{ ...defaults, description, expected: 'a text' },
  schema: { type: 'string', ...(pattern && { pattern: pattern.source }), ...schema },
  parse: ([value = '']) => (pattern === undefined || pattern.test(value) ? value : undefined),
  ...options,
})

/** Describes texts, each in a parameter of its own. */
export const texts = (
  description: string,
  { items, max, ...options }: Options & { items?: JsonObject; max: number },
): QueryParameter<string[]> => ({
  ...{ ...defaults, description, expected: `at most ${max} texts`, fallback: [] },
  schema: { type: 'array', items: { type: 'string', ...items }, maxItems: max },
  parse: values => (values.length <= max ? values : undefined),
  ...options,
})

/** Describes a whole number from 1 to `max`. */
export const integer = <Fallback extends number | undefined = undefined>(
  description: string,
  { max = Number.POSITIVE_INFINITY, fallback, ...options }: Options & { max?: number; fallback?: Fallback } = {},
): QueryParameter<number | Fallback> => ({
  ...{ ...defaults, description, fallback: fallback as Fallback },
  expected: Number.isFinite(max) ? `a number from 1 to ${max}` : 'a number from 1',
  schema: {
    ...{ type: 'integer', minimum: 1 },
    ...(Number.isFinite(max) && { maximum: max }),
    ...(fallback !== undefined && { default: fallback }),
  },
  parse: ([value = '']) => (numberPattern.test(value) && Number(value) <= max ? Number(value) : undefined),
  ...options,
})

/** Describes one of a few texts. */
export const choice = <const Option extends string>(
  description: string,
  values: readonly Option[],
  options: Options = {},
): QueryParameter<Option | undefined> => ({
  ...{ ...defaults, description },
  schema: values.length === 1 ? { const: values[0] ?? '' } : { enum: [...values] },
  parse: ([value]) => values.find(known => known === value),
  expected: values.length === 1 ? `${values[0]}` : `one of ${values.join(', ')}`,
  ...options,
})

/** Describes a truth value. */
export const flag = (description: string, fallback: boolean): QueryParameter<boolean> => ({
  ...{ description, fallback, problem: 'unknown-query', expected: 'true or false' },
  schema: { enum: ['true', 'false'], default: String(fallback) },
  parse: ([value]) => (value === 'true' || value === 'false' ? value === 'true' : undefined),
})

/** Describes the page of a list: at most `limit` entries, after the one that a cursor of this form names. */
export const pageQuery = (cursor = numberPattern, max = MAX_PAGE_SIZE) => ({
  limit: integer('The most entries of a page.', { max, fallback: max, problem: 'bad-limit' }),
  cursor: {
    ...anyText('The `cursor` of the page before.'),
    parse: ([value = '']) => (value === '' || cursor.test(value) ? value : undefined),
    ...{ fallback: '', problem: 'bad-cursor', expected: 'the cursor of the previous page' },
  } satisfies QueryParameter<string>,
})

/** Returns a page of what was read with one entry more than `limit`; `cursor` is the last `key` if there are more. */
export const paginate = <Key extends string, Item extends Record<Key, string | number>>(
  items: readonly Item[],
  limit: number,
  key: Key,
): { page: Item[]; cursor?: string } => {
  const page = items.slice(0, limit)
  const last = items.length > limit ? page.at(-1) : undefined
  return { page, ...(last && { cursor: String(last[key]) }) }
}
