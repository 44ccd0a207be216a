import { operations } from '../a2a/operations.ts'
import type { Failure, Refusal } from '../a2a/verdict.ts'
import type { Authentication } from '../auth/principal.ts'
import type { CallProfile } from '../card/call-profile.ts'
import type { CallTarget } from '../card/model/calls.ts'
import { resolveSecret, resolveService } from '../http/bindings.ts'
import { seconds } from '../http/seconds.ts'
import { checkReadAccess } from './access.ts'
import type { ParsedCall } from './call-context.ts'
import { forward } from './forward.ts'
import type { createToolInvocation, UpstreamRoute } from './tool-invocation.ts'
import type { UpstreamCredentials } from './upstream-request.ts'

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
    ? await bridged(id, read, { ...profile, mcp }, caller, request, env)
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
      idleSeconds: seconds(env.STREAM_IDLE_TIMEOUT, 120),
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
    return misconfigured(`this Worker has no service binding "${profile.service}"`)
  const credentials = credentialsFor(profile, caller, env)
  if (credentials === undefined) return misconfigured(`this Worker has no secret "${profile.secret}"`)
  return { service, credentials, timeoutSeconds: seconds(env.UPSTREAM_TIMEOUT, 60) }
}

const misconfigured = (detail: string): Failure => ({ failed: 'misconfigured', detail })

const credentialsFor = (
  { secret, apiKeyHeaders }: CallProfile,
  caller: Authentication,
  env: Env,
): UpstreamCredentials | undefined => {
  if (secret !== undefined) {
    const value = resolveSecret(secret, env)
    return value === undefined ? undefined : { secret: value }
  }
  const withheld = caller.known ? caller.strippedHeaders : []
  return { pass: ['authorization', ...apiKeyHeaders].filter(name => !withheld.includes(name)) }
}
