import type { CallError } from '../a2a/index.ts'
import { type A2ACall, nameBlocking, operations } from '../a2a/start.ts'
import type { Authentication } from '../auth/index.ts'
import { createTokenFinder } from '../auth/start.ts'
import type { CallProfile } from '../card/index.ts'
import { addsCredential, type CallTarget, canTranslate, isSameProtocol } from '../card/model/start.ts'
import { parseSeconds, resolveSecret, resolveService } from '../http/start.ts'
import type { CallContext, InboundCall } from './gate/index.ts'
import type { OwnedCall } from './tasks/index.ts'
import type { TranslatedCall } from './translate-call.ts'
import type { UpstreamCredentials, UpstreamRoute } from './upstream/index.ts'
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
  const { profile, target, hasPushConfig = false } = permitted
  const routed = maySelectTenant(profile) ? permitted.call : await dropRoutingParams(permitted.call)
  const owned = profile.tasks === 'owner' ? await checkOwner(context, routed) : undefined
  if (owned && 'kind' in owned) return owned
  const call = nameBlocking(owned?.call ?? routed)
  const translated = needsTranslation(call, permitted) ? await translate(context, call, permitted) : undefined
  if (translated && 'kind' in translated) return translated
  const sent = translated?.call ?? call
  const message = translated?.message ?? permitted.inbound.toUpstream(call, target)
  const { mcp } = profile
  // Loaded on first use, because few agents are MCP servers.
  const route = mcp
    ? (await import('./tool-invocation.ts')).createToolInvocation(
        context,
        sent,
        { ...profile, mcp },
        message.body ?? '',
      )
    : resolveUpstream(profile, caller, env)
  if ('kind' in route) return route
  const identity = profile.identity && (await assertIdentity(context, profile.identity, permitted))
  if (identity && 'misconfigured' in identity) return misconfigured(identity.misconfigured)
  const { timeoutSeconds, service, credentials } = route
  const streams = operations[call.operation].streams === true
  answers ??= await import('./answer-policy.ts')
  const isTranslated = translated !== undefined
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
      idleSeconds: parseSeconds(env.STREAM_IDLE_TIMEOUT, 120),
      allowedOrigins: env.ALLOWED_ORIGINS,
      pseudonym: `${agent.id}.${hostOf(request.url)}`,
      answers: observer.policy,
    },
  )
  timing?.lap('upstream')
  observer.end(response)
  if ('status' in response && response.status !== undefined) context.upstreamStatus = response.status
  return response
}

/**
 * Checks whether the agent has another version or binding than the call. One that the manifest lets pass although the
 * agent does not support its version goes as it is.
 */
const needsTranslation = (call: A2ACall, { profile, target }: PermittedCall): boolean =>
  !isSameProtocol(call, target) && canTranslate(call, target, profile.bridge)

/** Loaded on first use, because most callers have the version and binding of their agents. */
const translate = async (
  context: CallContext,
  call: A2ACall,
  { target, inbound }: PermittedCall,
): Promise<TranslatedCall | CallError> => {
  const { translateCall } = await import('./translate-call.ts')
  return translateCall(context, call, target, inbound.selector)
}

/**
 * Checks whether callers may select the agent's tenant: with credentials of their own, they reach nothing there that is
 * not theirs.
 */
const maySelectTenant = (profile: CallProfile): boolean => !addsCredential(profile) && profile.tasks === 'shared'

/** Loaded on first use, because an isolate that serves only cards never needs it. */
const dropRoutingParams = async (call: A2ACall): Promise<A2ACall> => {
  const routing = await import('../a2a/task-references.ts')
  return routing.dropRoutingParams(call)
}

/** Signs who calls, for an agent whose owner asks for it. */
const assertIdentity = async (
  { agent, caller, env }: CallContext,
  { issuer }: NonNullable<CallProfile['identity']>,
  { profile: { tiers }, target }: PermittedCall,
): Promise<{ assertion: string } | { misconfigured: string }> => {
  // Loaded on first use, because few agents ask for it.
  const { assertCaller } = await import('./upstream/caller-identity.ts')
  return assertCaller({ caller, issuer, audience: target.url, agent: agent.id, tiers }, env)
}

/** Checks whose the tasks of a call are. Loaded on first use, because few agents need it. */
const checkOwner = async (
  { agent, caller, env }: CallContext,
  call: A2ACall,
): Promise<OwnedCall | CallError | undefined> => {
  if (call.operation === 'extendedCard') return undefined
  const { checkTaskOwner } = await import('./tasks/owned-call.ts')
  return checkTaskOwner(call, { agent: agent.id, caller }, env)
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
  const stripped = caller.strippedHeaders ?? []
  return { pass: ['authorization', ...apiKeyHeaders].filter(name => !stripped.includes(name)) }
}
