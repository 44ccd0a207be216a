import type { Issue, Severity } from '../model/index.ts'
import { capabilities, descriptions, modes, skills, texts } from './content-rules.ts'
import { links, transports, urls, versions } from './endpoint-rules.ts'
import { fields } from './field-rules.ts'
import { closestExisting, type LintContext, type Rule } from './rule.ts'
import { secrets } from './secrets.ts'
import { security, signatures } from './security-rules.ts'

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
      check(context).map(({ pointer: found, message }) => {
        const { pointer } = closestExisting(context.authored, found)
        return { rule: id, severity, pointer, message }
      }),
    )
