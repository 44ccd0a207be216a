import { createParser } from 'eventsource-parser'
import type { WireVersion } from '../../src/card/model/calls.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { token as adminToken, type OwnHost, startHost } from '../support/host.ts'
import { startToolServer, type TestTool, type ToolServer } from '../support/mcp-server.ts'

/** How a call is made: in which version, by whom, of which agent. */
export type As = { version?: WireVersion; token?: string | undefined; agent?: string; signal?: AbortSignal; id?: Json }

/** A host with an agent "tools" behind which is an MCP server of a test's tools. */
export type BridgedAgent = {
  host: OwnHost
  server: ToolServer
  /** Makes a call; returns the JSON-RPC response. */
  call: (method: string, params: JsonObject, as?: As) => Promise<JsonObject>
  /** Makes a call that is answered with a stream; returns the results as they come, or throws the error. */
  stream: (method: string, params: JsonObject, as?: As) => AsyncGenerator<JsonObject>
  /** Sends a message with these parts; returns the task. */
  send: (parts: Json, more?: JsonObject, as?: As) => Promise<Task>
  /** A token that may read all agents. */
  issue: (name: string) => Promise<string>
  close: () => Promise<void>
}

/** What tests look at of a task of v1.0. */
export type Task = {
  id: string
  contextId: string
  status: { state: string; message?: { parts: JsonObject[]; metadata?: JsonObject } }
  artifacts?: { name: string; parts: JsonObject[] }[]
  history?: JsonObject[]
}

/** Starts both, and registers the agent by its manifest alone; `only` are the tools of another one, "only". */
export const startBridgedAgent = async (
  tools: Record<string, TestTool>,
  { vars = {}, only }: { vars?: Record<string, string>; only?: Record<string, TestTool> } = {},
): Promise<BridgedAgent> => {
  const servers = { tools: await startToolServer(tools), ...(only && { only: await startToolServer(only) }) }
  const origins = Object.values(servers).map(({ origin }) => origin)
  const host = await startHost({ ALLOWED_ORIGINS: origins.join(' '), SECRET: 'open-sesame', ...vars })
  for (const [id, { url }] of Object.entries(servers)) {
    const registered = await host.put(id, { upstream: { mcp: url, secret: 'SECRET' } })
    if (registered.status !== 201) throw new Error(await registered.text())
  }

  const ask = (method: string, params: JsonObject, { version = '1.0', token, agent = 'tools', signal, id = 7 }: As) =>
    host.fetch(`/agents/${agent}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'A2A-Version': version,
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      ...(signal && { signal }),
    })
  const call: BridgedAgent['call'] = async (method, params, as = {}) =>
    (await (await ask(method, params, as)).json()) as JsonObject

  return {
    host,
    server: servers.tools,
    call,
    stream: async function* (method, params, as = {}) {
      const response = await ask(method, params, as)
      const came: JsonObject[] = []
      const parser = createParser({ onEvent: ({ data }) => came.push(JSON.parse(data)) })
      if (!/event-stream/.test(response.headers.get('Content-Type') ?? ''))
        came.push((await response.json()) as JsonObject)
      else
        for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
          parser.feed(new TextDecoder().decode(chunk))
          yield* results(came.splice(0))
        }
      yield* results(came)
    },
    send: async (parts, more = {}, as = {}) => {
      const answer = await call('SendMessage', message(parts, more), as)
      return ((answer.result as JsonObject | undefined)?.task ?? answer) as Task
    },
    issue: async name => {
      const issued = await host.fetch('/tokens', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${adminToken}` },
        body: JSON.stringify({ note: name, scopes: ['read'] }),
      })
      if (!issued.ok) throw new Error(await issued.text())
      return ((await issued.json()) as { token: string }).token
    },
    close: async () => {
      await host.close()
      for (const server of Object.values(servers)) server.close()
    },
  }
}

const results = (answers: JsonObject[]): JsonObject[] =>
  answers.map(({ result, error }) => {
    if (error) throw new Error(JSON.stringify(error))
    return result as JsonObject
  })

/** Parameters of a message of v1.0 with these parts; `more` of the message, or beside it. */
export const message = (parts: Json, { metadata, configuration, ...more }: JsonObject = {}): JsonObject => ({
  message: {
    messageId: 'm',
    role: 'ROLE_USER',
    parts,
    ...(metadata !== undefined && { metadata }),
    ...more,
  },
  ...(configuration !== undefined && { configuration }),
})

/** Parameters of a message of v0.3 with these parts. */
export const message0 = (parts: Json, { configuration, ...more }: JsonObject = {}): JsonObject => ({
  message: { kind: 'message', messageId: 'm', role: 'user', parts, ...more },
  ...(configuration !== undefined && { configuration }),
})

/** A data part of v1.0 that calls a tool. */
export const calls = (tool: string, given?: JsonObject): JsonObject[] => [
  { data: { tool, ...(given && { arguments: given }) } },
]
