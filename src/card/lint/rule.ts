import type { JsonObject } from '../../json/json.ts'
import type { Pointer } from '../../json/pointer.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { DialectName } from '../model/names.ts'
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

/** One rule. Its id is stable: owners and CI configurations refer to it. docs/lint.md tells why there is each. */
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
