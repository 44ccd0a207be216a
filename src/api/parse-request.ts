import * as v from 'valibot'
import type { CardError } from '../card/model/index.ts'
import { type HttpError, problem, readJson } from '../http/index.ts'
import { MAX_PAGE_SIZE } from '../limits.ts'
import type { ProblemCode } from '../problems.ts'

/** A page of a list: at most `limit` entries whose ids follow `after`. */
export type PageQuery = { after: string; limit: number }

/**
 * Parses `?limit=` and `?cursor=` of a list, whose cursors match `cursorForm` and whose pages have at most `maxLimit`
 * entries. Rejects all parameters but these and `others`.
 */
export const parsePageQuery = (
  url: URL,
  cursorForm: RegExp,
  others: readonly string[] = [],
  maxLimit = MAX_PAGE_SIZE,
): PageQuery => {
  const { searchParams: query } = url
  rejectUnknownQuery(url, [...others, 'limit', 'cursor'])
  const limit = query.get('limit') ?? String(maxLimit)
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > maxLimit)
    throw problem('bad-limit', `limit must be a number from 1 to ${maxLimit}.`)
  const after = query.get('cursor') ?? ''
  if (after !== '' && !cursorForm.test(after))
    throw problem('bad-cursor', 'cursor must be the cursor of the previous page.')
  return { after, limit: Number(limit) }
}

/** Rejects the parameters of a query that are not `known`. */
export const rejectUnknownQuery = ({ pathname, searchParams }: URL, known: readonly string[]): void => {
  const unknown = [...new Set(searchParams.keys())].filter(name => !known.includes(name))
  if (unknown.length === 0) return
  const named = unknown.slice(0, 5).map(name => `"${name.slice(0, 40)}"`)
  const accepted = known.length > 1 ? `${known.slice(0, -1).join(', ')} and ${known.at(-1)}` : (known[0] ?? 'none')
  const detail = `${pathname} has no query parameter ${named.join(', ')}. It accepts ${accepted}.`
  throw problem('unknown-query', detail)
}

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

/** Parses the only parameter of a query, which is true or false. */
export const parseFlag = (url: URL, name: string, missing: boolean): boolean => {
  rejectUnknownQuery(url, [name])
  const value = url.searchParams.get(name) ?? String(missing)
  if (value === 'true' || value === 'false') return value === 'true'
  throw problem('unknown-query', `${name} must be true or false.`)
}

const MAX_ERRORS = 100

/** Returns the error for an invalid body, which names the first mistake after `outcome`. */
export const invalidBody = (code: ProblemCode, outcome: string, errors: CardError[]): HttpError => {
  const [{ pointer, message } = { pointer: '', message: 'is invalid' }] = errors
  const more = errors.length > 1 ? ` And ${errors.length - 1} more.` : ''
  const detail = `${outcome}${pointer || 'The body'} ${message.replace(/\.?$/, '.')}${more}`
  return problem(code, detail, { errors: errors.slice(0, MAX_ERRORS) })
}

/** Decodes a segment of a path; undefined if its percent-encoding is invalid. */
export const decodeSegment = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/**
 * Reads a body by its schema, which `form` describes; a request may have no body if `empty` is returned for that.
 * Throws 422 with `code` for any other.
 */
export const readBody = async <Schema extends v.GenericSchema>(
  request: Request,
  schema: Schema,
  { code, form, empty }: { code: ProblemCode; form: string; empty?: v.InferOutput<Schema> },
): Promise<v.InferOutput<Schema>> => {
  if (empty !== undefined && (request.body === null || request.headers.get('Content-Length') === '0')) return empty
  const body = await readJson(request)
  if (v.is(schema, body)) return body
  throw problem(code, `The body must be ${form}.`)
}

const timeForm = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/**
 * Parses a date, which begins in UTC, or a time with its zone, into ms since 1970. Returns NaN for anything else, and
 * for a day that its month does not have, which `Date` would take for one of the next month.
 */
export const parseTime = (text: string): number => {
  const date = timeForm.exec(text)?.[1]
  if (date === undefined) return Number.NaN
  const midnight = Date.parse(date)
  return new Date(midnight || 0).toISOString().startsWith(date) ? Date.parse(text) : Number.NaN
}
