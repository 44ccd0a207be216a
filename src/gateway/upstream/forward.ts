import type { CallError, CheckedAnswer } from '../../a2a/index.ts'
import { fetchService, safeFetch } from '../../http/start.ts'
import { HEARTBEAT_SECONDS, MAX_RESPONSE_BYTES } from '../../limits.ts'
import type { AnswerPolicy } from './check-answer.ts'
import { appendVia, type UpstreamCall, upstreamHeaders, upstreamUrl } from './request.ts'

/** The limits of one forwarded call. */
export type ForwardOptions = {
  /** How long the whole response may take, or the headers of a stream. */
  timeoutSeconds: number
  /** How long a stream may be silent. */
  idleSeconds: number
  heartbeatSeconds?: number
  /** The maximum size of a response that is not a stream. */
  maxBytes?: number
  /** Origins that are exempt from the fetch guard, separated by spaces or commas. */
  allowedOrigins: ReadonlySet<string>
  /** The name of this agent of this host in `Via`. */
  pseudonym: string
  /** How the agent's answers are checked. */
  answers: AnswerPolicy
}

/** Sends a call to its agent, and returns the response or stream for the caller. */
export const forward = async (upstream: UpstreamCall, options: ForwardOptions): Promise<Response | CallError> => {
  const { answered, target, method, path, body, headers, containsHostToken } = upstream
  const via = appendVia(headers.get('Via'), options.pseudonym)
  if (via === undefined) return { kind: 'loop' }
  const url = upstreamUrl(target, path, containsHostToken)
  if (url === undefined) return misconfigured('The path would lead out of the endpoint.')
  const hasBody = body !== undefined
  const sent = upstreamHeaders({ ...upstream, version: answered.version, hasBody, via })
  const exchanged = exchange(url, { method, headers: sent, ...(hasBody && { body }) }, upstream, options)
  const { timeoutSeconds } = options
  return (await withTimeout(exchanged, timeoutSeconds)) ?? { kind: 'timeout', seconds: timeoutSeconds }
}

/** The error of an agent that its owner has not set up correctly; `detail` is for the log. */
export const misconfigured = (detail: string): CallError => ({ kind: 'misconfigured', detail })

/**
 * Resolves to undefined after a timeout. The promise is not aborted: a Worker's subrequests end with the request that made them,
 * and an AbortSignal would slow down every call.
 */
const withTimeout = <Value>(promise: Promise<Value>, seconds: number): Promise<Value | undefined> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), seconds * 1000)
    promise.then(resolve, reject).then(() => clearTimeout(timer))
  })

type AnswerModules = typeof import('./check-answer.ts') & typeof import('./response.ts')

/** Loaded with the first call, because an isolate that serves only cards never needs them. */
let answerModules: AnswerModules | undefined

const loadAnswerModules = async (): Promise<AnswerModules> => {
  const [checks, responses] = await Promise.all([import('./check-answer.ts'), import('./response.ts')])
  return { ...checks, ...responses }
}

const exchange = async (
  url: string,
  init: RequestInit,
  upstream: UpstreamCall,
  options: ForwardOptions,
): Promise<Response | CallError> => {
  const { form, answered, translate, method, streams, credentials } = upstream
  const response = await send(url, init, upstream, options)
  if ('kind' in response) return response
  answerModules ??= await loadAnswerModules()
  const { checkAnswer, isEventStream, readUpstreamResponse } = answerModules
  if (streams && isEventStream(response)) return streamResponse(response, upstream, options, answerModules)
  const { ok, status } = response
  const read = await readUpstreamResponse(response, {
    maxBytes: options.maxBytes ?? MAX_RESPONSE_BYTES,
    mayBeEmpty: method === 'DELETE',
    ownCredentials: 'secret' in credentials,
    form,
    translate,
    onRepair: options.answers.onRepair,
    check: text => checkAnswer(text, ok ? 'response' : 'error-response', answered, { ...options.answers, status }),
  })
  if (!response.bodyUsed) response.body?.cancel().catch(() => undefined)
  return read
}

const send = async (
  url: string,
  init: RequestInit,
  { service }: UpstreamCall,
  { allowedOrigins }: ForwardOptions,
): Promise<Response | CallError> => {
  try {
    const response = await (service ? fetchService(service, url, init) : safeFetch(url, init, allowedOrigins))
    return 'blocked' in response ? misconfigured(`The agent's address is ${response.blocked}.`) : response
  } catch (error) {
    answerModules ??= await loadAnswerModules()
    return answerModules.unreachable(error)
  }
}

const streamResponse = async (
  response: Response,
  { form, answered, translate }: UpstreamCall,
  { idleSeconds, heartbeatSeconds = HEARTBEAT_SECONDS, answers }: ForwardOptions,
  { checkEvent, readsAnswers, toClientResponse, translatedEvent }: AnswerModules,
): Promise<Response> => {
  // Loaded on first use, because most calls are not streams.
  const [{ relaySse }, { toErrorEvent }] = await Promise.all([
    import('../../a2a/sse.ts'),
    import('../../a2a/error-response.ts'),
  ])
  const policy = { ...answers, status: response.status, stream: {} }
  const watch = {
    idleSeconds,
    heartbeatSeconds,
    lastEvent: (error: CallError) => {
      answers.onStreamError?.(error)
      return toErrorEvent(error, form)
    },
    ...(readsAnswers(answers) && {
      check: (data: string | undefined) => {
        const checked = checkEvent(data, answered, policy)
        if (!translate || data === undefined) return checked
        const toCaller = (passed: CheckedAnswer) => translatedEvent(data, passed, form, translate)
        return checked instanceof Promise ? checked.then(toCaller) : toCaller(checked)
      },
    }),
  }
  return toClientResponse(
    response.body && relaySse(response.body, watch),
    response.headers.get('Content-Type'),
    response,
    translate && form.version,
  )
}
