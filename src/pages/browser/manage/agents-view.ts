import { plural, shorten } from '../../text/index.ts'
import { button, code, element, field, handleSubmit, PLAIN_INPUT, paragraph } from '../elements/index.ts'
import { type Context, type ListedAgent, showPages, showSearch, statusOutput } from './view.ts'

/** The time after the last key, before the page searches. */
const TYPING_PAUSE_MS = 250

/** Shows the agents that a token may write, with a filter by words. */
export const agentsView = (context: Context) => {
  const filter = element('input', { type: 'search', autocomplete: 'off', maxlength: '200' })
  const form = element(
    'form.inline-form',
    { role: 'search' },
    field('Words in name, description or skills', filter),
    button('Filter', undefined, { type: 'submit' }),
  )
  const count = statusOutput()
  const results = element('div')
  const show = (): void => {
    const words = filter.value.trim()
    showSearch(async isCurrent => {
      const items = element('ol.managed')
      const query = { writable: true, limit: 24, q: words || undefined }
      const more = await showPages(context.pages('GET /agents', { query }), ({ agents, cursor }) => {
        const added = agents.map(agentItem)
        items.append(...added)
        if (isCurrent()) count.replaceChildren(describeCount(items.childElementCount, words, cursor !== undefined))
        return added[0]
      })
      return [items, more]
    }, results)
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const showAfter = (pause: number): void => {
    clearTimeout(timer)
    timer = setTimeout(show, pause)
  }
  filter.addEventListener('input', () => showAfter(TYPING_PAUSE_MS))
  handleSubmit(form, () => showAfter(0))
  show()
  return { title: 'Agents', content: [form, count, results, openById()] }
}

const describeCount = (count: number, words: string, hasMore: boolean): HTMLElement => {
  const agents = hasMore ? `The first ${plural(count, 'agent')}` : plural(count, 'agent')
  const some = words === '' ? agents : `${agents} with these words`
  const none = words === '' ? 'None of the agents that this token covers is registered.' : 'No agent has these words.'
  return paragraph(count > 0 ? some : none)
}

const agentItem = ({ id, name, description, version, visibility, set }: ListedAgent): HTMLElement =>
  element(
    'li.panel',
    element('h3', element('a', { href: agentHref(id), dir: 'auto' }, shorten(name, 200) || id)),
    element(
      'p.facts',
      code(id),
      element('span', `Version ${shorten(version, 50)}`),
      visibility === 'internal' && element('span.badge', 'internal'),
      set !== undefined && element('span.tag', `set ${set}`),
    ),
    element('p.muted', { dir: 'auto' }, shorten(description, 300)),
  )

/** Returns the address of the view of an agent: the fragment, which browsers do not send. */
export const agentHref = (id: string): string => `#agents/${encodeURIComponent(id)}`

/** Opens a removed agent, too, which is in no list, but has a history, and can be restored. */
const openById = (): HTMLElement => {
  const input = element('input', { ...PLAIN_INPUT, required: '' })
  const form = element(
    'form.inline-form',
    field('Open an agent by its id, also one that was removed', input),
    button('Open', undefined, { type: 'submit' }),
  )
  handleSubmit(form, () => {
    location.hash = agentHref(input.value.trim())
  })
  return form
}
