import type { Pointer } from '../../json/index.ts'

/** How a change of a card matters to clients, the most severe first. */
export const changeClasses = ['breaking', 'additive', 'cosmetic'] as const
export type ChangeClass = (typeof changeClasses)[number]

/**
 * The class of every kind of change. The removals and the protocol version are Apicurio's rule for Agent Cards; requirements, narrower
 * modes, authentication and what the manifest no longer lets clients do break them in the same way. The names are stable.
 */
export const changeRules = {
  'skill-removed': 'breaking',
  'mode-removed': 'breaking',
  'capability-removed': 'breaking',
  'extension-removed': 'breaking',
  'extension-required': 'breaking',
  'extension-changed': 'breaking',
  'interface-removed': 'breaking',
  'interface-moved': 'breaking',
  'protocol-changed': 'breaking',
  'scheme-removed': 'breaking',
  'scheme-changed': 'breaking',
  'credentials-required': 'breaking',
  'agent-hidden': 'breaking',
  'gate-narrowed': 'breaking',
  'tier-removed': 'breaking',
  'skill-added': 'additive',
  'mode-added': 'additive',
  'capability-added': 'additive',
  'extension-added': 'additive',
  'extension-optional': 'additive',
  'interface-added': 'additive',
  'scheme-added': 'additive',
  'scheme-extended': 'additive',
  'credentials-accepted': 'additive',
  'agent-published': 'additive',
  'gate-widened': 'additive',
  'tier-added': 'additive',
  'version-changed': 'cosmetic',
  'text-changed': 'cosmetic',
  'details-changed': 'cosmetic',
} as const satisfies Record<string, ChangeClass>

/** The name of a kind of change. */
export type ChangeRule = keyof typeof changeRules

/**
 * One change, as a clause for people: "skill `forecast` no longer accepts `image/png`". The pointer is into the later card, or into
 * the earlier one for a removal: the public card or, with a `tier`, the extended card of that tier. Where the manifest has changed
 * and not the card, it is into the manifest.
 */
export type FoundChange = { rule: ChangeRule; pointer: Pointer; message: string; tier?: string }

/** Creates a change. */
export const change = (rule: ChangeRule, pointer: Pointer, message: string): FoundChange => ({ rule, pointer, message })

const MAX_QUOTED_LENGTH = 100
const MAX_LISTED = 10

/** Quotes a name in a message, on one line; of a long one, the beginning. */
export const quote = (name: string): string => {
  const start = name.length > MAX_QUOTED_LENGTH ? `${name.slice(0, MAX_QUOTED_LENGTH).toWellFormed()}…` : name
  return `\`${start.replace(/[\p{Cc}\u2028\u2029]/gu, ' ')}\``
}

/** Lists items in a message by their names; of many, the first ones and the number of the others. */
export const quoteList = <Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  conjunction: 'and' | 'or' = 'and',
): string => {
  const more = items.length - MAX_LISTED
  const listed = items.slice(0, MAX_LISTED).map(item => quote(nameOf(item)))
  if (more > 0) return `${listed.join(', ')} and ${more} more`
  return listed.length < 2 ? listed.join() : `${listed.slice(0, -1).join(', ')} ${conjunction} ${listed.at(-1)}`
}

/** Why each kind of change has its class. For documentation: the Worker does not contain it. */
export const changeReasons: Readonly<Record<ChangeRule, string>> = {
  'skill-removed': 'clients that use the skill no longer find it',
  'mode-removed': 'the gate and the agent refuse clients that rely on the media type',
  'capability-removed': 'operations that worked are refused',
  'extension-removed': 'clients that activate the extension no longer can',
  'extension-required': 'clients that do not know the extension are refused',
  'extension-changed': 'only the extension knows whether its clients cope with other parameters',
  'interface-removed': 'clients that speak only this protocol lose the agent',
  'interface-moved': 'clients that cache the card call the old address',
  'protocol-changed': 'clients call the address in a protocol that it no longer speaks',
  'scheme-removed': 'clients that authenticate with the scheme no longer can',
  'scheme-changed': 'clients get or send their credentials in a way that has changed',
  'credentials-required': 'the credentials of clients, or none, are no longer enough',
  'agent-hidden': 'clients without a token for it get 404',
  'gate-narrowed': 'calls that were forwarded are refused',
  'tier-removed': 'clients of the tier read a card with less in it',
  'skill-added': 'clients that do not know the skill do not use it',
  'mode-added': 'every media type that worked still works',
  'capability-added': 'clients that do not use the operations are not affected',
  'extension-added': 'clients need not activate it',
  'extension-optional': 'clients that activate it still can',
  'interface-added': 'every address that worked still works',
  'scheme-added': 'what clients authenticate with still exists',
  'scheme-extended': 'what clients authenticate with still exists',
  'credentials-accepted': 'the credentials of clients are still enough',
  'agent-published': 'clients with a token still reach it',
  'gate-widened': 'every call that was forwarded still is',
  'tier-added': 'clients of the other tiers read the same as before',
  'version-changed': 'the version says what changed, and is compared with it',
  'text-changed': 'people and models read it; no call depends on it',
  'details-changed': 'clients ignore order, spelling and fields that they do not know',
}
