import type { Refusal } from '../a2a/errors.ts'
import { agentIdPattern } from '../card/model/constants.ts'
import type { Asking, Handler } from '../http/handler.ts'
import { requestHostname } from '../http/headers.ts'
import { resolveHost } from '../registry/edge/lookups.ts'
import { findAgentByName, mayCall } from './access.ts'
import { type Body, byId, type Endpoint, unavailable } from './call-context.ts'
import { handleCall } from './handle-call.ts'
import { parseJsonRpcCall, readCallBody } from './jsonrpc-binding.ts'
import type { AgentParameter } from './upstream-request.ts'

const noName: Refusal = {
  refused: 'invalid-params',
  detail: 'Say in `agentName` which agent the call is for.',
  violations: [{ field: 'agentName', description: 'must be the name or id of an agent' }],
}

/** `chosenBy`: the parameter that says whose the call is, which is for this host and not for the agent. */
const rpcEndpoint = (
  whose: Endpoint['whose'],
  chosenBy: AgentParameter | undefined,
  ...asking: Asking
): Promise<Response> => {
  const [request] = asking
  const ask = (body: Body) => parseJsonRpcCall(request, body, chosenBy)
  return handleCall({ whose, body: () => readCallBody(request, true), ask }, ...asking)
}

/** `POST /agents/{id}/a2a` and `POST /agents/{id}`: a JSON-RPC call of one agent. */
export const agentCall: Handler = (...asking) => rpcEndpoint(byId(asking[0].params.id), undefined, ...asking)

const plainAddress = new RegExp(`^https?://[^/]+/agents/(${agentIdPattern.source.slice(1, -1)})(?:/a2a)?$`)

/**
 * A JSON-RPC call of an agent at the plainest of its addresses, without query: passed on as the routes do, and sooner: to find a
 * route costs more than the gate does. Undefined: ask the router.
 */
export const plainCall = (...asking: Asking): Promise<Response> | undefined => {
  const [{ method, url }] = asking
  const id = method === 'POST' ? plainAddress.exec(url)?.[1] : undefined
  return id === undefined ? undefined : rpcEndpoint(byId(id), undefined, ...asking)
}

/** `POST /a2a`: a JSON-RPC call of the agent that `tenant` names, else of the one that the host name stands for. */
export const hostCall: Handler = (...asking) =>
  rpcEndpoint(
    async ({ tenant }, _, request, env, ctx) => {
      if (typeof tenant === 'string' && tenant !== '') return byId(tenant)
      const told = (id = '') => ({ id, named: '' })
      return resolveHost(requestHostname(request), env, ctx).then(told, () => unavailable)
    },
    'tenant',
    ...asking,
  )

/** `POST /a2a/v1`: Shaman's JSON-RPC endpoint, where `agentName` is an agent's name or id, in any case. */
export const namedCall: Handler = (...asking) =>
  rpcEndpoint(
    async ({ agentName: named }, caller, ...asking) => {
      if (typeof named !== 'string' || named === '') return noName
      return findAgentByName(named, mayCall(caller, ...asking), ...asking).then(
        id => ({ id, named }),
        () => unavailable,
      )
    },
    'agentName',
    ...asking,
  )
