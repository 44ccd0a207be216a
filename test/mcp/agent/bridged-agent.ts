import type { WireVersion } from '../../../src/card/model/versions.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { type Host, sharedHost } from '../../support/host.ts'
import { startToolServer, type TestTool, type ToolServer } from '../../support/mcp-server.ts'
import { upstreamPorts } from '../../support/shared-hosts.ts'

/** Options of a call: the version of A2A, the token of the caller, the id of the agent. */
type CallOptions = { version?: WireVersion; token?: string | undefined; agent?: string; signal?: AbortSignal }

/** An agent of a shared host, which is an MCP server with the tools of a test. */
export type BridgedAgent = {
  host: Host
  server: ToolServer
  /** Makes a call and returns the JSON-RPC response. */
  call: (method: string, params: JsonObject, options?: CallOptions) => Promise<JsonObject>
  /** Makes a streaming call and returns the results of all its events; throws the error of a failed call. */
  stream: (method: string, params: JsonObject, options?: CallOptions) => Promise<JsonObject[]>
  /** Sends a message with these parts and returns the task. */
  send: (parts: Json, more?: JsonObject, options?: CallOptions) => Promise<Task>
  /** Issues a token that may read all agents. */
  issue: (name: string) => Promise<string>
  close: () => Promise<void>
}

/** The fields of a task of A2A 1.0 that tests check. */
export type Task = {
  id: string
  contextId: string
  status: { state: string; message?: { parts: JsonObject[]; metadata?: JsonObject } }
  artifacts?: { name: string; parts: JsonObject[] }[]
}

/** Starts the server, and registers the agent by a manifest without a card. */
export const startBridgedAgent = async (
  id: string,
  tools: Record<string, TestTool>,
  resources?: Record<string, string>,
): Promise<BridgedAgent> => {
  const host = sharedHost()
  const server = await startToolServer(tools, resources, { ports: upstreamPorts() })
  const upstream = { mcp: server.url, secret: 'AGENT_TOKEN' }
  const registered = await host.put(id, { callers: 'anyone', upstream })
  if (registered.status !== 201) throw new Error(await registered.text())

  const post = (method: string, params: JsonObject, { version = '1.0', token, agent = id, signal }: CallOptions) =>
    host.fetch(`/agents/${agent}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'A2A-Version': version,
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
      ...(signal && { signal }),
    })
  const call: BridgedAgent['call'] = async (method, params, options = {}) =>
    (await (await post(method, params, options)).json()) as JsonObject

  return {
    host,
    server,
    call,
    stream: async (method, params, options = {}) => {
      const text = await (await post(method, params, options)).text()
      const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data)
      return (events.length > 0 ? events : [text]).map(each => {
        const { result, error } = JSON.parse(each)
        if (error) throw new Error(JSON.stringify(error))
        return result
      })
    },
    send: async (parts, more = {}, options = {}) => {
      const response = await call('SendMessage', message(parts, more), options)
      return ((response.result as JsonObject | undefined)?.task ?? response) as Task
    },
    issue: async name => (await host.issue({ note: name, scopes: ['read'] })).token,
    close: () => server.close(),
  }
}

/** Returns the parameters of a message of A2A 1.0 with these parts. `more` has other fields, and the configuration. */
export const message = (parts: Json, { metadata, configuration, ...more }: JsonObject = {}): JsonObject => ({
  message: { messageId: 'm', role: 'ROLE_USER', parts, ...(metadata !== undefined && { metadata }), ...more },
  ...(configuration !== undefined && { configuration }),
})

/** Returns the parameters of a message of A2A 0.3 with these parts. */
export const message0 = (parts: Json, { configuration, ...more }: JsonObject = {}): JsonObject => ({
  message: { kind: 'message', messageId: 'm', role: 'user', parts, ...more },
  ...(configuration !== undefined && { configuration }),
})

/** Returns a data part of A2A 1.0 that calls a tool. */
export const calls = (tool: string, args?: JsonObject): JsonObject[] => [
  { data: { skillId: tool, ...(args && { arguments: args }) } },
]
