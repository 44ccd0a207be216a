import type { AgentInterface } from './agent-card.ts'
import { isObject, type JsonObject } from './json.ts'

/** The bindings that this host answers calls in; another cannot pass through it. */
const answered = ['JSONRPC', 'HTTP+JSON']

/** The interfaces of an agent whose calls go through this host: its own bindings and versions, at this host's address. */
export const gatewayInterfaces = (interfaces: readonly AgentInterface[], agentUrl: string): AgentInterface[] => {
  const spoken = interfaces.filter(item => answered.includes(item.protocolBinding))
  const rerouted = new Map<string, AgentInterface>()
  for (const { protocolBinding: own, protocolVersion } of spoken.length > 0 ? spoken : interfaces.slice(0, 1)) {
    const protocolBinding = answered.includes(own) ? own : 'JSONRPC'
    const key = JSON.stringify([protocolBinding, protocolVersion])
    if (!rerouted.has(key)) rerouted.set(key, { url: `${agentUrl}/a2a`, protocolBinding, protocolVersion })
  }
  return [...rerouted.values()]
}

/** SuperX's pointer to where a card is served: behind a gateway, that is this host. */
export const gatewayCardLink = (card: JsonObject, agentUrl: string): JsonObject =>
  isObject(card.agentCard) && card.agentCard.url !== undefined
    ? { agentCard: { ...card.agentCard, url: `${agentUrl}/.well-known/agent-card.json` } }
    : {}
