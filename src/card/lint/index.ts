import type { Issue, Severity } from '../model/report.ts'
import { fields } from './fields.ts'
import { capabilities, security, versions } from './protocol.ts'
import { closestExisting, type LintContext, type Rule } from './rule.ts'
import { secrets } from './secrets.ts'
import { modes, skills } from './skills.ts'
import { descriptions, texts } from './texts.ts'
import { links, urls } from './urls.ts'

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
