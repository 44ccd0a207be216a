import { formatPointer, type Json, jsonEquals, type Pointer } from '../../json/index.ts'
import { createRedaction } from '../lint/index.ts'
import { type Manifest, taskPolicy } from '../manifest/index.ts'
import { type AgentCard, baseTier, truncateNotes } from '../model/index.ts'
import { compareCards } from './card-changes.ts'
import { type ChangeClass, change, changeClasses, changeRules, type FoundChange, quote } from './change-rules.ts'

export type { ChangeClass } from './change-rules.ts'

/**
 * What clients get of an agent: its canonical card as it is served, the extended card of each tier, the base tier first, and the manifest,
 * which decides who may do what; undefined where it cannot be read.
 */
export type Offer = { card: AgentCard; tiers?: readonly ExtendedOffer[]; manifest?: Manifest | undefined }
type ExtendedOffer = { tier: string; card: AgentCard }

/** A change for clients with its class. The last one of a long list gives the number of those left out. */
export type ClassedChange = FoundChange & { class: ChangeClass }

/** What changed for clients: each change, the most severe first, and the class of all together. */
export type Changes = { class: ChangeClass; changes: ClassedChange[] }

/**
 * Classes every change of what clients get: `breaking` if clients that worked may fail, `additive` if they can do more, else
 * `cosmetic`, as where nothing changes. No message repeats what looks like a secret.
 */
export const classifyChanges = (before: Offer, after: Offer): Changes => {
  const inCard = compareCards(before.card, after.card)
  const found = [
    ...compareAccess(before.manifest, after.manifest),
    ...inCard,
    ...compareTiers(before.tiers ?? [], after.tiers ?? [], inCard),
  ]
  const changes = changeClasses.flatMap(name =>
    found.filter(({ rule }) => changeRules[rule] === name).map(change => ({ ...change, class: name })),
  )
  const described = [before, after].flatMap(({ card, tiers = [], manifest }) => [
    card,
    ...tiers.map(({ card }) => card),
    manifest?.jwt,
  ])
  const redact = createRedaction(described as (Json | undefined)[])
  return { class: changes[0]?.class ?? 'cosmetic', changes: redact(truncateNotes(changes, pointer => pointer)) }
}

/** Whether a class asks less of clients than another one. */
export const isLessSevere = (one: ChangeClass, other: ChangeClass): boolean =>
  changeClasses.indexOf(one) > changeClasses.indexOf(other)

/** Compares what the manifests let clients do: who sees the agent, what the gate forwards, and whose access tokens are accepted. */
const compareAccess = (before: Manifest | undefined, after: Manifest | undefined): FoundChange[] =>
  before && after
    ? [...compareVisibility(before, after), ...compareGates(before, after), ...compareTokenPolicies(before, after)]
    : []

const compareVisibility = ({ visibility: before }: Manifest, { visibility: after }: Manifest): FoundChange[] => {
  if (before === after) return []
  const pointer = '/visibility'
  return after === 'internal'
    ? [change('agent-hidden', pointer, 'the agent is no longer public: clients need a token of this host for it')]
    : [change('agent-published', pointer, 'the agent is now public')]
}

/** The calls that a check of the gate refuses. */
const refusedCalls: Record<Exclude<keyof Manifest['gate'], 'tasks'>, string> = {
  capabilities: 'calls that need a capability which the card does not declare',
  modes: 'calls with media types that the card does not list',
  extensions: 'calls without the extensions that the card requires',
  version: 'calls in a version of A2A that the card does not offer',
  responses: 'responses of the agent that are not valid',
}

/** Compares the checks of calls. Clients of another route have no reason to make calls through the gate. */
const compareGates = (before: Manifest, after: Manifest): FoundChange[] => {
  if (before.route !== 'gateway' || after.route !== 'gateway') return []
  const isRefused = ({ gate }: Manifest, name: keyof typeof refusedCalls) => (gate[name] ?? 'enforce') === 'enforce'
  const names = Object.keys(refusedCalls) as (keyof typeof refusedCalls)[]
  const checks = names.flatMap(name => {
    const [was, is] = [isRefused(before, name), isRefused(after, name)]
    if (was === is) return []
    const pointer = formatPointer('gate', name)
    return is
      ? change('gate-narrowed', pointer, `the gate now refuses ${refusedCalls[name]}`)
      : change('gate-widened', pointer, `the gate no longer refuses ${refusedCalls[name]}`)
  })
  const [wasOwner, isOwner] = [taskPolicy(before) === 'owner', taskPolicy(after) === 'owner']
  if (wasOwner === isOwner) return checks
  const pointer = '/gate/tasks'
  return isOwner
    ? [...checks, change('gate-narrowed', pointer, 'each caller now reaches only the tasks that it started')]
    : [...checks, change('gate-widened', pointer, 'each caller now reaches the tasks of all callers')]
}

