import type { CallProfile } from '../call-profile.ts'
import type { CallerPolicy, CallTarget } from '../model/index.ts'

/** Returns how a later profile newly uses the agent's secret or service binding; undefined if it does not. */
type Comparison = (before: CallProfile, after: CallProfile, field: keyof CallProfile) => string | undefined

const mustNotChange =
  (name?: string): Comparison =>
  (before, after, field) =>
    JSON.stringify(before[field]) === JSON.stringify(after[field])
      ? undefined
      : `would be available to other callers: ${name ?? field} has changed`

const mustNotAppear =
  (name?: string): Comparison =>
  (before, after, field) =>
    after[field] === true && before[field] !== true
      ? `would be used for other calls: card.capabilities.${name ?? field} is new`
      : undefined

const compareTargets: Comparison = ({ targets: before }, { targets: after }) => {
  const addresses = new Set(before.map(addressKey))
  if (!after.every(target => addresses.has(addressKey(target)))) return 'would be sent to a different address'
  const usages = new Set(before.map(usageKey))
  const added = after.find(target => !usages.has(usageKey(target)))
  return added && `would be used for other calls: the interface ${added.binding} ${added.version} is new`
}

const addressKey = ({ url, tenant, agentName }: CallTarget): string => JSON.stringify([url, tenant, agentName])

const usageKey = (target: CallTarget): string => `${target.binding} ${target.version} ${addressKey(target)}`

const compareExtensions: Comparison = ({ requiredExtensions: before }, { requiredExtensions: after }) =>
  before.every(uri => after.includes(uri))
    ? undefined
    : 'would be used for other calls: an extension of card.capabilities.extensions is no longer required'

/** From the fewest callers to the most. */
const openness: readonly CallerPolicy[] = ['tokens', 'issuer', 'anyone']

const compareCallers: Comparison = (before, after) =>
  openness.indexOf(after.callers) > openness.indexOf(before.callers)
    ? `would be available to other callers: callers would be ${after.callers}`
    : undefined

/**
 * Fields that have no effect on the use of a secret, or depend on `upstream` alone. This host answers calls for its own
 * extended cards, and translated calls are those that the agent gets anyway.
 */
type OtherField = 'extendedAgentCard' | 'bridge' | 'tiers' | 'modes' | 'secret' | 'service' | 'mcp' | 'cardMissing'

const comparisons: Record<Exclude<keyof CallProfile, OtherField>, Comparison> = {
  targets: compareTargets,
  visibility: mustNotChange(),
  route: mustNotChange(),
  gate: mustNotChange(),
  tasks: mustNotChange('gate.tasks'),
  apiKeyHeaders: mustNotChange('card.securitySchemes'),
  openIdConnectUrls: mustNotChange('card.securitySchemes'),
  jwt: mustNotChange(),
  callers: compareCallers,
  streaming: mustNotAppear(),
  pushNotifications: mustNotAppear(),
  agentServesExtendedCard: mustNotAppear('extendedAgentCard'),
  requiredExtensions: compareExtensions,
  identity: mustNotChange('hosts'),
}

/**
 * Finds a use of the secret or service binding that a later profile of an agent adds: another address, binding or
 * version, other operations, or other callers. `upstream` must be the same.
 */
export const findNewUse = (before: CallProfile, after: CallProfile): string | undefined => {
  const names = Object.keys(comparisons) as (keyof typeof comparisons)[]
  return names.flatMap(field => comparisons[field](before, after, field) ?? [])[0]
}
