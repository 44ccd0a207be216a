import type { Refusal, Verdict } from '../a2a/errors.ts'
import { checkCallbacks, firstDefined, pushConfigurations, rejectCaseVariants } from '../a2a/message.ts'
import { type A2ACall, operations } from '../a2a/operations.ts'
import type { CallProfile } from '../card/call-profile.ts'
import { type CallTarget, type WireVersion, wireVersions } from '../card/model/calls.ts'
import { inputModesRefusal, outputModesRefusal } from './content-negotiation.ts'

type Check = (call: A2ACall, profile: CallProfile) => Refusal | undefined

/** What the gate looks at, in the order of its refusals, and which of the manifest's levels rules it. */
const checks: readonly (readonly [family: keyof CallProfile['gate'], check: Check])[] = [
  ['version', (call, profile) => (exactTarget(call, profile) ? undefined : versionRefusal(call, profile))],
  [
    'capabilities',
    ({ operation }, { streaming }) =>
      operations[operation].needs === 'streaming' && !streaming ? { refused: 'streaming' } : undefined,
  ],
  [
    'capabilities',
    ({ operation, params }, { pushNotifications }) =>
      !pushNotifications &&
      (operations[operation].needs === 'pushNotifications' ||
        (operations[operation].sends && firstDefined(params.configuration, ...pushConfigurations) !== undefined))
        ? { refused: 'push-notifications' }
        : undefined,
  ],
  [
    'extensions',
    ({ extensions }, { requiredExtensions: required }) => {
      const missing = required.filter(uri => !extensions.includes(uri))
      return missing.length > 0 ? { refused: 'extensions', required, missing } : undefined
    },
  ],
  [
    'modes',
    ({ operation, params, version }, { modes }) =>
      operations[operation].sends && inputModesRefusal(params, version, modes),
  ],
  ['modes', ({ operation, params }, { modes }) => operations[operation].sends && outputModesRefusal(params, modes)],
]

/**
 * Checks a call against what the agent's card allows, in the order of design §6; the host itself answers extended cards. Push
 * notifications may go to `allowedOrigins`, though they are not public https ones.
 */
export const evaluatePolicy = (call: A2ACall, profile: CallProfile, allowedOrigins = ''): Verdict => {
  if (call.operation === 'extendedCard') return extendedCardVerdict(profile)
  const warnings: Refusal[] = []
  for (const [family, find] of checks) {
    const level = profile.gate[family]
    const refusal = level === 'off' ? undefined : find(call, profile)
    if (refusal === undefined) continue
    if (level === 'enforce') return refusal
    warnings.push(refusal)
  }
  if (profile.route === 'closed') return { refused: 'closed' }
  // Whatever the manifest's levels: what is not looked at cannot be let through, and the agent's network is not its card's.
  const refusal = rejectCaseVariants(call) ?? checkCallbacks(call, allowedOrigins)
  if (refusal !== undefined) return refusal
  // Whatever the manifest's level: there is nowhere to send it.
  return targetOf(call, profile) ? { passed: true, warnings } : versionRefusal(call, profile)
}

const extendedCardVerdict = ({ extendedAgentCard, tiers }: CallProfile): Verdict => {
  if (!extendedAgentCard) return { refused: 'extended-card' }
  return tiers.length > 0 ? { passed: true, warnings: [] } : { refused: 'extended-card-not-configured' }
}

/**
 * Where a call that passed goes: to the agent's endpoint of its binding and version; where the manifest lets other versions
 * through, to that of the binding.
 */
export const targetOf = (call: A2ACall, profile: CallProfile): CallTarget | undefined =>
  exactTarget(call, profile) ?? profile.targets.find(({ binding }) => binding === call.binding)

const exactTarget = ({ binding, version }: A2ACall, { targets }: CallProfile): CallTarget | undefined =>
  targets.find(target => target.binding === binding && target.version === version)

const versionRefusal = ({ version, binding }: A2ACall, { targets }: CallProfile): Refusal => ({
  refused: 'version',
  offered: version,
  accepted: supportedVersions(targets, binding),
})

/** The versions that an agent speaks in a binding, the oldest first. */
export const supportedVersions = (targets: readonly CallTarget[], binding: CallTarget['binding']): WireVersion[] =>
  wireVersions.filter(version => targets.some(target => target.binding === binding && target.version === version))

/**
 * Why a call is refused that could not be read, now that it is known whose it is: what the agent speaks comes before what is
 * asked of it (design §6).
 */
export const preferVersionError = (refusal: Refusal, binding: CallTarget['binding'], profile: CallProfile): Refusal => {
  const accepted = supportedVersions(profile.targets, binding)
  if (refusal.refused === 'version') return { ...refusal, accepted }
  if (refusal.refused !== 'method' || profile.gate.version !== 'enforce' || accepted.includes(refusal.version))
    return refusal
  return { refused: 'version', offered: refusal.version, accepted }
}
