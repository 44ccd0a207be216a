import type { CallError, InvalidParams } from '../../a2a/index.ts'
import { type A2ACall, type MessageFacts, operations, readMessage } from '../../a2a/start.ts'
import type { CallProfile } from '../../card/index.ts'
import {
  type CallBinding,
  type CallTarget,
  findBridgedTarget,
  isCompatible,
  isReachable,
  isSameProtocol,
  type WireVersion,
  wireVersions,
} from '../../card/model/start.ts'
import { blockReason } from '../../http/start.ts'
import type { GateWarning } from './call-context.ts'
import { checkInputModes, checkOutputModes } from './content-negotiation.ts'

/** The input of every check. */
type PolicyInput = {
  call: A2ACall
  profile: CallProfile
  /** Undefined where the parameters are `invalid`. */
  message: MessageFacts | undefined
  invalid: InvalidParams | undefined
  /** The error in the shape of the message. */
  misshapen?: InvalidParams | undefined
  /** Origins that callbacks may go to although they are not public https ones (`ALLOWED_ORIGINS`). */
  allowedOrigins: ReadonlySet<string> | undefined
}

/** A check, and its group: the member of the manifest's `gate` that sets its level. */
type Check = readonly [
  group: keyof CallProfile['gate'] | 'always',
  check: (input: PolicyInput) => CallError | undefined,
]

/** Every check, in order. `always` ones protect the agent and its network, regardless of gate levels. */
const checks: readonly Check[] = [
  ['version', ({ call, profile }) => (translatableTarget(call, profile) ? undefined : versionError(call, profile))],
  [
    'capabilities',
    ({ call, profile }) =>
      operations[call.operation].needs === 'streaming' && !profile.streaming ? { kind: 'streaming' } : undefined,
  ],
  [
    'capabilities',
    ({ call, profile, message }) =>
      !profile.pushNotifications &&
      (operations[call.operation].needs === 'pushNotifications' || message?.hasPushConfig === true)
        ? { kind: 'push-notifications' }
        : undefined,
  ],
  [
    'extensions',
    ({ call, profile: { requiredExtensions: required } }) => {
      const missing = required.filter(uri => !call.extensions.includes(uri))
      return missing.length > 0 ? { kind: 'extensions', required, missing } : undefined
    },
  ],
  ['always', ({ invalid }) => invalid],
  ['version', ({ misshapen }) => misshapen],
  ['modes', ({ message, profile }) => message && checkInputModes(message, profile.modes)],
  ['modes', ({ message, profile }) => message && checkOutputModes(message, profile.modes)],
  ['always', ({ profile }) => (profile.route === 'closed' ? { kind: 'closed' } : undefined)],
  ['always', ({ message, allowedOrigins }) => message && checkCallbacks(message, allowedOrigins)],
  ['always', ({ call, profile }) => (targetOf(call, profile) ? undefined : versionError(call, profile))],
]

/** The decision of the policy: a call that may be forwarded, with what `warn` levels found; or its error. */
export type Verdict = { warnings: GateWarning[]; hasPushConfig?: boolean } | CallError

/** Checks a call against what the agent's card allows. The promise is for a message that is not plainly right. */
export const evaluatePolicy = (
  call: A2ACall,
  profile: CallProfile,
  allowedOrigins?: ReadonlySet<string>,
): Verdict | Promise<Verdict> => {
  if (call.operation === 'extendedCard' && !profile.agentServesExtendedCard) {
    if (!profile.extendedAgentCard) return { kind: 'extended-card' }
    return profile.tiers.length > 0 ? { warnings: [] } : { kind: 'extended-card-not-configured' }
  }
  const read = readMessage(call, translatableTarget(call, profile)?.version)
  const [message, invalid] = 'kind' in read ? [undefined, read] : [read, undefined]
  const input = { call, profile, message, invalid, allowedOrigins }
  return message?.isDoubtful && profile.gate.version !== 'off' ? evaluateDoubtful(input) : applyChecks(input)
}

/** Loads the checks of a message that is not plainly right. Removes members that its version does not have. */
const evaluateDoubtful = async (input: PolicyInput): Promise<Verdict> => {
  const { call, profile } = input
  const { checkMessage, removeKinds } = await import('../../a2a/sent-message.ts')
  const result = applyChecks({ ...input, misshapen: checkMessage(call) })
  if ('kind' in result || profile.gate.version !== 'enforce' || !removeKinds(call)) return result
  return { ...result, warnings: [...result.warnings, { kind: 'repaired', repairs: ['kind'] }] }
}

const applyChecks = (input: PolicyInput): Verdict => {
  const { profile, message } = input
  const warnings: GateWarning[] = []
  for (const [group, check] of checks) {
    const level = group === 'always' ? 'enforce' : profile.gate[group]
    const error = level === 'off' ? undefined : check(input)
    if (error === undefined) continue
    if (level === 'enforce') return error
    warnings.push(error)
  }
  return { warnings, ...(message?.hasPushConfig && { hasPushConfig: true }) }
}

/** Enough for the caller to correct the call, which may have hundreds of thousands of callbacks. */
const MAX_REPORTED_CALLBACKS = 10

/** Refuses callbacks to addresses that this host itself would not call: the agent may be in a private network. */
const checkCallbacks = (
  { callbackUrls }: MessageFacts,
  allowedOrigins?: ReadonlySet<string>,
): CallError | undefined => {
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

/**
 * Returns the agent's endpoint for a call: the one with the same binding and version, else one to which the call is
 * translated, else one with the same binding, which is used only if the manifest does not enforce the version.
 */
export const targetOf = (call: A2ACall, profile: CallProfile): CallTarget | undefined =>
  translatableTarget(call, profile) ?? profile.targets.find(({ binding }) => binding === call.binding)

const translatableTarget = (call: A2ACall, { targets, bridge }: CallProfile): CallTarget | undefined =>
  targets.find(target => isSameProtocol(target, call)) ?? findBridgedTarget(call, targets, bridge)

const versionError = ({ version, binding }: A2ACall, profile: CallProfile): CallError => ({
  kind: 'version',
  offered: version,
  accepted: supportedVersions(profile, binding),
})

/** Returns the versions in which an agent can be called in a binding, oldest first. */
const supportedVersions = (
  { targets, bridge }: Pick<CallProfile, 'targets' | 'bridge'>,
  binding: CallBinding,
): WireVersion[] => wireVersions.filter(version => isReachable({ binding, version }, targets, bridge))

/** Lists on demand what a call without a version can mean: of compatible versions, those of the agent itself. */
export const impliedVersions = (profile: CallProfile, binding: CallBinding) => (): WireVersion[] => {
  const own = profile.targets.map(target => target.version)
  const isImplied = (version: WireVersion) => own.includes(version) || !own.some(each => isCompatible(each, version))
  return supportedVersions(profile, binding).filter(isImplied)
}

/**
 * Corrects the error of a call that could not be parsed, now that its agent is known: reports the versions that the
 * agent supports, not the host; and an unsupported version before an unknown method.
 */
export const preferVersionError = (error: CallError, binding: CallBinding, profile: CallProfile): CallError => {
  const accepted = supportedVersions(profile, binding)
  if (error.kind === 'version') return { ...error, accepted }
  if (error.kind !== 'method' || profile.gate.version !== 'enforce' || accepted.includes(error.version)) return error
  return { kind: 'version', offered: error.version, accepted }
}
