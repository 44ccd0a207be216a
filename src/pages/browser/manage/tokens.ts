import { copyOnClick, element } from '../elements/index.ts'
import type { IssuedToken, ListedToken, TokenPage } from './answers.ts'
import {
  button,
  type Context,
  cardText,
  code,
  confirmAction,
  list,
  load,
  message,
  moveFocus,
  paragraph,
  prose,
  runOn,
  showPages,
  statusOutput,
  table,
  time,
  type View,
} from './view.ts'
import { describeGrant } from './words.ts'

/** Tokens on a page. */
const PAGE_SIZE = 50

const DAY_SECONDS = 86_400

/** How long a new token may be valid. */
const LIFETIMES = [
  ['A day', DAY_SECONDS],
  ['30 days', 30 * DAY_SECONDS],
  ['90 days', 90 * DAY_SECONDS],
  ['A year', 365 * DAY_SECONDS],
  ['Without an end', 0],
] as const

/** The tokens of a host, for admins: issue one, list and revoke all. */
export const tokensView = (context: Context): View => {
  const issued = element('div')
  const tokens = element('div')
  const showTokens = () => load(tokens, () => readTokens(context))
  void showTokens()
  const content = element(
    'div',
    {},
    element('h3', {}, 'Issue a token'),
    issueForm(context, token => {
      showIssued(issued, token)
      void showTokens()
    }),
    issued,
    element('h3', {}, 'Issued tokens'),
    tokens,
  )
  return { title: 'Tokens', content }
}

const SCOPES = [
  ['read', 'list and read internal agents, and read extended cards'],
  ['call', 'the same, and call agents that are only for callers with a token'],
  ['write', 'register, change, remove and refresh agents'],
  ['admin', 'everything, for all agents'],
] as const

const issueForm = ({ client }: Context, onIssued: (token: IssuedToken) => void): HTMLElement => {
  const scopes = SCOPES.map(([scope, meaning]) => {
    const box = element('input', { type: 'checkbox', name: 'scopes', value: scope })
    return element('label', { class: 'choice' }, box, ' ', element('code', {}, scope), `: ${meaning}`)
  })
  const lifetimes = LIFETIMES.map(([label, seconds]) => element('option', { value: String(seconds) }, label))
  const lifetime = element('select', { id: 'token-expires', name: 'expires' }, ...lifetimes)
  lifetime.selectedIndex = 1
  const form = element(
    'form',
    { class: 'panel token-form', 'aria-label': 'Issue a token' },
    element('fieldset', {}, element('legend', {}, 'Scopes'), ...scopes),
    ...textField('agents', 'Agents', 'Ids, separated by commas; `*` stands for any characters. Empty: all agents.'),
    ...textField('tiers', 'Tiers', 'Tiers whose extended cards it may read, besides the base tier; `*` for all.'),
    element('label', { for: 'token-expires' }, 'Valid for'),
    lifetime,
    ...textField('note', 'Note', 'Whose token it is, or what it is for.'),
    button('Issue the token', '', { type: 'submit', class: 'primary' }),
  )
  const output = statusOutput()
  runOn(form, output, async () => {
    const token = await client.request<IssuedToken>('/tokens', { method: 'POST', body: readTokenRequest(form) })
    form.reset()
    lifetime.selectedIndex = 1
    onIssued(token)
  })
  form.append(output)
  return form
}

const textField = (name: string, label: string, hint: string): HTMLElement[] => {
  const id = `token-${name}`
  const attributes = { id, name, class: 'token-field', autocomplete: 'off', 'aria-describedby': `${id}-hint` }
  return [
    element('label', { for: id }, label),
    element('input', { ...attributes, autocapitalize: 'off', spellcheck: 'false' }),
    paragraph(hint, { id: `${id}-hint`, class: 'muted' }),
  ]
}

/** Returns the body of `POST /tokens`. What is empty has the default of the API. */
const readTokenRequest = (form: HTMLFormElement): object => {
  const data = new FormData(form)
  const text = (name: string): string => String(data.get(name) ?? '').trim()
  const words = (name: string): string[] =>
    text(name)
      .split(/[\s,]+/)
      .filter(Boolean)
  const seconds = Number(text('expires'))
  return {
    scopes: data.getAll('scopes'),
    ...(words('agents').length > 0 && { agents: words('agents') }),
    ...(words('tiers').length > 0 && { tiers: words('tiers') }),
    ...(seconds > 0 && { expires: seconds }),
    ...(text('note') !== '' && { note: text('note') }),
  }
}

/** Shows the text of a new token, this once. */
const showIssued = (target: HTMLElement, { id, token, published }: IssuedToken): void => {
  const copy = button('Copy', 'the token')
  copyOnClick(copy, () => token)
  const done = button('Done', '', { class: 'primary' })
  done.addEventListener('click', () => {
    const issued = message('good', `The token \`${id}\` is issued. Its text is no longer shown.`)
    target.replaceChildren(issued)
    moveFocus(issued)
  })
  const heading = element('h4', { tabindex: '-1' }, `Token ${id}`)
  target.replaceChildren(
    element(
      'section',
      { class: 'panel', 'aria-label': 'New token' },
      heading,
      message('warn', 'Copy the token now: this host does not store its text, and nobody can show it again.'),
      element('p', {}, element('code', { class: 'secret', dir: 'ltr', translate: 'no' }, token)),
      ...(published
        ? []
        : [paragraph('It is accepted everywhere as soon as the host has published it, which it keeps trying.')]),
      element('div', { class: 'actions' }, copy, done),
    ),
  )
  heading.focus()
}

const readTokens = async (context: Context): Promise<HTMLElement[]> => {
  const { client } = context
  const { scroller, add } = table('Issued tokens', ['Id', 'Scopes', 'Agents', 'Tiers', 'Expires', 'Note', 'Revoke'])
  const more = element('div')
  const output = statusOutput()
  let count = 0
  const read = (cursor?: string) => {
    const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(cursor !== undefined && { cursor }) })
    return client.request<TokenPage>(`/tokens?${query}`)
  }
  await showPages(more, read, ({ tokens }) => {
    count += tokens.length
    return tokens.map(token => add(tokenCells(token, context, output)))[0]
  })
  if (count === 0) return [paragraph('No tokens are issued. The `ADMIN_TOKEN` is not listed.')]
  return [scroller, more, output]
}

const tokenCells = (token: ListedToken, context: Context, output: HTMLElement): (Node | string)[] => {
  const { id, scopes, agents, tiers, expires, note } = token
  const revoke = button('Revoke', `the token ${id}`, { class: 'danger' })
  runOn(revoke, output, () => revokeToken(token, context))
  return [
    code(id),
    scopes.join(', '),
    agents.join(', '),
    tiers.join(', ') || '–',
    expires === null ? 'never' : time(expires),
    note || '–',
    revoke,
  ]
}

/** Asks whether to revoke a token, with what it allows, and does so. */
const revokeToken = async (token: ListedToken, { client, grant, reload }: Context): Promise<void> => {
  const { id, note } = token
  const isConfirmed = await confirmAction(
    `Revoke the token ${id}?`,
    [
      ...(note === '' ? [] : [cardText(note)]),
      list(describeGrant(token).map(prose)),
      paragraph('Within a minute, this host rejects it everywhere. A revoked token cannot be restored.'),
      ...(id === grant.id ? [message('bad', 'This is the token that you use now.')] : []),
    ],
    'Revoke the token',
  )
  if (!isConfirmed) return
  await client.request(`/tokens/${encodeURIComponent(id)}`, { method: 'DELETE' })
  reload('good', `The token \`${id}\` is revoked.`)
}
