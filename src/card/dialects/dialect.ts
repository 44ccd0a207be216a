import * as v from 'valibot'
import { formatPointer, isJsonObject, type JsonObject, mapMembers, omit, type Pointer } from '../../json/index.ts'
import { type AgentCard, type CapabilityDefaults, json, looseObject, validate } from '../model/index.ts'
import type { Provenance } from '../read/index.ts'
import {
  applyAliases,
  pickV0Interface,
  readCard,
  V0Authentication,
  writeV0Interfaces,
  writeV0Requirements,
  writeV0Scheme,
} from '../read/index.ts'

/** A card written in one dialect, and pointers to the canonical fields that the dialect has no place for. */
export type Written = { document: JsonObject; dropped: Pointer[] }

/** One shape of the card. A new dialect is a file with one of these, its entry in `dialects` and in `dialectNames`. */
export type Dialect = {
  /** Returns whether a document is written in this dialect. Runs in the order of `dialectNames`. */
  detect: (card: JsonObject) => boolean
  /** Returns the values of undeclared capabilities: the dialect's own, or false as in A2A. */
  capabilityDefaults: (card: JsonObject) => CapabilityDefaults
  /** Reads a document into the canonical model, without defaults. Leaves wrong types to the canonical card's schema. */
  read: (card: JsonObject, provenance: Provenance) => JsonObject
  /** Writes a complete canonical card. */
  write: (card: AgentCard) => Written
  /** Returns a card authored in this dialect as the dialect's own host serves it. Without this, `write` is used. */
  writeAuthored?: (authored: JsonObject, card: AgentCard) => JsonObject
  /** The members that the canonical card keeps without validating them. The linter accepts them in any card. */
  own?: OwnMembers
  /** Set if its documents have a list of interfaces and the security of A2A 1.0, and no `url`. */
  form?: 'interfaces'
}

/** The schemas of a dialect's own members, by the object that contains them. */
type OwnMembers = Partial<Record<'card' | 'capabilities' | 'provider' | 'skill', v.ObjectEntries>>

/** The schema of a member whose type is not checked. */
export const anything = v.optional(json)

/** Creates the reader of a dialect, which reports wrong types in its own members. */
export const readOwn = (own: OwnMembers, assumedVersion: string) => {
  const { card, skill, ...objects } = own
  const schema = looseObject<v.ObjectEntries>({
    ...card,
    ...Object.fromEntries(Object.entries(objects).map(([name, members]) => [name, objectOf(members)])),
    ...(skill && { skills: ifType(Array.isArray, v.array(objectOf(skill))) }),
  })
  return {
    own,
    read: (card: JsonObject, provenance: Provenance): JsonObject => {
      const result = validate(schema, card)
      if ('errors' in result) provenance.errors.push(...result.errors)
      return readCard(card, assumedVersion, provenance)
    },
  }
}

/** Creates a schema for values of one type. Accepts others, which the schema of the canonical card rejects. */
const ifType = (isOfType: (value: unknown) => boolean, schema: v.GenericSchema) =>
  v.optional(v.lazy(value => (isOfType(value) ? schema : json)))

const objectOf = (own: v.ObjectEntries) => ifType(isJsonObject, looseObject(own))

/** Creates the reader of a dialect of v0.x. All of them have `authentication`. */
export const readV0 = (own: OwnMembers) =>
  readOwn({ ...own, card: { authentication: v.optional(V0Authentication), ...own.card } }, '0.3')

/** Defines a dialect that is v0.3 with aliases and members of its own. A card authored in it is served as written. */
export const defineV0Dialect = (own: OwnMembers, aliases?: Parameters<typeof applyAliases>[1]) =>
  ({
    ...readV0(own),
    write: card => {
      const written = writeV0(card)
      return aliases ? { ...written, document: applyAliases(written.document, aliases) } : written
    },
    writeAuthored: authored => authored,
  }) satisfies Partial<Dialect>

/** Writes a card with the fields of v0.3 and unknown ones. `primary` is the index of the interface at the top level. */
export const writeV0 = (card: AgentCard, primary = pickV0Interface(card.supportedInterfaces)): Written => {
  const { name, description, capabilities, securitySchemes, securityRequirements, skills, ...rest } = card
  const dropped: Pointer[] = []
  const interfaces = writeV0Interfaces(card, primary, dropped)
  const writeRequirements = (requirements: AgentCard['securityRequirements'], at: Pointer) =>
    requirements && { security: writeV0Requirements(requirements, at, dropped) }
  return {
    document: {
      ...{ name, description, ...interfaces },
      ...omit(rest, 'supportedInterfaces', 'protocolVersion'),
      capabilities: omit(capabilities, 'extendedAgentCard'),
      supportsAuthenticatedExtendedCard: capabilities.extendedAgentCard ?? false,
      ...(securitySchemes && { securitySchemes: mapMembers(securitySchemes, scheme => writeV0Scheme(scheme)) }),
      ...writeRequirements(securityRequirements, ''),
      skills: skills.map(({ securityRequirements, ...skill }, index) => ({
        ...skill,
        ...writeRequirements(securityRequirements, formatPointer('skills', index)),
      })),
    },
    dropped,
  }
}

/** Leaves out a provider without an organization or URL: every version of A2A requires both. */
export const omitIncompleteProvider = (document: JsonObject): JsonObject => {
  const { provider } = document
  const isIncomplete = isJsonObject(provider) && (provider.organization === undefined || provider.url === undefined)
  return isIncomplete ? omit(document, 'provider') : document
}
