import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { formatPointer, type Pointer, parsePointer } from '../../json/pointer.ts'
import type { AgentSkill } from '../model/agent-card.ts'
import type { LintContext } from './rule.ts'

/** What the author wrote for a field, and where; no value where nothing was written. */
export type Authored = { place: Pointer; value: Json | undefined }

/** What the author wrote for a canonical field. */
export const getAuthored = (subject: LintContext, canonical: Pointer): Authored => {
  const place = subject.at(canonical)
  return { place, value: parsePointer(place).reduce<Json | undefined>(member, subject.authored) }
}

/** The objects of a list that the author wrote for a canonical field, and where each stands. */
export const getAuthoredItems = (subject: LintContext, canonical: Pointer): { item: JsonObject; place: Pointer }[] => {
  const { place, value } = getAuthored(subject, canonical)
  return (Array.isArray(value) ? value : []).flatMap((item, index) =>
    isJsonObject(item) ? [{ item, place: place + formatPointer(index) }] : [],
  )
}

/** The place itself; or, where something on the way is neither an object nor a list that goes on, the place of that. */
export const closestExisting = (document: JsonObject, place: Pointer): Pointer => {
  let value: Json | undefined = document
  let reached: Pointer = ''
  for (const token of parsePointer(place)) {
    const inner = member(value, token)
    if (inner === undefined && !isJsonObject(value)) return reached
    value = inner
    reached += formatPointer(token)
  }
  return reached
}

const member = (value: Json | undefined, token: string): Json | undefined =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, token) ? (value as JsonObject)[token] : undefined

/** Whether an author left a field out, or wrote nothing into it. */
export const isBlank = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** A skill beside what the author wrote of it: nothing but its place, where it was written as a bare name. */
export type AuthoredSkill = { skill: AgentSkill; authored: JsonObject; place: Pointer }

/** The skills that the author wrote; one that was filled is not among them. */
export const authoredSkills = ({ card, authored }: LintContext): AuthoredSkill[] =>
  isBlank(authored.skills)
    ? []
    : card.skills.map((skill, index) => {
        const written = (authored.skills as Json[])[index]
        return { skill, authored: isJsonObject(written) ? written : {}, place: formatPointer('skills', index) }
      })
