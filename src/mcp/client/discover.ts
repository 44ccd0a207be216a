import type { UpstreamFetch } from '../../http/index.ts'
import type { Json } from '../../json/index.ts'
import {
  DISCOVERY_TIMEOUT_SECONDS,
  MAX_DISCOVERY_BYTES,
  MAX_DISCOVERY_RESPONSE_BYTES,
  MAX_SKILLS,
} from '../../limits.ts'
import type { ElicitationPolicy } from './elicitation.ts'
import { type McpError, notReady } from './mcp-error.ts'
import { type ListKind, openSession, type ServerInfo, type Session } from './session.ts'

/** Everything that an MCP server declares about itself. */
export type Discovered = ServerInfo & { tools: Listed; resources?: Listed; prompts?: Listed }

/** The items of a list, in the server's order. `truncated` is the reason where the server has more. */
export type Listed = { items: Json[]; truncated?: string }

/** The limits of discovery. */
export const discoveryLimits = {
  requestTimeoutMs: 10_000,
  timeoutMs: DISCOVERY_TIMEOUT_SECONDS * 1000,
  maxResponseBytes: MAX_DISCOVERY_RESPONSE_BYTES,
  // All pages are in memory until the last one arrives.
  maxSessionBytes: MAX_DISCOVERY_BYTES,
  maxItems: MAX_SKILLS,
  maxPages: 100,
}
type DiscoveryLimits = typeof discoveryLimits & {
  /** Servers offer the tools that use elicitation only to clients that support it. */
  elicitations?: ElicitationPolicy
}

/** Asks an MCP server for everything that it declares, in a session of its own. */
export const discover = async (url: string, fetch: UpstreamFetch, limits: DiscoveryLimits = discoveryLimits) => {
  const signal = AbortSignal.timeout(limits.timeoutMs)
  for (let isRetry = false; ; isRetry = true) {
    const found = await discoverOnce(url, fetch, { ...limits, signal })
    if (!('failure' in found) || found.failure.code !== 'session-lost') return found
    if (isRetry) return { failure: notReady(`loses its sessions (HTTP ${found.failure.status})`) }
  }
}

type SignalLimits = DiscoveryLimits & { signal: AbortSignal }

/** Requests the lists that the server declares as its capabilities. Returns them, or why that failed. */
const discoverOnce = async (url: string, fetch: UpstreamFetch, limits: SignalLimits) => {
  const opened = await openSession(url, fetch, { ...limits, timeoutMs: limits.requestTimeoutMs })
  if ('failure' in opened) return opened
  const { session } = opened
  try {
    const discovered: Discovered = { ...session.server, tools: { items: [] } }
    for (const kind of ['tools', 'resources', 'prompts'] as const) {
      if (session.server.capabilities[kind] == null) continue
      const listed = await listAll(session, kind, limits)
      if (!('failure' in listed)) discovered[kind] = listed
      // A card is made of tools, and can do without resources and prompts.
      else if (kind !== 'tools' && listed.failure.code === 'refused')
        discovered[kind] = { items: [], truncated: listed.failure.message }
      else return listed
    }
    return { discovered }
  } finally {
    await session.close()
  }
}

/** Requests a list page by page, until its end or a limit. */
const listAll = async (
  session: Session,
  kind: ListKind,
  { requestTimeoutMs, signal, maxItems, maxPages }: SignalLimits,
): Promise<Listed | { failure: McpError }> => {
  let items: Json[] = []
  const cursors = new Set<string>()
  for (let cursor: string | undefined; cursors.size < maxPages; ) {
    const requested = await session.listPage(kind, cursor, { timeoutMs: requestTimeoutMs, signal })
    if ('failure' in requested) return requested
    items = items.concat(requested.page.items)
    cursor = requested.page.nextCursor
    if (cursor === undefined) return { items }
    if (cursors.has(cursor)) return { items, truncated: 'the server repeats the cursor of a page' }
    if (items.length > maxItems) return { items, truncated: `this host requests no more than ${maxItems}` }
    cursors.add(cursor)
  }
  return { items, truncated: `this host requests no more than ${maxPages} pages` }
}
