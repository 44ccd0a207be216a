import type { A2ACall, CallError, MessageFacts, Refusal } from '../../a2a/index.ts'
import {
  checkInputModes,
  checkMessage,
  checkOutputModes,
  dropRoutingParams,
  operations,
  readMessage,
  removeKinds,
} from '../../a2a/index.ts'
import { type Authentication, BLOCK_SECONDS, hasPermission } from '../../auth/index.ts'
import type { CallProfile } from '../../card/index.ts'
import { blockReason } from '../../http/index.ts'
import type { AgentRef, Decision, GateWarning, Permitted } from './exchange.ts'
import type { ActiveCheck, CheckedCall, Gate } from './gate.ts'

/** The member of the manifest's `gate` that sets the level of a check. `always` protects the agent and its network. */
type Group = keyof CallProfile['gate'] | 'always'

type Check = {
  group: Group
  /** Whether the check can fail for an agent; others are left out when its gate is made. */
  isNeeded?: (profile: CallProfile) => boolean
  find: (checked: CheckedCall) => Refusal
}

/** Every check, in order. */
const checks: readonly Check[] = [
  { group: 'version', find: ({ route }) => (route.agentVersion ? undefined : route.versionError) },
  {
    group: 'capabilities',
    isNeeded: ({ streaming }) => !streaming,
    find: ({ call }) => (operations[call.operation].needs === 'streaming' ? { kind: 'streaming' } : undefined),
  },
  {
    group: 'capabilities',
    isNeeded: ({ pushNotifications }) => !pushNotifications,
    find: ({ call, message }) =>
      operations[call.operation].needs === 'pushNotifications' || message?.hasPushConfig === true
        ? { kind: 'push-notifications' }
        : undefined,
  },
  {
    group: 'extensions',
    isNeeded: ({ requiredExtensions }) => requiredExtensions.length > 0,
    find: ({ call, profile: { requiredExtensions: required } }) => {
      const missing = required.filter(uri => !call.extensions.includes(uri))
      return missing.length > 0 ? { kind: 'extensions', required, missing } : undefined
    },
  },
  { group: 'always', find: ({ invalid }) => invalid },
  { group: 'version', find: ({ misshapen }) => misshapen },
  { group: 'modes', find: ({ message, modes }) => message && checkInputModes(message, modes) },
  { group: 'modes', find: ({ message, modes }) => message && checkOutputModes(message, modes) },
  { group: 'always', isNeeded: ({ route }) => route === 'closed', find: () => ({ kind: 'closed' }) },
  { group: 'always', find: ({ message, allowedOrigins }) => message && checkCallbacks(message, allowedOrigins) },
  { group: 'always', find: ({ route }) => (route.target ? undefined : route.versionError) },
]

/** Selects the checks of an agent, in order. */
export const selectChecks = (profile: CallProfile): ActiveCheck[] =>
  checks.flatMap(({ group, isNeeded, find }) => {
    const level = group === 'always' ? 'enforce' : profile.gate[group]
    return level === 'off' || isNeeded?.(profile) === false ? [] : [{ find, isEnforced: level === 'enforce' }]
  })

/**
 * Decides on a call: whether its caller may make it, and whether the agent's card allows it. Pure: what needs waiting,
 * such as the caller's token, or the `modes` of the extended card that the caller may read, is passed in.
 */
export const admit = (gate: Gate, call: A2ACall, caller: Authentication, modes = gate.profile.modes): Decision => {
  const { id, profile, config } = gate
  const answersItself = call.operation === 'extendedCard' && !profile.agentServesExtendedCard
  const denied = authorize({ id, named: id }, profile, caller) ?? checkCaller(id, profile, caller, answersItself)
  if (denied) return denied
  if (answersItself) {
    if (!profile.extendedAgentCard) return { kind: 'extended-card' }
    return profile.tiers.length > 0 ? permit(gate, call) : { kind: 'extended-card-not-configured' }
  }
  const route = gate.route(call)
  const read = readMessage(call, route.agentVersion)
  const [message, invalid] = 'kind' in read ? [undefined, read] : [read, undefined]
  const isDoubtful = message?.isDoubtful === true && profile.gate.version !== 'off'
  const misshapen = isDoubtful ? checkMessage(call) : undefined
  const checked = { call, profile, route, modes, message, invalid, misshapen, allowedOrigins: config.allowedOrigins }
  const warnings: GateWarning[] = []
  for (const { find, isEnforced } of gate.checks) {
    const error = find(checked)
    if (error === undefined) continue
    if (isEnforced) return error
    warnings.push(error)
  }
  const repaired = isDoubtful && profile.gate.version === 'enforce' ? removeKinds(call) : undefined
  if (repaired) warnings.push({ kind: 'repaired', repairs: ['kind'] })
  return permit(gate, repaired ?? call, warnings, message?.hasPushConfig)
}

