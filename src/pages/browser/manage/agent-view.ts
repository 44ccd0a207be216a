import { isJsonObject } from '../../../json/index.ts'
import { plural, shorten } from '../../text/index.ts'
import type { ResponseOf } from '../api/index.ts'
import {
  button,
  type Child,
  code,
  copyButton,
  details,
  element,
  hint,
  list,
  message,
  noteList,
  paragraph,
  pointerCode,
  prose,
  scrollingText,
} from '../elements/index.ts'
import { countIssues, type LintResult, NOTE_GROUPS, SEVERITIES } from '../report/index.ts'
import { differenceDetails, revisionSection } from './revisions-section.ts'
import { type Agent, type Context, confirmAction, labelWith, load, runOn, section, statusOutput, time } from './view.ts'
import { describeObserved, describeSource, describeVerification } from './wording.ts'

/** Characters of a card that are shown; all of it is copied. */
const MAX_CARD_CHARACTERS = 200_000

/** Shows one agent: what is registered and served, what could be better, how it has changed, and how it is called. */
export const agentView = (context: Context, id: string) => {
  const parts = load(async () => {
    const { agents } = await context.call('GET /agents', { query: { id } })
    const [listed] = agents
    if (!listed) {
      const text = 'No agent with this id is registered. If it was removed, you can go back to one of its revisions.'
      return [message('warn', text), revisionSection(context, { id, etag: null })]
    }
    const agent: Agent = { ...listed, context, readNewest: newestReader(context, id) }
    return [
      overview(agent),
      reportSection(agent),
      sourceSection(agent),
      revisionSection(context, agent),
      observedSection(agent),
      cardSection(agent),
    ]
  })
  return { title: id, content: [element('p', element('a', { href: '#agents' }, '← All agents')), parts] }
}

/** Returns what reads the newest revision of an agent, once for all parts of a view. */
const newestReader = ({ call }: Context, id: string): Agent['readNewest'] => {
  let reading: ReturnType<Agent['readNewest']> | undefined
  const read: Agent['readNewest'] = async () => {
    try {
      const { revisions } = await call('GET /agents/:id/revisions', { params: { id }, query: { limit: 1 } })
      return await call('GET /agents/:id/revisions/:seq', { params: { id, seq: revisions[0]?.seq ?? 1 } })
    } catch (error) {
      // A failure is not remembered: the user may try again.
      reading = undefined
      throw error
    }
  }
  return () => (reading ??= read())
}

const overview = ({ id, name, description, version, visibility, set }: Agent): Child => {
  const facts = [element('span', `Version ${version}`), element('span.badge', visibility ?? 'public')]
  const tag = set !== undefined && element('span.tag', `set ${set}`)
  const page = element('a', { href: `/agents/${id}` }, 'Page of the card')
  const card = element('a', { href: `/agents/${id}/.well-known/agent-card.json` }, 'Card as JSON')
  return [
    element('p.agent-name', { dir: 'auto' }, shorten(name, 200)),
    element('p.muted', { dir: 'auto' }, shorten(description, 2000)),
    element('p.facts', facts, tag, visibility === 'public' && [page, card]),
    visibility === 'internal' && paragraph(NO_PAGE),
  ]
}

const NO_PAGE = 'An internal agent has no page, because a browser sends no token when it opens one. Its card is below.'

const cardSection = ({ id, visibility, readNewest }: Agent): HTMLElement =>
  section('Card', async () => {
    const { seq, card } = await readNewest()
    if (card === undefined) return paragraph('No card of this agent was ever fetched.')
    const text = JSON.stringify(card, null, 2)
    const copy = copyButton(labelWith('Copy', 'the card'), text)
    const shown = scrollingText(`The card of ${id}`, shorten(text, MAX_CARD_CHARACTERS))
    const folded = element('details.card-json', element('summary', `Card of revision ${seq}`), copy, shown)
    folded.open = visibility === 'internal'
    return [hint('As this host serves it, in the form of A2A 1.0, with every other field as it was written.'), folded]
  })

