import type { CallError } from '../../a2a/index.ts'
import { fetchService, safeFetch } from '../../http/start.ts'
import { appendVia, type UpstreamCall, upstreamHeaders, upstreamUrl } from './request.ts'
import type { AnswerOptions } from './response.ts'

/** The limits of one forwarded call. */
export type ForwardOptions = AnswerOptions & {
  /** The limit for the whole response, or for the headers of a stream. */
  timeoutSeconds: number
  /** Origins that are exempt from the fetch guard. */
  allowedOrigins: ReadonlySet<string>
  /** The name of this agent of this host in `Via`. */
  pseudonym: string
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

/** Resolves to undefined after a timeout. The promise is not aborted: an AbortSignal would slow down every call. */
const withTimeout = <Value>(promise: Promise<Value>, seconds: number): Promise<Value | undefined> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), seconds * 1000)
    promise.then(resolve, reject).then(() => clearTimeout(timer))
  })

/** Loaded with the first call, because an isolate that serves only cards never needs it. */
let responses: typeof import('./response.ts') | undefined

const exchange = async (
  url: string,
  init: RequestInit,
  upstream: UpstreamCall,
  options: ForwardOptions,
): Promise<Response | CallError> => {
  const response = await send(url, init, upstream, options)
  if ('kind' in response) return response
  responses ??= await import('./response.ts')
  if (upstream.streams && responses.isEventStream(response)) return responses.relayStream(response, upstream, options)
  const read = await responses.readUpstreamResponse(response, upstream, options)
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
    responses ??= await import('./response.ts')
    return responses.unreachable(error)
  }
}
