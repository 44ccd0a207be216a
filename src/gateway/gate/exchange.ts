import {
  type A2ACall,
  type AnswerPlace,
  type AnswerRepair,
  type CallError,
  type ErrorForm,
  type Inspected,
  methodOf,
  type Refusal,
  type ResultFacts,
} from '../../a2a/index.ts'
import { ANONYMOUS, type Authentication } from '../../auth/index.ts'
import type { CallProfile } from '../../card/index.ts'
import { type CallTarget, latestVersion, type OutputWarning } from '../../card/model/index.ts'
import { type BodyText, beginLine, endLine, log, type RequestContext, type TraceContext } from '../../http/index.ts'
import type { CachedDocument } from '../../registry/edge/index.ts'
import type { AgentParameter, TranslateAnswer, UpstreamMessage } from '../upstream/index.ts'
import type { Gate } from './gate.ts'

/** The id of an agent, empty for none, and the name that the caller used: errors repeat only what the caller wrote. */
export type AgentRef = { id: string; named: string }

/** Refers to an agent that the caller names by its id. */
export const agentById = (id = ''): AgentRef => ({ id, named: id })

/** A warning of the gate about a call that passes. */
export type GateWarning =
  | CallError
  | OutputWarning
  /** A translation between versions or bindings could not carry the members with these paths. */
  | { kind: 'lossy'; losses: readonly string[] }
  | { kind: 'repaired'; repairs: readonly AnswerRepair[] }
  /** A stack trace that a `warn` level lets pass. */
  | { kind: 'stack-trace' }

/** A call that may be sent. Each feature that the agent uses adds to it. */
export type Permitted = {
  /** The call as the agent gets it. */
  call: A2ACall
  readonly gate: Gate
  /** The endpoint of the agent; undefined where this host answers itself, with an extended card. */
  target: CallTarget | undefined
  /** Whether the call and its responses are translated. */
  isTranslated: boolean
  /** The findings of `warn` levels. */
  warnings: GateWarning[]
  /** Whether the message configures push notifications. */
  hasPushConfig: boolean
  /** The translated call, if it is not sent as it was received. */
  message: UpstreamMessage | undefined
  /** Translates the text of a checked response. */
  translate: TranslateAnswer | undefined
  /** The signed assertion of the caller, for an agent that asks for it. */
  assertion: string | undefined
  /** Records the tasks that a response shows, where tasks are kept apart, and refuses those of other callers. */
  inspectTasks: ((facts: ResultFacts) => Inspected | Promise<Inspected>) | undefined
}

/** A permitted call for the agent itself. */
export type Sendable = Permitted & { target: CallTarget }

/** Checks whether a permitted call is for the agent itself. */
export const isSendable = (permitted: Permitted): permitted is Sendable => permitted.target !== undefined

/** Whether a call may be sent, or why not. */
export type Decision = Permitted | CallError

/** One call, from its request to its response. Each step of `handleCall` adds to it; the log line is made from it. */
export abstract class Exchange implements Readonly<RequestContext> {
  readonly request: Request
  readonly env: Env
  readonly ctx: ExecutionContext
  /** Of the request. Each read from it calls the runtime, which takes longer than most steps of a call. */
  readonly headers: Headers
  readonly url: string
  /** `Content-Type` of the request. */
  readonly type: string | null
  /** Set if the caller prefers to see how long each step takes. */
  timing: RequestContext['timing']
  /** Identified by a token of this host; once the agent is resolved, also by credentials that its card names. */
  caller: Authentication = ANONYMOUS
  /** Without an id until the agent is found, where the path does not name it. */
  agent: AgentRef
  /** The parameter that selects the agent; undefined where the path does. */
  readonly selector: AgentParameter | undefined
  /** Null until the agent is resolved, and if there is no such agent. */
  gate: Gate | null = null
  call: A2ACall | undefined
  /** The trace of the caller, if it has one. */
  trace: TraceContext | undefined
  /** The findings of `warn` levels, and media types of a response that were not expected. */
  warnings: readonly GateWarning[] = []
  /** The status of the agent's own response. */
  upstreamStatus: number | undefined

  constructor(request: Request, env: Env, ctx: ExecutionContext, addressing: AgentRef | AgentParameter) {
    const isSelected = typeof addressing === 'string'
    this.request = request
    this.env = env
    this.ctx = ctx
    this.headers = request.headers
    this.url = request.url
    this.type = this.headers.get('Content-Type')
    this.agent = isSelected ? agentById() : addressing
    this.selector = isSelected ? addressing : undefined
  }

