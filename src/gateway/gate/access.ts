import type { A2ACall, CallError } from '../../a2a/index.ts'
import type { Authentication } from '../../auth/index.ts'
import {
  authenticateForAgent,
  BLOCK_SECONDS,
  callerKey,
  countUnrecognized,
  hasPermission,
  highestTier,
  recordLimited,
} from '../../auth/start.ts'
import type { CallProfile } from '../../card/index.ts'
import type { AgentCard, DialectName } from '../../card/model/index.ts'
import { type CallModes, collectModes } from '../../card/model/start.ts'
import { HttpError, logUnexpected, RATE_LIMIT_SECONDS } from '../../http/start.ts'
import { type CachedDocument, findByName, lookUpProfile, readExtended, readProfile } from '../../registry/edge/start.ts'
import { isExpired } from '../../registry/start.ts'
import type { AgentRef, CallContext } from './call-context.ts'

/** The error of a call while KV or the Registry is unavailable, which is logged where it arises. */
export const UNAVAILABLE = { kind: 'unavailable' } as const satisfies CallError

/** The error of a call past a rate limit. */
export const PAST_LIMIT = { kind: 'rate-limit', retryAfter: RATE_LIMIT_SECONDS } as const satisfies CallError

/** Checks whether the caller may learn that an internal agent exists. */
export type IsVisible = (id: string) => Promise<boolean> | boolean

/**
 * Resolves an id or name (case-insensitive) to the id of an agent, or to ''. An id takes precedence over a name, and
 * the oldest of several agents with one name. Ignores internal agents that the caller cannot see, and any whose check
 * fails unexpectedly: it must not block others of its name.
 */
export const findAgentByName = async (
  name: string,
  canSee: IsVisible,
  env: Env,
  ctx: ExecutionContext,
): Promise<string> => {
  const { public: publicId, internal } = await findByName(name, env, ctx)
  for (const id of internal) {
    try {
      if (await canSee(id)) return id
    } catch (error) {
      if (error instanceof HttpError) throw error
      logUnexpected(error)
    }
  }
  return publicId ?? ''
}

/** Returns a check for agents that the caller may call: with a token of this host, or credentials of the card. */
export const callableBy =
  (caller: Authentication, request: Request, env: Env, ctx: ExecutionContext): IsVisible =>
  async id => {
    if (caller.authenticated) return hasPermission(caller, 'read', id)
    const profile = await readProfile(id, env, ctx)
    if (profile === null) return false
    return hasPermission(await authenticateForAgent(caller, { id, profile }, { request, env, ctx }), 'read', id)
  }

/** Returns a check for agents whose cards the caller may read, which requires credentials in `Authorization`. */
export const readableBy = (caller: Authentication, request: Request, env: Env, ctx: ExecutionContext): IsVisible =>
  request.headers.has('Authorization') ? callableBy(caller, request, env, ctx) : () => false

/** Counts a call against the limit of its caller, and refuses it beyond that limit. */
export const checkRateLimit = async (
  caller: Authentication,
  request: Request,
  env: Env,
): Promise<CallError | undefined> => {
  if (!caller.authenticated && caller.reason === 'throttled') return { kind: 'rate-limit', retryAfter: BLOCK_SECONDS }
  const { success } = await env.CALL_LIMIT.limit({ key: callerKey(caller, request) })
  if (success) return undefined
  if (!caller.authenticated) recordLimited(request)
  return PAST_LIMIT
}

/** Adds an agent to the context: its profile, and the caller as the agent's card identifies it. */
export const resolveAgent = async (context: CallContext, agent: AgentRef): Promise<CallError | undefined> => {
  const { env, ctx, caller, timing } = context
  const profile = await lookUpProfile(agent.id, env, ctx)
  timing?.lap('kv')
  if (profile === undefined) return UNAVAILABLE
  context.agent = agent
  context.profile = profile
  if (profile) context.caller = await authenticateForAgent(caller, { id: agent.id, profile }, context)
  timing?.lap('auth')
  return undefined
}

