import { authorizeCall } from '../../gateway/access.ts'
import { mayRead } from '../../gateway/agent-named.ts'
import { resolveCallContext } from '../../gateway/visit.ts'
import { getRegistry } from '../../registry/store/client.ts'
import type { RpcMethod } from './method.ts'
import { namedAgent } from './named-agent.ts'
import { superxCard } from './superx-card.ts'

/** `agents/get`: an agent with its card, for whoever may read it. */
export const getAgent: RpcMethod = async (params, caller, ...asking) => {
  const [request, env] = asking
  const addressee = await namedAgent(params, mayRead(caller, ...asking), ...asking)
  if ('refused' in addressee) return { problem: addressee }
  const found = await resolveCallContext(addressee, caller, ...asking)
  if ('refused' in found) return { problem: found }
  const admitted = authorizeCall(found)
  if ('refused' in admitted) return { problem: admitted }
  const { id } = addressee
  const read = await superxCard(id, { caller }, ...asking)
  if ('problem' in read) return { agent: id, ...read }
  const { card } = read
  const { protocol = 'a2a', description = '', version = '', url } = card
  const registered = await getRegistry(env).manifest(id)
  const origin = registered?.origin ?? new URL(request.url).origin
  return {
    agent: id,
    result: {
      agent: {
        id,
        name: id,
        protocol,
        description,
        version,
        // An MCP server's card has none of its own: what is said to it is said here.
        url: url ?? `${origin}/agents/${id}/a2a`,
        agentCard: { url: `${origin}/agents/${id}/.well-known/agent-card.json` },
        card,
      },
    },
  }
}
