import { plural } from '../../text/index.ts'
import { element } from '../elements/index.ts'
import { agentHref } from './agents.ts'
import type { AuditEntry, AuditPage } from './answers.ts'
import {
  button,
  type Context,
  code,
  load,
  message,
  paragraph,
  prose,
  showPages,
  statusOutput,
  table,
  time,
  type View,
} from './view.ts'
import { ACTIONS, describeAction, describeActor, describeDetails, describeHead } from './words.ts'

/** Entries on a page. */
const PAGE_SIZE = 50

/** The audit of a host, for admins: who changed what, newest first. */
export const auditView = ({ client }: Context): View => {
  const form = filterForm()
  const count = statusOutput()
  const results = element('div')
  const show = (): void => {
    const filters = [...new FormData(form)].flatMap(([name, value]) => {
      const text = String(value).trim()
      return text === '' ? [] : [[name, text]]
    })
    // Each answer has a place of its own: that of an earlier filter may come after that of a later one.
    const target = element('div')
    results.replaceChildren(target)
    count.replaceChildren()
    void load(target, async () => {
      const { scroller, add } = table('Entries of the audit', ['Number', 'Time', 'Who', 'What', 'Details'])
      const more = element('div')
      const head = element('div')
      let shown = 0
      const read = (cursor?: string) => {
        const paging = { limit: String(PAGE_SIZE), ...(cursor !== undefined && { cursor }) }
        return client.request<AuditPage>(`/audit?${new URLSearchParams([...filters, ...Object.entries(paging)])}`)
      }
      await showPages(more, read, page => {
        head.replaceChildren(...renderHead(page.head))
        shown += page.entries.length
        const suffix = page.cursor === undefined ? '' : ', and there are older ones'
        if (target.isConnected)
          count.replaceChildren(paragraph(shown === 0 ? 'No entry matches.' : `${plural(shown, 'entry')}${suffix}`))
        return page.entries.map(entry => add(entryCells(entry)))[0]
      })
      return shown === 0 ? [head] : [head, scroller, more]
    })
  }
  form.addEventListener('submit', event => {
    event.preventDefault()
    show()
  })
  show()
  return { title: 'Audit', content: element('div', {}, form, count, results) }
}

const filterForm = (): HTMLFormElement => {
  const field = (name: string, label: string, input: HTMLElement): HTMLElement => {
    input.id = `audit-${name}`
    input.setAttribute('name', name)
    return element('div', {}, element('label', { for: `audit-${name}` }, label), input)
  }
  const text = { autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' }
  const kinds = Object.keys(ACTIONS).map(what => element('option', { value: what }, what))
  return element(
    'form',
    { class: 'audit-filters', role: 'search', 'aria-label': 'Filter the audit' },
    field('agent', 'Agent (id)', element('input', text)),
    field('actor', 'Who (admin, host, anonymous or the id of a token)', element('input', text)),
    field('what', 'What', element('select', {}, element('option', { value: '' }, 'anything'), ...kinds)),
    field('since', 'Since (UTC)', element('input', { type: 'date' })),
    field('until', 'Before (UTC)', element('input', { type: 'date' })),
    button('Filter', '', { type: 'submit' }),
  )
}

const renderHead = (head: AuditPage['head']): HTMLElement[] => {
  const text = describeHead(head)
  if (!head) return [paragraph(text)]
  return [
    message(head.signature === undefined ? 'warn' : 'good', text),
    element(
      'details',
      {},
      element('summary', {}, 'The newest entry as a line to keep outside of this host'),
      element('p', {}, code(`${head.number}:${head.hash}`)),
    ),
  ]
}

const entryCells = (entry: AuditEntry): (Node | string)[] => {
  const { number, time: at, actor, what, agent, seq } = entry
  const action = element('span', {}, describeAction(what))
  if (agent !== undefined) action.append(' ', element('a', { href: agentHref(agent) }, agent))
  if (seq !== undefined) action.append(`, revision ${seq}`)
  return [String(number), time(at), element('span', {}, ...prose(describeActor(actor))), action, describeDetails(entry)]
}
