import { changeRules } from '../../src/card/diff/change-rules.ts'
import { code, type Page, readComment, table, wrap } from './page.ts'

/** The page of the kinds of changes of a card. */
export const createChanges = (): Page => ({
  name: 'changes',
  title: 'Kinds of changes',
  contents: 'what a change of a card means for clients, and why',
  parts: [
    wrap(
      'A comparison of two revisions names each change by its rule ' +
        '(docs/guide/owners.md#change-history-and-rollback). A change is breaking if a client that worked may fail, ' +
        'additive if clients can do more, and cosmetic if no call is affected.',
    ),
    table(
      ['rule', 'class', 'change', 'reason'],
      Object.entries(changeRules).map(([rule, [changeClass, reason]]) => [
        ...[code(rule), changeClass, readComment('src/card/diff/change-rules.ts', rule, `'${rule}': `)],
        `${reason[0]?.toUpperCase()}${reason.slice(1)}.`,
      ]),
    ),
  ],
})
