import type { Client } from '@modelcontextprotocol/client'
import * as v from 'valibot'
import type { UpstreamFetch } from '../http/bindings.ts'
import type { Json } from '../json/json.ts'

import { type McpError, notReady } from './errors.ts'
import { openSession, type ServerInfo, type Session } from './session.ts'

/** What an MCP server lists: `tools/list`, `resources/list` or `prompts/list`. */
type Kind = 'tools' | 'resources' | 'prompts'

/** What came of a list, in the order in which it came; `cut` says why there is no more of it where the server has more. */
export type Listed = { items: Json[]; cut?: string }

/** What listing may cost: of items, of pages, and in ms for each of these. */
type ListLimits = { items: number; pages: number; timeout: number; signal: AbortSignal }

/** Items are looked at one by one, by others: a bad one must not cost the rest. */
const pageOf = (kind: Kind) =>
  v.pipe(
    v.looseObject({}),
    v.transform(({ [kind]: listed, nextCursor }) => ({ listed, nextCursor })),
    v.object({ listed: v.array(v.custom<Json>(() => true)), nextCursor: v.unknown() }),
  )

/** Lists what a server has, page by page, until it ends or is enough. Rejects as the client does. */
const listAll = async (client: Client, kind: Kind, limits: ListLimits): Promise<Listed> => {
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

/** What discovery may cost: times in ms, for one request and for the whole, and bytes of one response. */
export const discoveryLimits = {
  timeout: 10_000,
  whole: 20_000,
  responseBytes: 1024 * 1024,
  items: 500,
  pages: 100,
  // Pages are kept until all have come. It is over within a minute: no second budget follows.
  budget: { unasked: 10, bytes: 8 * 1024 * 1024, perRequest: { unasked: 0, bytes: 0 } },
}
type DiscoveryLimits = typeof discoveryLimits

/** All that an MCP server says of itself; or why it says nothing. */
type Discovery = { discovered: Discovered } | { failure: McpError }

/** Asks an MCP server what it has, in a session that is over when it is done. Never rejects. */
export const discover = async (
  url: string,
  fetch: UpstreamFetch,
  limits: DiscoveryLimits = discoveryLimits,
): Promise<Discovery> => {
  const signal = AbortSignal.timeout(limits.whole)
  const first = await ask(url, fetch, limits, signal)
  if (!isLost(first)) return first
  const second = await ask(url, fetch, limits, signal)
  return isLost(second) ? { failure: notReady('loses its sessions (HTTP 404)') } : second
}

const isLost = (discovery: Discovery): boolean => 'failure' in discovery && discovery.failure.code === 'lost'

const ask = async (
  url: string,
  fetch: UpstreamFetch,
  { timeout, responseBytes, items, pages, budget }: DiscoveryLimits,
  signal: AbortSignal,
): Promise<Discovery> => {
  const opened = await openSession(url, fetch, { timeout, signal, responseBytes, budget })
  if ('failure' in opened) return opened
  const { session } = opened
  try {
    return { discovered: await everything(session, { items, pages, timeout, signal }) }
  } catch (error) {
    return { failure: session.failure(error) }
  } finally {
    await session.close()
  }
}

/** The server is asked for what it says it has, and for nothing else. */
const everything = async ({ client, server, failure }: Session, limits: ListLimits): Promise<Discovered> => {
  const has = (kind: Kind): boolean => server.capabilities[kind] != null
  const listed = async (kind: Kind): Promise<Listed> => {
    try {
      return await listAll(client, kind, limits)
    } catch (error) {
      const failed = failure(error)
      // A card is of tools. Of what else there is, it can do without.
      if (kind === 'tools' || failed.code !== 'refused') throw error
      return { items: [], cut: failed.message }
    }
  }
  return {
    ...server,
    tools: has('tools') ? await listed('tools') : { items: [] },
    ...(has('resources') && { resources: await listed('resources') }),
    ...(has('prompts') && { prompts: await listed('prompts') }),
  }
}

/** All that an MCP server has said of itself. */
export type Discovered = ServerInfo & { tools: Listed; resources?: Listed; prompts?: Listed }
