import type { Refusal } from '../a2a/errors.ts'
import { type A2ACall, operations } from '../a2a/operations.ts'
import type { Authentication } from '../auth/principal.ts'
import { clientKey } from '../auth/throttle.ts'
import type { CallProfile } from '../card/call-profile.ts'
import { parseSeconds } from '../http/bindings.ts'
import { log } from '../http/log.ts'
import { type BridgeCall, longestTool } from '../mcp-bridge/bridge-call.ts'
import { resolveToolCall } from '../mcp-bridge/tools/tool-call.ts'
import type { ParsedCall } from './call-context.ts'
import type { UpstreamRoute } from './upstream-request.ts'

/**
 * How a call gets to an MCP server that stands behind an agent; or why it does not: what is no call of a tool of its own is
 * refused here, and the server hears nothing of it.
 */
export const createToolInvocation = (
  id: string,
  { call, body }: ParsedCall,
  { mcp, service, secret }: CallProfile & Required<Pick<CallProfile, 'mcp'>>,
  caller: Authentication,
  request: Request,
  env: Env,
): UpstreamRoute | Refusal => {
  const tool = operations[call.operation].sends ? resolveToolCall(call.params, mcp.tools) : undefined
  if (tool && 'refused' in tool) return tool
  if (tool?.unchecked !== undefined) log('info', 'tool-unchecked', { agent: id, why: tool.unchecked })
  const patience = parseSeconds(env.UPSTREAM_TIMEOUT, 60)
  const commission: BridgeCall = {
    agent: id,
    caller: caller.authenticated ? caller.subject : '',
    // Counted under a name that does not lead back to it, and kept nowhere.
    address: caller.authenticated ? '' : clientKey(request),
    upstream: { url: mcp.url, ...(service !== undefined && { service }), ...(secret !== undefined && { secret }) },
    ...(tool && { tool: { name: tool.tool, arguments: JSON.stringify(tool.arguments) } }),
    patience,
    version: call.version,
    streams: streams(call),
    call: body() ?? '',
    id: JSON.stringify(call.id),
  }
  return {
    service: { fetch: () => ask(commission, env) },
    // The caller's are for this host at most; the server's own are added where it is called.
    credentials: { pass: [] },
    // A tool that says that it gets on may take longer than other agents: its own time is watched where it is called.
    timeoutSeconds: tool ? longestTool + patience : patience,
  }
}

const streams = ({ operation }: A2ACall): boolean => operations[operation].streams === true

const ask = (commission: BridgeCall, env: Env): Promise<Response> =>
  env.MCP_AGENTS.getByName(commission.agent).fetch('https://mcp-agent.internal/', {
    method: 'POST',
    body: JSON.stringify(commission),
  })
