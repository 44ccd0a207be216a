import { decodeSegment } from '../../../http/shared.ts'
import { plural } from '../../text/index.ts'
import { ApiError, connect, type ResponseOf } from '../api/index.ts'
import {
  button,
  byId,
  type Child,
  code,
  details,
  element,
  field,
  handleSubmit,
  list,
  message,
  options,
  PLAIN_INPUT,
  paragraph,
  prose,
  replaceContent,
} from '../elements/index.ts'
import { agentView } from './agent-view.ts'
import { agentHref, agentsView } from './agents-view.ts'
import { tokensView } from './tokens-view.ts'
import { type Context, createTable, describeFailure, showPages, showSearch, statusOutput, time } from './view.ts'
import { ACTIONS, describeActor, describeDetails, describeGrant, describeHead } from './wording.ts'

/** The session. Only its client has the token, until the page is left or the user has it forgotten. */
let context: Context | undefined

const PAGE_TITLE = document.title
const form = byId('token-form', HTMLFormElement)
const input = byId('token', HTMLInputElement)
const session = byId('session', HTMLElement)
const status = byId('status', HTMLElement)
const content = byId('view', HTMLElement)

const enter = async (): Promise<void> => {
  const token = input.value.trim()
  input.value = ''
  try {
    // Nothing else can be sent in a header.
    if (!/^[\x21-\x7e]+$/.test(token)) throw new ApiError({ body: { detail: NO_TOKEN } })
    const client = connect(token, error => context && forget(message('bad', `${error.message} Enter another one.`)))
    const grant = await client.call('GET /tokens/self')
    if (!grant.scopes.some(scope => scope === 'write' || scope === 'admin')) {
      status.replaceChildren(message('warn', TOO_LITTLE))
      return input.focus()
    }
    context = { ...client, grant, reload: (kind, text) => showView(message(kind, text)) }
    showSession(grant)
    showView()
  } catch (error) {
    status.replaceChildren(describeFailure(error))
    input.focus()
  }
}

const NO_TOKEN = 'This is not a token: it has spaces or characters that no token has. Copy it again.'

const TOO_LITTLE =
  'This token cannot manage agents: it has the scope `read` only. Enter one with the scope `write` or `admin`.'

const forget = (reason: HTMLElement): void => {
  clear()
  history.replaceState(null, '', location.pathname)
  status.replaceChildren(reason)
  input.focus()
}

/** Ends the use of the token, and removes all that was read with it. */
const clear = (): void => {
  context = undefined
  document.title = PAGE_TITLE
  for (const part of [session, status, content]) part.replaceChildren()
  for (const dialog of document.querySelectorAll('dialog')) dialog.close()
  form.hidden = false
}

const showSession = (grant: Context['grant']): void => {
  const { id, scopes, expires, note } = grant
  form.hidden = true
  const name = id === 'admin' ? 'The ADMIN_TOKEN of this host' : prose(`The token \`${id}\``)
  const expiry = expires === null ? 'It does not expire.' : ['It expires on ', time(expires), '.']
  const sections = scopes.includes('admin') ? ['Agents', 'Tokens', 'Audit'] : ['Agents']
  const links = sections.map(label => element('li', element('a', { href: `#${label.toLowerCase()}` }, label)))
  const forgetButton = button('Forget the token', () => forget(message('good', 'This page has forgotten the token.')))
  const title = element('p', element('strong', name), note !== undefined && ` (${note})`)
  const described = [title, list([...describeGrant(grant).map(prose), expiry]), forgetButton]
  const panel = element('section.panel.session', { 'aria-label': 'Your token' }, described)
  replaceContent(session, panel, element('nav.sections', { 'aria-label': 'Manage' }, element('ul', links)))
}

/** Returns the view that a path names: its heading, and its content, which may load its parts by itself. */
const findView = ([name, id]: readonly string[], current: Context): { title: string; content: Child } => {
  if (name === 'agents' && id) return agentView(current, decodeSegment(id) ?? id)
  if (name === 'tokens') return tokensView(current)
  if (name === 'audit') return auditView(current)
  return agentsView(current)
}

const showView = (...messages: readonly HTMLElement[]): void => {
  if (!context) return
  status.replaceChildren(...messages)
  const path = location.hash.slice(1).split('/')
  const view = findView(path, context)
  for (const link of document.querySelectorAll('.sections a'))
    link.ariaCurrent = link.getAttribute('href') === `#${path[0] || 'agents'}` ? 'page' : null
  document.title = `${view.title} · ${PAGE_TITLE}`
  const heading = element('h2', { tabindex: '-1', dir: 'auto' }, view.title)
  replaceContent(content, heading, element('div', view.content))
  heading.focus()
}

/** Runs the page: takes a token, and shows the view that the fragment of the address names. */
export const start = (): void => {
  form.hidden = false
  handleSubmit(form, enter)
  // The link that skips the navigation is no view.
  addEventListener('hashchange', () => location.hash !== '#main' && showView())
  // A browser may keep the memory of a page that is left, to show it again.
  addEventListener('pagehide', clear)
}

/** Shows the audit of a host, for admins: who changed what, newest first. */
const auditView = (context: Context) => {
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
      const pages = context.pages('GET /audit', { query: { ...filters, limit: 50 } })
      const more = await showPages(pages, page => {
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
  handleSubmit(form, show)
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

type AuditPage = ResponseOf<'GET /audit'>

const renderHead = (head: AuditPage['head']): HTMLElement[] => {
  const text = describeHead(head)
  if (!head) return [paragraph(text)]
  const line = element('p', code(`${head.number}:${head.hash}`))
  const folded = details('The newest entry as a line to keep outside of this host', line)
  return [message(head.signature === undefined ? 'warn' : 'good', text), folded]
}

const entryCells = (entry: AuditPage['entries'][number]): Child[] => {
  const { number, time: at, actor, what, agent, seq } = entry
  const action = [
    ACTIONS[what] ?? what,
    agent !== undefined && [' ', element('a', { href: agentHref(agent) }, agent)],
    seq !== undefined && `, revision ${seq}`,
  ]
  return [String(number), time(at), prose(describeActor(actor)), action, describeDetails(entry)]
}
