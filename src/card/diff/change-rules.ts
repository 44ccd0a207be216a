import type { Pointer } from '../../json/index.ts'
import type { AgentCard, AgentSkill, ChangeClass } from '../model/index.ts'

/**
 * The class of every kind of change, and the reason for it. The removals and the protocol version are Apicurio's rule
 * for Agent Cards; requirements, narrower modes, authentication and what the manifest no longer lets clients do break
 * them in the same way. The names are stable.
 */
export const changeRules = {
  /** A skill is gone, or has another id. */
  'skill-removed': ['breaking', 'clients that use the skill no longer find it'],
  /** The agent or a skill no longer accepts or produces a media type, or a range becomes narrower. */
  'mode-removed': ['breaking', 'the gate and the agent refuse clients that rely on the media type'],
  /** A capability is no longer true. */
  'capability-removed': ['breaking', 'operations that worked are refused'],
  /** An extension is no longer supported. */
  'extension-removed': ['breaking', 'clients that activate the extension no longer can'],
  /** An extension becomes required. */
  'extension-required': ['breaking', 'clients that do not know the extension are refused'],
  /** An extension has other `params`. */
  'extension-changed': ['breaking', 'only the extension knows whether its clients cope with other parameters'],
  /** A binding or version of A2A is no longer offered. */
  'interface-removed': ['breaking', 'clients that speak only this protocol lose the agent'],
  /** An interface has another URL or tenant. */
  'interface-moved': ['breaking', 'clients that cache the card call the old address'],
  /** An address has another version of A2A or another binding. */
  'protocol-changed': ['breaking', 'clients call the address in a protocol that it no longer speaks'],
  /** A security scheme is gone. */
  'scheme-removed': ['breaking', 'clients that use the scheme can no longer authenticate'],
  /** A security scheme has another type, address or header, or lacks a flow or scope that it had. */
  'scheme-changed': ['breaking', 'clients get or send their credentials in a way that has changed'],
  /** The card or a skill now requires credentials, or more of them, or `jwt` no longer accepts some access tokens. */
  'credentials-required': ['breaking', 'the credentials of clients, or none, no longer suffice'],
  /** The agent is no longer public. */
  'agent-hidden': ['breaking', 'clients without a token for it get 404'],
  /** Behind the gateway, a check of `gate` becomes `enforce`, or `tasks` becomes `owner`. */
  'gate-narrowed': ['breaking', 'calls that were forwarded are refused'],
  /** The extended card, or that of a tier, is gone. */
  'tier-removed': ['breaking', 'clients of the tier read a smaller card'],
  /** A skill is new. */
  'skill-added': ['additive', 'clients that do not know the skill do not use it'],
  /** The agent or a skill accepts or produces another media type. */
  'mode-added': ['additive', 'every media type that worked still works'],
  /** A capability becomes true. */
  'capability-added': ['additive', 'clients that do not use the operations are not affected'],
  /** An optional extension is new. */
  'extension-added': ['additive', 'clients need not activate it'],
  /** An extension is no longer required. */
  'extension-optional': ['additive', 'clients that activate it still can'],
  /** An interface is new. */
  'interface-added': ['additive', 'every address that worked still works'],
  /** A security scheme is new. */
  'scheme-added': ['additive', 'the schemes of clients still exist'],
  /** A security scheme has another flow or scope. */
  'scheme-extended': ['additive', 'the schemes of clients still exist'],
  /** Further credentials are accepted, or none are required, or `jwt` accepts further access tokens. */
  'credentials-accepted': ['additive', 'the credentials of clients are still enough'],
  /** The agent becomes public. */
  'agent-published': ['additive', 'clients with a token still find it'],
  /** Behind the gateway, a check of `gate` is no longer `enforce`, or `tasks` becomes `shared`. */
  'gate-widened': ['additive', 'every call that was forwarded still is'],
  /** An extended card, or that of a tier, is new. */
  'tier-added': ['additive', 'clients of the other tiers read the same as before'],
  /** The version of the agent. */
  'version-changed': ['cosmetic', 'the version announces the change, and is compared with it'],
  /** Names, descriptions, tags, examples, provider, links. */
  'text-changed': ['cosmetic', 'people and models read it; no call depends on it'],
  /** Anything else, such as signatures, the order, and fields that A2A does not define. */
  'details-changed': ['cosmetic', 'clients ignore order, spelling and fields that they do not know'],
} as const satisfies Record<string, readonly [ChangeClass, reason: string]>

type ChangeRule = keyof typeof changeRules

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

type Pair<Key, Value> = [key: Key, before: Value | undefined, after: Value | undefined]

/** Pairs the values of two maps by their keys: the earlier ones, then those that are new. */
export const pairValues = <Key, Value>(before: ReadonlyMap<Key, Value>, after: ReadonlyMap<Key, Value>) => [
  ...[...before].map(([key, value]): Pair<Key, Value> => [key, value, after.get(key)]),
  ...[...after].flatMap(([key, value]): Pair<Key, Value>[] => (before.has(key) ? [] : [[key, undefined, value]])),
]

/** Returns every name that one of two objects has, with its value in each. */
export const pairMembers = <Value>(
  before: Readonly<Record<string, Value>> = {},
  after: Readonly<Record<string, Value>> = {},
) => pairValues(new Map(Object.entries(before)), new Map(Object.entries(after)))

/** An item of one or both of two lists: its name in messages, and its place in the later list, else in the earlier. */
export type ItemPair<Item> = { name: string; pointer: Pointer; before: Item | undefined; after: Item | undefined }
/** A skill of one or both of two cards. */
export type SkillPair = ItemPair<AgentSkill>

/** Pairs the items of two lists by a member: those that are removed, then the later ones. */
const pairItems = <Key extends string, Item extends Record<Key, string>>(
  [before = [], after = []]: readonly [Item[] | undefined, Item[] | undefined],
  key: Key,
  describe: (key: string, index: number) => { name: string; pointer: Pointer },
): ItemPair<Item>[] => {
  const earlier = new Map(before.map(item => [item[key], item]))
  const later = new Set(after.map(item => item[key]))
  const removed = before.map((item, index) => ({ ...describe(item[key], index), before: item, after: undefined }))
  return [
    ...removed.filter(({ before }) => !later.has(before[key])),
    ...after.map((item, index) => ({ ...describe(item[key], index), before: earlier.get(item[key]), after: item })),
  ]
}

/** Pairs the skills of two cards by their ids. */
export const pairSkills = ({ skills: before }: AgentCard, { skills: after }: AgentCard): SkillPair[] =>
  pairItems([before, after], 'id', (id, index) => ({ name: `skill ${quote(id)}`, pointer: `/skills/${index}` }))

/** Pairs the extensions of two cards by their URIs. */
export const pairExtensions = ({ capabilities: before }: AgentCard, { capabilities: after }: AgentCard) =>
  pairItems([before.extensions, after.extensions], 'uri', (uri, index) => ({
    name: `the extension ${quote(uri)}`,
    pointer: `/capabilities/extensions/${index}`,
  }))

/** Returns the items of a list whose key none of another list has. */
export const findNew = <Item>(
  items: readonly Item[],
  others: readonly Item[],
  keyOf: (item: Item) => unknown = item => item,
): Item[] => {
  const known = new Set(others.map(keyOf))
  return items.filter(item => !known.has(keyOf(item)))
}
