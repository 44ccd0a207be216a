import type { CallTarget } from '../card/model/calls.ts'
import { type JsonObject, omit } from '../json/json.ts'

/** A parameter by which a call may name its agent at this host. */
export type AgentParameter = 'tenant' | 'agentName'

/**
 * The parameters of a call as they go to its agent. What chose the agent here says nothing there; and whose the call is at the
 * agent's endpoint, its card says and no caller.
 */
export const addressedTo = (
  params: JsonObject,
  target: CallTarget | undefined,
  chosenBy?: AgentParameter,
): JsonObject => ({
  ...(chosenBy === undefined ? params : omit(params, chosenBy)),
  ...(target?.tenant !== undefined && { tenant: target.tenant }),
  ...(target?.agentName !== undefined && { agentName: target.agentName }),
})
