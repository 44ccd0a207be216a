import {
  type Authentication,
  authenticate,
  countUnrecognized,
  requireAnyAgent,
  tooManyAttempts,
} from '../../auth/index.ts'
import { checkRateLimit, findAgentByName, readableBy } from '../../gateway/gate/index.ts'
import { type Handler, log, type RequestContext, tooManyRequests } from '../../http/index.ts'
import { getCachedByName } from '../../registry/edge/index.ts'
import { agentNameNotFound } from '../agent-errors.ts'
import { listResponse } from '../agents/index.ts'
import { cardResponseFor } from '../card-endpoints.ts'
import { decodeSegment } from '../parse-request.ts'

/** `GET /.well-known/a2a/agents`: Shaman's list of agents. */
export const listForShaman: Handler = (request, env, ctx) =>
  listResponse('/.well-known/a2a/agents', deploymentRole(env) === 'public', { request, env, ctx })

/** `GET /a2a/v1/agents/{name}`: the card of an agent by its name or id, in any case; by default in Shaman's dialect. */
export const namedCard: Handler = async (request, env, ctx, { name: segment = '' }) => {
  const context = { request, env, ctx }
  const caller =
    deploymentRole(env) === 'internal' ? await requireAnyAgent(context, 'read') : await authenticate(request, env, ctx)
  const name = decodeSegment(segment)
  const id = name === undefined ? '' : await resolveName(name, caller, context)
  const response = id === '' ? undefined : await cardResponseFor(id, 'shaman', context, { caller })
  if (response !== undefined) return response
  if (await countUnrecognized(caller, request, env)) throw tooManyAttempts()
  throw agentNameNotFound(name ?? '')
}

/** Whom Shaman's two GET endpoints are for: everybody, or callers with a token. */
type Role = 'public' | 'internal'

const reportedRoles = new Set<string>()

/** Returns the role that `ROLE` configures. A misspelt one was not meant to be public; an isolate logs it once. */
export const deploymentRole = ({ ROLE = '' }: { ROLE?: string }): Role => {
  const role = ROLE.trim()
  if (role === '' || role === 'public') return 'public'
  if (role !== 'internal' && !reportedRoles.has(role)) {
    reportedRoles.add(role)
    log('error', 'misconfigured', { 'calling_card.detail': 'ROLE is neither public nor internal: taken for internal' })
  }
  return 'internal'
}

/** Resolves a name to an id; empty if there is none. A name that is not cached costs a read, so it counts as a call. */
const resolveName = async (
  name: string,
  caller: Authentication,
  { request, env, ctx }: RequestContext,
): Promise<string> => {
  if (getCachedByName(name) === undefined && (await checkRateLimit(caller, request, env)))
    throw tooManyRequests('Too many agents requested by name.')
  return findAgentByName(name, readableBy(caller, request, env, ctx), env, ctx)
}
