import { formatPointer, isJsonObject, type Json, type JsonObject, type Pointer, parsePointer } from '../../json/json.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard, AgentSkill } from '../model/agent-card.ts'
import type { DialectName } from '../model/constants.ts'
import type { Severity } from '../model/report.ts'

/** A card under the linter's eyes. */
export type LintContext = {
  /** The complete canonical card, defaults filled. */
  card: AgentCard
  /** The card as authored. */
  authored: JsonObject
  dialect: DialectName
  manifest: Manifest
  /** Where a canonical field was authored. */
  at: (canonical: Pointer) => Pointer
}

/** What a rule found: a pointer into the authored card, and a sentence a person can act on. */
export type Finding = { pointer: Pointer; message: string }

/** One rule. Its id is stable: owners and CI configurations refer to it. docs/reference.md gives the reason for each. */
export type Rule = {
  id: string
  severity: Severity
  /** What the rule says of a place that breaks it. */
  summary: string
  check: (subject: LintContext) => Finding[]
}

/** A rule that says the same of every place that it finds. */
export const rule = (
  id: string,
  severity: Severity,
  summary: string,
  places: (subject: LintContext) => readonly Pointer[],
): Rule => ({
  id,
  severity,
  summary,
  check: subject => places(subject).map(pointer => ({ pointer, message: summary })),
})

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

const member = (value: Json | undefined, token: string): Json | undefined => {
  if (Array.isArray(value)) return value.find((_, index) => String(index) === token)
  return isJsonObject(value) && Object.hasOwn(value, token) ? value[token] : undefined
}

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