/** Refuses callers that may neither call the agent nor read its extended cards. `checkCaller` knows the operation. */
export const authorizeCall = (context: CallContext): { profile: CallProfile } | CallError => {
  const seen = authorizeRead(context)
  const { caller, agent } = context
  if ('kind' in seen || seen.profile.callers === 'anyone' || hasPermission(caller, 'read', agent.id)) return seen
  return refuseCaller(caller, 'call', agent.id)
}

/** Refuses callers that may not see the agent. To them, an internal agent is one that does not exist. */
export const authorizeRead = ({ agent, profile, caller }: CallContext): { profile: CallProfile } | CallError => {
  const { id, named } = agent
  const reason = caller.authenticated ? undefined : caller.reason
  if (reason === 'throttled') return { kind: 'rate-limit', retryAfter: BLOCK_SECONDS }
  if (profile === null || (profile.visibility === 'internal' && !hasPermission(caller, 'read', id)))
    return { kind: 'unknown-agent', agent: named }
  if (reason === 'bad-token') return { kind: 'bad-token' }
  if (reason === 'unavailable') return { kind: 'token-unchecked' }
  return { profile }
}

/** Refuses callers that may not call the agent, unless this host answers with an extended card, which `read` allows. */
export const checkCaller = (
  { agent: { id }, caller }: CallContext,
  { operation }: A2ACall,
  profile: CallProfile,
): CallError | undefined => {
  const isAnswered = operation === 'extendedCard' && !profile.agentServesExtendedCard
  return isAnswered || profile.callers === 'anyone' || hasPermission(caller, 'call', id)
    ? undefined
    : refuseCaller(caller, 'call', id)
}

/** Refuses callers without read access to an agent. */
export const checkReadAccess = ({ agent: { id }, caller }: CallContext): CallError | undefined =>
  hasPermission(caller, 'read', id) ? undefined : refuseCaller(caller, 'read', id)

const refuseCaller = (caller: Authentication, scope: 'read' | 'call', agent: string): CallError => {
  if (caller.authenticated) return { kind: 'forbidden', scope, agent }
  return caller.reason === 'anonymous' ? { kind: 'no-token', scope } : { kind: 'bad-token' }
}

/** Returns the error of a refused call. After too many failed attempts, that is 429 in place of one of credentials. */
export const countRefusal = async (
  error: CallError,
  { caller, request, env }: Pick<CallContext, 'caller' | 'request' | 'env'>,
): Promise<CallError> =>
  (error.kind === 'bad-token' || error.kind === 'unknown-agent') && (await countUnrecognized(caller, request, env))
    ? { kind: 'rate-limit', retryAfter: BLOCK_SECONDS }
    : error

/** Loads the extended card of the caller's highest tier. */
export const loadExtendedCard = async (
  context: CallContext,
  { tiers }: CallProfile,
  dialect: DialectName,
): Promise<CachedDocument | CallError> => {
  const denied = checkReadAccess(context)
  if (denied) return denied
  const { agent, caller, env, ctx, timing } = context
  const tier = highestTier(caller, { tiers })
  if (tier === undefined) return { kind: 'extended-card-not-configured' }
  const card = await readExtended({ id: agent.id, tier, name: dialect }, env, ctx).catch(() => UNAVAILABLE)
  timing?.lap('kv')
  if (card === null) return { kind: 'extended-card-not-configured' }
  return 'kind' in card || !card.source || !isExpired(card.source) ? card : UNAVAILABLE
}

/** Returns the modes of the extended card that the caller may read, if any: its skills may accept more. */
export const readExtendedModes = async (
  { agent, caller, env, ctx }: CallContext,
  { tiers }: CallProfile,
): Promise<CallModes | undefined> => {
  const tier = hasPermission(caller, 'read', agent.id) ? highestTier(caller, { tiers }) : undefined
  if (tier === undefined) return undefined
  // While KV is unavailable, the public card decides.
  const document = await readExtended({ id: agent.id, tier, name: '1.0' }, env, ctx).catch(() => null)
  if (document === null) return undefined
  const modes =
    modesOfDocuments.get(document) ?? collectModes(JSON.parse(new TextDecoder().decode(document.body)) as AgentCard)
  modesOfDocuments.set(document, modes)
  return modes
}

/** The modes of extended cards, parsed once while a card is in memory. */
const modesOfDocuments = new WeakMap<CachedDocument, CallModes>()
