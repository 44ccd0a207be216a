import type { Issue } from '../report.ts'
import type { Rule, Subject } from './rule.ts'

/** Every rule, in the order of the report. */
export const rules: readonly Rule[] = []

/** Everything that the rules find in a card. */
export const lint = (subject: Subject): Issue[] =>
  rules.flatMap(rule => rule.check(subject).map(finding => ({ rule: rule.id, severity: rule.severity, ...finding })))
