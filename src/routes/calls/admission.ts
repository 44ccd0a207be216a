import type { Refusal } from '../../a2a/verdict.ts'
import { addressOf, retryAfter } from '../../auth/attempts.ts'
import type { Caller } from '../../auth/caller.ts'
import { may } from '../../auth/may.ts'
import type { CallProfile } from '../../card/call-profile.ts'

/** An agent by its id, and as the caller named it: what it did not say, it is not told. */
export type Addressee = { id: string; named: string }

/** The period of the rate limit of calls, in seconds (wrangler.toml). */
const period = 60

/** Why a caller gets no further with an agent, whatever it asks: credentials that do not hold, too many calls, or an agent that is not shown to it. */
export const admissionRefusal = async (
  { id, named }: Addressee,
  { visibility }: CallProfile,
  caller: Caller,
  request: Request,
  env: Env,
): Promise<Refusal | undefined> => {
  if (!caller.known && caller.given === 'throttled') return { refused: 'rate-limit', retryAfter }
  if (!caller.known && caller.given === 'bad-token') return { refused: 'bad-token' }
  if (!caller.known && caller.given === 'unavailable') return { refused: 'unavailable' }
  const { success } = await env.CALL_LIMIT.limit({ key: caller.known ? caller.subject : addressOf(request) })
  if (!success) return { refused: 'rate-limit', retryAfter: period }
  return visibility === 'internal' && !may(caller, 'read', id) ? { refused: 'unknown-agent', agent: named } : undefined
}

/** Why a caller may not have what an agent keeps for those that may read it. */
export const readerRefusal = (caller: Caller, id: string): Refusal | undefined => {
  if (!caller.known) return { refused: caller.given === 'nothing' ? 'no-token' : 'bad-token' }
  return may(caller, 'read', id) ? undefined : { refused: 'forbidden', missing: `the scope "read" for agent "${id}"` }
}
