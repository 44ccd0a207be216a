import { compareVersions } from 'compare-versions'
import { formatPointer, type Json, jsonEquals, type Pointer } from '../../json/index.ts'
import { createRedaction } from '../lint/index.ts'
import { type Manifest, taskPolicy } from '../manifest/index.ts'
import { type AgentCard, baseTier, type ChangeClass, changeClasses, truncateFindings } from '../model/index.ts'
import { compareCards } from './card-changes.ts'
import type { FoundChange } from './change-rules.ts'
import { change, changeIf, changeRules, pairMembers, quote } from './change-rules.ts'

/**
 * What clients get of an agent: its canonical card as it is served, the extended card of each tier, the base tier
 * first, and the manifest, which decides who may do what; undefined where it cannot be read.
 */
export type Offer = { card: AgentCard; tiers?: readonly ExtendedOffer[]; manifest?: Manifest | undefined }
type ExtendedOffer = { tier: string; card: AgentCard }

/** A change for clients with its class. The last one of a long list gives the number of those left out. */
type ClassedChange = FoundChange & { class: ChangeClass }

/** The changes for clients, the most severe first, and the class of all together. */
export type Changes = { class: ChangeClass; changes: ClassedChange[] }

/**
 * Classes every change of what clients get: `breaking` if clients that worked may fail, `additive` if they can do more,
 * else `cosmetic`, as where nothing changes. No message repeats what looks like a secret.
 */
export const classifyChanges = (before: Offer, after: Offer): Changes => {
  const inCard = compareCards(before.card, after.card)
  const found = [
    ...(before.manifest && after.manifest ? compareManifests(before.manifest, after.manifest) : []),
    ...inCard,
    ...compareTiers(before.tiers ?? [], after.tiers ?? [], inCard),
  ]
  const changes = changeClasses.flatMap(name =>
    found.filter(({ rule }) => changeRules[rule][0] === name).map(change => ({ ...change, class: name })),
  )
  const described = [before, after].flatMap(({ card, tiers = [], manifest }) => [
    card,
    ...tiers.map(({ card }) => card),
    manifest?.jwt,
  ])
  const redact = createRedaction(described as (Json | undefined)[])
  return { class: changes[0]?.class ?? 'cosmetic', changes: redact(truncateFindings(changes, pointer => pointer)) }
}

/** Returns whether a class asks less of clients than another one. */
export const isLessSevere = (one: ChangeClass, other: ChangeClass): boolean =>
  changeClasses.indexOf(one) > changeClasses.indexOf(other)

/** Compares who sees the agent, what the gate forwards, and whose access tokens are accepted. */
const compareManifests = (before: Manifest, after: Manifest): FoundChange[] => {
  const [wasPublic, isPublic] = [before.visibility === 'public', after.visibility === 'public']
  const hidden = 'the agent is no longer public: clients need a token of this host for it'
  return [
    ...changeIf(wasPublic && !isPublic, 'agent-hidden', '/visibility', hidden),
    ...changeIf(isPublic && !wasPublic, 'agent-published', '/visibility', 'the agent is now public'),
    // Clients of another route have no reason to make calls through the gate.
    ...(before.route === 'gateway' && after.route === 'gateway' ? compareGates(before, after) : []),
    ...compareTokenPolicies(before, after),
  ]
}

/** The calls that a check of the gate refuses. */
const refusedCalls: Record<Exclude<keyof Manifest['gate'], 'tasks'>, string> = {
  capabilities: 'calls that need a capability which the card does not declare',
  modes: 'calls with media types that the card does not list',
  extensions: 'calls without the extensions that the card requires',
  version: 'calls in a version of A2A that the card does not offer',
  responses: 'responses of the agent that are not valid',
}

const compareGates = (before: Manifest, after: Manifest): FoundChange[] => {
  const eachCaller = 'each caller now reaches'
  const isRefused = ({ gate }: Manifest, name: keyof typeof refusedCalls) => (gate[name] ?? 'enforce') === 'enforce'
  const names = Object.keys(refusedCalls) as (keyof typeof refusedCalls)[]
  const [wasOwner, isOwner] = [taskPolicy(before) === 'owner', taskPolicy(after) === 'owner']
  return [
    ...names.flatMap(name => {
      const [was, is, pointer] = [isRefused(before, name), isRefused(after, name), formatPointer('gate', name)]
      return [
        ...changeIf(is && !was, 'gate-narrowed', pointer, `the gate now refuses ${refusedCalls[name]}`),
        ...changeIf(was && !is, 'gate-widened', pointer, `the gate no longer refuses ${refusedCalls[name]}`),
      ]
    }),
    ...changeIf(isOwner && !wasOwner, 'gate-narrowed', '/gate/tasks', `${eachCaller} only the tasks that it started`),
    ...changeIf(wasOwner && !isOwner, 'gate-widened', '/gate/tasks', `${eachCaller} the tasks of all callers`),
  ]
}

