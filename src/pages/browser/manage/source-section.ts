import { shorten } from '../../text/index.ts'
import { type Api, agentPath, ignoreError } from '../api/index.ts'
import { button, type Child, code, element, list, message, noteList, paragraph, prose } from '../elements/index.ts'
import { differenceDetails } from './revisions-section.ts'
import { type Agent, confirmAction, runOn, section, statusOutput, time } from './view.ts'
import { describeSource, describeVerification } from './wording.ts'

type PendingCard = Api<'Pending'>

/** Shows the state of a remote card: where it is fetched, whether that works, and a pending card to accept. */
export const sourceSection = (agent: Agent): HTMLElement =>
  section('Source', async () => {
    const { id, context } = agent
    const reading = context.request<{ source: Api<'SourceState'> }>(agentPath(id, 'source'))
    const found = await reading.catch(ignoreError('no-source'))
    if (!found) return paragraph('The card is in the manifest: it changes only when somebody registers it.')
    const { pending } = found.source
    return [describe(found.source), pending && renderPending(pending, agent), refreshAction(agent)]
  })

const describe = (source: Api<'SourceState'>): Child => {
  const { kind, url, state, checked, due, failure } = source
  const [summary = '', ...rest] = describeSource(source)
  return [
    message(state === 'fresh' ? 'good' : state === 'no-card' ? 'bad' : 'warn', summary),
    element('p', kind === 'mcp' ? 'MCP server: ' : 'Fetched from: ', code(url)),
    list([
      ...(checked === undefined ? [] : [['Last confirmed: ', time(checked)]]),
      ['Next fetch: ', time(due)],
      ...[...rest, ...(kind === 'card' ? describeVerification(source) : [])].map(prose),
    ]),
    failure &&
      element('p', { dir: 'auto' }, 'Failing since ', time(failure.since), `: ${shorten(failure.message, 1000)}`),
    failure?.errors && noteList(failure.errors),
  ]
}

const renderPending = (pending: PendingCard, agent: Agent): Child => {
  const { widens, drift } = pending
  const output = statusOutput()
  return [
    element('h4', 'Why the new card waits'),
    noteList(widens),
    drift.length > 0 && differenceDetails('All differences from the card that is served', drift),
    runOn(button('Accept this card', undefined, { class: 'primary' }), output, () => acceptCard(pending, agent)),
    output,
  ]
}

/** Asks whether to accept a pending card, and does so. One that was fetched since is not accepted. */
const acceptCard = async ({ etag, widens }: PendingCard, { id, context }: Agent): Promise<void> => {
  const content = [paragraph('Clients get this card from now on. It waits because of this:'), noteList(widens)]
  if (!(await confirmAction(`Accept the new card of ${id}?`, content, 'Accept this card'))) return
  await context.request(agentPath(id, 'refresh'), { method: 'POST', body: { accept: etag } })
  context.reload('good', 'The card is accepted: clients get it from now on.')
}

const OUTCOMES = {
  refreshed: ['good', 'The card was fetched, and has changed.'],
  unchanged: ['good', 'The card was fetched, and has not changed.'],
  pending: ['warn', 'A new card was fetched, and waits for you.'],
} as const

const refreshAction = ({ id, context }: Agent): HTMLElement => {
  const output = statusOutput()
  const refresh = runOn(button('Fetch the card now'), output, async () => {
    const { outcome } = await context.request<Api<'RefreshResult'>>(agentPath(id, 'refresh'), { method: 'POST' })
    const [kind, text] = OUTCOMES[outcome]
    context.reload(kind, text)
  })
  return element('div.actions', refresh, output)
}
