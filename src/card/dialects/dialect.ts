import * as v from 'valibot'
import { isJsonObject, type JsonObject, type Pointer } from '../../json/json.ts'
import type { AgentCard } from '../model/agent-card.ts'
import { json, looseObject, validate } from '../model/schema.ts'
import type { Provenance } from '../read/provenance.ts'
import { Authentication } from '../read/security-schemes.ts'

/** A card in one dialect, and the canonical pointers of what the dialect has no place for. */
export type Written = { document: JsonObject; dropped: Pointer[] }

/** One shape of the card: how to know it, read it into the canonical card, and write it. */
export type Dialect = {
  /** Whether a document is of this dialect; the table in index.ts asks the most telling ones first. */
  detect: (card: JsonObject) => boolean
  /** What the dialect's own documentation says of capabilities that are not declared. */
  capabilities?: (card: JsonObject) => Record<string, boolean>
  /** Brings a document into the canonical model, without defaults; wrong types are left for the schema to name. */
  read: (card: JsonObject, provenance: Provenance) => JsonObject
  /** Writes a complete canonical card. */
  write: (card: AgentCard) => Written
  /** A card that was authored in this dialect, as the dialect's own host would serve it. Absent: `write` serves it. */
  writeAuthored?: (authored: JsonObject, card: AgentCard) => JsonObject
}

/** Fields that v0.x cards share, and that the canonical card does not have. */
export const sharedFields = { authentication: v.optional(Authentication) }

/** The dialect's own members of a known object; whether it is one at all is for the canonical card to say. */
export const members = (entries: v.ObjectEntries) =>
  v.optional(v.lazy(value => (isJsonObject(value) ? looseObject(entries) : json)))

/** The dialect's own members of each skill. */
export const inSkills = (entries: v.ObjectEntries) =>
  v.optional(v.lazy(value => (Array.isArray(value) ? v.array(members(entries)) : json)))

/** Says which of a dialect's own fields have a wrong type: those that the canonical card keeps without knowing them. */
export const checkFields = (card: JsonObject, fields: v.ObjectEntries, provenance: Provenance): void => {
  const result = validate(looseObject(fields), card)
  if ('errors' in result) provenance.errors.push(...result.errors)
}
