import { plural, shorten } from '../../text/index.ts'
import { button, code, element, field, handleSearch, handleSubmit, PLAIN_INPUT, paragraph } from '../elements/index.ts'
import { type Context, type ListedAgent, showPages, showSearch, statusOutput } from './view.ts'

/** The time after the last key, before the page searches. */
const TYPING_PAUSE_MS = 250

/** Shows the agents that a token may write, with a filter by words. */
export const agentsView = (context: Context) => {
  const filter = element('input', { type: 'search', autocomplete: 'off', maxlength: '200' })
  const filterField = field('Words in name, description or skills', filter)
  const submit = button('Filter', undefined, { type: 'submit' })
  const form = element('form.inline-form', { role: 'search' }, filterField, submit)
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
  handleSearch(form, TYPING_PAUSE_MS, show)
  show()
  return { title: 'Agents', content: [form, count, results, openById()] }
}

const describeCount = (count: number, words: string, hasMore: boolean): HTMLElement => {
  const agents = hasMore ? `The first ${plural(count, 'agent')}` : plural(count, 'agent')
  const some = words === '' ? agents : `${agents} with these words`
  const none = words === '' ? 'None of the agents that this token covers is registered.' : 'No agent has these words.'
  return paragraph(count > 0 ? some : none)
}

const agentItem = ({ id, name, description, version, visibility, set }: ListedAgent): HTMLElement => {
  const link = element('a', { href: agentHref(id), dir: 'auto' }, shorten(name, 200) || id)
  const badge = visibility === 'internal' && element('span.badge', 'internal')
  const tag = set !== undefined && element('span.tag', `set ${set}`)
  const facts = element('p.facts', code(id), element('span', `Version ${shorten(version, 50)}`), badge, tag)
  return element('li.panel', element('h3', link), facts, element('p.muted', { dir: 'auto' }, shorten(description, 300)))
}

/** Returns the address of the view of an agent: the fragment, which browsers do not send. */
export const agentHref = (id: string): string => `#agents/${encodeURIComponent(id)}`

/** Opens a removed agent, too, which is in no list, but has a history, and can be restored. */
const openById = (): HTMLElement => {
  const input = element('input', { ...PLAIN_INPUT, required: '' })
  const inputField = field('Open an agent by its id, also one that was removed', input)
  const form = element('form.inline-form', inputField, button('Open', undefined, { type: 'submit' }))
  handleSubmit(form, () => {
    location.hash = agentHref(input.value.trim())
  })
  return form
}
