import { expect } from 'vitest'
import type { CallError } from '../../src/a2a/call-error.ts'
import { errorText } from '../../src/a2a/error-response.ts'
import type { A2ACall } from '../../src/a2a/operations.ts'
import { ANONYMOUS } from '../../src/auth/principal.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'
import { admit, selectChecks } from '../../src/gateway/gate/admit.ts'
import type { Exchange, Permitted } from '../../src/gateway/gate/exchange.ts'
import { Gate } from '../../src/gateway/gate/gate.ts'
import { JsonRpcExchange } from '../../src/gateway/receive/index.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerTo } from './answers.ts'
import type { Received } from './called-host.ts'
import { executionContext } from './kv.ts'

/** Returns a JSON-RPC call, by default `SendMessage` with a text. */
export const call = (method = 'SendMessage', params: Json = message(), id: Json = 7): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

/** Returns the parameters of a message in v1.0. */
export const message = (more: JsonObject = {}): JsonObject => ({
  message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Does it rain?' }] },
  ...more,
})

/** Returns the parameters of a message in v0.3. */
export const messageV03 = (more: JsonObject = {}): JsonObject => ({
  message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'Does it rain?' }] },
  ...more,
})

/** An agent's response to `call`. */
export const agentResponse = answerTo(call())

/** Returns the code of a JSON-RPC error or of one in v0.3's HTTP+JSON; for v1.0's HTTP+JSON, the status in the body. */
export const codeOf = (body: Json): Json | undefined => {
  const { error, code } = body as { error?: { code: number }; code?: number }
  return error?.code ?? code
}

/** A JSON-RPC error: by default with status 200 and the id of `call`. `message` is a part of its message. */
export type ExpectedError = { status?: number; code: number; id?: Json; message?: string }

/** Expects a response with a JSON-RPC error. */
export const expectJsonRpcError = ({ status, headers, body }: Received, expected: ExpectedError): void => {
  expect([status, headers.get('content-type'), headers.get('cache-control'), body]).toEqual([
    expected.status ?? 200,
    'application/json',
    'no-store',
    {
      jsonrpc: '2.0',
      id: expected.id === undefined ? 7 : expected.id,
      error: expect.objectContaining({ code: expected.code, message: expect.stringContaining(expected.message ?? '') }),
    },
  ])
}

/** Returns a parsed call, by default a message in v1.0 over JSON-RPC, with `changes`. */
export const callWith = (changes: Partial<A2ACall> = {}): A2ACall => ({
  binding: 'JSONRPC',
  operation: 'send',
  version: '1.0',
  dialect: changes.version === '0.3' ? '0.3' : '1.0',
  id: 1,
  params: changes.version === '0.3' ? messageV03() : message(),
  extensions: [],
  ...changes,
})

/** Returns the gate of an agent without any restriction, with `changes` of its profile. */
export const gateWith = (changes: Partial<CallProfile> = {}, env: Partial<Env> = {}, id = 'weather'): Gate => {
  const profile = profileWith(changes)
  return new Gate(id, profile, env as Env, selectChecks(profile))
}

/** Returns the exchange of a parsed call to an agent; its request has no body. */
export const exchangeWith = (gate: Gate, call?: A2ACall, headers: HeadersInit = {}): Exchange => {
  const request = new Request(`https://cards.example.com/agents/${gate.id}/a2a`, { method: 'POST', headers })
  const exchange = new JsonRpcExchange(request, gate.env, executionContext, { id: gate.id, named: gate.id })
  return Object.assign(exchange, { gate, call })
}

/** What the gate finds in a call that passes, or its error. */
export type Decision = Pick<Permitted, 'warnings' | 'hasPushConfig'> | CallError

/** The decision on a call in which the gate finds nothing. */
export const passes: Decision = { warnings: [], hasPushConfig: false }

/** Decides on a call of an anonymous caller. */
export const decide = (gate: Gate, call: A2ACall): Decision => {
  const decision = admit(gate, call, ANONYMOUS)
  if ('kind' in decision) return decision
  const { warnings, hasPushConfig } = decision
  return { warnings, hasPushConfig }
}

/** Decides on a call whose message, if it sends one, gets what every message of its version must have. */
export const evaluate = (call: A2ACall, profile: Partial<CallProfile>, allowedOrigins = ''): Decision => {
  const { params, version, operation } = call
  const { message: whole } = version === '1.0' ? message() : messageV03()
  const sent = { ...(whole as JsonObject), ...(params.message as JsonObject | undefined) }
  const sends = operation === 'send' || operation === 'stream'
  const gate = gateWith(profile, { ALLOWED_ORIGINS: allowedOrigins } as Partial<Env>)
  return decide(gate, sends ? { ...call, params: { ...params, message: sent } } : call)
}

/** Returns the profile of an agent without any restriction, with `changes`. */
export const profileWith = (changes: Partial<CallProfile> = {}): CallProfile => ({
  visibility: 'public',
  route: 'gateway',
  gate: { capabilities: 'enforce', modes: 'enforce', extensions: 'enforce', version: 'enforce', responses: 'enforce' },
  tasks: 'shared',
  targets: (['JSONRPC', 'HTTP+JSON'] as const).flatMap(binding =>
    (['1.0', '0.3'] as const).map(version => ({
      binding,
      version,
      url: `https://agent.example/${binding}/${version}`,
    })),
  ),
  bridge: 'off',
  streaming: true,
  pushNotifications: true,
  extendedAgentCard: true,
  tiers: ['extended'],
  requiredExtensions: [],
  modes: { defaults: { input: [], output: [] }, union: { input: [], output: [] }, skills: {} },
  apiKeyHeaders: [],
  openIdConnectUrls: [],
  callers: 'anyone',
  ...changes,
})

/** Returns the response of a call that did not fail. */
export const succeeded = (result: Response | CallError): Response => {
  if ('kind' in result) throw new Error(`failed: ${JSON.stringify(result)}`)
  return result
}

/** The headers that this host adds to every response of an agent. */
export const hostHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': expect.any(String),
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

/** Returns the body of an error over HTTP+JSON. */
export const toRestError = (error: CallError, version: A2ACall['version']): JsonObject =>
  JSON.parse(errorText(error, { binding: 'HTTP+JSON', version, id: null }))
