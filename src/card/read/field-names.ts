import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { formatPointer, isJsonObject, jsonEntries, jsonEquals, omit } from '../../json/index.ts'
import { type CapabilityDefaults, cardMembers, type Member } from '../model/index.ts'
import type { Provenance } from './provenance.ts'

/** A kind of object in a card. */
export type ObjectKind = keyof typeof cardMembers

/** Lists the names of an object's members of which a test is true. */
export const listNames = (kind: ObjectKind, isListed: (member: Member) => boolean = () => true): string[] =>
  [...cardMembers[kind]].flatMap(([name, member]) => (isListed(member) ? [name] : []))

/** The links of a card that people follow, and those that A2A 1.0 has. */
export const links = listNames('card', ({ is }) => is === 'link')
export const cardLinks = listNames('card', ({ is, presence }) => is === 'link' && presence !== undefined)

const isFlag = ({ type }: Member): boolean => type === 'boolean'

/** The capabilities of A2A 1.0 that are flags. */
export const cardFlags = listNames('capabilities', member => isFlag(member) && member.presence !== undefined)

/** The defaults of A2A, where an absent capability means false, for a card in the named format. */
export const absentMeansFalse = (format: string): CapabilityDefaults => ({
  flags: Object.fromEntries(cardFlags.map(name => [name, false])),
  reason: `an absent capability means false in ${format}`,
})

const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** The canonical key for each spelling, after the kind of object. Servers have been seen to use snake_case anywhere. */
const canonicalKeys = new Map(
  Object.entries(cardMembers).flatMap(([kind, fields]) =>
    [...fields.keys()].flatMap(name => [name, toSnakeCase(name)].map(key => [`${kind} ${key}`, name] as const)),
  ),
)

/** Returns the canonical spelling of a key, or the key itself if it is unknown. */
export const canonicalKey = (key: string, kind: ObjectKind): string => canonicalKeys.get(`${kind} ${key}`) ?? key

/** The names that dialects have for canonical fields with the same values. */
export const aliases = (['card', 'capabilities', 'provider'] as const).flatMap(kind =>
  [...cardMembers[kind]].flatMap(([canonical, { in: names = {}, accepts }]) =>
    (['gopherhole', 'shaman'] as const).flatMap(dialect => {
      const alias = names[dialect]
      return alias === undefined ? [] : [{ dialect, kind, alias, canonical, accepts }]
    }),
  ),
)
type Alias = (typeof aliases)[number]

/** The capabilities that only Shaman has. */
export const shamanFlags = ['multiModal', 'parallelToolCalls', 'authentication', 'rateLimit']

/** The capabilities that a card may list by name, by the name in lower case. */
const flags = new Map(
  [
    ...[...listNames('capabilities', isFlag), ...shamanFlags].map(name => ({ alias: name, canonical: name })),
    ...aliases.filter(({ kind }) => kind === 'capabilities'),
  ].map(({ alias, canonical }) => [alias.toLowerCase(), canonical]),
)

/** Returns the canonical name of a capability that is a flag, in any spelling; undefined for any other text. */
export const canonicalFlag = (name: string): string | undefined => flags.get(name.toLowerCase().replace(/[\s_-]/g, ''))

/** Returns the names in capabilities that are a list of names, or a text with names; undefined for any other value. */
export const listCapabilityNames = (capabilities: Json | undefined): string[] | undefined => {
  const listed = typeof capabilities === 'string' ? capabilities.split(/[,;]/) : capabilities
  if (!Array.isArray(listed) || !listed.every(name => typeof name === 'string')) return undefined
  const isList = (text: string) => canonicalFlag(text) === undefined && canonicalFlag(text.split(/\s/, 1).join())
  return listed.flatMap(text => (isList(text) ? text.split(/\s+/) : text.trim())).filter(name => name !== '')
}

/** Returns whether a value is an object that has one of the fields, in any spelling. */
export const hasField = (value: Json | undefined, kind: ObjectKind, fields: ReadonlySet<string>): boolean =>
  isJsonObject(value) && Object.keys(value).some(key => fields.has(canonicalKey(key, kind)))

