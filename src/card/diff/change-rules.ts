import { formatPointer, type Pointer } from '../../json/index.ts'
import type { AgentCard, ChangeClass } from '../model/index.ts'

/**
 * The class of every kind of change, and the reason for it. The removals and the protocol version are Apicurio's rule
 * for Agent Cards; requirements, narrower modes, authentication and what the manifest no longer lets clients do break
 * them in the same way. The names are stable.
 */
export const changeRules = {
  'skill-removed': ['breaking', 'clients that use the skill no longer find it'],
  'mode-removed': ['breaking', 'the gate and the agent refuse clients that rely on the media type'],
  'capability-removed': ['breaking', 'operations that worked are refused'],
  'extension-removed': ['breaking', 'clients that activate the extension no longer can'],
  'extension-required': ['breaking', 'clients that do not know the extension are refused'],
  'extension-changed': ['breaking', 'only the extension knows whether its clients cope with other parameters'],
  'interface-removed': ['breaking', 'clients that speak only this protocol lose the agent'],
  'interface-moved': ['breaking', 'clients that cache the card call the old address'],
  'protocol-changed': ['breaking', 'clients call the address in a protocol that it no longer speaks'],
  'scheme-removed': ['breaking', 'clients that authenticate with the scheme no longer can'],
  'scheme-changed': ['breaking', 'clients get or send their credentials in a way that has changed'],
  'credentials-required': ['breaking', 'the credentials of clients, or none, are no longer enough'],
  'agent-hidden': ['breaking', 'clients without a token for it get 404'],
  'gate-narrowed': ['breaking', 'calls that were forwarded are refused'],
  'tier-removed': ['breaking', 'clients of the tier read a card with less in it'],
  'skill-added': ['additive', 'clients that do not know the skill do not use it'],
  'mode-added': ['additive', 'every media type that worked still works'],
  'capability-added': ['additive', 'clients that do not use the operations are not affected'],
  'extension-added': ['additive', 'clients need not activate it'],
  'extension-optional': ['additive', 'clients that activate it still can'],
  'interface-added': ['additive', 'every address that worked still works'],
  'scheme-added': ['additive', 'what clients authenticate with still exists'],
  'scheme-extended': ['additive', 'what clients authenticate with still exists'],
  'credentials-accepted': ['additive', 'the credentials of clients are still enough'],
  'agent-published': ['additive', 'clients with a token still reach it'],
  'gate-widened': ['additive', 'every call that was forwarded still is'],
  'tier-added': ['additive', 'clients of the other tiers read the same as before'],
  'version-changed': ['cosmetic', 'the version announces the change, and is compared with it'],
  'text-changed': ['cosmetic', 'people and models read it; no call depends on it'],
  'details-changed': ['cosmetic', 'clients ignore order, spelling and fields that they do not know'],
} as const satisfies Record<string, readonly [ChangeClass, reason: string]>

/** The name of a kind of change. */
export type ChangeRule = keyof typeof changeRules

/**
 * One change, as a clause for people: "skill `forecast` no longer accepts `image/png`". The pointer is into the later
 * card, or into the earlier one for a removal: the public card or, with a `tier`, the extended card of that tier. Where
 * the manifest has changed and not the card, it is into the manifest.
 */
export type FoundChange = { rule: ChangeRule; pointer: Pointer; message: string; tier?: string }

/** Creates a change. */
export const change = (rule: ChangeRule, pointer: Pointer, message: string): FoundChange => ({ rule, pointer, message })

/** Returns a list of one change if it has occurred, else an empty list. */
export const changeIf = (isChanged: boolean, ...found: Parameters<typeof change>): FoundChange[] =>
  isChanged ? [change(...found)] : []

/** Returns every name that one of two objects has, with its value in each. */
export const pairMembers = <Value>(
  before: Readonly<Record<string, Value>>,
  after: Readonly<Record<string, Value>>,
): [name: string, before: Value | undefined, after: Value | undefined][] => {
  const [old, current] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  return [...new Set([...old.keys(), ...current.keys()])].map(name => [name, old.get(name), current.get(name)])
}

/** Returns the skills that two cards have, by id: the name in messages, and the place in the later card. */
export const pairSkills = (before: AgentCard, after: AgentCard) => {
  const earlier = new Map(before.skills.map(skill => [skill.id, skill]))
  return after.skills.flatMap((skill, index) => {
    const previous = earlier.get(skill.id)
    const found = { name: `skill ${quote(skill.id)}`, pointer: formatPointer('skills', index) }
    return previous ? [{ ...found, before: previous, after: skill }] : []
  })
}

const MAX_QUOTED_LENGTH = 100
const MAX_LISTED = 10

/** Quotes a name in a message, on one line; of a long one, the beginning. */
export const quote = (name: string): string => {
  const start = name.length > MAX_QUOTED_LENGTH ? `${name.slice(0, MAX_QUOTED_LENGTH).toWellFormed()}…` : name
  return `\`${start.replace(/[\p{Cc}\u2028\u2029]/gu, ' ')}\``
}

/** Lists names in a message; of many, the first ones and the number of the others. */
export const quoteList = (names: readonly string[], conjunction: 'and' | 'or' = 'and'): string => {
  const more = names.length - MAX_LISTED
  const listed = names.slice(0, MAX_LISTED).map(quote)
  if (more > 0) return `${listed.join(', ')} and ${more} more`
  return listed.length < 2 ? listed.join() : `${listed.slice(0, -1).join(', ')} ${conjunction} ${listed.at(-1)}`
}
