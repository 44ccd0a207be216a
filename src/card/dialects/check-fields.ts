import * as v from 'valibot'
import { isJsonObject, type JsonObject } from '../../json/json.ts'
import { anything } from '../model/schema.ts'
import { toCardErrors } from '../model/valibot-errors.ts'
import { Authentication } from '../read/authentication.ts'
import type { Provenance } from '../read/provenance.ts'

/** Fields that v0.x cards share, and that the canonical card does not have. */
export const sharedFields = { authentication: v.optional(Authentication) }

/** The dialect's own members of a known object; whether it is one at all is for the canonical card to say. */
export const members = (entries: v.ObjectEntries) =>
  v.optional(v.lazy(value => (isJsonObject(value) ? v.looseObject(entries) : anything)))

/** The dialect's own members of each skill. */
export const inSkills = (entries: v.ObjectEntries) =>
  v.optional(v.lazy(value => (Array.isArray(value) ? v.array(members(entries)) : anything)))

/** Says which of a dialect's own fields have a wrong type: those that the canonical card keeps without knowing them. */
export const checkFields = (card: JsonObject, fields: v.ObjectEntries, reading: Provenance): void => {
  const { issues = [] } = v.safeParse(v.looseObject(fields), card)
  reading.errors.push(...toCardErrors(issues, place => place))
}