/** Compares which access tokens of the card's issuers are accepted. */
const compareTokenPolicies = ({ jwt: before }: Manifest, { jwt: after }: Manifest): FoundChange[] => {
  const [oldScope, scope] = [before?.scope, after?.scope]
  const [oldAudiences, audiences] = [listAudiences(before), listAudiences(after)]
  const [rules, oldRules] = [after?.tiers ?? {}, before?.tiers ?? {}]
  const required = (pointer: Pointer, message: string) => change('credentials-required', pointer, message)
  const accepted = (pointer: Pointer, message: string) => change('credentials-accepted', pointer, message)
  return [
    ...oldAudiences
      .filter(name => !audiences.includes(name))
      .map(name => required('/jwt/audience', `access tokens for ${name} are no longer accepted`)),
    ...audiences
      .filter(name => !oldAudiences.includes(name))
      .map(name => accepted('/jwt/audience', `access tokens for ${name} are now accepted`)),
    ...(scope !== undefined && scope !== oldScope
      ? [required('/jwt/scope', `access tokens now need the scope ${quote(scope)}`)]
      : []),
    ...(scope === undefined && oldScope !== undefined
      ? [accepted('/jwt/scope', `access tokens no longer need the scope ${quote(oldScope)}`)]
      : []),
    ...[...new Set([...Object.keys(oldRules), ...Object.keys(rules)])].flatMap(tier => {
      const [old, current] = [ownRule(oldRules, tier), ownRule(rules, tier)]
      const pointer = formatPointer('jwt', 'tiers', tier)
      if (jsonEquals(old, current)) return []
      return old === undefined
        ? accepted(pointer, `access tokens can now have the tier ${quote(tier)}`)
        : required(pointer, `access tokens that had the tier ${quote(tier)} may no longer have it`)
    }),
  ]
}

/** By default, access tokens are for the agent's URL at this host. */
const listAudiences = (policy: Manifest['jwt']): string[] =>
  policy?.audience === undefined ? ['the URL of the agent'] : [policy.audience].flat().map(quote)

const ownRule = (rules: Record<string, Json>, tier: string): Json | undefined =>
  Object.hasOwn(rules, tier) ? rules[tier] : undefined

/** Compares the extended cards, without the changes that the public card or an earlier tier has too. */
const compareTiers = (
  before: readonly ExtendedOffer[],
  after: readonly ExtendedOffer[],
  inPublicCard: readonly FoundChange[],
): FoundChange[] => {
  const known = new Set(inPublicCard.map(keyOf))
  const [old, current] = [new Map(before.map(toEntry)), new Map(after.map(toEntry))]
  const gone = [...old.keys()].filter(tier => !current.has(tier))
  const added = [...current.keys()].filter(tier => !old.has(tier))
  const inTiers = [...current].flatMap(([tier, card]) => {
    const previous = old.get(tier)
    const changes = previous ? compareCards(previous, card).filter(change => !known.has(keyOf(change))) : []
    for (const change of changes) known.add(keyOf(change))
    return changes.map(change => ({ ...change, tier, message: `${placeOf(tier)}, ${change.message}` }))
  })
  return [
    ...gone.map(tier => change('tier-removed', pointerOf(tier), `${nameOf(tier)} is removed`)),
    ...added.map(tier => change('tier-added', pointerOf(tier), `${nameOf(tier)} is new`)),
    ...inTiers,
  ]
}

const toEntry = ({ tier, card }: ExtendedOffer) => [tier, card] as const

/** The same change has another place in a card with more skills. */
const keyOf = ({ rule, message }: FoundChange): string => `${rule} ${message}`

const nameOf = (tier: string): string => (tier === baseTier ? 'the extended card' : `the tier ${quote(tier)}`)
const placeOf = (tier: string): string =>
  tier === baseTier ? 'in the extended card' : `in the extended card of the tier ${quote(tier)}`
const pointerOf = (tier: string): Pointer => (tier === baseTier ? '/extended' : formatPointer('tiers', tier))
