import * as v from 'valibot'
import { isJsonObject, type JsonObject, type Pointer } from '../../json/index.ts'
import { type AgentCard, type CapabilityDefaults, json, looseObject, validate } from '../model/index.ts'
import { type ObjectKind, type Provenance, V0Authentication } from '../read/index.ts'

/** A card written in one dialect, and pointers to the canonical fields that the dialect has no place for. */
export type Written = { document: JsonObject; dropped: Pointer[] }

/**
 * One shape of the card: how to recognize, read and write it. A new dialect is a file with one of these, its entry in index.ts
 * and its name in `dialectNames`.
 */
export type Dialect = {
  /** Returns whether a document is written in this dialect. Runs in the order of `dialectNames`. */
  detect: (card: JsonObject) => boolean
  /** Returns the values of undeclared capabilities: the dialect's own, or false as in A2A. */
  capabilityDefaults: (card: JsonObject) => CapabilityDefaults
  /** Reads a document into the canonical model, without defaults. Leaves wrong types to the schema of the canonical card. */
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

/** Creates the schema of a known object's own members. Accepts other types: the canonical card's schema rejects them. */
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
