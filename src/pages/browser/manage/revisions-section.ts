import { plural } from '../../text/index.ts'
import { isProblem, type ResponseOf } from '../api/index.ts'
import {
  button,
  type Child,
  code,
  details,
  element,
  list,
  paragraph,
  pointerCode,
  prose,
  replaceContent,
} from '../elements/index.ts'
import { type Context, confirmAction, labelWith, runOn, section, showPages, statusOutput, time } from './view.ts'
import { CLASS_MEANINGS, describeRevision, describeRollback } from './wording.ts'

type Revision = ResponseOf<'GET /agents/:id/revisions'>['revisions'][number]
type Comparison = ResponseOf<'GET /agents/:id/revisions/:seq/diff'>

/** An agent with a history. A removed one has no manifest, and `null` for its entity tag. */
type Owner = { id: string; etag?: string | null | undefined }

/** Shows the history of an agent: what each revision changed, and the way back to it. */
export const revisionSection = (context: Context, owner: Owner): HTMLElement =>
  section('Revisions', async () => {
    const items = element('ol.revisions')
    let newest: Revision | undefined
    const pages = context.pages('GET /agents/:id/revisions', { params: { id: owner.id }, query: { limit: 20 } })
    const more = await showPages(pages, ({ revisions }) => {
      newest ??= revisions[0]
      const added = revisions.map(row => revisionItem(row, { context, owner, newest: newest ?? row }))
      items.append(...added)
      return added[0]
    })
    return [items, more]
  })

type History = { context: Context; owner: Owner; newest: Revision }

const classBadge = (name: keyof typeof CLASS_MEANINGS): HTMLElement => element(`span.badge.class-${name}`, name)

const revisionItem = (revision: Revision, history: History): HTMLElement => {
  const { seq, created, class: changeClass, drift = [] } = revision
  const badge = changeClass && [' ', classBadge(changeClass)]
  const tag = seq === history.newest.seq && [' ', element('span.tag', 'newest')]
  const heading = element('h4', `Revision ${seq}`, badge, tag)
  const made = element('p.muted', prose(describeRevision(revision)), ' · ', time(created))
  const changes = drift.length > 0 && differenceDetails('What changed in the fetched card', drift)
  return element('li', heading, made, changes, revisionActions(revision, history))
}

/** Returns the buttons of a revision, and the places for what they show. */
const revisionActions = ({ seq, by, class: changeClass }: Revision, history: History): Child => {
  const { newest } = history
  const output = statusOutput()
  const changes = element('div')
  const action = (label: string, context: string, act: () => Promise<void>): HTMLElement =>
    runOn(button(labelWith(label, context)), output, act)
  const showChanges = async (to: number, from?: number): Promise<void> => {
    replaceContent(changes, renderComparison(await readDiff(history, to, from)))
    changes.querySelector<HTMLElement>('h5')?.focus()
  }
  const actions: HTMLElement[] = []
  // The first revision, and the first after a removal, have no class: there is nothing to compare them with.
  if (changeClass) actions.push(action('What it changed', `in revision ${seq}`, () => showChanges(seq)))
  const canReturn = seq !== newest.seq && by !== 'removal'
  if (canReturn && newest.by !== 'removal')
    actions.push(action('What changed since', `revision ${seq}`, () => showChanges(newest.seq, seq)))
  if (canReturn) actions.push(action('Go back to this', `revision ${seq}`, () => rollBack(seq, history)))
  return [actions.length > 0 && element('div.actions', actions), output, changes]
}

const readDiff = ({ context, owner }: History, seq: number, from?: number): Promise<Comparison> =>
  context.call('GET /agents/:id/revisions/:seq/diff', { params: { id: owner.id, seq }, query: { from } })

const rollBack = async (seq: number, history: History): Promise<void> => {
  const { context, owner, newest } = history
  // A removal has no card, nor has a revision whose remote card was never fetched.
  const comparison = await readDiff(history, seq, newest.seq).catch((error: unknown): undefined => {
    if (!isProblem(error, 'revision-without-card')) throw error
  })
  const explanation = paragraph(
    `This registers the manifest of revision ${seq} again, as a new revision. Nothing is deleted, and you can go ` +
      'back from there. The card of a remote agent is fetched again.',
  )
  const content = [explanation, describeEffect(comparison, newest)]
  if (!(await confirmAction(`Go back to revision ${seq} of ${owner.id}?`, content, `Go back to revision ${seq}`)))
    return
  const { id, etag } = owner
  const options = { params: { id }, body: { seq }, ...(etag !== undefined && { etag }) }
  const receipt = await context.call('POST /agents/:id/rollback', options)
  context.reload('good', describeRollback(seq, receipt))
}

const describeEffect = (comparison: Comparison | undefined, newest: Revision): Child => {
  if (!comparison && newest.by === 'removal') return paragraph('The agent was removed: clients can find it again.')
  if (!comparison)
    return paragraph('What that changes for clients is not known, because one of the two revisions has no card.')
  const { changes, class: changeClass } = comparison
  if (changes.length === 0) return paragraph('Clients get the same card as now.')
  return [
    paragraph(`For clients, the change is ${changeClass}: ${CLASS_MEANINGS[changeClass]}`),
    list(changes.map(change => [classBadge(change.class), ' ', prose(change.message)])),
  ]
}

const renderComparison = ({ from, to, class: changeClass, changes, manifest }: Comparison): Child => [
  element('h5', { tabindex: '-1' }, `From revision ${from} to ${to}: ${changeClass}`),
  changes.length === 0 && paragraph('Clients get the same card.'),
  // The API lists the most severe changes first.
  [...Map.groupBy(changes, change => change.class)].map(([name, group]) => [
    element('p', classBadge(name), ' ', element('span.muted', CLASS_MEANINGS[name])),
    list(
      group.map(({ message, pointer, tier }) => [
        ...[prose(message), ' ', pointerCode(pointer)],
        tier !== undefined && ` (extended card of the tier ${tier})`,
      ]),
    ),
  ]),
  manifest.length > 0 && differenceDetails('What changed in the manifest', manifest),
]

type Difference = Comparison['manifest'][number]

const OPERATIONS = { add: 'added', remove: 'removed', replace: 'changed', more: '' } as const

/** Returns the differences of two documents, folded. */
export const differenceDetails = (title: string, differences: readonly Difference[]): HTMLElement => {
  const count = differences.reduce((sum, { op, count = 0 }) => sum + (op === 'more' ? count : 1), 0)
  return details(`${title} (${count})`, list(differences.map(describeDifference)))
}

const describeDifference = ({ op, pointer, before, after, omitted = [], count = 0 }: Difference): Child => {
  if (op === 'more') return plural(count, 'more difference')
  const value = (name: 'before' | 'after', shown: unknown): Child => {
    if (omitted.includes(name)) return '(not shown: too long, or it looks like a secret)'
    return shown === undefined ? undefined : code(JSON.stringify(shown))
  }
  const values = [value('before', before), op === 'replace' && ' → ', value('after', after)].filter(Boolean)
  return [pointerCode(pointer), ` ${OPERATIONS[op]}`, values.length > 0 && [': ', values]]
}
