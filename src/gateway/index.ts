import type { Handler } from '../http/index.ts'
import { agentById } from './gate/index.ts'
import { handleCall } from './handle-call.ts'
import { JsonRpcCall } from './jsonrpc-binding.ts'
import { RestCall } from './rest-binding.ts'

export { restCall } from './rest-binding.ts'
export * from './start.ts'

/** Thrown in place of forwarding a call that every check of the gate has let pass. */
export class PassedGate extends Error {
  override readonly name = 'PassedGate'
}

/** Checks a call in one of the agent's own protocols. Rejects with `PassedGate` instead of forwarding it. */
export const callGateOnly: Handler = (request, env, ctx, { id = '' }) => {
  const isRest = new URL(request.url).pathname !== `/agents/${id}/a2a`
  const inbound = isRest ? new RestCall(request, id) : new JsonRpcCall(request, agentById(id))
  // What writes the call for an agent, or selects one for its translation, throws: so nothing can be forwarded.
  Object.defineProperties(inbound, { toUpstream: { value: refuse }, selector: { get: refuse } })
  return handleCall(inbound, request, env, ctx)
}

const refuse = (): never => {
  throw new PassedGate()
}
