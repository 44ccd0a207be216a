import { agentIdPattern } from '../card/model/index.ts'
import { type Handler, type HttpError, log, type RequestContext, toHttpError } from '../http/index.ts'
import { MAX_RECORDED_REFUSALS } from '../limits.ts'
import { ClockCache } from '../registry/edge/index.ts'
import { getRegistry } from '../registry/store/index.ts'
import { actorOf } from './principal.ts'
import { knownPrincipal } from './require.ts'

/** The actor of every request without a valid token. */
const ANONYMOUS_ACTOR = 'anonymous'
const HOUR_MS = 3_600_000
const MAX_ACTORS = 1_000

/** The refusals of an actor that this isolate has reported in an hour, and how many it has not. */
type Reported = { hour: number; count: number; omitted: number; size: 1 }

const reported = new ClockCache<Reported>(MAX_ACTORS)

/** Returns the same endpoint, which has each write that it refuses recorded in the audit. */
export const audited =
  (handler: Handler): Handler =>
  async (request, env, ctx, params) => {
    try {
      return await handler(request, env, ctx, params)
    } catch (error) {
      const known = toHttpError(error)
      if (!known) throw error
      await reportRefusal(known, params.id, { request, env, ctx })
      throw known
    }
  }

/** A failure of this host or an upstream is no refusal; nor is 429, which is the answer to too many requests. */
const isRefusal = ({ status }: HttpError): boolean => status >= 400 && status < 500 && status !== 429

/**
 * Reports an error to the Registry if it is a refusal, unless this isolate has reported as many as the Registry records in an hour.
 * Never rejects.
 */
export const reportRefusal = async (
  error: HttpError,
  id: string | undefined,
  { request, env }: RequestContext,
): Promise<void> => {
  if (!isRefusal(error)) return
  const { status, code } = error
  const principal = knownPrincipal(request)
  const actor = principal ? actorOf(principal) : ANONYMOUS_ACTOR
  const omitted = countReport(actor, Math.floor(Date.now() / HOUR_MS))
  if (omitted === undefined) return
  const agent = id !== undefined && agentIdPattern.test(id) ? { agent: id } : {}
  try {
    await getRegistry(env).recordRefusal({ actor, ...agent, code, status, omitted })
  } catch (failure) {
    log('warn', 'refusal-unrecorded', { 'calling_card.caller': actor, 'exception.message': String(failure) })
  }
}

/** Counts a refusal of an actor. Returns how many were omitted before it; undefined if it is omitted too. */
const countReport = (actor: string, hour: number): number | undefined => {
  const known = reported.get(actor)
  const count = known?.hour === hour ? known.count : 0
  const omitted = known?.omitted ?? 0
  if (count >= MAX_RECORDED_REFUSALS) {
    reported.set(actor, { hour, count, omitted: omitted + 1, size: 1 })
    return undefined
  }
  reported.set(actor, { hour, count: count + 1, omitted: 0, size: 1 })
  return omitted
}
