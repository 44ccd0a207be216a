import { vi } from 'vitest'
import { McpAgent } from '../../../src/index.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import type { BridgeCall } from '../../../src/mcp/agent/tool-call.ts'
import { startToolServer, type TestTool, type ToolServer } from '../../support/mcp-server.ts'
import { openStorage } from '../../support/storage.ts'
import { calls, message, type Task } from './bridged-agent.ts'

/** The Durable Object of an agent in Node, in front of a server with the tools of a test. */
export type NodeAgent = {
  server: ToolServer
  /** Makes a call as the gateway does, and returns the JSON-RPC response. */
  call: (method: string, params: JsonObject, more?: Partial<BridgeCall>) => Promise<JsonObject>
  /** Makes a streaming call, and returns the results of all its events. */
  stream: (method: string, params: JsonObject, more?: Partial<BridgeCall>) => Promise<JsonObject[]>
  /** Calls a tool and returns its task. `members` are those of the message. */
  callTool: (name: string, more?: Partial<BridgeCall>, args?: JsonObject, members?: JsonObject) => Promise<Task>
  /** Sends a message to a task and returns the task, or the error. */
  answer: (task: Pick<Task, 'id'>, part: JsonObject, more?: Partial<BridgeCall>) => Promise<Task>
  /** Reads a task. */
  read: (task: Pick<Task, 'id'>, more?: Partial<BridgeCall>) => Promise<Task>
  /** Waits until a task has a state, and returns it. */
  untilState: (task: Pick<Task, 'id'>, state: string) => Promise<Task>
}

/** Returns the request for a call, as the gateway sends it to the object. */
export const bridgeRequest = (
  server: ToolServer,
  method: string,
  params: JsonObject,
  more: Partial<BridgeCall> = {},
): Request => {
  const call: BridgeCall = {
    agent: 'tools',
    caller: 'alice',
    address: '',
    upstream: { url: server.url },
    timeoutSeconds: 5,
    streams: false,
    request: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    id: '1',
    ...more,
  }
  return new Request('https://x.internal/', { method: 'POST', body: JSON.stringify(call) })
}

/** Starts the server and the object. */
export const startNodeAgent = async (tools: Record<string, TestTool>): Promise<NodeAgent> => {
  const server = await startToolServer(tools)
  const ctx = { storage: openStorage().storage, waitUntil: () => undefined }
  const agent = new McpAgent(ctx as never, { ALLOWED_ORIGINS: server.origin } as Env)
  const fetch = async (method: string, params: JsonObject, more: Partial<BridgeCall>) =>
    agent.fetch(bridgeRequest(server, method, params, more))
  const call: NodeAgent['call'] = async (method, params, more = {}) =>
    (await (await fetch(method, params, more)).json()) as JsonObject
  const taskOf = (response: JsonObject): Task => {
    const result = response.result as (JsonObject & { task?: Task }) | undefined
    return result?.task ?? ((result ?? response) as unknown as Task)
  }
  const read: NodeAgent['read'] = async ({ id }, more) => taskOf(await call('GetTask', { id }, more))
  return {
    server,
    call,
    stream: async (method, params, more = {}) => {
      const text = await (await fetch(method, params, { ...more, streams: true })).text()
      return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data).result)
    },
    callTool: async (name, more = {}, args = {}, members = {}) => {
      const tool = { name, arguments: JSON.stringify(args) }
      return taskOf(await call('SendMessage', message(calls(name), members), { tool, ...more }))
    },
    answer: async ({ id }, part, more) =>
      taskOf(await call('SendMessage', message([part], { taskId: id, messageId: crypto.randomUUID() }), more)),
    read,
    untilState: async (task, state) => {
      await vi.waitUntil(async () => (await read(task)).status.state === state, { timeout: 5_000 })
      return read(task)
    },
  }
}
