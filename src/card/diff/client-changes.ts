import { compareVersions } from 'compare-versions'
import { formatPointer, type Json, jsonEquals, type Pointer } from '../../json/index.ts'
import { createRedaction } from '../lint/index.ts'
import { type Manifest, taskPolicy } from '../manifest/index.ts'
import { type AgentCard, baseTier, type ChangeClass, changeClasses, truncateFindings } from '../model/index.ts'
import { compareCards } from './card-changes.ts'
import { change, changeIf, changeRules, type FoundChange, findNew, pairMembers, quote } from './change-rules.ts'

/**
 * What clients get of an agent: its canonical card as it is served, the extended card of each tier, the base tier
 * first, and the manifest, which decides who may do what; undefined where it cannot be read.
 */
export type Offer = { card: AgentCard; extended?: readonly Tier[]; manifest?: Manifest | undefined }
type Tier = { tier: string; card: AgentCard }

/** The changes for clients, the most severe first, the last of too many with their number, and the class of all. */
export type Changes = { class: ChangeClass; changes: (FoundChange & { class: ChangeClass })[] }

/**
 * Classes every change of what clients get: `breaking` if clients that worked may fail, `additive` if they can do more,
 * else `cosmetic`, as where nothing changes. No message repeats what looks like a secret.
 */
export const classifyChanges = (before: Offer, after: Offer): Changes => {
  const inCard = compareCards(before.card, after.card)
  const found = [
    ...(before.manifest && after.manifest ? compareManifests(before.manifest, after.manifest) : []),
    ...inCard,
    ...compareTiers(before, after, inCard),
  ]
  const changes = changeClasses.flatMap(name =>
    found.filter(({ rule }) => changeRules[rule][0] === name).map(change => ({ ...change, class: name })),
  )
  const described = [before, after].flatMap(({ card, extended = [], manifest }) => [
    ...[{ card }, ...extended].map(({ card }) => card as Json),
    manifest?.jwt,
  ])
  const redact = createRedaction(changes.length > 0 ? described : [])
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

const refuse = (calls: string) => [`the gate now refuses ${calls}`, `the gate no longer refuses ${calls}`] as const

/** What clients notice of each check of the gate: where it begins, and where it ends. */
const gateClauses: Record<keyof Manifest['gate'], readonly [narrowed: string, widened: string]> = {
  capabilities: refuse('calls that need a capability which the card does not declare'),
  modes: refuse('calls with media types that the card does not list'),
  extensions: refuse('calls without the extensions that the card requires'),
  version: refuse('calls in a version of A2A that the card does not offer'),
  responses: refuse('responses of the agent that are not valid'),
  tasks: ['each caller now reaches only the tasks that it started', 'each caller now reaches the tasks of all callers'],
}

const compareGates = (before: Manifest, after: Manifest): FoundChange[] =>
  (Object.keys(gateClauses) as (keyof typeof gateClauses)[]).flatMap(name => {
    const isNarrow = (manifest: Manifest) =>
      name === 'tasks' ? taskPolicy(manifest) === 'owner' : (manifest.gate[name] ?? 'enforce') === 'enforce'
    const [was, is, pointer] = [isNarrow(before), isNarrow(after), formatPointer('gate', name)]
    const [narrowed, widened] = gateClauses[name]
    return was === is ? [] : change(is ? 'gate-narrowed' : 'gate-widened', pointer, is ? narrowed : widened)
  })

/** Compares which access tokens of the card's issuers are accepted. */
const compareTokenPolicies = ({ jwt: before }: Manifest, { jwt: after }: Manifest): FoundChange[] => {
  const [oldScopes, scopes] = [[before?.scope ?? []].flat(), [after?.scope ?? []].flat()]
  const [oldAudiences, audiences] = [listAudiences(before), listAudiences(after)]
  const found = (rule: FoundChange['rule']) => (pointer: Pointer, clause: string) =>
    change(rule, pointer, `access tokens ${clause}`)
  const [required, accepted] = [found('credentials-required'), found('credentials-accepted')]
  const lifted = scopes.length > 0 ? [] : oldScopes
  return [
    ...findNew(oldAudiences, audiences).map(name => required('/jwt/audience', `for ${name} are no longer accepted`)),
    ...findNew(audiences, oldAudiences).map(name => accepted('/jwt/audience', `for ${name} are now accepted`)),
    ...findNew(scopes, oldScopes).map(name => required('/jwt/scope', `now need the scope ${quote(name)}`)),
    ...lifted.map(name => accepted('/jwt/scope', `no longer need the scope ${quote(name)}`)),
    ...pairMembers<Json>(before?.tiers, after?.tiers).flatMap(([tier, old, current]) => {
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
const compareTiers = (before: Offer, after: Offer, inPublicCard: readonly FoundChange[]): FoundChange[] => {
  const known = new Set(inPublicCard.map(keyOf))
  const cardsOf = ({ extended = [] }: Offer) => Object.fromEntries(extended.map(({ tier, card }) => [tier, card]))
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
export const findVersionFinding = (change: ChangeClass, before: string, after: string): VersionFinding | undefined => {
  if (change === 'cosmetic') return undefined
  const reason = `because the change is ${change}`
  const [earlier, later] = [parseVersion(before), parseVersion(after)]
  if (earlier === undefined)
    return before === after ? { message: `must differ from the one before, ${reason}` } : undefined
  const { numbers, isPreRelease } = earlier
  const raised = (change === 'breaking' ? 0 : 1) + (numbers[0] === 0 ? 1 : 0)
  const lowest = numbers.map((number, index) => (index < raised ? number : index === raised ? number + 1 : 0))
  const use = (isPreRelease ? numbers : lowest).join('.')
  if (later && before !== after && compareVersions(later.numbers.join('.'), use) >= 0) return undefined
  return { use, message: `must be ${use} or higher, ${reason}` }
}

/** Semantic Versioning; numbers that are left out count as zero. */
const versionPattern = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(-[^+]{1,200})?(?:\+.{0,200})?$/

const parseVersion = (version: string): { numbers: number[]; isPreRelease: boolean } | undefined => {
  const [, major, minor = 0, patch = 0, preRelease] = versionPattern.exec(version.trim()) ?? []
  const numbers = [Number(major), Number(minor), Number(patch)]
  return major === undefined ? undefined : { numbers, isPreRelease: preRelease !== undefined }
}
