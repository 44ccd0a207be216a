import { HttpError } from '../http/index.ts'
import { MAX_PAGE_SIZE } from '../limits.ts'

/** A page of a list: at most `limit` entries whose ids follow `after`. */
export type PageQuery = { after: string; limit: number }

/**
 * Parses `?limit=` and `?cursor=` of a list, whose cursors match `cursorForm` and whose pages have at most `maxLimit` entries. Rejects all
 * parameters but these and `others`.
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
    throw new HttpError(400, 'bad-limit', `limit must be a number from 1 to ${maxLimit}.`)
  const after = query.get('cursor') ?? ''
  if (after !== '' && !cursorForm.test(after))
    throw new HttpError(400, 'bad-cursor', 'cursor must be the cursor of the previous page.')
  return { after, limit: Number(limit) }
}

/** How many unknown parameters an error names. */
const MAX_NAMED = 5

const describeNames = (names: readonly string[]): string => {
  const quoted = names.slice(0, MAX_NAMED).map(name => `"${name.slice(0, 40)}"`)
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  return quoted.join(', ') + more
}

/** Rejects the parameters of a query that are not `known`. */
export const rejectUnknownQuery = ({ pathname, searchParams }: URL, known: readonly string[]): void => {
  const unknown = [...new Set(searchParams.keys())].filter(name => !known.includes(name))
  if (unknown.length === 0) return
  const accepted = known.length > 1 ? `${known.slice(0, -1).join(', ')} and ${known.at(-1)}` : (known[0] ?? 'none')
  throw new HttpError(
    400,
    'unknown-query',
    `${pathname} has no query parameter ${describeNames(unknown)}. It accepts ${accepted}.`,
  )
}

/** Returns a page of what was read with one entry more than `limit`; `cursor` is the last id if there are more. */
export const paginate = <Item extends { id: string }>(
  items: readonly Item[],
  limit: number,
): { page: Item[]; cursor?: string } => {
  const page = items.slice(0, limit)
  const last = items.length > limit ? page.at(-1) : undefined
  return { page, ...(last && { cursor: last.id }) }
}

/** Parses the only parameter of a query, which is true or false. */
export const parseFlag = (url: URL, name: string, missing: boolean): boolean => {
  rejectUnknownQuery(url, [name])
  const value = url.searchParams.get(name) ?? String(missing)
  if (value === 'true' || value === 'false') return value === 'true'
  throw new HttpError(400, 'unknown-query', `${name} must be true or false.`)
}
