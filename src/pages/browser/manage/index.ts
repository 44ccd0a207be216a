import { byId, element } from '../elements/index.ts'
import { agentView } from './agent.ts'
import { agentsView } from './agents.ts'
import type { Grant } from './answers.ts'
import { auditView } from './audit.ts'
import { type CallError, createClient } from './client.ts'
import { tokensView } from './tokens.ts'
import { type Context, describeFailure, list, message, prose, time, type View } from './view.ts'
import { describeGrant } from './words.ts'

/** The token is a variable of the client in here, and nowhere else, until the page is left or the user has it forgotten. */
let context: Context | undefined

const PAGE_TITLE = document.title

/** Runs the page: takes a token, and shows the view that the fragment of the address names. */
export const start = (): void => {
  const form = byId('token-form', HTMLFormElement)
  form.hidden = false
  form.addEventListener('submit', event => {
    event.preventDefault()
    void enter()
  })
  // The link that skips the navigation is no view.
  addEventListener('hashchange', () => location.hash !== '#main' && showView())
  // A browser may keep the memory of a page that is left, to show it again.
  addEventListener('pagehide', clear)
}

const enter = async (): Promise<void> => {
  const input = byId('token', HTMLInputElement)
  const token = input.value.trim()
  input.value = ''
  try {
    const client = createClient(token, forgetRejected)
    const grant = await client.request<Grant>('/tokens/self')
    if (!grant.scopes.some(scope => scope === 'write' || scope === 'admin')) {
      announce(message('warn', TOO_LITTLE))
      return input.focus()
    }
    context = { client, grant, reload: (kind, text) => showView(message(kind, text)) }
    showSession(grant)
    showView()
  } catch (error) {
    announce(describeFailure(error))
    input.focus()
  }
}

const TOO_LITTLE =
  'This token cannot manage agents: it has the scope `read` only. Enter one with the scope `write` or `admin`.'

const forgetRejected = ({ message: reason }: CallError): void => {
  if (context) forget(message('bad', `${reason} Enter another one.`))
}

const forget = (reason: HTMLElement): void => {
  clear()
  history.replaceState(null, '', location.pathname)
  announce(reason)
  byId('token', HTMLInputElement).focus()
}

/** Ends the use of the token, and removes all that was read with it. */
const clear = (): void => {
  context = undefined
  document.title = PAGE_TITLE
  for (const id of ['session', 'status', 'view']) byId(id, HTMLElement).replaceChildren()
  for (const dialog of document.querySelectorAll('dialog')) dialog.close()
  byId('token-form', HTMLFormElement).hidden = false
}

const announce = (...nodes: readonly HTMLElement[]): void => byId('status', HTMLElement).replaceChildren(...nodes)

/** Shows what the token may do, and the sections that it opens. */
const showSession = (grant: Grant): void => {
  const { id, scopes, expires, note } = grant
  byId('token-form', HTMLFormElement).hidden = true
  const name = id === 'admin' ? ['The ADMIN_TOKEN of this host'] : prose(`The token \`${id}\``)
  const forgetButton = element('button', { type: 'button' }, 'Forget the token')
  forgetButton.addEventListener('click', () => forget(message('good', 'This page has forgotten the token.')))
  const expiry = expires === null ? ['It does not expire.'] : ['It expires on ', time(expires), '.']
  const sections = scopes.includes('admin') ? SECTIONS : SECTIONS.filter(({ isForAdmins }) => !isForAdmins)
  byId('session', HTMLElement).replaceChildren(
    element(
      'section',
      { class: 'panel session', 'aria-label': 'Your token' },
      element('p', {}, element('strong', {}, ...name), ...(note === undefined ? [] : [` (${note})`])),
      list([...describeGrant(grant).map(prose), expiry]),
      forgetButton,
    ),
    element(
      'nav',
      { class: 'sections', 'aria-label': 'Manage' },
      element('ul', {}, ...sections.map(({ hash, label }) => element('li', {}, element('a', { href: hash }, label)))),
    ),
  )
}

const SECTIONS: readonly { hash: string; label: string; isForAdmins?: boolean }[] = [
  { hash: '#agents', label: 'Agents' },
  { hash: '#tokens', label: 'Tokens', isForAdmins: true },
  { hash: '#audit', label: 'Audit', isForAdmins: true },
]

const findView = (hash: string, current: Context): View => {
  const [name, id] = hash.slice(1).split('/')
  if (name === 'agents' && id) return agentView(current, decode(id))
  if (name === 'tokens') return tokensView(current)
  if (name === 'audit') return auditView(current)
  return agentsView(current)
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Shows the view of the address, and moves the focus to its heading. */
const showView = (...messages: readonly HTMLElement[]): void => {
  if (!context) return
  announce(...messages)
  const { title, content } = findView(location.hash, context)
  const section = `#${location.hash.slice(1).split('/', 1)[0] || 'agents'}`
  for (const link of document.querySelectorAll('.sections a')) {
    if (link.getAttribute('href') === section) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  document.title = `${title} · ${PAGE_TITLE}`
  const heading = element('h2', { tabindex: '-1', dir: 'auto' }, title)
  byId('view', HTMLElement).replaceChildren(heading, content)
  heading.focus()
}
