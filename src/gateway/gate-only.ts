import type { Handler } from '../http/index.ts'
import { agentById, type InboundCall } from './gate/index.ts'
import { handleCall } from './handle-call.ts'
import { JsonRpcCall } from './jsonrpc-binding.ts'
import { RestCall } from './rest-binding.ts'

/** Thrown in place of forwarding a call that every check of the gate has let pass. */
export class PassedGate extends Error {
  override readonly name = 'PassedGate'
}

/**
 * Makes a call of an agent that is checked as any other, but never reaches the agent: rejects with `PassedGate` if the gate would forward
 * it. Its protocol must be one of the agent's own.
 */
export const callGateOnly: Handler = (request, env, ctx, { id = '' }) => {
  const isRest = new URL(request.url).pathname !== `/agents/${id}/a2a`
  const inbound = isRest ? new RestCall(request, id) : new JsonRpcCall(request, agentById(id))
  return handleCall(withoutForwarding(inbound), request, env, ctx)
}

/** What writes the call for an agent, or selects one for its translation, throws: so nothing can be forwarded. */
const withoutForwarding = (inbound: InboundCall): InboundCall => ({
  agent: inbound.agent,
  findAgent: context => inbound.findAgent(context),
  read: () => inbound.read(),
  parse: profile => inbound.parse(profile),
  get selector(): never {
    throw new PassedGate()
  },
  toUpstream: () => {
    throw new PassedGate()
  },
  getErrorForm: () => inbound.getErrorForm(),
  wrapCard: document => inbound.wrapCard(document),
})
