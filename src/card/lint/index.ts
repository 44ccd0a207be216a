import type { Issue, Severity } from '../model/report.ts'
import { closestExisting } from './authored.ts'
import { capabilities } from './capabilities.ts'
import { descriptions } from './descriptions.ts'
import { fields } from './fields.ts'
import { links } from './links.ts'
import { modes } from './modes.ts'
import { security } from './protocol.ts'
import type { LintContext, Rule } from './rule.ts'
import { secrets } from './secrets.ts'
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

/** A report has room for the first issues only: the graver come first. */
const severities: readonly Severity[] = ['error', 'warning', 'info']

/** Everything that the rules find in a card. Every pointer is to a place in the authored card, or to what is missing there. */
export const lint = (subject: LintContext): Issue[] =>
  severities.flatMap(grave =>
    rules
      .filter(({ severity }) => severity === grave)
      .flatMap(({ id, severity, check }) =>
        check(subject).map(({ pointer, message }) => ({
          rule: id,
          severity,
          pointer: closestExisting(subject.authored, pointer),
          message,
        })),
      ),
  )
