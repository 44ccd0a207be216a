import {
  type A2ACall,
  type CallError,
  type ErrorForm,
  methodOf,
  type OperationName,
  readExtensions,
} from '../../a2a/index.ts'
import type { CallProfile } from '../../card/index.ts'
import { type CallTarget, latestVersion } from '../../card/model/index.ts'
import { agentById, authorize, Exchange } from '../../gateway/gate/index.ts'
import { parseBody, readBody } from '../../gateway/receive/index.ts'
import { jsonRpcMessage, rewriteRoutingParams, type UpstreamMessage } from '../../gateway/upstream/index.ts'
import type { BodyText } from '../../http/index.ts'
import { asObject, type Json, type JsonObject } from '../../json/index.ts'

/** A request of an MCP client to an agent's MCP server, and each A2A call that this host makes for it. */
export class McpExchange extends Exchange {
  /** The JSON of the request. */
  body: Json = null
  /** Whether the client uses the whole host, and a model chooses the agent of each call. */
  isToHost = false
  #sent: { operation: OperationName; params: JsonObject } | undefined

  /** Creates the exchange of a call of the agent, in the newest version of A2A; the gate translates it where needed. */
  toCall(operation: OperationName, params: JsonObject): McpExchange {
    const exchange = this.toAgent(this.agent.id)
    exchange.gate = this.gate
    exchange.#sent = { operation, params }
    return exchange
  }

  /** Creates the exchange of the same client with one of the agents. */
  toAgent(id: string): McpExchange {
    const { request, env, ctx, caller, trace, isToHost } = this
    return Object.assign(new McpExchange(request, env, ctx, agentById(id)), { caller, trace, isToHost })
  }

  override profileFor(profile: CallProfile): CallProfile {
    return this.isToHost ? hostProfile(profile) : mcpProfile(profile)
  }

  readBody(): Promise<BodyText> | CallError {
    return readBody(this.request, this.headers, this.type)
  }

  parseBody(read: BodyText | CallError | undefined): CallError | undefined {
    if (read === undefined) return undefined
    const parsed = parseBody(read)
    if ('kind' in parsed) return parsed
    this.body = parsed.value
    // A batch would count as one request.
    return Array.isArray(this.body)
      ? { kind: 'not-a-request', detail: 'MCP has no batches since 2025-06-18.' }
      : undefined
  }

  parse(): A2ACall | CallError {
    if (this.#sent === undefined) throw new Error('The request of an MCP client is no A2A call')
    return {
      ...form,
      ...this.#sent,
      dialect: latestVersion,
      extensions: this.isToHost ? [] : readExtensions(this.headers),
    }
  }

  write({ id, operation, version, params }: A2ACall, target: CallTarget): UpstreamMessage {
    return jsonRpcMessage(id, methodOf(operation, version) ?? '', rewriteRoutingParams(params, target))
  }

  errorForm(): ErrorForm {
    return { ...form, id: asObject(this.body).id ?? null }
  }

  wrapCard(): Response {
    throw new Error('No tool returns an extended card')
  }
}

const form = { binding: 'JSONRPC', version: latestVersion, id: 1 } as const

/** Returns a function that adapts profiles, each once while it is in memory. */
const adaptOnce = (adapt: (profile: CallProfile) => CallProfile) => {
  const adapted = new WeakMap<CallProfile, CallProfile>()
  return (profile: CallProfile): CallProfile => {
    const known = adapted.get(profile) ?? adapt(profile)
    adapted.set(profile, known)
    return known
  }
}

/**
 * Returns the profile of an agent for MCP clients. This host speaks A2A for them: every call may be translated, and
 * answers must be A2A. Their JWTs are for the MCP server, or for an audience that the manifest names.
 */
const mcpProfile = adaptOnce(profile => {
  const { jwt, gate, mcpServer: { audience } = {} } = profile
  const adapted: CallProfile = { ...profile, bridge: 'all', gate: { ...gate, responses: 'enforce' } }
  return { ...adapted, ...(jwt && audience && { jwt: { ...jwt, audience } }) }
})

/** Only tokens of this host count: what a client sends for one agent must not reach another that a model chooses. */
const hostProfile = adaptOnce(profile => {
  const { jwt: _, ...adapted } = mcpProfile(profile)
  return { ...adapted, apiKeyHeaders: [], openIdConnectUrls: [] }
})

/** Returns the error of a client that may not use an agent, or whose agent was never fetched. */
export const findRefusal = ({ agent, gate, caller }: McpExchange): CallError | undefined =>
  authorize(agent, gate?.profile ?? null, caller) ?? (gate?.profile.cardMissing ? { kind: 'no-card' } : undefined)
