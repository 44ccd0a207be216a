import type { Json, JsonObject, Pointer, StringValue } from '../../json/index.ts'
import { asList, asObject, formatPointer, getAt, getMember, isJsonObject, parsePointer } from '../../json/index.ts'
import type { Manifest } from '../manifest/index.ts'
import type { AgentCard, AgentSkill, Finding, Severity } from '../model/index.ts'

/** The card that rules check. */
export type LintContext = {
  /** The complete canonical card, with defaults. */
  card: AgentCard
  /** The card as authored. */
  authored: JsonObject
  /** Every string of it. */
  strings: readonly StringValue[]
  manifest: Manifest
  /** Maps a place in the canonical card to the authored card. */
  sourceOf: (canonical: Pointer) => Pointer
  /** The places in the manifest, and in which part of it, that look like secrets and are not allowed. */
  disallowed: readonly { part: Pointer; inPart: Pointer }[]
}

/** One lint rule. Its id is stable, because CI configurations refer to it. The comment of each has its reason. */
export type Rule = ReturnType<typeof error>

/** Returns what creates rules from functions that find places in the authored card, with a message or `summary`. */
const rulesOf =
  (severity: Severity) =>
  (id: string, summary: string, find: (context: LintContext) => readonly (Pointer | Found)[]) => ({
    id,
    severity,
    summary,
    /** Returns the places in the authored card that break the rule, and what to do about each. */
    check: (context: LintContext): Finding[] =>
      find(context).map(found => ({ message: summary, ...(typeof found === 'string' ? { pointer: found } : found) })),
  })

/** A place that breaks a rule, with a message other than the summary, or with what certainly corrects it. */
export type Found = Omit<Finding, 'message'> & { message?: string }

/** Returns a place at which another value is certainly meant. */
export const setTo = (pointer: Pointer, value: Json): Found => ({
  pointer,
  change: { op: 'replace', path: pointer, value },
})

/** Creates a rule whose violation breaks clients. */
export const error = rulesOf('error')

/** Creates a rule whose violation misleads clients. */
export const warning = rulesOf('warning')

/** Creates a rule that suggests an improvement. */
export const info = rulesOf('info')

/** An authored value and its place; the value is undefined if the author wrote none. */
export type Authored = { pointer: Pointer; value: Json | undefined }

/** Returns what the author wrote for a canonical field. */
export const getAuthored = (context: LintContext, canonical: Pointer): Authored => {
  const pointer = context.sourceOf(canonical)
  return { pointer, value: getAt(context.authored, pointer) }
}

/** Returns the objects in the list that the author wrote for a canonical field. */
export const getAuthoredItems = (context: LintContext, canonical: Pointer) => {
  const { pointer, value } = getAuthored(context, canonical)
  return asList(value).flatMap((item, index) =>
    isJsonObject(item) ? [{ item, pointer: pointer + formatPointer(index) }] : [],
  )
}

/** A skill with what the author wrote for it, which is an empty object if that was only a name. */
export type AuthoredSkill = { skill: AgentSkill; authored: JsonObject; pointer: Pointer }

/** Returns the skills that the author wrote, without a default skill. */
export const getAuthoredSkills = ({ card, authored }: LintContext): AuthoredSkill[] =>
  isBlank(authored.skills)
    ? []
    : card.skills.map((skill, index) => {
        return { skill, authored: asObject(asList(authored.skills)[index]), pointer: formatPointer('skills', index) }
      })

/** Returns whether an author left a field out or left it empty. */
export const isBlank = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** Shortens a pointer to the deepest place that exists, or to a missing member of an object that exists. */
export const closestExisting = (document: JsonObject, pointer: Pointer): Authored => {
  let value: Json | undefined = document
  let reached: Pointer = ''
  for (const token of parsePointer(pointer)) {
    const inner = getMember(value, token)
    if (inner === undefined && !isJsonObject(value)) break
    value = inner
    reached += formatPointer(token)
  }
  return { pointer: reached, value }
}
