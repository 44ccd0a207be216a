import type { ResponseOf } from '../api/index.ts'
import {
  button,
  type Child,
  code,
  copyButton,
  element,
  field,
  list,
  message,
  options,
  PLAIN_INPUT,
  paragraph,
  prose,
  replaceContent,
} from '../elements/index.ts'
import {
  type Context,
  confirmAction,
  createTable,
  labelWith,
  load,
  moveFocus,
  runOn,
  showPages,
  statusOutput,
  time,
} from './view.ts'
import { describeGrant } from './wording.ts'

type IssuedToken = ResponseOf<'POST /tokens'>
type Token = ResponseOf<'GET /tokens'>['tokens'][number]

/** Shows the tokens of a host, for admins: issues one, lists and revokes all. */
export const tokensView = (context: Context) => {
  const issued = element('div')
  const tokens = element('div')
  const showTokens = () => load(() => readTokens(context), tokens)
  const form = issueForm(context, token => {
    showIssued(issued, token)
    showTokens()
  })
  const content = [element('h3', 'Issue a token'), form, issued, element('h3', 'Issued tokens'), showTokens()]
  return { title: 'Tokens', content }
}

const SCOPES = [
  ['read', 'list and read internal agents, and read extended cards'],
  ['call', 'the same, and call agents that are only for callers with a token'],
  ['write', 'register, change, remove and refresh agents'],
  ['admin', 'everything, for all agents'],
] as const

/** The lifetimes of a new token, by the number of days. */
const LIFETIMES = { 1: 'A day', 30: '30 days', 90: '90 days', 365: 'A year', '': 'Without an end' }
const DEFAULT_LIFETIME = 1

const issueForm = ({ call }: Context, onIssued: (token: IssuedToken) => void): HTMLElement => {
  const scopes = SCOPES.map(([scope, meaning]) => {
    const box = element('input', { type: 'checkbox', name: 'scopes', value: scope })
    return element('label.choice', box, ' ', element('code', scope), `: ${meaning}`)
  })
  const lifetime = element('select', { name: 'expires' }, options(Object.entries(LIFETIMES)))
  lifetime.selectedIndex = DEFAULT_LIFETIME
  const text = (name: string) => element('input', { name, ...PLAIN_INPUT })
  const output = statusOutput()
  const form = element(
    'form.panel.token-form',
    { 'aria-label': 'Issue a token' },
    element('fieldset', element('legend', 'Scopes'), scopes),
    field('Agents', text('agents'), 'Ids, separated by commas; `*` stands for any characters. Empty: all agents.'),
    field('Tiers', text('tiers'), 'Tiers whose extended cards it may read, besides the base tier; `*` for all.'),
    field('Valid for', lifetime),
    field('Note', text('note'), 'Whose token it is, or what it is for.'),
    button('Issue the token', undefined, { type: 'submit', class: 'primary' }),
    output,
  )
  return runOn(form, output, async () => {
    const token = await call('POST /tokens', { body: readTokenRequest(form) })
    form.reset()
    lifetime.selectedIndex = DEFAULT_LIFETIME
    onIssued(token)
  })
}

/** Returns the body of `POST /tokens`. What is empty has the default of the API. */
const readTokenRequest = (form: HTMLFormElement) => {
  const data = new FormData(form)
  const text = (name: string): string => String(data.get(name) ?? '').trim()
  const agents = text('agents').match(/[^\s,]+/g)
  const tiers = text('tiers').match(/[^\s,]+/g)
  return {
    scopes: SCOPES.flatMap(([scope]) => (data.getAll('scopes').includes(scope) ? [scope] : [])),
    ...(agents && { agents }),
    ...(tiers && { tiers }),
    ...(text('expires') !== '' && { expires: Number(text('expires')) * 86_400 }),
    ...(text('note') !== '' && { note: text('note') }),
  }
}

const showIssued = (target: HTMLElement, { id, token, published }: IssuedToken): void => {
  const finish = (): void => {
    const issued = message('good', `The token \`${id}\` is issued. Its text is no longer shown.`)
    target.replaceChildren(issued)
    moveFocus(issued)
  }
  const heading = element('h4', `Token ${id}`)
  const copy = copyButton(labelWith('Copy', 'the token'), token)
  const content = [
    heading,
    message('warn', 'Copy the token now: this host does not store its text, and nobody can show it again.'),
    element('p', element('code.secret', { dir: 'ltr', translate: 'no' }, token)),
    !published && paragraph('It is accepted everywhere as soon as the host has published it, which it keeps trying.'),
    element('div.actions', copy, button('Done', finish, { class: 'primary' })),
  ]
  replaceContent(target, element('section.panel', { 'aria-label': 'New token' }, content))
  moveFocus(heading)
}

const readTokens = async (context: Context): Promise<Child> => {
  const columns = ['Id', 'Scopes', 'Agents', 'Tiers', 'Expires', 'Note', 'Revoke']
  const { scroller, addRow } = createTable('Issued tokens', columns)
  const output = statusOutput()
  let count = 0
  const more = await showPages(context.pages('GET /tokens', { query: { limit: 50 } }), ({ tokens }) => {
    count += tokens.length
    return tokens.map(token => addRow(tokenCells(token, context, output)))[0]
  })
  if (count === 0) return paragraph('No tokens are issued. The `ADMIN_TOKEN` is not listed.')
  return [scroller, more, output]
}

const tokenCells = (token: Token, context: Context, output: HTMLElement): Child[] => {
  const { id, scopes, agents, tiers, expires, note } = token
  const revoke = button(labelWith('Revoke', `the token ${id}`), undefined, { class: 'danger' })
  return [
    code(id),
    scopes.join(', '),
    agents.join(', '),
    tiers.join(', ') || '–',
    expires === null ? 'never' : time(expires),
    note || '–',
    runOn(revoke, output, () => revokeToken(token, context)),
  ]
}

const revokeToken = async (token: Token, { call, grant, reload }: Context): Promise<void> => {
  const { id, note } = token
  const content = [
    note !== '' && element('p', { dir: 'auto' }, note),
    list(describeGrant(token).map(prose)),
    paragraph('Within a minute, this host rejects it everywhere. A revoked token cannot be restored.'),
    id === grant.id && message('bad', 'This is the token that you use now.'),
  ]
  if (!(await confirmAction(`Revoke the token ${id}?`, content, 'Revoke the token'))) return
  await call('DELETE /tokens/:id', { params: { id } })
  reload('good', `The token \`${id}\` is revoked.`)
}
