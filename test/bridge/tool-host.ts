import { Server, type ServerContext, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { type Handle, type HttpServer, startHttpServer } from '../mcp/http-server.ts'

/** A tool under test: its schema, and what it answers; `waits` until it is let go. */
export type TestTool = {
  inputSchema?: JsonObject
  run: (given: JsonObject, context: ServerContext) => Promise<JsonObject> | JsonObject
}

/** An MCP server of the official library over HTTP, with a session for each client, whose tools a test says. */
export type ToolHost = {
  url: string
  origin: string
  /** The methods that were asked for since it was last looked at, and the Authorization of each. */
  asked: () => { methods: string[]; credentials: (string | undefined)[] }
  /** The tools that were called since it was last looked at, and with what. */
  called: () => [tool: string, given: Json][]
  tools: Record<string, TestTool>
  /** Tells all clients that the tools have changed. */
  announce: () => Promise<void>
  /** Forgets all sessions, as a server does that is started anew. */
  forget: () => void
  /** What answers a call of a tool, by its id, in place of the server; for a connection that breaks, nothing. */
  instead: Map<string, (id: number) => Response | undefined>
  close: () => void
}

/** Starts a server with these tools. */
export const startToolHost = async (tools: Record<string, TestTool>): Promise<ToolHost> => {
  const http: HttpServer = await startHttpServer()
  const sessions = new Map<string, { server: Server; transport: WebStandardStreamableHTTPServerTransport }>()
  const instead: ToolHost['instead'] = new Map()
  let called: [string, Json][] = []
  const host: ToolHost = {
    url: http.url,
    origin: new URL(http.url).origin,
    asked: () => {
      const asked = http.asked.splice(0)
      return {
        methods: asked.map(({ method }) => method),
        credentials: asked.map(({ headers }) => headers.authorization),
      }
    },
    called: () => {
      const before = called
      called = []
      return before
    },
    tools,
    announce: async () => {
      for (const { server } of sessions.values()) await server.sendToolListChanged()
    },
    forget: () => sessions.clear(),
    instead,
    close: http.close,
  }

  const open = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const server = new Server({ name: 'Tools', version: '1.2.0' }, { capabilities: { tools: { listChanged: true } } })
    server.setRequestHandler('tools/list', () => ({
      tools: Object.entries(host.tools).map(([name, { inputSchema }]) => ({
        name,
        description: `The tool ${name} of a test`,
        inputSchema: { type: 'object' as const, ...inputSchema },
      })),
    }))
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      called.push([params.name, (params.arguments ?? {}) as Json])
      const tool = host.tools[params.name]
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

  const handle: Handle = async request => {
    const text = await request.clone().text()
    const [, name = ''] = /"name":"([\w-]+)"/.exec(text.includes('"tools/call"') ? text : '') ?? []
    const answer = instead.get(name)
    if (answer) return answer(JSON.parse(text).id)
    const id = request.headers.get('Mcp-Session-Id')
    if (id === null) return (await open()).handleRequest(request)
    const session = sessions.get(id)
    return session ? session.transport.handleRequest(request) : new Response('no such session', { status: 404 })
  }
  http.serve(handle)
  return host
}
