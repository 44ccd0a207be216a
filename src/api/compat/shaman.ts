import {
  type Authentication,
  authenticate,
  countUnrecognized,
  requireAnyAgent,
  tooManyAttempts,
} from '../../auth/index.ts'
import { config } from '../../config.ts'
import { checkRateLimit, findAgentByName, readableBy } from '../../gateway/gate/index.ts'
import { type Handler, type RequestContext, tooManyRequests } from '../../http/index.ts'
import { getCachedByName } from '../../registry/edge/index.ts'
import { listResponse } from '../agents/index.ts'
import { cardResponseFor } from '../cards.ts'
import { agentNameNotFound } from '../errors.ts'

/** `GET /.well-known/a2a/agents`: Shaman's list of agents. */
export const listForShaman: Handler = (request, env, ctx) =>
  listResponse('/.well-known/a2a/agents', config(env).role === 'public', { request, env, ctx })

/**
 * `GET /a2a/v1/agents/{name}`: the card of the agent with a name or id, in any case; in Shaman's dialect unless the request asks
 * for another.
 */
export const namedCard: Handler = async (request, env, ctx, { name: segment = '' }) => {
  const context = { request, env, ctx }
  const caller =
    config(env).role === 'internal' ? await requireAnyAgent(context, 'read') : await authenticate(request, env, ctx)
  const name = decodeSegment(segment)
  const id = name === undefined ? '' : await resolveName(name, caller, context)
  const response = id === '' ? undefined : await cardResponseFor(id, 'shaman', context, { caller })
  if (response !== undefined) return response
  if (await countUnrecognized(caller, request, env)) throw tooManyAttempts()
  throw agentNameNotFound(name ?? '')
}

/** Resolves a name to an id; empty if there is none. A name that is not cached costs a read of the Registry, so it counts as a call. */
const resolveName = async (
  name: string,
  caller: Authentication,
  { request, env, ctx }: RequestContext,
): Promise<string> => {
  if (getCachedByName(name) === undefined && (await checkRateLimit(caller, request, env)))
    throw tooManyRequests('Too many agents requested by name.')
  return findAgentByName(name, readableBy(caller, request, env, ctx), env, ctx)
}

/** Decodes a segment of a path; undefined if its percent-encoding is invalid. */
const decodeSegment = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
