import { element } from '../elements/index.ts'
import type { Comparison, Receipt, RevisionPage, RevisionRow } from './answers.ts'
import { agentPath, CallError } from './client.ts'
import { differenceDetails } from './differences.ts'
import {
  button,
  type Context,
  code,
  confirmAction,
  list,
  paragraph,
  prose,
  runOn,
  section,
  showPages,
  statusOutput,
  time,
} from './view.ts'
import { CLASS_MEANINGS, describeRevision, describeRollback } from './words.ts'

/** Revisions on a page. */
const PAGE_SIZE = 20

/** Changes that a confirmation lists. */
const MAX_CONFIRMED_CHANGES = 20

/** The agent of a history; a removed one has no manifest, and `null` for its entity tag. */
type Owner = { id: string; etag?: string | null | undefined }

/** The history of an agent: what each revision changed, and the way back to it. */
export const revisionSection = (context: Context, owner: Owner): HTMLElement =>
  section('Revisions', async () => {
    const items = element('ol', { class: 'revisions' })
    const more = element('div')
    let newest: RevisionRow | undefined
    const read = (cursor?: string) => {
      const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(cursor !== undefined && { cursor }) })
      return context.client.request<RevisionPage>(agentPath(owner.id, `revisions?${query}`))
    }
    await showPages(more, read, page => {
      newest ??= page.revisions[0]
      const added = page.revisions.map(row => revisionItem(row, { context, owner, newest: newest ?? row }))
      items.append(...added)
      return added[0]
    })
    return [items, more]
  })

type History = { context: Context; owner: Owner; newest: RevisionRow }

const revisionItem = (row: RevisionRow, history: History): HTMLElement => {
  const { seq, created, class: changeClass, drift = [] } = row
  const { newest } = history
  const output = statusOutput()
  const changes = element('div')
  const actions = revisionActions(row, history, { output, changes })
  return element(
    'li',
    {},
    element(
      'h4',
      {},
      `Revision ${seq}`,
      ...(changeClass ? [' ', element('span', { class: `badge class-${changeClass}` }, changeClass)] : []),
      ...(seq === newest.seq ? [' ', element('span', { class: 'tag' }, 'newest')] : []),
    ),
    element('p', { class: 'muted' }, ...prose(describeRevision(row)), ' · ', time(created)),
    ...(drift.length > 0 ? [differenceDetails('What changed in the fetched card', drift)] : []),
    ...(actions.length > 0 ? [element('div', { class: 'actions' }, ...actions)] : []),
    output,
    changes,
  )
}

const revisionActions = (
  { seq, by, class: changeClass }: RevisionRow,
  history: History,
  { output, changes }: { output: HTMLElement; changes: HTMLElement },
): HTMLElement[] => {
  const { context, owner, newest } = history
  const showChanges = (label: string, details: string, read: () => Promise<Comparison>): HTMLElement => {
    const show = button(label, details)
    runOn(show, output, async () => {
      changes.replaceChildren(...renderComparison(await read()))
      changes.querySelector<HTMLElement>('h5')?.focus()
    })
    return show
  }
  const goBack = (): HTMLElement => {
    const restore = button('Go back to this', `revision ${seq}`)
    runOn(restore, output, () => rollBack(seq, history))
    return restore
  }
  const isNewest = seq === newest.seq
  return [
    // The first revision, and the first after a removal, have no class: there is nothing to compare them with.
    ...(changeClass
      ? [showChanges('What it changed', `in revision ${seq}`, () => readDiff(context, owner.id, { to: seq }))]
      : []),
    ...(isNewest || by === 'removal' || newest.by === 'removal'
      ? []
      : [
          showChanges('What changed since', `revision ${seq}`, () =>
            readDiff(context, owner.id, { from: seq, to: newest.seq }),
          ),
        ]),
    ...(isNewest || by === 'removal' ? [] : [goBack()]),
  ]
}

const readDiff = ({ client }: Context, id: string, { from, to }: { from?: number; to: number }): Promise<Comparison> =>
  client.request(agentPath(id, `revisions/${to}/diff${from === undefined ? '' : `?from=${from}`}`))

/** Asks whether to restore a revision, with what that changes for clients, and does so. */
const rollBack = async (seq: number, { context, owner, newest }: History): Promise<void> => {
  const { id, etag } = owner
  const comparison = await readDiff(context, id, { from: newest.seq, to: seq }).catch((error: unknown) => {
    // A removal has no card, nor has a revision whose remote card was never fetched.
    if (error instanceof CallError && error.code === 'revision-without-card') return undefined
    throw error
  })
  const isConfirmed = await confirmAction(
    `Go back to revision ${seq} of ${id}?`,
    [
      paragraph(
        `This registers the manifest of revision ${seq} again, as a new revision. Nothing is deleted, and you can go back from there. The card of a remote agent is fetched again.`,
      ),
      ...describeEffect(comparison, newest),
    ],
    `Go back to revision ${seq}`,
  )
  if (!isConfirmed) return
  const receipt = await context.client.request<Receipt>(agentPath(id, 'rollback'), {
    method: 'POST',
    body: { seq },
    etag,
  })
  context.reload('good', describeRollback(seq, receipt))
}

const describeEffect = (comparison: Comparison | undefined, newest: RevisionRow): HTMLElement[] => {
  if (!comparison)
    return [
      paragraph(
        newest.by === 'removal'
          ? 'The agent was removed: clients can find it again.'
          : 'What that changes for clients is not known, because one of the two revisions has no card.',
      ),
    ]
  const { changes, class: changeClass } = comparison
  if (changes.length === 0) return [paragraph('Clients get the same card as now.')]
  return [
    paragraph(`For clients, the change is ${changeClass}: ${CLASS_MEANINGS[changeClass]}`),
    list([
      ...changes
        .slice(0, MAX_CONFIRMED_CHANGES)
        .map(change => [
          element('span', { class: `badge class-${change.class}` }, change.class),
          ' ',
          ...prose(change.message),
        ]),
      ...(changes.length > MAX_CONFIRMED_CHANGES ? [[`${changes.length - MAX_CONFIRMED_CHANGES} more`]] : []),
    ]),
  ]
}

const renderComparison = ({ from, to, class: changeClass, changes, manifest }: Comparison): HTMLElement[] => {
  const byClass = Map.groupBy(changes, change => change.class)
  const classes = (['breaking', 'additive', 'cosmetic'] as const).flatMap(name => {
    const group = byClass.get(name) ?? []
    if (group.length === 0) return []
    return [
      element(
        'p',
        {},
        element('span', { class: `badge class-${name}` }, name),
        ' ',
        element('span', { class: 'muted' }, CLASS_MEANINGS[name]),
      ),
      list(
        group.map(({ message, pointer, tier }) => [
          ...prose(message),
          ' ',
          code(pointer || '(whole card)'),
          ...(tier === undefined ? [] : [` (extended card of the tier ${tier})`]),
        ]),
      ),
    ]
  })
  return [
    element('h5', { tabindex: '-1' }, `From revision ${from} to ${to}: ${changeClass}`),
    ...(classes.length > 0 ? classes : [paragraph('Clients get the same card.')]),
    ...(manifest.length > 0 ? [differenceDetails('What changed in the manifest', manifest)] : []),
  ]
}
