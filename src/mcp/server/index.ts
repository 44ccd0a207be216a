import * as v from 'valibot'
import { type CallError, errorResponse } from '../../a2a/index.ts'
import { agentPath, anyText, describe, endpoint, json, jsonBody, withContent } from '../../api/contract/index.ts'
import { JsonRpcRequest, JsonRpcResponse } from '../../api/schemas/index.ts'
import type { CallProfile } from '../../card/index.ts'
import { config } from '../../config.ts'
import { agentById, authorizeRead } from '../../gateway/gate/index.ts'
import { receive, refuse } from '../../gateway/index.ts'
import { type Handler, problem } from '../../http/index.ts'
import { MAX_CALL_BYTES } from '../../limits.ts'
import { readProfile } from '../../registry/edge/index.ts'
import { createAgentServer, readOffer } from './agent-server.ts'
import { findRefusal, McpExchange } from './exchange.ts'
import { createHostServer, type FetchHost } from './host-server.ts'
import { answerPlainCall, serve } from './serve.ts'

const mcp = {
  tag: 'calls',
  access: 'card',
  headers: { 'MCP-Protocol-Version': anyText('The version of MCP, such as 2026-07-28.') },
  body: { ...jsonBody(JsonRpcRequest), maxBytes: MAX_CALL_BYTES },
  responses: {
    200: withContent('The response; a stream of events where progress is reported.', {
      'application/json': JsonRpcResponse,
      'text/event-stream': { each: JsonRpcResponse },
    }),
  },
  limits: ['CALL_LIMIT', 'FETCH_LIMIT'],
  errors: { form: 'MCP' },
  problems: ['not-found'],
} as const

type HandleRequest = (request: Request, env: Env, ctx: ExecutionContext) => Response | Promise<Response>

const description = 'Streamable HTTP, from 2025-06-18 on, without sessions.'

/** Creates the endpoints for MCP clients. `handle` handles the requests of their tools to this host itself. */
export const createMcpEndpoints = (handle: HandleRequest) => ({
  callAgentMcp: Object.assign(
    callAgent,
    describe({ ...mcp, summary: 'Use an agent over MCP: each skill is a tool', description, params: agentPath }),
  ),
  callHostMcp: Object.assign(
    callHost(handle),
    describe({ ...mcp, summary: 'Find and call the agents of this host over MCP', description }),
  ),
  getResourceMetadata,
})

/** `POST /agents/{id}/mcp`: a request of an MCP client to an agent. */
const callAgent: Handler = async (request, env, ctx, { id }) => {
  const startedAt = Date.now()
  const exchange = new McpExchange(request, env, ctx, agentById(id))
  const received = await receive(exchange)
  const failed = received ?? findRefusal(exchange)
  const { gate } = exchange
  if (failed || gate === null) return refuseClient(failed ?? { kind: 'unavailable' }, exchange, startedAt)
  if (gate.profile.mcpServer === undefined || !config(env).offersMcp) throw noMcpServer('This agent')
  const offer = await readOffer(exchange, gate)
  const answer = await answerPlainCall(exchange, offer.tools, offer.info)
  return answer ?? serve(exchange, createAgentServer(exchange, gate, offer))
}

/** `POST /mcp`: a request of an MCP client to this host. */
const callHost =
  (handle: HandleRequest): Handler =>
  async (request, env, ctx) => {
    if (!config(env).offersMcp) throw noMcpServer('This host')
    const startedAt = Date.now()
    const exchange = Object.assign(new McpExchange(request, env, ctx, agentById()), { isToHost: true })
    const received = await receive(exchange)
    const { caller } = exchange
    const isForeign = !caller.authenticated && caller.reason === 'unrecognized'
    // As for a public agent.
    const failed = received ?? authorizeRead(exchange.agent, { visibility: 'public' } as CallProfile, caller)
    if (failed || isForeign) return refuseClient(failed ?? { kind: 'bad-token' }, exchange, startedAt)
    const fetchHost: FetchHost = async (method, path, body) => {
      const sent = ['Authorization', 'CF-Connecting-IP', 'Content-Type'].flatMap(name => {
        const value = request.headers.get(name)
        return value === null ? [] : [[name, value] as [string, string]]
      })
      const init = { method, headers: sent, ...(body !== undefined && { body: JSON.stringify(body) }) }
      return handle(new Request(new URL(path, request.url), init), env, ctx)
    }
    return serve(exchange, createHostServer(exchange, fetchHost))
  }

const noMcpServer = (subject: string) => problem('not-found', `${subject} is not open to MCP clients.`)

/** Refuses a request. Its challenge has the URL of the resource metadata (RFC 9728 §5.1). */
const refuseClient = async (failed: CallError, exchange: McpExchange, startedAt: number): Promise<Response> => {
  const refused = await refuse(failed, exchange, startedAt)
  const { status } = errorResponse(failed, { ...exchange.errorForm(), binding: 'HTTP+JSON' })
  // JSON-RPC alone would answer some with 200.
  const response = refused.status === 200 ? new Response(refused.body, { status, headers: refused.headers }) : refused
  const challenge = response.headers.get('WWW-Authenticate')
  const url = exchange.gate && metadataUrl(exchange.gate.profile)
  if (challenge && url) response.headers.set('WWW-Authenticate', `${challenge}, resource_metadata="${url}"`)
  return response
}

const texts = v.array(v.string())
const ResourceMetadata = v.object({
  ...{ resource: v.string(), authorization_servers: texts, bearer_methods_supported: texts },
  scopes_supported: v.optional(texts),
})

/** The URL of the metadata of an agent's MCP server; undefined without an issuer of tokens for it. */
const metadataUrl = ({ jwt, mcpServer, visibility }: CallProfile): string | undefined => {
  if (jwt === undefined || mcpServer === undefined || visibility === 'internal') return undefined
  const { origin, pathname } = new URL(mcpServer.url)
  return `${origin}/.well-known/oauth-protected-resource${pathname}`
}

/** `GET /.well-known/oauth-protected-resource/agents/{id}/mcp`: where clients get tokens for an agent (RFC 9728). */
const getResourceMetadata = endpoint(
  {
    ...{ tag: 'cards', access: 'public', params: agentPath, problems: ['not-found'] },
    summary: 'Get the metadata that tells MCP clients where to obtain tokens for an agent (RFC 9728)',
    responses: { 200: json('The issuers of tokens for the MCP server of the agent.', ResourceMetadata) },
  },
  async ({ params: { id }, env, ctx }) => {
    const profile = await readProfile(id, env, ctx)
    const { mcpServer, jwt, openIdConnectUrls = [] } = profile ?? {}
    if (!profile || !mcpServer || metadataUrl(profile) === undefined || !config(env).offersMcp)
      return problem('not-found', 'No public agent here has this MCP address and an issuer of tokens for it.')
    return {
      body: {
        resource: mcpServer.url,
        authorization_servers: openIdConnectUrls.map(url => url.replace(/\/\.well-known\/openid-configuration$/, '')),
        bearer_methods_supported: ['header'],
        ...(jwt?.scope !== undefined && { scopes_supported: [jwt.scope] }),
      },
    }
  },
)
