import { plural, shorten } from '../../text/index.ts'
import { byId, element } from '../elements/index.ts'
import type { AgentPage, ListedAgent } from './answers.ts'
import { button, type Context, cardText, code, load, paragraph, showPages, statusOutput, type View } from './view.ts'

/** Agents on a page. */
const PAGE_SIZE = 24

/** How long somebody pauses who has stopped typing. */
const TYPING_PAUSE_MS = 250

/** The agents that a token may write, with a filter by words. */
export const agentsView = ({ client }: Context): View => {
  const filter = element('input', {
    id: 'filter',
    class: 'field',
    type: 'search',
    autocomplete: 'off',
    maxlength: '200',
  })
  const form = element(
    'form',
    { class: 'inline-form', role: 'search' },
    element('label', { for: 'filter' }, 'Words in name, description or skills'),
    filter,
    button('Filter', '', { type: 'submit' }),
  )
  const count = statusOutput()
  const results = element('div')
  let latest = 0
  const show = (): void => {
    const turn = ++latest
    const words = filter.value.trim()
    // Each answer has a place of its own: that of an earlier filter may come after that of a later one.
    const target = element('div')
    results.replaceChildren(target)
    void load(target, async () => {
      const items = element('ol', { class: 'managed' })
      const more = element('div')
      let shown = 0
      const read = (cursor?: string) => client.request<AgentPage>(`/agents?${listQuery(words, cursor)}`)
      await showPages(more, read, page => {
        const added = page.agents.map(agentItem)
        items.append(...added)
        shown += added.length
        if (turn === latest) count.replaceChildren(describeCount(shown, words, page.cursor !== undefined))
        return added[0]
      })
      return [items, more]
    })
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const showAfter = (pause: number): void => {
    clearTimeout(timer)
    timer = setTimeout(show, pause)
  }
  filter.addEventListener('input', () => showAfter(TYPING_PAUSE_MS))
  form.addEventListener('submit', event => {
    event.preventDefault()
    showAfter(0)
  })
  show()
  return { title: 'Agents', content: element('div', {}, form, count, results, openById()) }
}

const listQuery = (words: string, cursor?: string): URLSearchParams =>
  new URLSearchParams({
    writable: 'true',
    limit: String(PAGE_SIZE),
    ...(words !== '' && { q: words }),
    ...(cursor !== undefined && { cursor }),
  })

const describeCount = (count: number, words: string, hasMore: boolean): HTMLElement => {
  const agents = hasMore ? `The first ${plural(count, 'agent')}` : plural(count, 'agent')
  if (count > 0) return paragraph(words === '' ? agents : `${agents} with these words`)
  return paragraph(
    words === '' ? 'None of the agents that this token covers is registered.' : 'No agent has these words.',
  )
}

const agentItem = ({ id, name, description, version, visibility, set }: ListedAgent): HTMLElement =>
  element(
    'li',
    { class: 'panel' },
    element('h3', {}, element('a', { href: agentHref(id), dir: 'auto' }, shorten(name, 200) || id)),
    element(
      'p',
      { class: 'facts' },
      code(id),
      element('span', {}, `Version ${shorten(version, 50)}`),
      ...(visibility === 'internal' ? [element('span', { class: 'badge' }, 'internal')] : []),
      ...(set === undefined ? [] : [element('span', { class: 'tag' }, `set ${set}`)]),
    ),
    cardText(shorten(description, 300), { class: 'muted' }),
  )

/** Returns the address of the view of an agent: the fragment, which browsers do not send. */
export const agentHref = (id: string): string => `#agents/${encodeURIComponent(id)}`

/** A removed agent is in no list, but has a history, and can be restored. */
const openById = (): HTMLElement => {
  const form = element(
    'form',
    { class: 'inline-form' },
    element('label', { for: 'agent-id' }, 'Open an agent by its id, also one that was removed'),
    element('input', {
      id: 'agent-id',
      class: 'field',
      autocomplete: 'off',
      autocapitalize: 'off',
      spellcheck: 'false',
      required: '',
    }),
    button('Open', '', { type: 'submit' }),
  )
  form.addEventListener('submit', event => {
    event.preventDefault()
    location.hash = agentHref(byId('agent-id', HTMLInputElement).value.trim())
  })
  return form
}
