import type { A2ACall, CallError, ErrorForm } from '../a2a/index.ts'
import { authenticate, hasKnownCredentials, isLimited } from '../auth/start.ts'
import type { CallProfile } from '../card/index.ts'
import { config } from '../config.ts'
import { startTiming } from '../http/start.ts'
import { forwardCall } from './forward-call.ts'
import {
  agentById,
  authorizeCall,
  type CallContext,
  checkCaller,
  checkRateLimit,
  countRefusal,
  createCallContext,
  evaluatePolicy,
  hasSmallBody,
  type InboundCall,
  kindsOf,
  loadExtendedCard,
  logCall,
  readExtendedModes,
  resolveAgent,
  targetOf,
  type Verdict,
} from './gate/index.ts'

/** Handles one call from request to response, and logs it. */
export const handleCall = async (
  inbound: InboundCall,
  request: Request,
  env: Env,
  ctx: ExecutionContext,
): Promise<Response> => {
  const startedAt = Date.now()
  const starting = startTiming(request)
  const timing = starting && (await starting)
  const context = createCallContext(await authenticate(request, env, ctx), { request, env, ctx, timing })
  timing?.lap('auth')
  // Loaded on first use, because few callers have a trace.
  const hasTrace = request.headers.has('traceparent')
  const trace = hasTrace && (await import('./upstream/trace-context.ts')).continueTrace(request.headers, env)
  if (trace) context.trace = trace
  const handled = (await receiveCall(inbound, context)) ?? (await dispatchCall(inbound, context))
  const result = 'kind' in handled ? await countRefusal(handled, context) : handled
  const error = 'kind' in result ? result : undefined
  const response = 'kind' in result ? await refuse(result, context.call ?? inbound.getErrorForm()) : result
  if (context.warnings.length > 0) response.headers.set('Gate-Warning', kindsOf(context.warnings))
  // Any other response must look the same for an internal agent as for one that does not exist.
  if (context.call) timing?.addTo(response)
  logCall(context, error, response.status, Date.now() - startedAt)
  return response
}

/** Loaded with the first refused call: the messages of all errors are a tenth of what a start would evaluate. */
let errors: typeof import('../a2a/error-response.ts') | undefined

const refuse = async (error: CallError, form: ErrorForm): Promise<Response> => {
  errors ??= await import('../a2a/error-response.ts')
  return errors.errorResponse(error, form)
}

/**
 * Resolves the agent, counts the call, and reads its body. A call is counted before its body is read, so a refused one
 * counts too. The body of a refused call is read only if it is small, so that the error has the id of the call.
 */
const receiveCall = async (inbound: InboundCall, context: CallContext): Promise<CallError | undefined> => {
  const { request, env, timing } = context
  // An address past its limit is counted first: it costs neither a look-up of the agent nor a check of credentials.
  const countedFirst = !context.caller.authenticated && isLimited(request) && !(await hasKnownCredentials(request))
  const refused = countedFirst ? await checkRateLimit(context.caller, request, env) : undefined
  const unresolved = refused || !inbound.agent ? undefined : await resolveAgent(context, inbound.agent)
  // Credentials that the agent's card names have a limit of their own.
  const isCounted = countedFirst && !context.caller.authenticated
  const limited = isCounted ? refused : await checkRateLimit(context.caller, request, env)
  timing?.lap('gate')
  const unreadable = limited && !hasSmallBody(request) ? undefined : await inbound.read()
  timing?.lap('body')
  const error = limited ?? unreadable ?? unresolved
  if (error || inbound.agent) return error
  const agent = (await inbound.findAgent?.(context)) ?? agentById()
  return 'kind' in agent ? agent : resolveAgent(context, agent)
}

/** Checks the call against the caller's rights and the agent's card, and answers or forwards it. */
const dispatchCall = async (inbound: InboundCall, context: CallContext): Promise<Response | CallError> => {
  const authorized = authorizeCall(context)
  if ('kind' in authorized) return authorized
  const { profile } = authorized
  if (profile.cardMissing) return { kind: 'no-card' }
  const call = inbound.parse(profile)
  if ('kind' in call) return call
  context.call = call
  const denied = checkCaller(context, call, profile)
  if (denied) return denied
  const evaluated = await evaluatePolicy(call, profile, config(context.env).allowedOrigins)
  const permitted = refusesModes(evaluated) ? await checkAgain(evaluated, call, profile, context) : evaluated
  if ('kind' in permitted) return permitted
  if (call.operation === 'extendedCard' && !profile.agentServesExtendedCard) {
    const card = await loadExtendedCard(context, profile, call.dialect)
    return 'kind' in card ? card : inbound.wrapCard(card)
  }
  context.warnings = permitted.warnings
  const target = targetOf(call, profile)
  if (target === undefined) return { kind: 'closed' }
  if (call.operation === 'extendedCard')
    return (await import('./extended-card.ts')).fetchExtendedCard(context, { call, profile, target }, inbound)
  const { hasPushConfig = false } = permitted
  return forwardCall(context, { call, profile, target, inbound, hasPushConfig })
}

const refusesModes = (verdict: Verdict): boolean =>
  'kind' in verdict && ['input-modes', 'output-modes'].includes(verdict.kind)

/** Evaluates the policy again with the modes of the caller's extended card. Without one, returns the first verdict. */
const checkAgain = async (
  verdict: Verdict,
  call: A2ACall,
  profile: CallProfile,
  context: CallContext,
): Promise<Verdict> => {
  const modes = profile.agentServesExtendedCard
    ? await (await import('./extended-card.ts')).fetchExtendedModes(context, profile)
    : await readExtendedModes(context, profile)
  return modes ? evaluatePolicy(call, { ...profile, modes }, config(context.env).allowedOrigins) : verdict
}