/** Compares which access tokens of the card's issuers are accepted. */
const compareTokenPolicies = ({ jwt: before }: Manifest, { jwt: after }: Manifest): FoundChange[] => {
  const [oldScope, scope] = [before?.scope, after?.scope]
  const [oldAudiences, audiences] = [listAudiences(before), listAudiences(after)]
  const required = (pointer: Pointer, clause: string, isChanged = true) =>
    changeIf(isChanged, 'credentials-required', pointer, `access tokens ${clause}`)
  const accepted = (pointer: Pointer, clause: string, isChanged = true) =>
    changeIf(isChanged, 'credentials-accepted', pointer, `access tokens ${clause}`)
  const isNeeded = scope !== undefined && scope !== oldScope
  const wasNeeded = scope === undefined && oldScope !== undefined
  const without = (names: string[], others: string[]) => names.filter(name => !others.includes(name))
  return [
    ...without(oldAudiences, audiences).flatMap(name =>
      required('/jwt/audience', `for ${name} are no longer accepted`),
    ),
    ...without(audiences, oldAudiences).flatMap(name => accepted('/jwt/audience', `for ${name} are now accepted`)),
    ...required('/jwt/scope', `now need the scope ${quote(`${scope}`)}`, isNeeded),
    ...accepted('/jwt/scope', `no longer need the scope ${quote(`${oldScope}`)}`, wasNeeded),
    ...pairMembers<Json>(before?.tiers ?? {}, after?.tiers ?? {}).flatMap(([tier, old, current]) => {
      const pointer = formatPointer('jwt', 'tiers', tier)
      if (jsonEquals(old, current)) return []
      return old === undefined
        ? accepted(pointer, `can now have the tier ${quote(tier)}`)
        : required(pointer, `that had the tier ${quote(tier)} may no longer have it`)
    }),
  ]
}

/** By default, access tokens are for the agent's URL at this host. */
const listAudiences = (policy: Manifest['jwt']): string[] =>
  policy?.audience === undefined ? ['the URL of the agent'] : [policy.audience].flat().map(quote)

/** Compares the extended cards, without the changes that the public card or an earlier tier has too. */
const compareTiers = (
  before: readonly ExtendedOffer[],
  after: readonly ExtendedOffer[],
  inPublicCard: readonly FoundChange[],
): FoundChange[] => {
  const known = new Set(inPublicCard.map(keyOf))
  const cardsOf = (tiers: readonly ExtendedOffer[]) => Object.fromEntries(tiers.map(({ tier, card }) => [tier, card]))
  return pairMembers(cardsOf(before), cardsOf(after)).flatMap(([tier, old, current]) => {
    const isBase = tier === baseTier
    const pointer = isBase ? '/extended' : formatPointer('tiers', tier)
    const name = isBase ? 'the extended card' : `the tier ${quote(tier)}`
    if (current === undefined) return change('tier-removed', pointer, `${name} is removed`)
    if (old === undefined) return change('tier-added', pointer, `${name} is new`)
    const changes = compareCards(old, current).filter(change => !known.has(keyOf(change)))
    for (const change of changes) known.add(keyOf(change))
    const place = isBase ? `in ${name}` : `in the extended card of ${name}`
    return changes.map(change => ({ ...change, tier, message: `${place}, ${change.message}` }))
  })
}

/** The same change has another place in a card with more skills. */
const keyOf = ({ rule, message }: FoundChange): string => `${rule} ${message}`

/**
 * A version that does not show what has changed: the lowest version that does, absent where the version before has no
 * numbers to raise, and a message that continues a sentence about the place of the version.
 */
export type VersionFinding = { use?: string; message: string }

/**
 * Returns what is wrong with the version of a card after a change of a class: a breaking change needs a higher major
 * version than before, and an additive one a higher minor version. Below 1.0.0, as package managers have it, that is
 * the minor version and the patch. A pre-release promises nothing: its release, or another pre-release of it, is
 * enough. Where the version before is no number, any other one is.
 */
export const findVersionFinding = (
  changeClass: ChangeClass,
  before: string,
  after: string,
): VersionFinding | undefined => {
  if (changeClass === 'cosmetic') return undefined
  const reason = `because the change is ${changeClass}`
  const [earlier, later] = [parseVersion(before), parseVersion(after)]
  if (earlier === undefined)
    return before === after ? { message: `must differ from the one before, ${reason}` } : undefined
  const lowest = earlier.isPreRelease ? earlier.numbers : raise(earlier.numbers, changeClass)
  const use = lowest.join('.')
  if (later && before !== after && compareVersions(later.numbers.join('.'), use) >= 0) return undefined
  return { use, message: `must be ${use} or higher, ${reason}` }
}

type Numbers = readonly [major: number, minor: number, patch: number]

/** Semantic Versioning; numbers that are left out count as zero. */
const versionPattern = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(-[^+]{1,200})?(?:\+.{0,200})?$/

const parseVersion = (version: string): { numbers: Numbers; isPreRelease: boolean } | undefined => {
  const [, major, minor = 0, patch = 0, preRelease] = versionPattern.exec(version.trim()) ?? []
  const numbers: Numbers = [Number(major), Number(minor), Number(patch)]
  return major === undefined ? undefined : { numbers, isPreRelease: preRelease !== undefined }
}

/** Returns the lowest version after a change. */
const raise = ([major, minor, patch]: Numbers, changeClass: 'breaking' | 'additive'): Numbers => {
  const isBreaking = changeClass === 'breaking'
  if (major === 0) return isBreaking ? [0, minor + 1, 0] : [0, minor, patch + 1]
  return isBreaking ? [major + 1, 0, 0] : [major, minor + 1, 0]
}
