import { type ErrorForm, errorText, toErrorEvent } from '../a2a/error-response.ts'
import type { CallError } from '../a2a/errors.ts'
import { type A2ACall, operations } from '../a2a/operations.ts'
import { relaySse } from '../a2a/sse.ts'
import type { Authentication } from '../auth/principal.ts'
import type { CallProfile } from '../card/call-profile.ts'
import type { CallTarget } from '../card/model/calls.ts'
import { fetchService, parseSeconds, resolveSecret, resolveService } from '../http/bindings.ts'
import { essence } from '../http/media-type.ts'
import { safeFetch } from '../http/safe-fetch.ts'
import { HEARTBEAT_SECONDS, MAX_RESPONSE_BYTES } from '../limits.ts'
import { checkReadAccess } from './access.ts'
import type { CallContext } from './call-context.ts'
import {
  appendVia,
  type UpstreamCall,
  type UpstreamCredentials,
  type UpstreamMessage,
  type UpstreamRoute,
  upstreamHeaders,
  upstreamUrl,
} from './upstream-request.ts'
import { readUpstreamResponse, toClientResponse, unreachable } from './upstream-response.ts'

/** A call that passed every check, as it is written for its agent. */
type PermittedCall = { call: A2ACall; profile: CallProfile; target: CallTarget; message: UpstreamMessage }

/** Forwards a call to its agent: to its address, to the Worker that the manifest names, or to an MCP server. */
export const forwardCall = async (context: CallContext, permitted: PermittedCall): Promise<Response | CallError> => {
  const { agent, caller, request, env } = context
  const { call, profile, target, message } = permitted
  // If the card requires authentication, a secret of this Worker must not be used for anonymous callers.
  const denied = profile.secret !== undefined && profile.requiresAuthentication ? checkReadAccess(context) : undefined
  if (denied) return denied
  const { mcp } = profile
  // Loaded on first use, because few agents are MCP servers.
  const route = mcp
    ? (await import('./tool-invocation.ts')).createToolInvocation(
        context,
        call,
        { ...profile, mcp },
        message.body ?? '',
      )
    : resolveUpstream(profile, caller, env)
  if ('kind' in route) return route
  const { timeoutSeconds, service, credentials } = route
  const streams = operations[call.operation].streams === true
  const response = await forward(
    {
      ...message,
      form: call,
      target,
      service,
      credentials,
      streams,
      extensions: call.extensions,
      headers: request.headers,
    },
    {
      timeoutSeconds,
      idleSeconds: parseSeconds(env.STREAM_IDLE_TIMEOUT, 120),
      allowedOrigins: env.ALLOWED_ORIGINS,
      pseudonym: `${agent.id}.${hostOf(request.url)}`,
    },
  )
  if ('status' in response && response.status !== undefined) context.upstreamStatus = response.status
  return response
}

/** Returns the host of a URL. Cheaper than `URL`, and safe for the valid URL of a request. */
const hostOf = (url: string): string => url.slice(url.indexOf('//') + 2).split('/', 1)[0] ?? ''

/** Resolves how to call an agent that supports A2A itself. */
const resolveUpstream = (profile: CallProfile, caller: Authentication, env: Env): UpstreamRoute | CallError => {
  const service = profile.service === undefined ? undefined : resolveService(profile.service, env)
  if (profile.service !== undefined && service === undefined)
    return misconfigured(`This Worker has no service binding "${profile.service}".`)
  const credentials = resolveCredentials(profile, caller, env)
  if ('misconfigured' in credentials) return misconfigured(credentials.misconfigured)
  return { service, credentials, timeoutSeconds: parseSeconds(env.UPSTREAM_TIMEOUT, 60) }
}

const resolveCredentials = (
  { secret, apiKeyHeaders }: CallProfile,
  caller: Authentication,
  env: Env,
): UpstreamCredentials | { misconfigured: string } => {
  if (secret !== undefined) return resolveSecret(secret, env)
  const stripped = caller.authenticated ? caller.strippedHeaders : []
  return { pass: ['authorization', ...apiKeyHeaders].filter(name => !stripped.includes(name)) }
}

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
  allowedOrigins: string
  /** The name of this agent of this host in `Via`. */
  pseudonym: string
}

/** Sends a call to its agent, and returns the response or stream for the caller. */
export const forward = async (upstream: UpstreamCall, options: ForwardOptions): Promise<Response | CallError> => {
  const { form, target, method, path, body, streams, headers, extensions, credentials } = upstream
  const via = appendVia(headers.get('Via'), options.pseudonym)
  if (via === undefined) return { kind: 'loop' }
  const url = upstreamUrl(target, path)
  if (url === undefined) return misconfigured('The path would lead out of the endpoint.')
  const hasBody = body !== undefined
  const { version } = form
  const sent = upstreamHeaders({ target, version, headers, extensions, credentials, streams, hasBody, via })
  const exchanged = exchange(url, { method, headers: sent, ...(hasBody && { body }) }, upstream, options)
  const { timeoutSeconds } = options
  return (await withTimeout(exchanged, timeoutSeconds)) ?? { kind: 'timeout', seconds: timeoutSeconds }
}

const misconfigured = (detail: string): CallError => ({ kind: 'misconfigured', detail })

/**
 * Resolves to undefined after a timeout. The promise is not aborted: a Worker's subrequests end with the request that made them,
 * and an AbortSignal would slow down every call.
 */
const withTimeout = <Value>(promise: Promise<Value>, seconds: number): Promise<Value | undefined> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), seconds * 1000)
    promise.then(resolve, reject).then(() => clearTimeout(timer))
  })

const exchange = async (
  url: string,
  init: RequestInit,
  upstream: UpstreamCall,
  options: ForwardOptions,
): Promise<Response | CallError> => {
  const { form, method, streams, credentials } = upstream
  const response = await send(url, init, upstream, options)
  if ('kind' in response) return response
  if (streams && response.ok && essence(response.headers.get('Content-Type')) === 'text/event-stream')
    return streamResponse(response, upstream.form, options)
  const read = await readUpstreamResponse(response, {
    maxBytes: options.maxBytes ?? MAX_RESPONSE_BYTES,
    mayBeEmpty: method === 'DELETE',
    ownCredentials: 'secret' in credentials,
    errorText: error => errorText(error, form),
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
    return unreachable(error)
  }
}

const streamResponse = (
  response: Response,
  form: ErrorForm,
  { idleSeconds, heartbeatSeconds = HEARTBEAT_SECONDS }: ForwardOptions,
): Response => {
  const watch = { idleSeconds, heartbeatSeconds, lastEvent: (error: CallError) => toErrorEvent(error, form) }
  return toClientResponse(
    response.body && relaySse(response.body, watch),
    response.headers.get('Content-Type'),
    response,
  )
}
