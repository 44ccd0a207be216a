import { type CallError, invalidParam } from '../a2a/start.ts'
import type { Handler } from '../http/index.ts'
import { requestHostname } from '../http/start.ts'
import type { JsonObject } from '../json/index.ts'
import { findAgentByHost } from '../registry/edge/start.ts'
import { type AgentRef, agentById, type CallContext, callableBy, findAgentByName, UNAVAILABLE } from './gate/index.ts'
import { handleCall } from './handle-call.ts'
import { JsonRpcCall } from './jsonrpc-binding.ts'

/** `POST /agents/{id}/a2a` and `POST /agents/{id}`: a JSON-RPC call of one agent. */
export const agentCall: Handler = (request, env, ctx, { id }) =>
  handleCall(new JsonRpcCall(request, agentById(id)), request, env, ctx)

/** `POST /a2a`: a JSON-RPC call of the agent that `tenant` names, else of the agent of the hostname. */
export const hostCall: Handler = (request, env, ctx) =>
  handleCall(new JsonRpcCall(request, { parameter: 'tenant', find: findByTenant }), request, env, ctx)

const findByTenant = async (
  { tenant }: JsonObject,
  { request, env, ctx }: CallContext,
): Promise<AgentRef | CallError> =>
  typeof tenant === 'string' && tenant !== ''
    ? agentById(tenant)
    : findAgentByHost(requestHostname(request), env, ctx).then(
        (id = '') => ({ id, named: '' }),
        () => UNAVAILABLE,
      )

/** `POST /a2a/v1`: Shaman's JSON-RPC endpoint, at which `agentName` is an agent's name or id, in any case. */
export const namedCall: Handler = (request, env, ctx) =>
  handleCall(new JsonRpcCall(request, { parameter: 'agentName', find: findByAgentName }), request, env, ctx)

const findByAgentName = async (
  { agentName: named }: JsonObject,
  { caller, request, env, ctx }: CallContext,
): Promise<AgentRef | CallError> =>
  typeof named !== 'string' || named === ''
    ? invalidParam('agentName', 'must be the name or id of an agent')
    : findAgentByName(named, callableBy(caller, request, env, ctx), env, ctx).then(
        id => ({ id, named }),
        () => UNAVAILABLE,
      )
