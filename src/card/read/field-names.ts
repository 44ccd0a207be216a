import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { formatPointer, isJsonObject, jsonEntries, jsonEquals, omit, toText } from '../../json/index.ts'
import type { Provenance } from './provenance.ts'

/** Splits a text into the names that it lists. */
export const listNames = (text: string): readonly string[] => text.trim().split(/\s+/)

/** The fields that A2A and GopherHole define, by the kind of object that has them. */
export const knownFields = {
  card: listNames(`name description url version protocolVersion provider iconUrl documentationUrl termsOfServiceUrl
    privacyPolicyUrl capabilities securitySchemes security securityRequirements defaultInputModes defaultOutputModes
    supportedInputModes supportedOutputModes skills supportsAuthenticatedExtendedCard preferredTransport
    additionalInterfaces supportedInterfaces signatures`),
  capabilities: listNames('streaming pushNotifications extendedAgentCard multiTurn stateTransitionHistory extensions'),
  provider: listNames('organization url'),
  skill: listNames('id name description tags examples inputModes outputModes security securityRequirements'),
  interface: listNames('url transport protocolBinding protocolVersion tenant'),
  scheme: listNames('type description in name scheme bearerFormat flows oauth2MetadataUrl openIdConnectUrl'),
} as const

/** A kind of object in a card. */
export type ObjectKind = keyof typeof knownFields

const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** The canonical key for each spelling, after the kind of object. Servers have been seen to use snake_case anywhere. */
const canonicalKeys = new Map(
  Object.entries(knownFields).flatMap(([kind, fields]) =>
    fields.flatMap(name => [name, toSnakeCase(name)].map(key => [`${kind} ${key}`, name] as const)),
  ),
)

/** Returns the canonical spelling of a key, or the key itself if it is unknown. */
export const canonicalKey = (key: string, kind: ObjectKind): string => canonicalKeys.get(`${kind} ${key}`) ?? key

/** The capabilities that a card may list by name, by the name in lower case: flags of A2A, GopherHole and Shaman. */
const flags = new Map([
  ...listNames(`streaming pushNotifications extendedAgentCard multiTurn stateTransitionHistory multiModal
    parallelToolCalls authentication rateLimit`).map(name => [name.toLowerCase(), name] as const),
  ['statehistory', 'stateTransitionHistory'],
])

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

/** A dialect's own name for a canonical field. `accepts` tests values where the name is ambiguous between dialects. */
type Alias = { alias: string; canonical: string; accepts?: (value: Json) => boolean }

/** The aliases of one dialect, by the kind of object that has them. */
export type DialectAliases = { card?: readonly Alias[]; capabilities?: readonly Alias[]; provider?: readonly Alias[] }

/** The field aliases of each dialect. */
export const fieldAliases = {
  gopherhole: {
    card: [
      { alias: 'supportedInputModes', canonical: 'defaultInputModes' },
      { alias: 'supportedOutputModes', canonical: 'defaultOutputModes' },
    ],
  },
  shaman: {
    // In other dialects an icon can be an emoji, or the name of one.
    card: [{ alias: 'icon', canonical: 'iconUrl', accepts: value => /^https?:\/\//i.test(toText(value)) }],
    capabilities: [{ alias: 'stateHistory', canonical: 'stateTransitionHistory' }],
    provider: [{ alias: 'name', canonical: 'organization' }],
  },
} as const satisfies Record<string, DialectAliases>

/**
 * Replaces the aliases of every dialect by the canonical fields, whatever the card's dialect, as authors mix them.
 * Where a card has both and they differ, both stay: the alias is then an unknown field.
 */
export const resolveAliases = (card: JsonObject, provenance: Provenance): JsonObject =>
  Object.values<DialectAliases>(fieldAliases).reduce(
    (resolved, dialect) =>
      mapObjects(resolved, dialect, (object, aliases, at) =>
        aliases.reduce((read, { alias, canonical, accepts }) => {
          const value = Object.hasOwn(read, alias) ? read[alias] : undefined
          if (value === undefined || accepts?.(value) === false) return read
          if (jsonEquals(value, read[canonical])) return omit(read, alias)
          if (read[canonical] !== undefined) return read
          provenance.mapFrom(at + formatPointer(canonical), at + formatPointer(alias))
          return { ...omit(read, alias), [canonical]: value }
        }, object),
      ),
    card,
  )

/** Replaces canonical fields by a dialect's aliases, except where an unknown field has that name already. */
export const applyAliases = (card: JsonObject, dialect: DialectAliases): JsonObject =>
  mapObjects(card, dialect, (object, aliases) =>
    Object.fromEntries(
      jsonEntries(object).map(([key, value]) => {
        const match = aliases.find(({ canonical, accepts }) => canonical === key && (accepts?.(value) ?? true))
        const name = match?.alias ?? key
        return [Object.hasOwn(object, name) ? key : name, value]
      }),
    ),
  )

/** Applies a function to a card and to the objects in it that the dialect has aliases for. */
const mapObjects = (
  card: JsonObject,
  { card: aliases = [], ...inner }: DialectAliases,
  change: (object: JsonObject, aliases: readonly Alias[], pointer: Pointer) => JsonObject,
): JsonObject => {
  const changed = aliases.length > 0 ? change(card, aliases, '') : card
  const members = (['capabilities', 'provider'] as const).flatMap(name => {
    const object = changed[name]
    return inner[name] && isJsonObject(object) ? [[name, change(object, inner[name], formatPointer(name))]] : []
  })
  return members.length > 0 ? { ...changed, ...Object.fromEntries(members) } : changed
}

/** Fields of several generations that are read alike, each with the canonical one. */
const equivalentFields = new Map([
  ['security', 'securityRequirements'],
  ['supportedInputModes', 'defaultInputModes'],
  ['supportedOutputModes', 'defaultOutputModes'],
])

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
