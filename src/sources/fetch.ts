import type { Source } from '../card/manifest/index.ts'
import type { CardError } from '../card/model/index.ts'
import { config, type Variables } from '../config.ts'
import { blockReason, createUpstreamFetch, isPrivateHost, log } from '../http/index.ts'
import { describeFailure, discover, discoveryLimits, type McpError, toSuperxCard } from '../mcp/client/index.ts'
import type { SourceRecord } from '../registry/index.ts'
import { type FetchResult, fetchFailed, fetchUpstreamCard } from './upstream-card.ts'
import { findPinnedKeys } from './verify.ts'

/** The agent whose card is fetched, and what is known about it. */
export type FetchContext = {
  id: string
  /** What is stored of the source, if the card was fetched before. */
  known?: SourceRecord | undefined
  /** Whether a response that the card is unchanged is of use. */
  isConditional?: boolean
  /** The origins of this host, which are never called. */
  ownOrigins: readonly string[]
}

/** Fetches an agent's card from its source. Never rejects. */
export const fetchSource = (
  source: Source,
  { id, known, isConditional = false, ownOrigins }: FetchContext,
  env: Env,
): Promise<FetchResult> => {
  if (source.kind === 'mcp') return fetchMcpCard(source, id, env)
  const validators = isConditional ? known?.validators : undefined
  return fetchUpstreamCard(source, { validators, pinned: findPinnedKeys(known, source), ownOrigins }, env)
}

/**
 * Makes the card of agent `id` from what its MCP server reports. A server that cannot be used is `not-ready`, as in SuperX. Never
 * rejects.
 */
export const fetchMcpCard = async (source: Source, id: string, env: Env): Promise<FetchResult> => {
  const fetch = createUpstreamFetch(source, env, config(env))
  if ('misconfigured' in fetch)
    return fetchFailed(source, { status: 503, code: 'not-ready', message: fetch.misconfigured }, 'not-ready')
  const elicitations = source.session === 'shared' ? {} : { elicitations: 'none' as const }
  const discovery = await discover(source.url, fetch, { ...discoveryLimits, ...elicitations })
  if ('failure' in discovery) {
    const { failure } = discovery
    const reason = failure.code === 'unreachable' ? failure.why : failure.code
    return fetchFailed(source, { status: 503, code: CODES[failure.code], message: describeFailure(failure) }, reason)
  }
  const { card, notes } = toSuperxCard(id, discovery.discovered, source.url)
  return { card, validators: {}, ...(notes.length > 0 && { notes }) }
}

const CODES = {
  unreachable: 'unreachable',
  timeout: 'timeout',
  'not-ready': 'not-ready',
  'broken-off': 'not-ready',
  'too-large': 'not-ready',
  'session-lost': 'not-ready',
  refused: 'not-ready',
} as const satisfies Record<McpError['code'], string>

/** Returns an error if the address of a source is one that this host never calls. The log has the reason. */
export const checkSourceAllowed = ({ kind, url, service }: Source, env: Variables): CardError | undefined => {
  const message = service === undefined ? describeBlocked(url, env) : undefined
  return message === undefined ? undefined : { pointer: `/upstream/${kind}`, message }
}

/** Returns what to do about an address that this host never calls; undefined if it calls it. The log has the reason. */
export const describeBlocked = (address: string, env: Variables): string | undefined => {
  const { allowedOrigins, localOrigins } = config(env)
  const why = blockReason(address, allowedOrigins)
  if (why === undefined) return undefined
  log('warn', 'source-blocked', { 'calling_card.detail': why })
  const { origin, hostname } = new URL(address)
  const advice = localOrigins
    ? `If the agent is on your machine, write ALLOWED_ORIGINS=${origin} into .dev.vars, or add the origin to that line after a space, and restart \`npm start\`.`
    : isPrivateHost(hostname)
      ? 'No deployed host reaches this one: give the agent a public https address, such as that of a tunnel.'
      : `To allow it, add ${origin} to ALLOWED_ORIGINS in wrangler.toml, and deploy.`
  return `is not an address that this host calls: it calls public host names over https. ${advice}`
}
