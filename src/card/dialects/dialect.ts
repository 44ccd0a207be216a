import * as v from 'valibot'
import { formatPointer, isJsonObject, type JsonObject, mapMembers, omit, type Pointer } from '../../json/index.ts'
import { type AgentCard, type CapabilityDefaults, json, looseObject, validate } from '../model/index.ts'
import type { DialectAliases, ObjectKind, Provenance } from '../read/index.ts'
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
  /** Fields that only this dialect has, by the object that contains them. The linter accepts them in any card. */
  ownFields?: Partial<Record<ObjectKind, readonly string[]>>
}

/** Schemas of fields that v0.x cards share and the canonical card does not have. */
export const sharedV0Fields = { authentication: v.optional(V0Authentication) }

/** Creates the schema of an object's own members. Accepts other types, which the canonical card's schema rejects. */
export const members = (entries: v.ObjectEntries) =>
  v.optional(v.lazy(value => (isJsonObject(value) ? looseObject(entries) : json)))

/** Creates the schema of own members of each skill. */
export const skillMembers = (entries: v.ObjectEntries) =>
  v.optional(v.lazy(value => (Array.isArray(value) ? v.array(members(entries)) : json)))

/** Reports wrong types in a dialect's own fields, which the canonical card keeps without validating them. */
export const checkFields = (card: JsonObject, fields: v.ObjectEntries, provenance: Provenance): void => {
  const result = validate(looseObject(fields), card)
  if ('errors' in result) provenance.errors.push(...result.errors)
}

/** Defines a dialect that is v0.3 with aliases and fields of its own. A card authored in it is served as written. */
export const defineV0Dialect = (aliases: DialectAliases, fields: v.ObjectEntries) =>
  ({
    read: (card, provenance) => {
      checkFields(card, { ...sharedV0Fields, ...fields }, provenance)
      return readCard(card, '0.3', provenance)
    },
    write: card => {
      const { document, dropped } = writeV0(card)
      return { document: applyAliases(document, aliases), dropped }
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
