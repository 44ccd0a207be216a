import { authenticate } from '../../auth/authenticate.ts'
import type { Authentication } from '../../auth/principal.ts'
import { requireAnyAgent, unauthorized } from '../../auth/require.ts'
import { checkRateLimit, findAgentByName, mayRead } from '../../gateway/access.ts'
import { tooManyRequests } from '../../http/errors.ts'
import type { Handler } from '../../http/handler.ts'
import { log } from '../../http/log.ts'
import { getCachedByName } from '../../registry/edge/lookups.ts'
import { listResponse } from '../agent-lists.ts'
import { cardResponseFor } from '../cards.ts'
import { agentNotNamed } from '../errors.ts'

/** Whom Shaman's door is for: `public`, everybody; `internal`, those with a token. */
type Role = 'public' | 'internal'

/** The role of this deployment, as `ROLE` says it: one that is misspelt was hardly meant to be public. */
export const deploymentRole = ({ ROLE: said = '' }: { ROLE?: string }): Role => {
  const role = said.trim()
  if (role === '' || role === 'public') return 'public'
  if (role !== 'internal')
    log('error', 'misconfigured', { why: 'ROLE is neither public nor internal: taken for internal' })
  return 'internal'
}

/** `GET /.well-known/a2a/agents`: Shaman's list of the agents here. */
export const listForShaman: Handler = (...asking) => {
  const [, env] = asking
  return listResponse('/.well-known/a2a/agents', deploymentRole(env) === 'public', ...asking)
}

/** `GET /a2a/v1/agents/{name}`: the card of the agent of a name or an id, in any case; in Shaman's dialect unless another is asked for. */
export const namedCard: Handler = async (...asking) => {
  const [request, env, ctx] = asking
  const caller =
    deploymentRole(env) === 'internal'
      ? await requireAnyAgent({ request, env, ctx }, 'read')
      : await authenticate(...asking)
  const name = decoded(request.params.name ?? '')
  const id = name === undefined ? '' : await idOf(name, caller, ...asking)
  const response = id === '' ? undefined : await cardResponseFor(id, 'shaman', ...asking, { caller })
  if (response !== undefined) return response
  // Its credentials were not looked at: there may be an internal agent for it.
  if (!caller.authenticated && caller.reason === 'throttled') throw unauthorized(caller, request, env)
  throw agentNotNamed(name ?? '')
}

/** A name that this isolate does not know is asked of the one Registry: that counts as a call. */
const idOf = async (name: string, caller: Authentication, ...asking: Parameters<Handler>): Promise<string> => {
  const [request, env] = asking
  const refusal = getCachedByName(name) === undefined ? await checkRateLimit(caller, request, env) : undefined
  if (refusal) throw tooManyRequests('Agents are asked for by name too often.')
  return findAgentByName(name, mayRead(caller, ...asking), ...asking)
}

/** A segment of a path, which says in percent signs what URLs do not take; undefined where it does not say it right. */
const decoded = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
