import { relaySse } from '../a2a/sse.ts'
import { type ErrorForm, toErrorEvent, upstreamErrorText } from '../a2a/upstream-error.ts'
import type { Failure } from '../a2a/verdict.ts'
import type { CallTarget } from '../card/model/calls.ts'
import { essence } from '../http/json-type.ts'
import { safeFetch } from '../http/safe-fetch.ts'
import { fetchService } from '../http/service-fetch.ts'
import { readUpstreamResponse } from './upstream-answer.ts'
import { withTimeout } from './upstream-patience.ts'
import { type UpstreamCredentials, upstreamHeaders } from './upstream-request.ts'
import { toClientResponse } from './upstream-response.ts'
import { type RestPath, upstreamUrl } from './upstream-url.ts'
import { appendVia } from './upstream-via.ts'

/** A call that the gate has passed, on its way to the agent. */
export type UpstreamCall = {
  /** What the caller is told errors in; a `Call` is one. */
  call: ErrorForm
  target: CallTarget
  /** The Worker that takes the call in place of the network. */
  service?: Pick<Fetcher, 'fetch'> | undefined
  /** Of HTTP; over JSON-RPC a POST. */
  method: string
  /** Over HTTP+JSON alone. */
  path?: RestPath
  /** JSON text, written anew from what was checked. */
  body?: string | undefined
  /** Whether the operation is answered with a stream of events. */
  streams: boolean
  /** The extensions that the caller names. */
  extensions: readonly string[]
  /** Those of the caller's request. */
  headers: Headers
  credentials: UpstreamCredentials
}

/** How far forwarding goes. */
export type ForwardOptions = {
  /** Until a whole answer is there, or the headers of a stream. */
  timeoutSeconds: number
  /** How long a stream may be silent. */
  idleSeconds: number
  /** After how long a silence a stream's caller is sent a comment, by which a runtime learns that nobody reads: 0.4. */
  heartbeatSeconds?: number
  /** The most that an answer may hold, in bytes: 4 MiB. A stream has no such limit. */
  maxBytes?: number
  /** Exempt from the fetch guard, separated by spaces or commas. */
  allowedOrigins: string
  /** What stands in `Via` for this agent of this host. */
  pseudonym: string
}

/** Sends a call to its agent and hands on what comes back: an answer as it came, a stream as it comes. Never rejects. */
export const forward = async (outgoing: UpstreamCall, options: ForwardOptions): Promise<Response | Failure> => {
  const { target, method, path, body, streams, headers, extensions, credentials } = outgoing
  const via = appendVia(headers.get('Via'), options.pseudonym)
  if (via === undefined) return { failed: 'loop' }
  const url = upstreamUrl(target, path)
  if (url === undefined) return misconfigured('the path would lead out of the endpoint')
  const hasBody = body !== undefined
  const sent = upstreamHeaders({ target, headers, extensions, credentials, streams, hasBody, via })
  if (sent === undefined) return misconfigured('the secret is empty, or holds what no header can')
  const init: RequestInit = { method, headers: sent }
  if (hasBody) init.body = body
  try {
    const came = await withTimeout(ask(url, init, outgoing, options), options.timeoutSeconds)
    return came ?? { failed: 'timeout', seconds: options.timeoutSeconds }
  } catch {
    return { failed: 'unreachable' }
  }
}

const ask = async (
  url: string,
  init: RequestInit,
  outgoing: UpstreamCall,
  options: ForwardOptions,
): Promise<Response | Failure> => {
  const { call, service, method, streams, credentials } = outgoing
  const upstream = service ? await fetchService(service, url, init) : await safeFetch(url, init, options.allowedOrigins)
  if ('blocked' in upstream) return misconfigured(`the agent's address is ${upstream.blocked}`)
  if (streams && upstream.ok && essence(upstream.headers.get('Content-Type')) === 'text/event-stream')
    return streamed(upstream, call, options)
  const answer = await readUpstreamResponse(upstream, {
    maxBytes: options.maxBytes ?? 4 * 1024 * 1024,
    mayBeEmpty: method === 'DELETE',
    ownCredentials: 'secret' in credentials,
    errorText: failure => upstreamErrorText(call, failure),
  })
  if (!upstream.bodyUsed) upstream.body?.cancel().catch(() => undefined)
  return answer
}

const misconfigured = (detail: string): Failure => ({ failed: 'misconfigured', detail })

const streamed = (
  upstream: Response,
  call: ErrorForm,
  { idleSeconds, heartbeatSeconds = 0.4 }: ForwardOptions,
): Response => {
  const watch = { idleSeconds, heartbeatSeconds, lastEvent: (why: Failure) => toErrorEvent(call, why) }
  return toClientResponse(
    upstream.body && relaySse(upstream.body, watch),
    upstream.headers.get('Content-Type'),
    upstream,
  )
}
