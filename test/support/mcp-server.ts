import { Server, type ServerContext, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../src/json/json.ts'
import { type FetchHandler, type ListenOptions, type ReceivedRequest, startUpstream } from './upstream.ts'

/** Returns the MCP method of a request, or its HTTP method where its body is no JSON-RPC call. */
export const mcpMethod = ({ method, body }: ReceivedRequest): string => {
  try {
    return JSON.parse(body).method ?? method
  } catch {
    return method
  }
}

/** The response of a scripted server to one MCP method: a result, or a whole HTTP response. */
type ScriptedResult = object | ((params: Record<string, unknown>) => object | Promise<object>)

/** A JSON-RPC response over HTTP. */
export const rpc = (response: object, status = 200, headers: Record<string, string> = {}): Response =>
  Response.json({ jsonrpc: '2.0', id: 0, ...response }, { status, headers })

/** An event stream that sends some messages and never ends. */
export const endless = (...messages: object[]): Response => {
  const body = new ReadableStream<Uint8Array>({
    start: controller => {
      const events = messages.map(message => `data: ${JSON.stringify({ jsonrpc: '2.0', id: 0, ...message })}\n\n`)
      controller.enqueue(new TextEncoder().encode(`: hello\n\n${events.join('')}`))
    },
  })
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
}

/** The result of `initialize`. */
export const initialized = (capabilities: object = { tools: {} }, protocolVersion = '2025-06-18') => ({
  protocolVersion,
  capabilities,
  serverInfo: { name: 'Scripted', version: '1.0.0' },
})

const defaultScript: Record<string, ScriptedResult> = {
  initialize: () => initialized(),
  'notifications/initialized': () => new Response(null, { status: 202 }),
  'notifications/cancelled': () => new Response(null, { status: 202 }),
  'tools/list': () => ({ tools: [{ name: 'look', inputSchema: { type: 'object' } }] }),
}

/** An MCP server that follows `script`, and is a small ordinary one in all that the script leaves out. */
export const scripted =
  (script: Record<string, ScriptedResult> = {}): FetchHandler =>
  async request => {
    if (request.method !== 'POST') return new Response(null, { status: 405 })
    const { id, method, params = {} } = (await request.json()) as { id?: number; method: string; params?: object }
    const step =
      { ...defaultScript, ...script }[method] ?? rpc({ error: { code: -32601, message: 'Method not found' } })
    const result = typeof step === 'function' ? await step({ ...params }) : step
    if (!(result instanceof Response)) return rpc({ id, result })
    return result.headers.get('Content-Type') === 'application/json' && result.status === 200
      ? Response.json({ ...((await result.json()) as object), ...(id !== undefined && { id }) }, result)
      : result
  }

/** A tool under test: its result, and what is listed of it. */
export type TestTool = {
  inputSchema?: JsonObject
  outputSchema?: JsonObject
  title?: string
  annotations?: JsonObject
  run: (given: JsonObject, context: ServerContext) => Promise<JsonObject> | JsonObject
}

/** An MCP server of the official library over HTTP, with the tools of a test and a session for each client. */
export type ToolServer = {
  url: string
  origin: string
  /** The methods that were requested since the last look, and the Authorization of each. */
  takeRequests: () => { methods: string[]; credentials: (string | undefined)[] }
  tools: Record<string, TestTool>
  /** Notifies all clients that the tools have changed. */
  announce: () => Promise<void>
  close: () => Promise<void>
}

/** Starts a server with these tools, and with resources that are texts by their URIs. */
export const startToolServer = async (
  tools: Record<string, TestTool>,
  resources?: Record<string, string>,
  options: ListenOptions = {},
): Promise<ToolServer> => {
  const upstream = await startUpstream(options)
  const sessions = new Map<string, { server: Server; transport: WebStandardStreamableHTTPServerTransport }>()
  const toolServer: ToolServer = {
    url: `${upstream.origin}/mcp`,
    origin: upstream.origin,
    takeRequests: () => {
      const requests = upstream.requests.splice(0)
      return { methods: requests.map(mcpMethod), credentials: requests.map(({ headers }) => headers.authorization) }
    },
    tools,
    announce: async () => {
      for (const { server } of sessions.values()) await server.sendToolListChanged()
    },
    close: () => upstream.close(),
  }

  const openSession = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const server = new Server(
      { name: 'Tools', version: '1.2.0' },
      { capabilities: { tools: { listChanged: true }, ...(resources && { resources: {} }) } },
    )
    if (resources) {
      const uris = Object.keys(resources).filter(uri => !uri.endsWith('hidden'))
      server.setRequestHandler('resources/list', () => ({ resources: uris.map(uri => ({ uri, name: uri })) }))
      server.setRequestHandler('resources/read', ({ params: { uri } }) => ({
        contents: [{ uri, mimeType: 'text/markdown', text: resources[uri] ?? '' }],
      }))
    }
    server.setRequestHandler('tools/list', () => ({
      tools: Object.entries(toolServer.tools).map(([name, { inputSchema, run: _, ...listed }]) => ({
        ...{ name, description: `The tool ${name} of a test`, ...(listed as object) },
        inputSchema: { type: 'object' as const, ...inputSchema },
      })),
    }))
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const tool = toolServer.tools[params.name]
      if (!tool) throw new Error(`no tool ${params.name}`)
      return (await tool.run((params.arguments ?? {}) as JsonObject, context)) as never
    })
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: id => void sessions.set(id, { server, transport }),
      onsessionclosed: id => void sessions.delete(id),
    })
    await server.connect(transport)
    return transport
  }

  upstream.serve(async request => {
    const id = request.headers.get('Mcp-Session-Id')
    if (id === null) return (await openSession()).handleRequest(request)
    const session = sessions.get(id)
    return session ? session.transport.handleRequest(request) : new Response('no such session', { status: 404 })
  })
  return toolServer
}
