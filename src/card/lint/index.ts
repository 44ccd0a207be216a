import type { Issue, Severity } from '../model/index.ts'
import { fields } from './fields.ts'
import { capabilities, security, transports, versions } from './protocol.ts'
import { closestExisting, type LintContext, type Rule } from './rule.ts'
import { secrets } from './secrets.ts'
import { signatures } from './signatures.ts'
import { modes, skills } from './skills.ts'
import { descriptions, texts } from './texts.ts'
import { links, urls } from './urls.ts'

export { containsSecret, createRedaction, findDisallowedSecrets, hideSecret } from './secrets.ts'

/** Every rule, in the order of the report. */
export const rules: readonly Rule[] = [
  ...secrets,
  ...urls,
  ...links,
  ...security,
  ...signatures,
  ...capabilities,
  ...descriptions,
  ...skills,
  ...modes,
  ...versions,
  ...transports,
  ...texts,
  ...fields,
]

/** The most severe first: a report has room for a limited number of issues. */
const severities: readonly Severity[] = ['error', 'warning', 'info']

/** Runs every rule on a card. Each pointer is to a place in the authored card, or to a missing member of one. */
export const lint = (context: LintContext): Issue[] =>
  severities
    .flatMap(severity => rules.filter(rule => rule.severity === severity))
    .flatMap(({ id, severity, check }) =>
      check(context).map(({ pointer, message }) => ({
        rule: id,
        severity,
        pointer: closestExisting(context.authored, pointer),
        message,
      })),
    )
