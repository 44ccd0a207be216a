import type { Issue } from '../report.ts'
import { nearest } from './authored.ts'
import { capabilities } from './capabilities.ts'
import { descriptions } from './descriptions.ts'
import { fields } from './fields.ts'
import { links } from './links.ts'
import { modes } from './modes.ts'
import type { Finding, Rule, Subject } from './rule.ts'
import { secrets } from './secrets.ts'
import { security } from './security.ts'
import { skills } from './skills.ts'
import { texts } from './texts.ts'
import { urls } from './urls.ts'
import { versions } from './versions.ts'

/** Every rule, in the order of the report. */
export const rules: readonly Rule[] = [
  ...secrets,
  ...urls,
  ...links,
  ...security,
  ...capabilities,
  ...descriptions,
  ...skills,
  ...modes,
  ...versions,
  ...texts,
  ...fields,
]

/** A report is stored, and read by people: it holds this many findings of one rule, and the number of the rest. */
const most = 100

/** Everything that the rules find in a card. Every pointer is to a place in the authored card, or to what is missing there. */
export const lint = (subject: Subject): Issue[] =>
  rules.flatMap(({ id, severity, check }) =>
    bounded(check(subject)).map(({ pointer, message }) => ({
      rule: id,
      severity,
      pointer: nearest(subject.authored, pointer),
      message,
    })),
  )

const bounded = (findings: Finding[]): Finding[] => {
  const rest = findings.length - most
  return findings
    .slice(0, most + 1)
    .map((finding, index) =>
      index < most ? finding : { ...finding, message: `${finding.message} (one of ${rest} more such places)` },
    )
}
