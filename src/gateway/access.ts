import type { Refusal } from '../a2a/verdict.ts'
import { hasPermission } from '../auth/permissions.ts'
import type { Authentication } from '../auth/principal.ts'
import { clientKey, retryAfter } from '../auth/throttle.ts'
import type { CallProfile } from '../card/call-profile.ts'
import type { Visit } from './visit.ts'

/** The period of the rate limit of calls, in seconds (wrangler.toml). */
const period = 60

/** Counts a call; why it gets no further, whatever it asks, where it is one too many. */
export const checkRateLimit = async (
  caller: Authentication,
  request: Request,
  env: Env,
): Promise<Refusal | undefined> => {
  if (!caller.known && caller.given === 'throttled') return { refused: 'rate-limit', retryAfter }
  const { success } = await env.CALL_LIMIT.limit({ key: caller.known ? caller.subject : clientKey(request) })
  return success ? undefined : { refused: 'rate-limit', retryAfter: period }
}

/**
 * Lets a caller through to an agent's profile; or says why it gets no further: credentials that do not hold, or an agent that is
 * not there. An internal one is there for who may read it alone: all others are told as if it were none, whatever their
 * credentials.
 */
export const authorizeCall = ({ id, named, profile, caller }: Visit): { profile: CallProfile } | Refusal => {
  if (!caller.known && caller.given === 'throttled') return { refused: 'rate-limit', retryAfter }
  if (profile === null || (profile.visibility === 'internal' && !hasPermission(caller, 'read', id)))
    return { refused: 'unknown-agent', agent: named }
  if (!caller.known && caller.given === 'bad-token') return { refused: 'bad-token' }
  if (!caller.known && caller.given === 'unavailable') return { refused: 'token-unchecked' }
  return { profile }
}

/** Why a caller may not have what an agent keeps for those that may read it. */
export const checkReadAccess = (caller: Authentication, id: string): Refusal | undefined => {
  if (!caller.known) return { refused: caller.given === 'nothing' ? 'no-token' : 'bad-token' }
  return hasPermission(caller, 'read', id)
    ? undefined
    : { refused: 'forbidden', missing: `the scope "read" for agent "${id}"` }
}
