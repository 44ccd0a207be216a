import type { CallError } from '../a2a/index.ts'
import { type A2ACall, nameBlocking, operations } from '../a2a/start.ts'
import type { Authentication } from '../auth/index.ts'
import { createTokenFinder } from '../auth/start.ts'
import type { CallProfile } from '../card/index.ts'
import { addsCredential, type CallTarget, canTranslate, isSameProtocol } from '../card/model/start.ts'
import { config } from '../config.ts'
import { resolveSecret, resolveService } from '../http/start.ts'
import type { CallContext, InboundCall } from './gate/index.ts'
import type { UpstreamRoute } from './upstream/index.ts'
import { forward, misconfigured } from './upstream/start.ts'

/** A call that passed every check of its agent's card, and how it was received. */
type PermittedCall = {
  call: A2ACall
  profile: CallProfile
  target: CallTarget
  inbound: Pick<InboundCall, 'toUpstream' | 'selector'>
  /** Set if the call's message configures push notifications. */
  hasPushConfig?: boolean
}

/** Loaded with the first call, because an isolate that serves only cards never needs it. */
let answers: typeof import('./answer-policy.ts') | undefined

/** Forwards a call to its agent: to its address, to the Worker that the manifest names, or to an MCP server. */
export const forwardCall = async (context: CallContext, permitted: PermittedCall): Promise<Response | CallError> => {
  const { agent, caller, request, env, timing } = context
  const { profile, hasPushConfig = false } = permitted
  const { mcp } = profile
  // An MCP server is called only in A2A 1.0, whatever the manifest's `bridge`.
  const target: CallTarget = mcp ? { ...permitted.target, version: '1.0' } : permitted.target
  // With credentials of their own, callers reach nothing in another tenant of the agent that is not theirs.
  const maySelectTenant = !addsCredential(profile) && profile.tasks === 'shared'
  const routed = maySelectTenant
    ? permitted.call
    : (await import('../a2a/task-references.ts')).dropRoutingParams(permitted.call)
  // What few agents need is loaded on first use.
  const isOwned = profile.tasks === 'owner' && routed.operation !== 'extendedCard'
  const owned = isOwned
    ? await (await import('./tasks/owned-call.ts')).checkTaskOwner(routed, { agent: agent.id, caller }, env)
    : undefined
  if (owned && 'kind' in owned) return owned
  const call = nameBlocking(owned?.call ?? routed)
  // A call that the manifest lets pass although the agent does not support its version goes as it is.
  const isTranslated =
    !isSameProtocol(call, target) && (mcp !== undefined || canTranslate(call, target, profile.bridge))
  const translated = isTranslated
    ? (await import('./translate-call.ts')).translateCall(context, call, target, permitted.inbound.selector)
    : undefined
  if (translated && 'kind' in translated) return translated
  const sent = translated?.call ?? call
  const message = translated?.message ?? permitted.inbound.toUpstream(call, target)
  const route = mcp
    ? (await import('./tool-invocation.ts')).createToolInvocation(context, sent, { ...profile, mcp }, message)
    : resolveUpstream(profile, caller, env)
  if ('kind' in route) return route
  const identity =
    profile.identity &&
    (await (
      await import('./upstream/caller-identity.ts')
    ).assertCaller({ ...profile.identity, caller, audience: target.url, agent: agent.id, tiers: profile.tiers }, env))
  if (identity && 'misconfigured' in identity) return misconfigured(identity.misconfigured)
  const { timeoutSeconds, service, credentials } = route
  const streams = operations[call.operation].streams === true
  answers ??= await import('./answer-policy.ts')
  const observer = answers.observeAnswers(context, { call: sent, profile, owned, isTranslated, hasPushConfig })
  timing?.lap('gate')
  const response = await forward(
    {
      ...message,
      form: call,
      answered: sent,
      ...(translated && { translate: translated.translate }),
      target,
      service,
      credentials,
      assertion: identity?.assertion,
      streams,
      extensions: call.extensions,
      trace: context.trace,
      headers: request.headers,
      containsHostToken: createTokenFinder(env),
    },
    {
      timeoutSeconds,
      idleSeconds: config(env).streamIdleTimeoutSeconds,
      allowedOrigins: config(env).allowedOrigins,
      pseudonym: `${agent.id}.${hostOf(request.url)}`,
      answers: observer.policy,
    },
  )
  timing?.lap('upstream')
  observer.end(response)
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
  const { secret, apiKeyHeaders } = profile
  const stripped = caller.strippedHeaders ?? []
  const credentials =
    secret === undefined
      ? { pass: ['authorization', ...apiKeyHeaders].filter(name => !stripped.includes(name)) }
      : resolveSecret(secret, env, config(env))
  if ('misconfigured' in credentials) return misconfigured(credentials.misconfigured)
  return { service, credentials, timeoutSeconds: config(env).upstreamTimeoutSeconds }
}
