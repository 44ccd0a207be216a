import { type CallError, errorResponse, type Refusal } from '../a2a/index.ts'
import { authenticate, containsAdminToken, hasKnownCredentials, isLimited } from '../auth/index.ts'
import { continueTrace, startTiming } from '../http/index.ts'
import {
  admit,
  authorize,
  checkRateLimit,
  countRefusal,
  type Decision,
  type Exchange,
  isSendable,
  kindsOf,
  loadExtendedCard,
  logCall,
  type Permitted,
  readExtendedModes,
  resolveAgent,
} from './gate/index.ts'
import { hasSmallBody } from './receive/index.ts'
import { send } from './send.ts'

/** Handles one call from request to response, and logs it. */
export const handleCall = async (exchange: Exchange): Promise<Response> => {
  const startedAt = Date.now()
  return conclude(await permitCall(exchange), exchange, startedAt)
}

/** Handles a call that is part of a request whose caller is identified and counted. */
export const handleReceived = async (exchange: Exchange): Promise<Response> => {
  const startedAt = Date.now()
  return conclude(await decide(exchange), exchange, startedAt)
}

const conclude = async (permitted: Decision, exchange: Exchange, startedAt: number): Promise<Response> => {
  const result = 'kind' in permitted ? permitted : await respond(permitted, exchange)
  return 'kind' in result ? refuse(result, exchange, startedAt) : finish(result, undefined, exchange, startedAt)
}

/** Responds with an error. */
export const refuse = (failed: CallError, exchange: Exchange, startedAt: number): Response | Promise<Response> => {
  const respondWith = (error: CallError) =>
    finish(errorResponse(error, exchange.call ?? exchange.errorForm()), error, exchange, startedAt)
  const counting = countRefusal(failed, exchange)
  return counting instanceof Promise ? counting.then(respondWith) : respondWith(counting)
}

const finish = (response: Response, error: CallError | undefined, exchange: Exchange, startedAt: number): Response => {
  if (exchange.warnings.length > 0) response.headers.set('Gate-Warning', kindsOf(exchange.warnings))
  // Any other response must look the same for an internal agent as for one that does not exist.
  if (exchange.call) exchange.timing?.addTo(response)
  logCall(exchange, error, response.status, Date.now() - startedAt)
  return response
}

/** Receives a call, and decides whether it may be sent. */
export const permitCall = async (exchange: Exchange): Promise<Decision> => (await receive(exchange)) ?? decide(exchange)

/**
 * Identifies the caller of a request, finds the agent, and reads the body. A request is counted before a large body
 * is read, so a refused one counts too. The body of a refused one is read only if it is small: for the id in the error.
 */
export const receive = async (exchange: Exchange): Promise<Refusal> => {
  const { request, headers, env, ctx } = exchange
  const starting = startTiming(exchange)
  if (starting) exchange.timing = await starting
  const authenticating = authenticate(request, env, ctx, headers)
  exchange.caller = authenticating instanceof Promise ? await authenticating : authenticating
  exchange.timing?.lap('auth')
  if (headers.has('traceparent'))
    exchange.trace = continueTrace(headers, traceparent => containsAdminToken(traceparent, env))
  // An address past its limit is counted first: it costs neither a look-up of the agent nor a check of credentials.
  const countedFirst = !exchange.caller.authenticated && isLimited(request) && !(await hasKnownCredentials(request))
  const refused = countedFirst ? await checkRateLimit(exchange.caller, exchange, env) : undefined
  const isNamedInPath = exchange.selector === undefined
  const resolving = refused || !isNamedInPath ? undefined : resolveAgent(exchange)
  const unresolved = resolving instanceof Promise ? await resolving : resolving
  // Credentials that the agent's card names have a limit of their own.
  const isCounted = countedFirst && !exchange.caller.authenticated
  const limiting = isCounted ? refused : checkRateLimit(exchange.caller, exchange, env)
  const isSmall = hasSmallBody(exchange)
  const reading = isSmall ? exchange.readBody() : undefined
  const limited = await limiting
  exchange.timing?.lap('gate')
  const body = isSmall ? reading : limited ? undefined : exchange.readBody()
  const unreadable = exchange.parseBody(body instanceof Promise ? await body : body)
  exchange.timing?.lap('body')
  return limited ?? unreadable ?? unresolved ?? (isNamedInPath ? undefined : await findAgent(exchange))
}

/** Finds the agent that a parameter names. */
const findAgent = async (exchange: Exchange): Promise<Refusal> => {
  const found = await exchange.findAgent()
  if ('kind' in found) return found
  exchange.agent = found
  return resolveAgent(exchange)
}

/**
 * Checks a call against its caller's rights and the agent's card; where the modes do not fit, also against the extended
 * card that the caller may read. Only then is it a promise.
 */
const decide = (exchange: Exchange): Decision | Promise<Decision> => {
  const decision = decideByCard(exchange)
  const { call, gate, caller } = exchange
  if (!call || !gate || !isRefusedByModes(decision)) return decision
  const reading = gate.profile.agentServesExtendedCard
    ? import('./extended-card.ts').then(({ fetchExtendedModes }) => fetchExtendedModes(gate, exchange))
    : readExtendedModes(gate, exchange)
  return reading?.then(modes => (modes ? admit(gate, call, caller, modes) : decision)) ?? decision
}

/** Checks whether the modes of an extended card might decide otherwise. */
export const isRefusedByModes = (decision: Decision): boolean =>
  'kind' in decision && (decision.kind === 'input-modes' || decision.kind === 'output-modes')

/** Parses a call whose body is parsed, and checks it against its caller's rights and the agent's public card. */
export const decideByCard = (exchange: Exchange): Decision => {
  const { agent, gate, caller } = exchange
  const refused = authorize(agent, gate?.profile ?? null, caller)
  if (refused || gate === null) return refused ?? { kind: 'unknown-agent', agent: agent.named }
  if (gate.profile.cardMissing) return { kind: 'no-card' }
  const call = exchange.parse(gate)
  if ('kind' in call) return call
  exchange.call = call
  return admit(gate, call, caller)
}

/** Sends a permitted call, or responds with an extended card. */
const respond = (permitted: Permitted, exchange: Exchange): Promise<Response | CallError> | CallError => {
  exchange.warnings = permitted.warnings
  const { call, gate } = permitted
  const isCard = call.operation === 'extendedCard'
  if (isSendable(permitted))
    return isCard
      ? import('./extended-card.ts').then(({ fetchExtendedCard }) => fetchExtendedCard(permitted, exchange))
      : send(permitted, exchange)
  if (!isCard) return { kind: 'closed' }
  return loadExtendedCard(gate, call.dialect, exchange).then(card => ('kind' in card ? card : exchange.wrapCard(card)))
}
