import type { AgentInterface } from './agent-card.ts'

/** The bindings that this host answers calls in; another cannot pass through it. */
const answered = ['JSONRPC', 'HTTP+JSON']

/** The interfaces of an agent whose calls go through this host: its own bindings and versions, at this host's address. */
export const gatewayInterfaces = (
  interfaces: readonly AgentInterface[],
  origin: string,
  id: string,
): AgentInterface[] => {
  const spoken = interfaces.filter(item => answered.includes(item.protocolBinding))
  const rerouted = (spoken.length > 0 ? spoken : interfaces.slice(0, 1)).map(
    ({ protocolBinding, protocolVersion }) => ({
      url: `${origin}/agents/${id}/a2a`,
      protocolBinding: answered.includes(protocolBinding) ? protocolBinding : 'JSONRPC',
      protocolVersion,
    }),
  )
  return rerouted.filter(
    (item, index) =>
      rerouted.findIndex(
        other => other.protocolBinding === item.protocolBinding && other.protocolVersion === item.protocolVersion,
      ) === index,
  )
}
