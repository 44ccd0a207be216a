import { plural } from '../../text/index.ts'
import type { Api } from '../api/index.ts'
import {
  button,
  type Child,
  code,
  details,
  element,
  field,
  message,
  options,
  PLAIN_INPUT,
  paragraph,
  prose,
} from '../elements/index.ts'
import { agentHref } from './agents-view.ts'
import { type Context, createTable, showPages, showSearch, statusOutput, time, type View } from './view.ts'
import { ACTIONS, describeActor, describeDetails, describeHead } from './wording.ts'

/** Shows the audit of a host, for admins: who changed what, newest first. */
export const auditView = (context: Context): View => {
  const form = filterForm()
  const count = statusOutput()
  const results = element('div')
  const show = (): void => {
    const texts = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()])
    const filters = Object.fromEntries(texts.filter(([, text]) => text !== ''))
    count.replaceChildren()
    showSearch(async isCurrent => {
      const { scroller, addRow } = createTable('Entries of the audit', ['Number', 'Time', 'Who', 'What', 'Details'])
      const head = element('div')
      let shown = 0
      const query = { ...filters, limit: '50' }
      const more = await showPages<Api<'AuditPage'>>(context, ['/audit', query], page => {
        head.replaceChildren(...renderHead(page.head))
        shown += page.entries.length
        const suffix = page.cursor === undefined ? '' : ', and there are older ones'
        if (isCurrent())
          count.replaceChildren(paragraph(shown === 0 ? 'No entry matches.' : `${plural(shown, 'entry')}${suffix}`))
        return page.entries.map(entry => addRow(entryCells(entry)))[0]
      })
      return [head, shown > 0 && [scroller, more]]
    }, results)
  }
  form.addEventListener('submit', event => {
    event.preventDefault()
    show()
  })
  show()
  return { title: 'Audit', content: [form, count, results] }
}

const filterForm = (): HTMLFormElement => {
  const kinds = Object.keys(ACTIONS).map(what => [what, what] as const)
  const what = element('select', { name: 'what' }, options([['', 'anything'], ...kinds]))
  return element(
    'form.audit-filters',
    { role: 'search', 'aria-label': 'Filter the audit' },
    field('Agent (id)', element('input', { name: 'agent', ...PLAIN_INPUT })),
    field('Who (admin, host, anonymous or the id of a token)', element('input', { name: 'actor', ...PLAIN_INPUT })),
    field('What', what),
    field('Since (UTC)', element('input', { name: 'since', type: 'date' })),
    field('Before (UTC)', element('input', { name: 'until', type: 'date' })),
    button('Filter', undefined, { type: 'submit' }),
  )
}

const renderHead = (head: Api<'AuditPage'>['head']): HTMLElement[] => {
  const text = describeHead(head)
  if (!head) return [paragraph(text)]
  return [
    message(head.signature === undefined ? 'warn' : 'good', text),
    details(
      'The newest entry as a line to keep outside of this host',
      element('p', code(`${head.number}:${head.hash}`)),
    ),
  ]
}

const entryCells = (entry: Api<'AuditPage'>['entries'][number]): Child[] => {
  const { number, time: at, actor, what, agent, seq } = entry
  const action = [
    ACTIONS[what] ?? what,
    agent !== undefined && [' ', element('a', { href: agentHref(agent) }, agent)],
    seq !== undefined && `, revision ${seq}`,
  ]
  return [String(number), time(at), prose(describeActor(actor)), action, describeDetails(entry)]
}
