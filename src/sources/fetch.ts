import type { Source } from '../card/manifest/upstream.ts'
import type { CardError } from '../card/model/report.ts'
import { createUpstreamFetch } from '../http/bindings.ts'
import { log } from '../http/log.ts'
import { blockReason, isSubrequestLimitError } from '../http/safe-fetch.ts'
import { toSuperxCard } from '../mcp/agent-card.ts'
import { discover } from '../mcp/discover.ts'
import type { McpError } from '../mcp/errors.ts'
import type { Validators } from '../registry/records.ts'
import { type FetchResult, fetchUpstreamCard } from './upstream-card.ts'

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
  'broken-off': 'not-ready',
  'too-large': 'not-ready',
  'session-lost': 'not-ready',
  refused: 'not-ready',
} as const satisfies Record<McpError['code'], string>

/** The log is told the reason, and of the address no more than its origin: the rest of it may be a secret. */
const unread = ({ url }: Source, failure: McpError): FetchResult => {
  const why = failure.code === 'unreachable' ? failure.why : failure.code
  log('error', 'card-unread', { origin: URL.parse(url)?.origin ?? '', why })
  const { code, message } = failure
  return { failure: { status: 503, code: codes[code], message }, ...(isSubrequestLimitError(why) && { spent: true }) }
}

/**
 * Asks the source of an agent's card for it; `known` stands for the card that was had last, `ownOrigins` for this host. Never
 * rejects.
 */
export const fetchSource = (
  source: Source,
  id: string,
  known: Validators | undefined,
  env: Env,
  ownOrigins: readonly string[],
): Promise<FetchResult> =>
  source.kind === 'mcp' ? fetchMcpCard(source, id, env) : fetchUpstreamCard(source, known, env, ownOrigins)

/** Why a source is refused before it is asked: its address alone says that this host does not call it. The log says why. */
export const checkSourceAllowed = (
  { kind, url, service }: Source,
  env: Pick<Env, 'ALLOWED_ORIGINS'>,
): CardError | undefined => {
  const why = service === undefined ? blockReason(url, env.ALLOWED_ORIGINS) : undefined
  if (why === undefined) return undefined
  log('warn', 'source-blocked', { why })
  return {
    pointer: `/upstream/${kind}`,
    message: 'is an address that this host does not call: it calls public names over https (docs/security.md)',
  }
}