/** Shows what `POST /lint` finds in the manifest of an agent, or in the card that was fetched. */
const reportSection = ({ id, visibility, context: { call }, readNewest }: Agent): HTMLElement =>
  section('Report', async () => {
    const manifest = await call('GET /agents/:id/manifest', { params: { id } })
    const { upstream } = isJsonObject(manifest) ? manifest : {}
    const isRemote = isJsonObject(upstream) && ('card' in upstream || 'mcp' in upstream)
    const card = isRemote ? (await readNewest()).card : undefined
    if (isRemote && card === undefined) return paragraph('No card was ever fetched, so there is nothing to check.')
    const body = isRemote ? { card: card ?? null, visibility: visibility ?? 'public' } : manifest
    const result = await call('POST /lint', { body })
    const subject = isRemote
      ? 'This is about the card that was fetched, as this host serves it.'
      : 'This is about the manifest as it was registered.'
    return [summarize(result), hint(subject), renderReport(result)]
  })

const summarize = ({ valid, errors, issues = [] }: LintResult): HTMLElement => {
  if (!valid) return message('bad', `This host would not register it again: ${plural(errors.length, 'error')}.`)
  if (issues.length === 0) return message('good', 'Nothing to improve.')
  return message(issues.some(({ severity }) => severity === 'error') ? 'bad' : 'warn', `Found: ${countIssues(issues)}.`)
}

const renderReport = (result: LintResult): Child => {
  const { errors, issues = [], dropped = {} } = result
  const leftOut = Object.entries(dropped).flatMap(([dialect, pointers]) =>
    pointers.map(pointer => ({ pointer, message: `in ${dialect}` })),
  )
  const groups = [
    ...NOTE_GROUPS.map(([name, title, meaning]) => [title, meaning, result[name] ?? []] as const),
    ['Left out of other dialects', 'Fields for which a dialect has no place.', leftOut] as const,
  ]
  return [
    errors.length > 0 && noteList(errors),
    SEVERITIES.map(([severity, , title, meaning]) => {
      const found = issues.filter(issue => issue.severity === severity)
      return found.length > 0 && [element('h4', `${title}: `, element('span.muted', meaning)), noteList(found)]
    }),
    groups
      .filter(([, , notes]) => notes.length > 0)
      .map(([title, meaning, notes]) => details(`${title} (${notes.length})`, hint(meaning), noteList(notes))),
  ]
}

/** Shows what the calls of an agent have shown, in words, and where its card differs. */
const observedSection = ({ id, context: { call } }: Agent): HTMLElement =>
  section('Observed calls', async () => {
    const observed = await call('GET /agents/:id/observed', { params: { id } })
    const { calls, since, lastSeen } = observed
    const times = since !== undefined &&
      lastSeen !== undefined && [' since ', time(since), '; the last one at ', time(lastSeen)]
    return [
      times && element('p', plural(calls, 'call'), times, '.'),
      list(describeObserved(observed).map(prose)),
      calls > 0 && compareWithCard(observed.proposals),
    ]
  })

const compareWithCard = (proposals: ResponseOf<'GET /agents/:id/observed'>['proposals']): Child => {
  if (!proposals)
    return message('warn', 'The calls cannot be compared, because this host has no valid card of the agent.')
  if (proposals.length === 0) return message('good', 'The card fits what the calls have shown.')
  return [
    message('warn', `The card differs from what the calls have shown in ${plural(proposals.length, 'place')}.`),
    list(
      proposals.map(({ pointer, message, rule, change }) => [
        ...[pointerCode(pointer), ' ', prose(message), ` (${rule})`, element('br'), 'To correct the card, '],
        change.op === 'remove' ? 'remove ' : ['write ', code(JSON.stringify(change.value)), ' at '],
        ...[code(change.path), '.'],
      ]),
    ),
    hint('Pointers of corrections are into the card in the form of A2A 1.0.'),
  ]
}

type Source = ResponseOf<'GET /agents/:id/source'>['source']
type PendingCard = NonNullable<Source['pending']>

/** Shows the state of a remote card: where it is fetched, whether that works, and a pending card to accept. */
const sourceSection = (agent: Agent): HTMLElement =>
  section('Source', async () => {
    const { id, context } = agent
    const found = await context.call('GET /agents/:id/source', { params: { id }, ignore: 'no-source' })
    if (!found) return paragraph('The card is in the manifest: it changes only when somebody registers it.')
    const { pending } = found.source
    return [describe(found.source), pending && renderPending(pending, agent), refreshAction(agent)]
  })

const describe = (source: Source): Child => {
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
  await context.call('POST /agents/:id/refresh', { params: { id }, body: { accept: etag } })
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
    const { outcome } = await context.call('POST /agents/:id/refresh', { params: { id } })
    const [kind, text] = OUTCOMES[outcome]
    context.reload(kind, text)
  })
  return element('div.actions', refresh, output)
}
