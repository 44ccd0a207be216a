import { type ErrorForm, toErrorEvent, upstreamErrorText } from '../a2a/error-response.ts'
import type { Failure, Refusal } from '../a2a/errors.ts'
import { operations } from '../a2a/operations.ts'
import { relaySse } from '../a2a/sse.ts'
import type { Authentication } from '../auth/principal.ts'
import type { CallProfile } from '../card/call-profile.ts'
import type { CallTarget } from '../card/model/calls.ts'
import { fetchService, parseSeconds, resolveSecret, resolveService } from '../http/bindings.ts'
import { essence } from '../http/media-type.ts'
import { safeFetch } from '../http/safe-fetch.ts'
import { checkReadAccess } from './access.ts'
import type { ParsedCall } from './call-context.ts'
import type { createToolInvocation } from './tool-invocation.ts'
import {
  appendVia,
  type UpstreamCall,
  type UpstreamCredentials,
  type UpstreamRoute,
  upstreamHeaders,
  upstreamUrl,
} from './upstream-request.ts'

import { readUpstreamResponse, toClientResponse } from './upstream-response.ts'

/**
 * What a promise brings within so many seconds; undefined where it takes longer. What is waited for is not aborted: a Worker's
 * requests to others end with the one that they were made for, and to be able to abort them sooner would slow every call.
 */
const withTimeout = <Value>(promise: Promise<Value>, seconds: number): Promise<Value | undefined> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), seconds * 1000)
    promise.then(resolve, reject).then(() => clearTimeout(timer))
  })

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

/** What came of a call that the gate let through; `upstream` is the agent's own status. */
type Forwarded = { response: Response; upstream: number } | { problem: Refusal | Failure; upstream?: number }

/** Hands a call on to its agent: to its address, or to the Worker that the manifest names. */
export const forwardCall = async (
  id: string,
  read: ParsedCall,
  target: CallTarget,
  profile: CallProfile,
  caller: Authentication,
  request: Request,
  env: Env,
): Promise<Forwarded> => {
  // What the Worker's own secret opens is for those that the host knows, where the card says that callers must be known.
  const unknown =
    profile.secret !== undefined && profile.requiresAuthentication ? checkReadAccess(caller, id) : undefined
  if (unknown) return { problem: unknown }
  const { mcp } = profile
  const way = mcp
    ? await bridged({ id, read, profile: { ...profile, mcp }, caller, request }, env)
    : resolveUpstream(profile, caller, env)
  if ('refused' in way || 'failed' in way) return { problem: way }
  const { call, method, path, body } = read
  const streams = operations[call.operation].streams === true
  const answer = await forward(
    {
      call,
      target,
      service: way.service,
      method,
      path,
      body: body(),
      credentials: way.credentials,
      streams,
      extensions: call.extensions,
      headers: request.headers,
    },
    {
      timeoutSeconds: way.timeoutSeconds,
      idleSeconds: parseSeconds(env.STREAM_IDLE_TIMEOUT, 120),
      allowedOrigins: env.ALLOWED_ORIGINS,
      pseudonym: `${id}.${hostOf(request.url)}`,
    },
  )
  if ('failed' in answer)
    return { problem: answer, ...('status' in answer && answer.status !== undefined && { upstream: answer.status }) }
  return { response: answer, upstream: answer.status }
}

/** What calls tools is loaded by who calls one. */
const bridged = async (...call: Parameters<typeof createToolInvocation>) =>
  (await import('./tool-invocation.ts')).createToolInvocation(...call)

/** The host of a URL as a request has it, which is sound. */
const hostOf = (url: string): string => url.slice(url.indexOf('//') + 2).split('/', 1)[0] ?? ''

/** How an agent is called that speaks A2A itself. */
const resolveUpstream = (profile: CallProfile, caller: Authentication, env: Env): UpstreamRoute | Failure => {
  const service = profile.service === undefined ? undefined : resolveService(profile.service, env)
  if (profile.service !== undefined && service === undefined)
    return misconfiguredUpstream(`this Worker has no service binding "${profile.service}"`)
  const credentials = credentialsFor(profile, caller, env)
  if ('misconfigured' in credentials) return misconfiguredUpstream(credentials.misconfigured)
  return { service, credentials, timeoutSeconds: parseSeconds(env.UPSTREAM_TIMEOUT, 60) }
}

const misconfiguredUpstream = (detail: string): Failure => ({ failed: 'misconfigured', detail })

const credentialsFor = (
  { secret, apiKeyHeaders }: CallProfile,
  caller: Authentication,
  env: Env,
): UpstreamCredentials | { misconfigured: string } => {
  if (secret !== undefined) {
    return resolveSecret(secret, env)
  }
  const withheld = caller.authenticated ? caller.strippedHeaders : []
  return { pass: ['authorization', ...apiKeyHeaders].filter(name => !withheld.includes(name)) }
}
