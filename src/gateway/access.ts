import type { Refusal } from '../a2a/errors.ts'
import { authenticateForAgent } from '../auth/authenticate.ts'
import { hasPermission, highestTier } from '../auth/permissions.ts'
import type { Authentication } from '../auth/principal.ts'
import { BLOCK_SECONDS, clientKey } from '../auth/throttle.ts'
import type { CallProfile } from '../card/call-profile.ts'
import type { RepresentationName } from '../card/model/constants.ts'
import type { Asking } from '../http/handler.ts'
import { type CachedDocument, readExtended, readProfile } from '../registry/edge/cards.ts'
import { findByName } from '../registry/edge/lookups.ts'
import { isExpired } from '../registry/staleness.ts'
import { unavailable, type Visit } from './call-context.ts'

/** Whether who asks is to learn of an internal agent. */
export type CanSee = (id: string) => Promise<boolean> | boolean

/**
 * The agent that a name or an id stands for to who asks, whatever its case: an id before a name, who has had a name longest before
 * others, and as though the internal ones that it does not see were not there. An empty text where there is none.
 */
export const findAgentByName = async (name: string, sees: CanSee, ...[, env, ctx]: Asking): Promise<string> => {
  const { public: publicId, internal } = await findByName(name, env, ctx)
  for (const id of internal) if (await sees(id)) return id
  return publicId ?? ''
}

/** Whether a caller may call an internal agent: by a token of this host, or by what the agent's card says besides. */
export const mayCall =
  (caller: Authentication, ...[request, env, ctx]: Asking): CanSee =>
  async id => {
    if (caller.authenticated) return hasPermission(caller, 'read', id)
    const profile = await readProfile(id, env, ctx)
    return (
      profile !== null &&
      hasPermission(await authenticateForAgent(caller, { id, profile }, { request, env, ctx }), 'read', id)
    )
  }

/** Whether its caller may read an internal agent's card: that takes a token where tokens are sent. */
export const mayRead = (caller: Authentication, ...asking: Asking): CanSee =>
  asking[0].headers.has('Authorization') ? mayCall(caller, ...asking) : () => false

/** The period of the rate limit of calls, in seconds (wrangler.toml). */
const period = 60

/** Counts a call; why it gets no further, whatever it asks, where it is one too many. */
export const checkRateLimit = async (
  caller: Authentication,
  request: Request,
  env: Env,
): Promise<Refusal | undefined> => {
  if (!caller.authenticated && caller.reason === 'throttled')
    return { refused: 'rate-limit', retryAfter: BLOCK_SECONDS }
  const { success } = await env.CALL_LIMIT.limit({ key: caller.authenticated ? caller.subject : clientKey(request) })
  return success ? undefined : { refused: 'rate-limit', retryAfter: period }
}

/**
 * Lets a caller through to an agent's profile; or says why it gets no further: credentials that do not hold, or an agent that is
 * not there. An internal one is there for who may read it alone: all others are told as if it were none, whatever their
 * credentials.
 */
export const authorizeCall = ({ id, named, profile, caller }: Visit): { profile: CallProfile } | Refusal => {
  if (!caller.authenticated && caller.reason === 'throttled')
    return { refused: 'rate-limit', retryAfter: BLOCK_SECONDS }
  if (profile === null || (profile.visibility === 'internal' && !hasPermission(caller, 'read', id)))
    return { refused: 'unknown-agent', agent: named }
  if (!caller.authenticated && caller.reason === 'bad-token') return { refused: 'bad-token' }
  if (!caller.authenticated && caller.reason === 'unavailable') return { refused: 'token-unchecked' }
  return { profile }
}

/** Why a caller may not have what an agent keeps for those that may read it. */
export const checkReadAccess = (caller: Authentication, id: string): Refusal | undefined => {
  if (!caller.authenticated) return { refused: caller.reason === 'anonymous' ? 'no-token' : 'bad-token' }
  return hasPermission(caller, 'read', id)
    ? undefined
    : { refused: 'forbidden', missing: `the scope "read" for agent "${id}"` }
}

/** The extended card that is a caller's, in the dialect that it asks for; or why there is none for it. */
export const loadExtendedCard = async (
  caller: Authentication,
  id: string,
  profile: CallProfile,
  dialect: RepresentationName,
  env: Env,
  ctx: ExecutionContext,
): Promise<CachedDocument | Refusal> => {
  const refusal = checkReadAccess(caller, id)
  if (refusal) return refusal
  const tier = highestTier(caller, profile)
  if (tier === undefined) return { refused: 'extended-card-not-configured' }
  const card = await readExtended({ id, tier, name: dialect }, env, ctx).then(
    card => (card?.source && isExpired(card.source) ? unavailable : card),
    () => unavailable,
  )
  return card ?? { refused: 'extended-card-not-configured' }
}
