import type { Handler, RequestContext } from '../http/index.ts'
import { agentById, type Exchange } from './gate/index.ts'
import { handleCall, permitCall, refuse } from './handle-call.ts'
import { JsonRpcExchange, RestExchange } from './receive/index.ts'

export { decideByCard, handleReceived, isRefusedByModes, receive, refuse } from './handle-call.ts'
export { prepareRequest } from './send.ts'

/** `POST /agents/{id}/a2a` and `POST /agents/{id}`: a JSON-RPC call of one agent. */
export const agentCall: Handler = (request, env, ctx, { id }) =>
  handleCall(new JsonRpcExchange(request, env, ctx, agentById(id)))

/** `POST /a2a`: a JSON-RPC call of the agent that `tenant` names, else of the agent of the hostname. */
export const hostCall: Handler = (request, env, ctx) => handleCall(new JsonRpcExchange(request, env, ctx, 'tenant'))

/** `POST /a2a/v1`: Shaman's JSON-RPC endpoint, at which `agentName` is an agent's name or id, in any case. */
export const namedCall: Handler = (request, env, ctx) => handleCall(new JsonRpcExchange(request, env, ctx, 'agentName'))

/** Handles the HTTP+JSON binding below `/agents/{id}/a2a/`: of 1.0, and under `v1/` of 0.3. */
export const restCall: Handler = (request, env, ctx, { id }) => handleCall(new RestExchange(request, env, ctx, id))

/** Decides on a call as if it were sent, and sends nothing. Returns the response if it is refused. */
export const callGateOnly = async (
  ...[request, env, ctx, { id = '' }]: Parameters<Handler>
): Promise<Response | undefined> => {
  const startedAt = Date.now()
  const exchange = createExchange({ request, env, ctx }, id)
  const permitted = await permitCall(exchange)
  return 'kind' in permitted ? refuse(permitted, exchange, startedAt) : undefined
}

/** Creates the exchange of a request at the endpoint of an agent, or below it. */
export const createExchange = ({ request, env, ctx }: RequestContext, id: string): Exchange =>
  new URL(request.url).pathname === `/agents/${id}/a2a`
    ? new JsonRpcExchange(request, env, ctx, agentById(id))
    : new RestExchange(request, env, ctx, id)
