import type { Refusal } from '../../a2a/verdict.ts'
import { toSlug } from '../../card/model/constants.ts'
import { type CanSee, findAgentByName } from '../../gateway/agent-named.ts'
import type { AgentRef } from '../../gateway/endpoint.ts'
import { unavailable } from '../../gateway/visit.ts'
import type { Handler } from '../../http/handler.ts'
import type { JsonObject } from '../../json/json.ts'

/**
 * The agent that a request is about, as far as who sends it `sees` internal ones. SuperX says which in `id`, newer versions of it in `name`; it is looked
 * for by either.
 */
export const namedAgent = async (
  { id, name }: JsonObject,
  sees: CanSee,
  ...asking: Parameters<Handler>
): Promise<AgentRef | Refusal> => {
  const named = id ?? name
  if (typeof named !== 'string' || named === '') return noAgent
  try {
    const found = await findAgentByName(named, sees, ...asking)
    // SuperX's ids may be spelt as no id of this host is: `my_agent`.
    return { id: found || (await findAgentByName(toSlug(named, named), sees, ...asking)), named }
  } catch {
    return unavailable
  }
}

const noAgent: Refusal = {
  refused: 'invalid-params',
  detail: 'Say in `id` which agent is meant.',
  violations: [{ field: 'id', description: 'must be the id or the name of an agent' }],
}
