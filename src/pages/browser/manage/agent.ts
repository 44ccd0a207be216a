import { shorten } from '../../text/index.ts'
import { copyOnClick, element } from '../elements/index.ts'
import type { AgentPage, RevisionPage, StoredRevision } from './answers.ts'
import { agentPath } from './client.ts'
import { observedSection } from './observed.ts'
import { reportSection } from './report.ts'
import { revisionSection } from './revisions.ts'
import { sourceSection } from './source.ts'
import { type Agent, button, type Context, cardText, load, message, paragraph, section, type View } from './view.ts'

/** Characters of a card that are shown; all of it is copied. */
const MAX_CARD_CHARACTERS = 200_000

/** One agent: what is registered and served, what could be better, how it has changed, and what its calls show. */
export const agentView = (context: Context, id: string): View => {
  const parts = element('div')
  void load(parts, async () => {
    const { agents } = await context.client.request<AgentPage>(`/agents?${new URLSearchParams({ id })}`)
    const [listed] = agents
    if (!listed)
      return [
        message(
          'warn',
          'No agent with this id is registered. If it was removed, you can go back to one of its revisions.',
        ),
        revisionSection(context, { id, etag: null }),
      ]
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
  const back = element('p', {}, element('a', { href: '#agents' }, '← All agents'))
  return { title: id, content: element('div', {}, back, parts) }
}

/** Returns what reads the newest revision of an agent, once for all parts of a view. */
const newestReader = ({ client }: Context, id: string): (() => Promise<StoredRevision>) => {
  const read = async (): Promise<StoredRevision> => {
    const { revisions } = await client.request<RevisionPage>(agentPath(id, 'revisions?limit=1'))
    return client.request(agentPath(id, `revisions/${revisions[0]?.seq ?? 1}`))
  }
  let reading: Promise<StoredRevision> | undefined
  return () => {
    reading ??= read()
    // A failure is not remembered: the user may try again.
    reading.catch(() => {
      reading = undefined
    })
    return reading
  }
}

const overview = ({ id, name, description, version, visibility, set }: Agent): HTMLElement =>
  element(
    'div',
    {},
    cardText(name, { class: 'agent-name' }),
    cardText(description, { class: 'muted' }),
    element(
      'p',
      { class: 'facts' },
      element('span', {}, `Version ${version}`),
      element('span', { class: 'badge' }, visibility ?? 'public'),
      ...(set === undefined ? [] : [element('span', { class: 'tag' }, `set ${set}`)]),
      ...(visibility === 'public'
        ? [
            element('a', { href: agentPath(id) }, 'Page of the card'),
            element('a', { href: agentPath(id, '.well-known/agent-card.json') }, 'Card as JSON'),
          ]
        : []),
    ),
    ...(visibility === 'internal'
      ? [
          paragraph(
            'An internal agent has no page, because a browser sends no token when it opens one. Its card is below.',
          ),
        ]
      : []),
  )

const cardSection = ({ id, visibility, readNewest }: Agent): HTMLElement =>
  section('Card', async () => {
    const { seq, card } = await readNewest()
    if (card === undefined) return [paragraph('No card of this agent was ever fetched.')]
    const text = JSON.stringify(card, null, 2)
    const copy = button('Copy', 'the card')
    copyOnClick(copy, () => text)
    const shown = shorten(text, MAX_CARD_CHARACTERS)
    const pre = element('pre', { tabindex: '0', role: 'region', 'aria-label': `The card of ${id}`, dir: 'ltr' }, shown)
    const details = element(
      'details',
      { class: 'card-json' },
      element('summary', {}, `Card of revision ${seq}`),
      copy,
      pre,
    )
    details.open = visibility === 'internal'
    return [
      paragraph('As this host serves it, in the form of A2A 1.0, with every other field as it was written.', {
        class: 'muted',
      }),
      details,
    ]
  })
