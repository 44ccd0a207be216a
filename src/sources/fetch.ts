import type { Source } from '../card/manifest/source.ts'
import { log } from '../http/log.ts'
import { isSubrequestLimitError } from '../http/requests-spent.ts'
import { createUpstreamFetch } from '../http/source-fetch.ts'
import { toSuperxCard } from '../mcp/agent-card.ts'
import { discover } from '../mcp/discover.ts'
import type { McpError } from '../mcp/errors.ts'
import type { FetchResult } from './fetched.ts'

/**
 * Makes the card of agent `id` of what its MCP server says of itself. A server that cannot be asked is one that is not ready: so
 * SuperX's table has it. Never rejects.
 */
export const fetchMcpCard = async (source: Source, id: string, env: Env): Promise<FetchResult> => {
  const fetch = createUpstreamFetch(source, env)
  if ('misconfigured' in fetch) return unread(source, { code: 'not-ready', message: fetch.misconfigured })
  const discovery = await discover(source.url, fetch)
  if ('failure' in discovery) return unread(source, discovery.failure)
  const { card, notes } = toSuperxCard(id, discovery.discovered)
  return { card, validators: {}, ...(notes.length > 0 && { notes }) }
}

const codes = {
  unreachable: 'unreachable',
  timeout: 'timeout',
  'not-ready': 'not-ready',
  lost: 'not-ready',
  refused: 'not-ready',
} as const satisfies Record<McpError['code'], string>

/** The log is told the reason, and of the address no more than its origin: the rest of it may be a secret. */
const unread = ({ url }: Source, failure: McpError): FetchResult => {
  const why = failure.code === 'unreachable' ? failure.why : failure.code
  log('error', 'card-unread', { origin: URL.parse(url)?.origin ?? '', why })
  const { code, message } = failure
  return { failure: { status: 503, code: codes[code], message }, ...(isSubrequestLimitError(why) && { spent: true }) }
}
