import type { ErrorForm } from '../a2a/error-response.ts'
import type { CallError } from '../a2a/errors.ts'
import type { A2ACall } from '../a2a/operations.ts'
import type { Authentication } from '../auth/principal.ts'
import type { CallProfile } from '../card/call-profile.ts'
import type { CallTarget } from '../card/model/calls.ts'
import type { CachedDocument } from '../registry/edge/cards.ts'
import type { UpstreamMessage } from './upstream-request.ts'

/** An agent by its id, and as the caller named it: errors repeat only what the caller wrote. The id is empty if there is none. */
export type AgentRef = { id: string; named: string }

/** Refers to an agent that the caller names by its id. */
export const agentById = (id = ''): AgentRef => ({ id, named: id })

/** A call as its binding reads and answers it. */
export type InboundCall = {
  /** The agent, if the path names it. */
  readonly agent: AgentRef | undefined
  /** Finds the agent by the parameters of the call. */
  findAgent: (context: CallContext) => Promise<AgentRef | CallError>
  /** Reads the body. Returns why it is not a call. */
  read: () => Promise<CallError | undefined>
  /** Parses what was read, now that the versions of the agent are known. */
  parse: (profile: CallProfile) => A2ACall | CallError
  /** Writes the call anew for its agent, from what was parsed and checked. */
  toUpstream: (call: A2ACall, target: CallTarget) => UpstreamMessage
  /** The form of errors before the call is parsed. */
  errorForm: () => ErrorForm
  /** Wraps an extended card in a response of the binding. */
  cardResponse: (document: CachedDocument) => Response
}

/** What is known of a call. Each stage of the pipeline adds to it; the log line is written from it. */
export type CallContext = {
  readonly request: Request
  readonly env: Env
  readonly ctx: ExecutionContext
  /** By the token of this host in `Authorization`; once the agent is resolved, also by the credentials that its card names. */
  caller: Authentication
  agent: AgentRef
  /** Null as long as there is no such agent. */
  profile: CallProfile | null
  call?: A2ACall
  /** What `warn` levels of the gate found. */
  warnings: readonly CallError[]
  /** The status of the agent's own response. */
  upstreamStatus?: number
}

/** Begins the context of a call, whose agent is not resolved yet. */
export const createCallContext = (
  caller: Authentication,
  request: Request,
  env: Env,
  ctx: ExecutionContext,
): CallContext => ({ request, env, ctx, caller, agent: agentById(), profile: null, warnings: [] })
