import { isJsonObject, type JsonObject } from '../../json/json.ts'
import type { AgentInterface } from '../model/agent-card.ts'
import { targetOf, wireVersionOf } from '../model/calls.ts'
import type { CardError } from '../model/report.ts'

/** Why the calls of a card cannot pass through this host; nothing where they can. */
export const gatewayErrors = (interfaces: readonly AgentInterface[]): CardError[] =>
  interfaces.some(targetOf)
    ? []
    : [
        {
          pointer: '/route',
          message: `calls pass through this host as JSONRPC or HTTP+JSON of A2A ${[...wireVersionOf.keys()].join(', ')} only; the card names none of these`,
        },
      ]

/** The interfaces of an agent whose calls go through this host: its own bindings and versions, at this host's address. */
export const gatewayInterfaces = (interfaces: readonly AgentInterface[], agentUrl: string): AgentInterface[] => {
  const rerouted = new Map<string, AgentInterface>()
  for (const { protocolBinding, protocolVersion } of interfaces.filter(targetOf)) {
    const key = `${protocolBinding} ${protocolVersion}`
    if (!rerouted.has(key)) rerouted.set(key, { url: `${agentUrl}/a2a`, protocolBinding, protocolVersion })
  }
  return [...rerouted.values()]
}

/** SuperX's pointer to where a card is served: behind a gateway, that is this host. */
export const gatewayCardLink = (card: JsonObject, agentUrl: string): JsonObject =>
  isJsonObject(card.agentCard) && card.agentCard.url !== undefined
    ? { agentCard: { ...card.agentCard, url: `${agentUrl}/.well-known/agent-card.json` } }
    : {}
