import type { A2ACall, CallError, ErrorForm } from '../../a2a/index.ts'
import type { Authentication } from '../../auth/index.ts'
import type { CallProfile } from '../../card/index.ts'
import type { CallTarget } from '../../card/model/index.ts'
import type { RequestContext } from '../../http/index.ts'
import type { CachedDocument } from '../../registry/edge/index.ts'
import type { AgentParameter, AnswerRepair, TraceContext, UpstreamMessage } from '../upstream/index.ts'
import type { OutputWarning } from './content-negotiation.ts'

/** An agent by its id, and as the caller named it: errors repeat only what the caller wrote. The id is empty if there is none. */
export type AgentRef = { id: string; named: string }

/** Refers to an agent that the caller names by its id. */
export const agentById = (id = ''): AgentRef => ({ id, named: id })

/** A call in its binding: how to read it, and the form of its responses. */
export type InboundCall = {
  /** The agent, if the path names it. */
  readonly agent: AgentRef | undefined
  /** Finds the agent by the parameters of the call, where the path does not name it. */
  findAgent: (context: CallContext) => Promise<AgentRef | CallError>
  /** Reads the body. Returns an error if it is not a call. */
  read: () => Promise<CallError | undefined>
  /** Parses what was read, now that the versions of the agent are known. */
  parse: (profile: CallProfile) => A2ACall | CallError
  /** The parameter that selected the agent; absent where the path does. */
  readonly selector?: AgentParameter | undefined
  /** Writes the call for an agent of the same version and binding, from what was parsed and checked. */
  toUpstream: (call: A2ACall, target: CallTarget) => UpstreamMessage
  /** The form of errors before the call is parsed. */
  getErrorForm: () => ErrorForm
  /** Wraps an extended card in a response of the binding. */
  wrapCard: (document: Pick<CachedDocument, 'body'>) => Response
}

/** What the gate reports of a call that passes. */
export type GateWarning = CallError | OutputWarning | LossWarning | RepairWarning

/** What a translation between versions or bindings could not carry; `losses` are paths of members. */
type LossWarning = { kind: 'lossy'; losses: readonly string[] }

/** What was repaired in an answer of the agent, or the stack trace that a `warn` level lets pass. */
type RepairWarning = { kind: 'repaired'; repairs: readonly AnswerRepair[] } | { kind: 'stack-trace' }

/** What is known about a call so far. Each step of `handleCall` adds to it; the log line is written from it. */
export type CallContext = Readonly<RequestContext> & {
  /** Identified by a token of this host; once the agent is resolved, also by credentials that the agent's card names. */
  caller: Authentication
  agent: AgentRef
  /** Null until the agent is resolved, and if there is no such agent. */
  profile: CallProfile | null
  call?: A2ACall
  /** The trace of the caller, if it has one. */
  trace?: TraceContext
  /** What `warn` levels of the gate found, and media types of an answer that were not expected. */
  warnings: readonly GateWarning[]
  /** The status of the agent's own response. */
  upstreamStatus?: number
}

/** Creates the context of a call whose agent is not resolved yet. */
export const createCallContext = (
  caller: Authentication,
  { request, env, ctx, timing }: RequestContext,
): CallContext => ({ request, env, ctx, timing, caller, agent: agentById(), profile: null, warnings: [] })
