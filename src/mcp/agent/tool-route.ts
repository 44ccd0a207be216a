import { type A2ACall, firstDefined, operations } from '../../a2a/index.ts'
import { type Authentication, clientKey, distinctSubject } from '../../auth/index.ts'
import type { CallProfile, McpAgentProfile } from '../../card/index.ts'
import { config } from '../../config.ts'
import { MAX_TOOL_SECONDS } from '../../limits.ts'
import { type BridgeCall, resolveToolCall } from './tool-call.ts'

/**
 * Routes a call, with its message in A2A 1.0 over JSON-RPC, to the Durable Object of an MCP server's agent. Refuses a
 * message that calls none of its tools.
 */
export const routeToTools = (
  { call, message }: { call: A2ACall; message: { body?: string | undefined } | undefined },
  { mcp, service, secret }: Pick<CallProfile, 'service' | 'secret'> & { mcp: McpAgentProfile },
  { id, caller, request, env }: { id: string; caller: Authentication; request: Request; env: Env },
) => {
  const { sends, streams = false } = operations[call.operation]
  // A message to a task is an answer to the elicitation of its tool.
  const continues = sends && (firstDefined(firstDefined(call.params, 'message'), 'taskId') ?? '') !== ''
  const toolCall = sends && !continues ? resolveToolCall(call.params, mcp) : undefined
  if (toolCall && 'kind' in toolCall) return toolCall
  const { upstreamTimeoutSeconds: timeoutSeconds } = config(env)
  const bridgeCall: BridgeCall = {
    agent: id,
    caller: distinctSubject(caller),
    address: caller.authenticated ? '' : clientKey(request),
    upstream: { url: mcp.url, service, secret, session: mcp.session },
    ...(toolCall && 'resource' in toolCall && toolCall),
    ...(toolCall &&
      'tool' in toolCall && { tool: { name: toolCall.tool.name, arguments: JSON.stringify(toolCall.arguments) } }),
    timeoutSeconds,
    streams,
    request: message?.body ?? '',
    id: JSON.stringify(call.id),
  }
  const init = { method: 'POST', body: JSON.stringify(bridgeCall) }
  return {
    service: { fetch: () => env.MCP_AGENTS.getByName(id).fetch('https://mcp-agent.internal/', init) },
    // The caller's credentials are for this host. The Durable Object adds those of the server.
    credentials: { pass: [] },
    // A tool may take long while it reports progress; the Durable Object limits the time between two reports.
    timeoutSeconds: sends ? MAX_TOOL_SECONDS + timeoutSeconds : timeoutSeconds,
  }
}
