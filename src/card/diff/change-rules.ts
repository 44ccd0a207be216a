import type { Pointer } from '../../json/json.ts'

/** How a change of a card matters to clients, the most severe first. */
export const changeClasses = ['breaking', 'additive', 'cosmetic'] as const
export type ChangeClass = (typeof changeClasses)[number]

type Rule = { class: ChangeClass; reason: string }

/**
 * Every kind of change. The removals and the protocol version are Apicurio's rule for Agent Cards; requirements, narrower modes
 * and authentication break clients in the same way. The names are stable.
 */
export const changeRules = {
  'skill-removed': { class: 'breaking', reason: 'clients that use the skill no longer find it' },
  'mode-removed': { class: 'breaking', reason: 'the gate and the agent refuse clients that rely on the media type' },
  'capability-removed': { class: 'breaking', reason: 'operations that worked are refused' },
  'extension-removed': { class: 'breaking', reason: 'clients that activate the extension no longer can' },
  'extension-required': { class: 'breaking', reason: 'clients that do not know the extension are refused' },
  'extension-changed': {
    class: 'breaking',
    reason: 'only the extension knows whether its clients cope with other parameters',
  },
  'interface-removed': { class: 'breaking', reason: 'clients that speak only this protocol lose the agent' },
  'interface-moved': { class: 'breaking', reason: 'clients that cache the card call the old address' },
  'protocol-changed': { class: 'breaking', reason: 'clients call the address in a protocol that it no longer speaks' },
  'scheme-removed': { class: 'breaking', reason: 'clients that authenticate with the scheme no longer can' },
  'scheme-changed': { class: 'breaking', reason: 'clients get or send their credentials in a way that has changed' },
  'credentials-required': { class: 'breaking', reason: 'the credentials of clients, or none, are no longer enough' },
  'skill-added': { class: 'additive', reason: 'clients that do not know the skill do not use it' },
  'mode-added': { class: 'additive', reason: 'every media type that worked still works' },
  'capability-added': { class: 'additive', reason: 'clients that do not use the operations are not affected' },
  'extension-added': { class: 'additive', reason: 'clients need not activate it' },
  'extension-optional': { class: 'additive', reason: 'clients that activate it still can' },
  'interface-added': { class: 'additive', reason: 'every address that worked still works' },
  'scheme-added': { class: 'additive', reason: 'what clients authenticate with still exists' },
  'scheme-extended': { class: 'additive', reason: 'what clients authenticate with still exists' },
  'credentials-accepted': { class: 'additive', reason: 'the credentials of clients are still enough' },
  'version-changed': { class: 'cosmetic', reason: 'the version says what changed, and is compared with it' },
  'text-changed': { class: 'cosmetic', reason: 'people and models read it; no call depends on it' },
  'details-changed': { class: 'cosmetic', reason: 'clients ignore order, spelling and fields that they do not know' },
} as const satisfies Record<string, Rule>

/** The name of a kind of change. */
export type ChangeRule = keyof typeof changeRules

/**
 * One change of a card, as a clause for people: "skill `forecast` no longer accepts `image/png`". The pointer is into the later
 * card, or into the earlier one for a removal.
 */
export type FoundChange = { rule: ChangeRule; pointer: Pointer; message: string }

const MAX_QUOTED_LENGTH = 100
const MAX_LISTED = 10

/** Quotes a name in a message; of a long one, the beginning. */
export const quote = (name: string): string =>
  `\`${name.length > MAX_QUOTED_LENGTH ? `${name.slice(0, MAX_QUOTED_LENGTH).toWellFormed()}…` : name}\``

/** Lists items in a message by their names; of many, the first ones and the number of the others. */
export const quoteList = <Item>(items: readonly Item[], nameOf: (item: Item) => string): string => {
  const more = items.length - MAX_LISTED
  const listed = items.slice(0, MAX_LISTED).map(item => quote(nameOf(item)))
  if (more > 0) return `${listed.join(', ')} and ${more} more`
  return listed.length < 2 ? listed.join() : `${listed.slice(0, -1).join(', ')} and ${listed.at(-1)}`
}
