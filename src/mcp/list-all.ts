import type { Client } from '@modelcontextprotocol/client'
import * as v from 'valibot'
import type { Json } from '../json/json.ts'

/** What an MCP server lists: `tools/list`, `resources/list` or `prompts/list`. */
export type Kind = 'tools' | 'resources' | 'prompts'

/** What came of a list, in the order in which it came; `cut` says why there is no more of it where the server has more. */
export type Listed = { items: Json[]; cut?: string }

/** What listing may cost: of items, of pages, and in ms for each of these. */
export type ListLimits = { items: number; pages: number; timeout: number; signal: AbortSignal }

/** Items are looked at one by one, by others: a bad one must not cost the rest. */
const pageOf = (kind: Kind) =>
  v.pipe(
    v.looseObject({}),
    v.transform(({ [kind]: listed, nextCursor }) => ({ listed, nextCursor })),
    v.object({ listed: v.array(v.custom<Json>(() => true)), nextCursor: v.unknown() }),
  )

/** Lists what a server has, page by page, until it ends or is enough. Rejects as the client does. */
export const listAll = async (client: Client, kind: Kind, limits: ListLimits): Promise<Listed> => {
  const { items: most, pages, timeout, signal } = limits
  let items: Json[] = []
  const seen = new Set<string>()
  for (let cursor: string | undefined; seen.size < pages; ) {
    const params = cursor === undefined ? {} : { params: { cursor } }
    const request = { method: `${kind}/list`, ...params }
    const { listed, nextCursor } = await client.request(request, pageOf(kind), { timeout, signal })
    items = items.concat(listed)
    if (typeof nextCursor !== 'string' || nextCursor === '') return { items }
    if (seen.has(nextCursor)) return { items, cut: 'the cursor of its next page came before' }
    if (items.length > most) return { items, cut: `more than ${most} are not asked for` }
    seen.add(nextCursor)
    cursor = nextCursor
  }
  return { items, cut: `more than ${pages} pages are not asked for` }
}
