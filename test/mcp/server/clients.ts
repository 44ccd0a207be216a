import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as V1Client } from 'mcp-sdk-v1/client/index.js'
import { StreamableHTTPClientTransport as V1Transport } from 'mcp-sdk-v1/client/streamableHttp.js'
import type { JsonObject } from '../../../src/json/json.ts'
import type { Host } from '../../support/host.ts'

export const VERSION = '2026-07-28'
export const tasksExtension = 'io.modelcontextprotocol/tasks'

/** What a client of MCP sends besides its parameters. */
export type McpOptions = {
  version?: string
  capabilities?: JsonObject
  token?: string | undefined
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** The response to an MCP request: its status, its headers, and its JSON-RPC messages. */
export type McpResponse = { status: number; headers: Headers; text: string; result: JsonObject; error?: JsonObject }

/** Returns the fetch options of an MCP request, which is of 2026-07-28 unless `version` is another. */
export const mcpRequest = (method: string, params: JsonObject, options: McpOptions = {}): RequestInit => {
  const { version = VERSION, capabilities = {}, token, headers, signal } = options
  const meta = (name: string) => `io.modelcontextprotocol/${name}`
  const envelope = {
    [meta('protocolVersion')]: version,
    [meta('clientInfo')]: { name: 'test', version: '1' },
    [meta('clientCapabilities')]: capabilities,
  }
  const isNew = version >= VERSION
  const name = params.name ?? params.uri ?? params.taskId
  return {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': version,
      ...(isNew && { 'Mcp-Method': method, ...(name !== undefined && { 'Mcp-Name': `${name}` }) }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method },
      params: { ...params, ...(isNew && { _meta: { ...envelope, ...(params._meta as JsonObject) } }) },
    }),
    ...(signal && { signal }),
  }
}

/** Returns a function that sends MCP requests to a host. */
export const mcpSender =
  (host: Pick<Host, 'fetch'>) =>
  async (path: string, method: string, params: JsonObject = {}, options: McpOptions = {}): Promise<McpResponse> => {
    const response = await host.fetch(path, mcpRequest(method, params, options))
    const { status, headers } = response
    const text = await response.text()
    const events = [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => data)
    const last = events.at(-1) ?? text
    const parsed = (last.startsWith('{') ? JSON.parse(last) : {}) as { result?: JsonObject; error?: JsonObject }
    return { status, headers, text, result: parsed.result ?? {}, ...(parsed.error && { error: parsed.error }) }
  }

/** An official client that is connected to an MCP server. */
export type TestClient = {
  name: string
  client: Pick<Client, 'listTools' | 'listPrompts' | 'listResources' | 'getPrompt' | 'readResource' | 'close'>
  call: (name: string, args: JsonObject, onProgress?: (message?: string) => void) => Promise<JsonObject>
}

/** The official clients: of 2026-07-28, the same before that, and the one before it. */
export type TestClients = [TestClient, TestClient, TestClient]

const info = { name: 'test', version: '1.0.0' }

/** Connects each official client to an MCP server. The user of the first answers each question with "Here". */
export const connectAll = async (url: URL): Promise<TestClients> => {
  const modern = new Client(info, {
    versionNegotiation: { mode: { pin: VERSION } },
    capabilities: { elicitation: { form: {} } },
  })
  modern.setRequestHandler('elicitation/create', ({ params }) => {
    const { properties } = (params as { requestedSchema: { properties: object } }).requestedSchema
    return { action: 'accept', content: Object.fromEntries(Object.keys(properties).map(name => [name, 'Here'])) }
  })
  const legacy = new Client(info, { versionNegotiation: { mode: 'legacy' } })
  for (const client of [modern, legacy]) await client.connect(new StreamableHTTPClientTransport(url))
  const v1 = new V1Client(info)
  await v1.connect(new V1Transport(url) as Parameters<V1Client['connect']>[0])
  const toOptions = (onProgress: Parameters<TestClient['call']>[2]) =>
    onProgress && { onprogress: ({ message }: { message?: string | undefined }) => onProgress(message) }
  const ofV2 = (name: string, client: Client): TestClient => ({
    ...{ name, client },
    call: async (name, args, onProgress) =>
      (await client.callTool({ name, arguments: args }, toOptions(onProgress))) as unknown as JsonObject,
  })
  return [
    ofV2('2.x', modern),
    ofV2('2.x before 2026-07-28', legacy),
    {
      ...{ name: '1.x', client: v1 as unknown as TestClient['client'] },
      call: async (name, args, onProgress) =>
        (await v1.callTool({ name, arguments: args }, undefined, toOptions(onProgress))) as JsonObject,
    },
  ]
}
