import { callerOf } from '../../auth/authenticate.ts'
import type { Caller } from '../../auth/principal.ts'
import { notAuthenticated, requireAnyAgent } from '../../auth/require.ts'
import { limitRefusal } from '../../gateway/access.ts'
import { agentNamed, mayRead } from '../../gateway/agent-named.ts'
import type { Handler } from '../../http/handler.ts'
import { tooMany } from '../../http/too-many.ts'
import { heldNamed } from '../../registry/edge/edge-names.ts'
import { listResponse } from '../agent-lists.ts'
import { sendCard } from '../cards.ts'
import { agentNotNamed } from '../errors.ts'
import { roleOf } from './role.ts'

/** `GET /.well-known/a2a/agents`: Shaman's list of the agents here. */
export const listForShaman: Handler = (...asking) => {
  const [, env] = asking
  return listResponse('/.well-known/a2a/agents', roleOf(env) === 'public', ...asking)
}

/** `GET /a2a/v1/agents/{name}`: the card of the agent of a name or an id, in any case; in Shaman's dialect unless another is asked for. */
export const namedCard: Handler = async (...asking) => {
  const [request, env, ctx] = asking
  const caller =
    roleOf(env) === 'internal' ? await requireAnyAgent(request, 'read', env, ctx) : await callerOf(...asking)
  const name = decoded(request.params.name ?? '')
  const id = name === undefined ? '' : await idOf(name, caller, ...asking)
  const response = id === '' ? undefined : await sendCard(id, 'shaman', ...asking, { caller })
  if (response !== undefined) return response
  // Its credentials were not looked at: there may be an internal agent for it.
  if (!caller.known && caller.given === 'throttled') throw notAuthenticated(caller, request, env)
  throw agentNotNamed(name ?? '')
}

/** A name that this isolate does not know is asked of the one Registry: that counts as a call. */
const idOf = async (name: string, caller: Caller, ...asking: Parameters<Handler>): Promise<string> => {
  const [request, env] = asking
  const refusal = heldNamed(name) === undefined ? await limitRefusal(caller, request, env) : undefined
  if (refusal) throw tooMany('Agents are asked for by name too often.')
  return agentNamed(name, mayRead(caller, ...asking), ...asking)
}

/** A segment of a path, which says in percent signs what URLs do not take; undefined where it does not say it right. */
const decoded = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
