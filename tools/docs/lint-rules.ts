import { globSync } from 'node:fs'
import { rules } from '../../src/card/lint/index.ts'
import { observedRules } from '../../src/conformance/proposals.ts'
import { code, type Page, read, readComment, root, table, wrap } from './page.ts'

const files = globSync('src/card/lint/*.ts', { cwd: root })

/** Returns what a rule requires, and why: its doc comment, in which "Reason: " separates the two. */
const readRule = (id: string): [requirement: string, reason: string] => {
  const row = String.raw`(?:error|warning|info)\(\s*'${id}'`
  const file = files.find(name => new RegExp(row).test(read(name))) ?? 'src/card/lint/'
  const [requirement, reason = '', ...more] = readComment(file, id, row).split(' Reason: ')
  if (requirement === undefined || reason === '' || more.length > 0)
    throw new Error(`${file}: the doc comment of ${id} needs its reason: "… Reason: …"`)
  return [requirement, reason]
}

/** The page of the lint rules, and of the rules about calls. */
export const createLintRules = (): Page => ({
  name: 'lint-rules',
  title: 'Lint rules',
  contents: 'what the linter checks, and why; what the calls of an agent can show',
  parts: [
    wrap(
      'Every registration, `POST /lint` and `sync-card lint` run these rules. A finding has the rule, its severity, ' +
        'a JSON Pointer into the card as its author wrote it, and what to do. An **error** breaks clients or reveals ' +
        'a secret, a **warning** misleads clients or people, and an **info** is about a card that works but could be ' +
        'better.',
    ),
    wrap(
      'Only `secret` prevents a registration, and no message contains the secret itself. A report contains at ' +
        'most a hundred findings, errors first, and the number of the others.',
    ),
    table(
      ['rule', 'severity', 'requirement', 'reason'],
      rules.map(({ id, severity }) => [code(id), severity, ...readRule(id)]),
    ),
    '## Proposals',
    wrap(
      '`GET /agents/{id}/observed` and `sync-card lint --observed` report where a card differs from what the calls ' +
        'of the agent have shown (docs/design/calls.md#observed-calls).',
    ),
    table(
      ['rule', 'severity', 'requirement', 'proposed'],
      observedRules.map(({ id, severity, summary }) => [
        code(id),
        severity,
        summary,
        readComment('src/conformance/proposals.ts', id, `'${id}': `),
      ]),
    ),
  ],
})
