import { shorten } from '../../text/index.ts'
import { element } from '../elements/index.ts'
import type { PendingCard, Refreshed, SourceState } from './answers.ts'
import { agentPath, CallError } from './client.ts'
import { differenceDetails } from './differences.ts'
import {
  type Agent,
  button,
  code,
  confirmAction,
  list,
  message,
  noteList,
  paragraph,
  prose,
  runOn,
  section,
  statusOutput,
  time,
} from './view.ts'
import { describeSource, describeVerification } from './words.ts'

/** The state of a remote card: where it is fetched, whether that works, and a pending card to accept. */
export const sourceSection = (agent: Agent): HTMLElement =>
  section('Source', async () => {
    const { id, context } = agent
    const found = await context.client
      .request<{ source: SourceState }>(agentPath(id, 'source'))
      .catch((error: unknown) => {
        if (error instanceof CallError && error.code === 'no-source') return undefined
        throw error
      })
    if (!found)
      return [
        paragraph('The card is in the manifest: nothing is fetched, and it changes only when somebody registers it.'),
      ]
    const { source } = found
    return [...describe(source), ...(source.pending ? renderPending(source.pending, agent) : []), refreshAction(agent)]
  })

const describe = (source: SourceState): HTMLElement[] => {
  const { kind, url, state, checked, due, failure } = source
  const [summary = '', ...rest] = describeSource(source)
  return [
    message(state === 'fresh' ? 'good' : state === 'no-card' ? 'bad' : 'warn', summary),
    element('p', {}, kind === 'mcp' ? 'MCP server: ' : 'Fetched from: ', code(url)),
    list([
      ...(checked === undefined ? [] : [['Last confirmed: ', time(checked)]]),
      ['Next fetch: ', time(due)],
      ...[...rest, ...(kind === 'card' ? describeVerification(source) : [])].map(prose),
    ]),
    ...(failure
      ? [
          element('p', { dir: 'auto' }, 'Failing since ', time(failure.since), `: ${shorten(failure.message, 1000)}`),
          ...(failure.errors ? [noteList(failure.errors)] : []),
        ]
      : []),
  ]
}

const renderPending = (pending: PendingCard, agent: Agent): HTMLElement[] => {
  const { widens, drift } = pending
  const output = statusOutput()
  const accept = button('Accept this card', '', { class: 'primary' })
  runOn(accept, output, () => acceptCard(pending, agent))
  return [
    element('h4', {}, 'Why the new card waits'),
    noteList(widens),
    ...(drift.length > 0 ? [differenceDetails('All differences from the card that is served', drift)] : []),
    accept,
    output,
  ]
}

/** Asks whether to accept a pending card, with what it widens, and does so. Another card that was fetched meanwhile is not accepted. */
const acceptCard = async ({ etag, widens }: PendingCard, { id, context }: Agent): Promise<void> => {
  const isConfirmed = await confirmAction(
    `Accept the new card of ${id}?`,
    [paragraph('Clients get this card from now on. It waits because of this:'), noteList(widens)],
    'Accept this card',
  )
  if (!isConfirmed) return
  await context.client.request<Refreshed>(agentPath(id, 'refresh'), { method: 'POST', body: { accept: etag } })
  context.reload('good', 'The card is accepted: clients get it from now on.')
}

const OUTCOMES = {
  refreshed: ['good', 'The card was fetched, and has changed.'],
  unchanged: ['good', 'The card was fetched, and has not changed.'],
  pending: ['warn', 'A new card was fetched, and waits for you.'],
} as const

const refreshAction = ({ id, context }: Agent): HTMLElement => {
  const refresh = button('Fetch the card now')
  const output = statusOutput()
  runOn(refresh, output, async () => {
    const { outcome } = await context.client.request<Refreshed>(agentPath(id, 'refresh'), { method: 'POST' })
    const [kind, text] = OUTCOMES[outcome]
    context.reload(kind, text)
  })
  return element('div', { class: 'actions' }, refresh, output)
}