/**
 * Returns an object with the canonical spelling of its known keys, and without known fields that are null: servers
 * write null for "absent". Where a field has two spellings, the canonical one takes precedence.
 */
export const canonicalizeKeys = (object: JsonObject, kind: ObjectKind, at: Pointer, provenance: Provenance) => {
  const entries = jsonEntries(object).flatMap(([key, value]): [string, Json][] => {
    const canonical = canonicalKeys.get(`${kind} ${key}`)
    if (canonical !== undefined && value === null) return []
    if (canonical === undefined || canonical === key) return [[key, value]]
    const pointer = at + formatPointer(key)
    const other = object[canonical] ?? undefined
    if (other === undefined) {
      provenance.noteConversion(pointer, `read as ${canonical}`)
      provenance.mapFrom(at + formatPointer(canonical), pointer)
      return [[canonical, value]]
    }
    if (!jsonEquals(value, other)) provenance.noteIgnored(pointer, canonical)
    return []
  })
  return Object.fromEntries(entries)
}

/**
 * Replaces the aliases of every dialect by the canonical fields, whatever the card's dialect, as authors mix them.
 * Where a card has both and they differ, both stay: the alias is then an unknown field.
 */
export const resolveAliases = (card: JsonObject, provenance: Provenance): JsonObject =>
  changeAliased(card, aliases, (object, { alias, canonical, accepts }, at) => {
    const value = Object.hasOwn(object, alias) ? object[alias] : undefined
    if (value === undefined || accepts?.(value) === false) return object
    if (jsonEquals(value, object[canonical])) return omit(object, alias)
    if (object[canonical] !== undefined) return object
    provenance.mapFrom(at + formatPointer(canonical), at + formatPointer(alias))
    return { ...omit(object, alias), [canonical]: value }
  })

/** Replaces canonical fields by a dialect's aliases, except where an unknown field has that name already. */
export const applyAliases = (card: JsonObject, dialect: Alias['dialect']): JsonObject => {
  const own = aliases.filter(alias => alias.dialect === dialect)
  return changeAliased(card, own, (object, { alias, canonical, accepts }) => {
    const value = Object.hasOwn(object, alias) ? undefined : object[canonical]
    if (value === undefined || accepts?.(value) === false) return object
    return Object.fromEntries(jsonEntries(object).map(([key, value]) => [key === canonical ? alias : key, value]))
  })
}

/** Applies a function to the object of each alias. */
const changeAliased = (
  card: JsonObject,
  aliases: readonly Alias[],
  change: (object: JsonObject, alias: Alias, at: Pointer) => JsonObject,
): JsonObject => {
  let changed = card
  for (const alias of aliases) {
    const { kind } = alias
    const object = changed[kind]
    if (kind === 'card') changed = change(changed, alias, '')
    else if (isJsonObject(object)) changed = { ...changed, [kind]: change(object, alias, formatPointer(kind)) }
  }
  return changed
}

/** Fields of several generations that are read alike, each with the canonical one. */
const equivalentFields = new Map(
  [...cardMembers.card].flatMap(([canonical, { in: names = {} }]) =>
    Object.values(names).flatMap(name => (cardMembers.card.has(name) ? [[name, canonical] as const] : [])),
  ),
)

const toCanonicalField = (name: string): string => {
  const key = canonicalKey(name, 'card')
  return equivalentFields.get(key) ?? key
}

/** Returns the name under which a card has a field, in another spelling or as an equivalent; else the name itself. */
export const findField = (card: JsonObject, name: string): string => indexFields(card)(name)

/** Returns `findField` for many fields of one card, which is read once. */
export const indexFields = (card: JsonObject): ((name: string) => string) => {
  const names = Object.keys(card).toReversed()
  const fields = new Map(names.map(name => [toCanonicalField(name), name] as const))
  return name => (Object.hasOwn(card, name) ? name : (fields.get(toCanonicalField(name)) ?? name))
}
