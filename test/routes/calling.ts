import { request as httpRequest } from 'node:http'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { startUpstream, type UpstreamServer } from '../a2a/upstream-server.ts'
import { token as adminToken, type Host, startHost } from '../host.ts'
import type { BareHost } from './bare-host.ts'

/** An agent that speaks both versions over both bindings, each at a path of its own. */
export const agentCard = (origin: string, more: JsonObject = {}): JsonObject => ({
  name: 'Weather',
  description: 'Tells the weather of any place',
  version: '2.0.0',
  supportedInterfaces: [
    { url: `${origin}/rpc-1`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: `${origin}/rpc-0`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    { url: `${origin}/rest-1`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url: `${origin}/rest-0`, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
  ],
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'now', name: 'Now', description: 'The weather now', tags: ['weather'] }],
  ...more,
})

/** What is sent to the host: a body that is no text is sent as JSON. */
export type Sent = {
  method?: string
  headers?: Record<string, string>
  body?: Json | Uint8Array
  token?: string | undefined
}

/** What came back: its body parsed, where it is JSON. */
export type Came = { status: number; headers: Headers; text: string; body: Json }

/** A host with an agent behind it that does what a test says, and each call from an address of its own. */
export type CalledHost<Started extends BareHost = Host> = {
  host: Started
  agent: UpstreamServer
  send: (path: string, sent?: Sent) => Promise<Came>
  /** Sends a request with headers as lines: several of one name too. */
  sendLines: (path: string, headers: Record<string, string | string[]>, body: string) => Promise<Came>
  register: (id: string, manifest: JsonObject) => Promise<JsonObject>
  issue: (request: JsonObject) => Promise<{ token: string; id: string }>
  close: () => Promise<void>
}

/** The answer of an agent that does as it should, to any call. */
export const answer = { jsonrpc: '2.0', id: 7, result: { said: 'It rains' } }

/** Starts both; the host in the harness, where it can be looked into, or in a bare runtime. */
export const startCalledHost = async <Started extends BareHost = Host>(
  vars: Record<string, string> = {},
  start: (vars: Record<string, string>) => Promise<Started> = startHost as never,
): Promise<CalledHost<Started>> => {
  const agent = await startUpstream()
  const host = await start({ ALLOWED_ORIGINS: agent.origin, ...vars })
  let count = 0
  const address = () => `198.51.${(++count >> 8) & 255}.${count & 255}`
  const send: CalledHost<Started>['send'] = async (path, { method = 'POST', headers = {}, body, token } = {}) =>
    came(
      await host.fetch(path, {
        method,
        headers: {
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          'CF-Connecting-IP': address(),
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(body !== undefined && {
          body: typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
        }),
      }),
    )
  return {
    host,
    agent,
    send,
    sendLines: (path, headers, body) =>
      new Promise((resolve, reject) => {
        const sending = httpRequest(
          new URL(path, host.url).href,
          {
            method: 'POST',
            headers: { 'Content-Type': 'application/json', 'CF-Connecting-IP': address(), ...headers },
          },
          async response => {
            let text = ''
            for await (const chunk of response.setEncoding('utf8')) text += chunk
            resolve(came(new Response(text, { status: response.statusCode ?? 0, headers: flat(response.headers) })))
          },
        )
        sending.on('error', reject).end(body)
      }),
    register: async (id, manifest) => {
      const { status, body } = await send(`/agents/${id}`, { method: 'PUT', token: adminToken, body: manifest })
      if (status !== 201 && status !== 200) throw new Error(`${id}: ${status} ${JSON.stringify(body)}`)
      return body as JsonObject
    },
    issue: async request => {
      const { body } = await send('/tokens', { token: adminToken, body: request })
      return body as { token: string; id: string }
    },
    close: async () => {
      agent.close()
      await host.close()
    },
  }
}

const flat = (headers: NodeJS.Dict<string | string[]>): [string, string][] =>
  Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((each): [string, string] => [name, each]))

const came = async (response: Response): Promise<Came> => {
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('Content-Type') ?? '')
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : text }
}

/** A JSON-RPC call; what is not given is as it mostly is. */
export const call = (method = 'SendMessage', params: Json = message(), id: Json = 7): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

/** Parameters of a message of v1.0, or of v0.3. */
export const message = (more: JsonObject = {}): JsonObject => ({
  message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Does it rain?' }] },
  ...more,
})
export const message0 = (more: JsonObject = {}): JsonObject => ({
  message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'Does it rain?' }] },
  ...more,
})

/** The code of a JSON-RPC error, or of v0.3's HTTP+JSON; or the status that v1.0's HTTP+JSON tells it by. */
export const codeOf = (body: Json): Json | undefined => {
  const { error, code } = body as { error?: { code: number }; code?: number }
  return error?.code ?? code
}
