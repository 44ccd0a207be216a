import type { SourceFetch } from '../http/source-fetch.ts'
import type { Discovered } from './agent-card.ts'
import { type McpError, notReady } from './errors.ts'
import { type Kind, type Listed, type ListLimits, listAll } from './list-all.ts'
import { openSession, type Session } from './session.ts'

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
export type DiscoveryLimits = typeof discoveryLimits

/** All that an MCP server says of itself; or why it says nothing. */
export type Discovery = { discovered: Discovered } | { failure: McpError }

/** Asks an MCP server what it has, in a session that is over when it is done. Never rejects. */
export const discover = async (
  url: string,
  fetch: SourceFetch,
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
  fetch: SourceFetch,
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