/** The error of a caller whose credentials are ignored, after too many failed attempts. */
export const BLOCKED = { kind: 'rate-limit', retryAfter: BLOCK_SECONDS } as const satisfies CallError

/** Refuses callers that may not see the agent. To them, an internal agent is one that does not exist. */
export const authorizeRead = (
  { id, named }: AgentRef,
  profile: CallProfile | null,
  caller: Authentication,
): Refusal => {
  const reason = caller.authenticated ? undefined : caller.reason
  if (reason === 'throttled') return BLOCKED
  if (profile === null || (profile.visibility === 'internal' && !hasPermission(caller, 'read', id)))
    return { kind: 'unknown-agent', agent: named }
  if (reason === 'bad-token') return { kind: 'bad-token' }
  return reason === 'unavailable' ? { kind: 'token-unchecked' } : undefined
}

/** Refuses callers that may neither call the agent nor read its extended cards. `admit` knows the operation. */
export const authorize = (agent: AgentRef, profile: CallProfile | null, caller: Authentication): Refusal => {
  const refused = authorizeRead(agent, profile, caller)
  if (refused || profile?.callers === 'anyone' || hasPermission(caller, 'read', agent.id)) return refused
  return refuseCaller(caller, 'call', agent.id)
}

/** Returns the error of a caller without a permission. */
export const refuseCaller = (caller: Authentication, scope: 'read' | 'call', agent: string): CallError => {
  if (caller.authenticated) return { kind: 'forbidden', scope, agent }
  return caller.reason === 'anonymous' ? { kind: 'no-token', scope } : { kind: 'bad-token' }
}

/** Refuses callers that may not call the agent. To read an extended card of this host, `read` is enough. */
const checkCaller = (id: string, { callers }: CallProfile, caller: Authentication, answersItself: boolean): Refusal =>
  answersItself || callers === 'anyone' || hasPermission(caller, 'call', id)
    ? undefined
    : refuseCaller(caller, 'call', id)

/** Creates a permitted call, to which features add. */
export const permit = (gate: Gate, call: A2ACall, warnings: GateWarning[] = [], hasPushConfig = false): Permitted => {
  const isSent = call.operation !== 'extendedCard' || gate.profile.agentServesExtendedCard === true
  const { target, isTranslated } = isSent ? gate.route(call) : { target: undefined, isTranslated: false }
  return {
    call: gate.selectsTenant ? dropRoutingParams(call) : call,
    gate,
    target,
    isTranslated,
    warnings,
    hasPushConfig,
    message: undefined,
    translate: undefined,
    assertion: undefined,
    inspectTasks: undefined,
  }
}

/** Enough for the caller to correct the call, which may have hundreds of thousands of callbacks. */
const MAX_REPORTED_CALLBACKS = 10

/** Refuses callbacks to addresses that this host itself would not call: the agent may be in a private network. */
const checkCallbacks = ({ callbackUrls }: MessageFacts, allowedOrigins?: ReadonlySet<string>): Refusal => {
  const fields: string[] = []
  for (const { field, url } of callbackUrls) {
    if (fields.length >= MAX_REPORTED_CALLBACKS) break
    const isCallable =
      typeof url === 'string' && unambiguousUrl.test(url) && blockReason(url, allowedOrigins) === undefined
    if (!isCallable) fields.push(field)
  }
  if (fields.length === 0) return undefined
  // One message for every reason, so that nobody can probe the network with it.
  const description = 'must be a public https URL'
  return {
    kind: 'invalid-params',
    detail: 'Push notifications can only be sent to public https URLs.',
    violations: fields.map(field => ({ field, description })),
  }
}

/** Matches URLs that all parsers read alike. Some end the host at a slash only, or at the last `@` before it. */
const unambiguousUrl = /^https?:\/\/[^/?#\\@\s]+(?:\/[^\\\s\p{Cc}]*|[?#][^@\\\s\p{Cc}]*)?$/iu
