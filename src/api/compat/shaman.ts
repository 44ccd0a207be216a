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
import { agentNameNotFound } from '../agent-errors.ts'
import { listResponse } from '../agents/index.ts'
import { cardResponseFor } from '../card-endpoints.ts'
import { decodeSegment } from '../parse-request.ts'

/** `GET /.well-known/a2a/agents`: Shaman's list of agents. */
export const listForShaman: Handler = (request, env, ctx) =>
  listResponse('/.well-known/a2a/agents', config(env).role === 'public', { request, env, ctx })

/** `GET /a2a/v1/agents/{name}`: the card of an agent by its name or id, in any case; by default in Shaman's dialect. */
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

/** Resolves a name to an id, or to ''. A name that is not cached costs a read, and therefore counts as a call. */
const resolveName = async (
  name: string,
  caller: Authentication,
  { request, env, ctx }: RequestContext,
): Promise<string> => {
  if (getCachedByName(name) === undefined && (await checkRateLimit(caller, request, env)))
    throw tooManyRequests('Too many agents requested by name.')
  return findAgentByName(name, readableBy(caller, request, env, ctx), env, ctx)
}
