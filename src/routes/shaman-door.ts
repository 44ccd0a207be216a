import { requireAnyAgent } from '../auth/require.ts'
import { agentNamed } from '../registry/edge-names.ts'
import { agentNotNamed } from './agent-errors.ts'
import { sendCard } from './cards.ts'
import { listResponse } from './catalog.ts'
import type { Handler } from './handler.ts'
import { roleOf } from './role.ts'

/** `GET /.well-known/a2a/agents`: Shaman's list of the agents here. */
export const listForShaman: Handler = (...asking) => {
  const [, env] = asking
  return listResponse('/.well-known/a2a/agents', roleOf(env) === 'public', ...asking)
}

/** `GET /a2a/v1/agents/{name}`: the card of the agent of a name or an id, in any case; in Shaman's dialect unless another is asked for. */
export const namedCard: Handler = async (...asking) => {
  const [request, env, ctx] = asking
  if (roleOf(env) === 'internal') await requireAnyAgent(request, 'read', env, ctx)
  const name = decoded(request.params.name ?? '')
  const id = name === undefined ? '' : await agentNamed(name, env, ctx)
  const response = id === '' ? undefined : await sendCard(id, 'shaman', ...asking)
  if (response === undefined) throw agentNotNamed(name ?? '')
  return response
}

/** A segment of a path, which says in percent signs what URLs do not take; undefined where it does not say it right. */
const decoded = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
