import type { Refusal } from '../../a2a/verdict.ts'
import type { JsonObject } from '../../card/json.ts'
import { agentNamed } from '../../registry/edge-names.ts'
import type { Addressee } from '../calls/endpoint.ts'
import { unavailable } from '../calls/visit.ts'

/**
 * The agent that a request is about. SuperX says which in `id`, newer versions of it in `name`; it is looked for by either, as
 * the ids of SuperX may be such as this host has names for: `my_agent`.
 */
export const namedAgent = async (
  { id, name }: JsonObject,
  env: Env,
  ctx: ExecutionContext,
): Promise<Addressee | Refusal> => {
  const named = id ?? name
  if (typeof named !== 'string' || named === '') return noAgent
  return agentNamed(named, env, ctx).then(
    found => ({ id: found, named }),
    () => unavailable,
  )
}

const noAgent: Refusal = {
  refused: 'invalid-params',
  detail: 'Say in `id` which agent is meant.',
  violations: [{ field: 'id', description: 'must be the id or the name of an agent' }],
}
