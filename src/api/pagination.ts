import { HttpError } from '../http/errors.ts'
import { MAX_PAGE_SIZE } from '../limits.ts'

/** Which page of a list is asked for: so many, beginning after an id. */
export type PageQuery = { after: string; limit: number }

/** Reads `?limit=` and `?cursor=` of a list; `form` is that of its cursors. What it does not know is refused. */
export const parsePageQuery = ({ pathname, searchParams: query }: URL, form: RegExp): PageQuery => {
  for (const name of query.keys())
    if (name !== 'limit' && name !== 'cursor')
      throw new HttpError(400, 'unknown-query', `GET ${pathname} takes limit and cursor, not "${name.slice(0, 40)}".`)
  const limit = query.get('limit') ?? String(MAX_PAGE_SIZE)
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_PAGE_SIZE)
    throw new HttpError(400, 'bad-limit', `limit is a number from 1 to ${MAX_PAGE_SIZE}.`)
  const after = query.get('cursor') ?? ''
  if (after !== '' && !form.test(after))
    throw new HttpError(400, 'bad-cursor', 'cursor is what the page before answered as its cursor.')
  return { after, limit: Number(limit) }
}

/** A page of what was asked for and one more; `cursor` is the last one's id where there are more. */
export const paginate = <Item extends { id: string }>(
  items: readonly Item[],
  limit: number,
): { shown: Item[]; cursor?: string } => {
  const shown = items.slice(0, limit)
  const last = items.length > limit ? shown.at(-1) : undefined
  return { shown, ...(last && { cursor: last.id }) }
}