  /** Finds the agent by the parameters of the call, where the path does not name it. */
  findAgent(): Promise<AgentRef | CallError> | AgentRef | CallError {
    return this.agent
  }

  /** Returns the profile by which the caller is identified and its call is checked. */
  profileFor(profile: CallProfile): CallProfile {
    return profile
  }

  /** Reads the body; undefined for none. Returns an error if it cannot be one of a call. */
  abstract readBody(): Promise<BodyText> | CallError | undefined
  /** Parses the body that was read. Returns an error if it is not a call. */
  abstract parseBody(body: BodyText | CallError | undefined): Refusal
  /** Parses the call, now that the versions of the agent are known. */
  abstract parse(gate: Gate): A2ACall | CallError
  /** Writes the call for an agent of the same version and binding, from what was parsed and checked. */
  abstract write(call: A2ACall, target: CallTarget): UpstreamMessage
  /** Returns the form of errors before the call is parsed. */
  abstract errorForm(): ErrorForm
  /** Wraps an extended card in a response of the binding. */
  abstract wrapCard(document: Pick<CachedDocument, 'body'>): Response
}

// Log

/** Writes the log line of one call. No line contains what a caller or an agent wrote, except for valid ids. */
export const logCall = (
  exchange: Exchange,
  error: CallError | undefined,
  status: number,
  milliseconds: number,
): void => {
  const { gate, call, caller, trace, warnings, upstreamStatus } = exchange
  const starts = gate && call && gate.route(call).lineStarts
  const start = (call && starts?.[call.operation]) ?? beginLine('call', describeCall(exchange))
  if (call && starts) starts[call.operation] = start
  endLine(levelOf(error), start, {
    ...(trace && describeTrace(trace)),
    'calling_card.caller': caller.authenticated ? caller.subject : caller.reason,
    'error.type': error?.kind,
    'calling_card.detail': detailOf(error),
    'calling_card.warnings': warnings.length > 0 ? kindsOf(warnings) : undefined,
    'calling_card.upstream.status_code': upstreamStatus,
    'http.response.status_code': status,
    'calling_card.duration_ms': milliseconds,
  })
}

/** Reports a warning in `Gate-Warning` and the log line of the call; in a line of its own once those are written. */
export const reportWarning = (exchange: Exchange, warning: GateWarning, place: AnswerPlace): void => {
  if (place === 'event') logStream(exchange, { warning })
  else exchange.warnings = [...exchange.warnings, warning]
}

/** Writes a log line about a stream that has begun: the error that ended it, or a warning about an event. */
export const logStream = (exchange: Exchange, found: { error: CallError } | { warning: GateWarning }): void => {
  const [error, warning] = 'error' in found ? [found.error, undefined] : [undefined, found.warning]
  log(levelOf(error), 'stream', {
    ...describeCall(exchange),
    ...(exchange.trace && describeTrace(exchange.trace)),
    'error.type': error?.kind,
    'calling_card.warnings': warning && kindOf(warning),
    'calling_card.detail': detailOf(error ?? warning),
  })
}

/** An error is what the owner has to correct; `npm start` shows it. */
const levelOf = (error: CallError | undefined): 'error' | 'info' =>
  error?.kind === 'misconfigured' || error?.kind === 'foreign-task' ? 'error' : 'info'

/** Members that are undefined are not written. */
const describeCall = ({ gate, call }: Exchange) => ({
  'gen_ai.agent.id': gate?.id,
  'a2a.method.name': call && (methodOf(call.operation, latestVersion) ?? call.operation),
  'a2a.protocol.version': call?.version,
  'calling_card.binding': call?.binding,
})

const describeTrace = ({ traceId, spanId, parentSpanId, flags }: TraceContext) => ({
  ...{ trace_id: traceId, span_id: spanId, parent_span_id: parentSpanId, trace_flags: flags },
})

const detailOf = (error: GateWarning | undefined): string | undefined =>
  error !== undefined && 'detail' in error && REASONED.has(error.kind) ? error.detail : undefined

/** The errors whose `detail` this host or the runtime writes. Others repeat what the caller sent. */
const REASONED: ReadonlySet<string> = new Set(['misconfigured', 'unreachable', 'invalid-response', 'foreign-task'])

/** Lists what was found, for the log and `Gate-Warning`. */
export const kindsOf = (warnings: readonly GateWarning[]): string => warnings.map(kindOf).join(', ')

const kindOf = (warning: GateWarning): string => {
  if (warning.kind === 'lossy') return `lossy (${warning.losses.join(' ')})`
  return warning.kind === 'repaired' ? `repaired (${warning.repairs.join(' ')})` : warning.kind
}
