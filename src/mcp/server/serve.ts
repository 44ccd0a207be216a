import { createMcpHandler, type Implementation, Server, type ServerContext } from '@modelcontextprotocol/server'
import * as v from 'valibot'
import { config } from '../../config.ts'
import { CORS_HEADERS, PRIVATE_NO_STORE } from '../../http/index.ts'
import { asObject, isJsonObject, type JsonObject } from '../../json/index.ts'
import { HEARTBEAT_SECONDS } from '../../limits.ts'
import { VERSION_WITHOUT_INITIALIZE } from '../client/index.ts'
import { type Client, callTool } from './call-tool.ts'
import type { McpExchange } from './exchange.ts'
import { TASKS_EXTENSION } from './tasks.ts'
import type { Tool } from './tools.ts'

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const VERSION = 'io.modelcontextprotocol/protocolVersion'
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'

/** The schemas of a method whose handler reads its parameters itself. */
export const anySchemas = { params: v.any(), result: v.any() }

const HEADERS = { ...CORS_HEADERS, 'Cache-Control': PRIVATE_NO_STORE }

/** The declaration of a server. Clients may cache its lists as long as cards, and share them if all get the same. */
type Declaration = { instructions: string; lists: readonly ('tools' | 'resources' | 'prompts')[]; isShared: boolean }

/** Creates the MCP server of an agent or of this host, for one request. */
export const createServer = (
  info: Implementation,
  { instructions, lists, isShared }: Declaration,
  env: Env,
): Server => {
  const hint = { ttlMs: config(env).maxAgeSeconds * 1000, cacheScope: isShared ? 'public' : 'private' } as const
  return new Server(info, {
    capabilities: { ...Object.fromEntries(lists.map(list => [list, {}])), extensions: { [TASKS_EXTENSION]: {} } },
    instructions,
    cacheHints: Object.fromEntries([...lists.map(list => `${list}/list`), 'server/discover'].map(name => [name, hint])),
    inputRequired: { legacyShim: false },
  })
}

/** Answers the request of an MCP client with a server that is made for it alone. */
export const serve = async ({ request, body }: McpExchange, server: Server): Promise<Response> => {
  // A stream of changes would have none: this host keeps nothing between two requests.
  const handler = createMcpHandler(() => server, { maxSubscriptions: 0, keepAliveMs: HEARTBEAT_SECONDS * 1000 })
  const response = await handler.fetch(request, { parsedBody: body })
  for (const [name, value] of Object.entries(HEADERS)) response.headers.set(name, value)
  return response
}

/**
 * Answers a call of a tool that wants its result only. Making a server for it, and what the SDK does then, takes longer
 * than the whole A2A call. Returns undefined for all that the SDK has to read, or to refuse.
 */
export const answerPlainCall = async (exchange: McpExchange, tools: readonly Tool[], serverInfo: Implementation) => {
  const { headers, signal } = exchange.request
  const { jsonrpc, id, method, params } = asObject(exchange.body)
  const { name, arguments: args = {}, _meta: envelope, ...others } = asObject(params)
  const { [VERSION]: version, [CAPABILITIES]: capabilities, progressToken } = asObject(envelope)
  const sent = ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'].map(header => headers.get(header))
  const isSent = [VERSION_WITHOUT_INITIALIZE, 'tools/call', name].every((value, index) => value === sent[index])
  const isRpc = jsonrpc === '2.0' && method === sent[1] && (typeof id === 'string' || Number.isSafeInteger(id))
  const isPlain = version === sent[0] && progressToken === undefined && Object.keys(others).length === 0
  const tool = tools.find(({ definition }) => definition.name === name)
  if (!isSent || !isRpc || !isPlain || !tool || !isJsonObject(args) || !isJsonObject(capabilities ?? null)) return
  const client = toClient({ mcpReq: { signal, envelope: asObject(envelope) } })
  const result = await callTool({ exchange, tool, client }, args)
  const _meta = { ...result._meta, [SERVER_INFO]: serverInfo }
  return Response.json({ jsonrpc, id, result: { resultType: 'complete', ...result, _meta } }, { headers: HEADERS })
}

type McpRequest = Pick<ServerContext['mcpReq'], 'signal'> & Partial<ServerContext['mcpReq']>

/** Returns what the client of a request can do. A request before 2026-07-28 does not say so, and gets plain results. */
export const toClient = ({ mcpReq }: { mcpReq: McpRequest }): Client => {
  const { signal, envelope, inputResponses, notify, _meta } = mcpReq
  const { elicitation, extensions } = asObject((envelope as JsonObject | undefined)?.[CAPABILITIES])
  const { progressToken } = _meta ?? {}
  let progress = 0
  const elicits = asObject(elicitation)
  return {
    signal,
    hasTasks: asObject(extensions)[TASKS_EXTENSION] !== undefined,
    elicits: {
      form: elicitation !== undefined && (elicits.form !== undefined || elicits.url === undefined),
      url: elicits.url !== undefined,
    },
    answers: inputResponses,
    state: mcpReq.requestState?.(),
    ...(progressToken !== undefined && {
      onProgress: message => {
        const params = { progressToken, progress: ++progress, ...(message !== '' && { message }) }
        notify?.({ method: 'notifications/progress', params }).catch(() => undefined)
      },
    }),
  }
}
