import type { CallError, Refusal } from '../../a2a/index.ts'
import {
  type Authentication,
  authenticateForAgent,
  callerKey,
  countUnrecognized,
  hasPermission,
  highestTier,
  recordLimited,
} from '../../auth/index.ts'
import type { CallProfile } from '../../card/index.ts'
import { type AgentCard, type CallModes, collectModes, type DialectName } from '../../card/model/index.ts'
import { RATE_LIMIT_SECONDS, type RequestContext } from '../../http/index.ts'
import { type CachedDocument, lookUpProfile, readExtended } from '../../registry/edge/index.ts'
import { isExpired } from '../../registry/index.ts'
import { BLOCKED, refuseCaller, selectChecks } from './admit.ts'
import type { Exchange } from './exchange.ts'
import { Gate } from './gate.ts'

/** The error of a call while KV or the Registry is unavailable, which is logged where it arises. */
export const UNAVAILABLE = { kind: 'unavailable' } as const satisfies CallError

/** The error of a call past a rate limit. */
export const PAST_LIMIT = { kind: 'rate-limit', retryAfter: RATE_LIMIT_SECONDS } as const satisfies CallError

/** Counts a call against the limit of its caller, and refuses it beyond that limit. */
export const checkRateLimit = (
  caller: Authentication,
  request: Pick<Request, 'headers'>,
  env: Env,
): CallError | Promise<Refusal> => {
  if (!caller.authenticated && caller.reason === 'throttled') return BLOCKED
  return env.CALL_LIMIT.limit({ key: callerKey(caller, request) }).then(({ success }) => {
    if (success) return undefined
    if (!caller.authenticated) recordLimited(request)
    return PAST_LIMIT
  })
}

/** The gates of profiles, kept with them: a profile is parsed when it is read from KV. */
const gates = new WeakMap<CallProfile, Gate>()

/** Returns the gate of an agent. */
export const getGate = (id: string, profile: CallProfile, env: Env): Gate => {
  const known = gates.get(profile)
  if (known && known.env === env && known.id === id) return known
  const gate = new Gate(id, profile, env, selectChecks(profile))
  gates.set(profile, gate)
  return gate
}

/** The part of an exchange that finds the agent. */
export type UnresolvedCall = RequestContext &
  Pick<Exchange, 'agent' | 'caller' | 'gate'> &
  Partial<Pick<Exchange, 'profileFor'>>

/**
 * Finds the agent of an exchange, and identifies the caller by the schemes of its card. Returns an error while the
 * agent cannot be looked up. A promise only where something is read.
 */
export const resolveAgent = (exchange: UnresolvedCall): CallError | undefined | Promise<Refusal> => {
  const { agent, env, ctx } = exchange
  const profile = lookUpProfile(agent.id, env, ctx)
  return profile instanceof Promise
    ? profile.then(found => identifyCaller(found, exchange))
    : identifyCaller(profile, exchange)
}

const identifyCaller = (
  found: CallProfile | null | undefined,
  exchange: UnresolvedCall,
): CallError | undefined | Promise<undefined> => {
  const { agent, caller, env, timing } = exchange
  timing?.lap('kv')
  if (found === undefined) return UNAVAILABLE
  const profile = found && (exchange.profileFor?.(found) ?? found)
  exchange.gate = profile && getGate(agent.id, profile, env)
  if (profile === null) return undefined
  const identifying = authenticateForAgent(caller, { id: agent.id, profile }, exchange)
  const identify = (identified: Authentication): undefined => {
    exchange.caller = identified
    timing?.lap('auth')
  }
  return identifying instanceof Promise ? identifying.then(identify) : identify(identifying)
}

/** Returns the error of a refused call. After too many failed attempts, that is 429 in place of one of credentials. */
export const countRefusal = (
  error: CallError,
  { caller, request, env }: Pick<Exchange, 'caller' | 'request' | 'env'>,
): CallError | Promise<CallError> =>
  error.kind === 'bad-token' || error.kind === 'unknown-agent'
    ? countUnrecognized(caller, request, env).then(isBlocked => (isBlocked ? BLOCKED : error))
    : error

// Extended cards

/** Refuses callers without read access to an agent. */
const checkReadAccess = ({ id }: Gate, caller: Authentication): Refusal =>
  hasPermission(caller, 'read', id) ? undefined : refuseCaller(caller, 'read', id)

/** Refuses the same where a secret of this Worker makes all callers one to the agent, whose card it is. */
export const checkUpstreamReader = (gate: Gate, caller: Authentication): Refusal =>
  gate.profile.secret === undefined ? undefined : checkReadAccess(gate, caller)

/** Loads the extended card of the caller's highest tier. */
export const loadExtendedCard = async (
  gate: Gate,
  dialect: DialectName,
  { caller, env, ctx, timing }: Exchange,
): Promise<CachedDocument | CallError> => {
  const denied = checkReadAccess(gate, caller)
  if (denied) return denied
  const tier = highestTier(caller, gate.profile)
  if (tier === undefined) return { kind: 'extended-card-not-configured' }
  const card = await readExtended({ id: gate.id, tier, name: dialect }, env, ctx).catch(() => UNAVAILABLE)
  timing?.lap('kv')
  if (card === null) return { kind: 'extended-card-not-configured' }
  return 'kind' in card || !card.source || !isExpired(card.source) ? card : UNAVAILABLE
}

/**
 * Returns the modes of the extended card that the caller may read, if any: its skills may accept more. While KV is
 * unavailable, the public card decides.
 */
export const readExtendedModes = (
  { id, profile }: Gate,
  { caller, env, ctx }: Exchange,
): Promise<CallModes | undefined> | undefined => {
  const tier = hasPermission(caller, 'read', id) ? highestTier(caller, profile) : undefined
  return tier === undefined
    ? undefined
    : readExtended({ id, tier, name: '1.0' }, env, ctx).then(modesOf, () => undefined)
}

const modesOf = (document: CachedDocument | null): CallModes | undefined => {
  if (document === null) return undefined
  const modes =
    modesOfDocuments.get(document) ?? collectModes(JSON.parse(new TextDecoder().decode(document.body)) as AgentCard)
  modesOfDocuments.set(document, modes)
  return modes
}

/** The modes of extended cards, parsed once while a card is in memory. */
const modesOfDocuments = new WeakMap<CachedDocument, CallModes>()
