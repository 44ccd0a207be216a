import { flushSync, useLayoutEffect, useRef, useState } from 'hono/jsx/dom'
import { decodeSegment } from '../../../http/shared.ts'
import { type Child, Fold, List, Message } from '../../components/index.ts'
import { ApiError, connect, loadModule } from '../api/index.ts'
import { AgentsView } from './agents-view.tsx'
import { Action, Dialog, Field, Load, prose, type Question, renderFailure, Time, useFocus } from './controls.tsx'
import { describeGrant, summarizeGrant } from './grant.ts'
import { type Draft, type Session, SessionContext } from './session.ts'

const PAGE_TITLE = document.title

type State = {
  /** Only its client has the token, until the page is left or the user has it forgotten. */
  session?: Session | undefined
  notice?: Child
  question?: (Question & { answer: (isYes: boolean) => void }) | undefined
  /** The number of views that were shown. */
  shown: number
}

/** The page: takes a token, and shows the view that the fragment of the address names. */
export const App = () => {
  const [state, setState] = useState<State>({ shown: 0 })
  const latest = useRef(state).current
  const drafts = useRef(new Map<string, Draft>()).current
  const change = (part: Partial<State>): void => {
    Object.assign(latest, part)
    flushSync(() => setState({ ...latest }))
  }
  const show = (notice?: Child): void => {
    if (latest.session) change({ notice, shown: latest.shown + 1 })
  }
  /** Ends the use of the token, and removes all that was read with it. */
  const end = (notice?: Child): void => {
    document.title = PAGE_TITLE
    if (notice) history.replaceState(null, '', location.pathname)
    change({ session: undefined, question: undefined, notice, shown: latest.shown + 1 })
  }
  const forget = async (notice?: Child): Promise<void> => {
    drafts.clear()
    end(notice)
  }
  const reload: Session['reload'] = (kind, text, address = location.hash) => {
    if (address !== location.hash) history.pushState(null, '', address)
    show(<Message kind={kind}>{prose(text)}</Message>)
  }
  const confirm: Session['confirm'] = async question => {
    const isYes = await new Promise<boolean>(answer => change({ question: { ...question, answer } }))
    change({ question: undefined })
    return isYes
  }
  const enter = async (token: string): Promise<void> => {
    const { shown } = latest
    try {
      // Nothing else can be sent in a header.
      if (!/^[\x21-\x7e]+$/.test(token)) throw new ApiError({ body: { detail: NO_TOKEN } })
      const client = connect(token, ({ message }) => {
        // The text of a draft is kept for another token, which has to read its agent.
        if (latest.session?.call === client.call) end(<Message kind="bad">{message} Enter another one.</Message>)
      })
      const grant = await client.call('GET /tokens/self')
      if (!grant.scopes.some(scope => scope === 'write' || scope === 'admin'))
        throw new ApiError({ body: { detail: TOO_LITTLE } })
      // The page may have been left meanwhile.
      if (shown === latest.shown) change({ session: { ...client, grant, drafts, reload, confirm } })
      show()
    } catch (error) {
      change({ notice: renderFailure(error) })
    }
  }
  useLayoutEffect(() => {
    // The link that skips the navigation is no view.
    addEventListener('hashchange', () => location.hash !== '#main' && show())
    // A browser may keep the memory of a page that is left, to show it again.
    addEventListener('pagehide', () => forget())
    addEventListener('beforeunload', event => drafts.size > 0 && event.preventDefault())
  }, [])
  const { session, notice, question, shown } = state
  return (
    <>
      {!session && <TokenForm key={shown} enter={enter} hasFocus={shown > 0} />}
      {session && <SessionPanel grant={session.grant} forget={() => forget(FORGOTTEN)} />}
      <div id="status" role="status">
        {notice}
      </div>
      <div id="view">
        {session && (
          <SessionContext value={session}>
            <View key={shown} />
          </SessionContext>
        )}
      </div>
      {question && <Dialog {...question} />}
    </>
  )
}

const FORGOTTEN = <Message kind="good">This page has forgotten the token.</Message>

const NO_TOKEN = 'This is not a token: it has spaces or characters that no token has. Copy it again.'

const TOO_LITTLE =
  'This token cannot manage agents: it has the scope `read` only. Enter one with the scope `write` or `admin`.'

const HOW_TO_GET_ONE = [
  'On your own machine, `npm start` prints one in the terminal.',
  'For another host, ask an admin: `npx sync-card token create --scope write --agent "weather-*" --expires 30d`, or ' +
    'the part Tokens of this page.',
  'If you have deployed the host, you have its `ADMIN_TOKEN`, which may do everything.',
]

const TOKEN_HINT =
  'The token stays in the memory of this page until you leave it. It is sent to this host only, and stored nowhere.'

/** The field of the token has no name, and its value is read once: nothing stores or sends it. */
const TokenForm = ({ enter, hasFocus }: { enter: (token: string) => Promise<void>; hasFocus: boolean }) => {
  const input = useFocus<HTMLInputElement>(hasFocus)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const token = input.current?.value.trim() ?? ''
    if (input.current) input.current.value = ''
    await enter(token)
    input.current?.focus()
  }
  return (
    <form class="panel token-form" onSubmit={submit}>
      <Field
        id="token"
        label="Token with the scope `write` or `admin`"
        hint={TOKEN_HINT}
        ref={input}
        type="password"
        required
      />
      <button type="submit" class="primary">
        Use this token
      </button>
      <Fold title="How to get a token">
        <List items={HOW_TO_GET_ONE.map(prose)} />
      </Fold>
    </form>
  )
}

const SessionPanel = ({ grant, forget }: { grant: Session['grant']; forget: () => Promise<void> }) => {
  const { id, scopes, expires, note } = grant
  const current = location.hash.slice(1).split('/')[0] || 'agents'
  const sections = scopes.includes('admin') ? ['Agents', 'Tokens', 'Audit'] : ['Agents']
  return (
    <div id="session">
      <section class="panel session" aria-label="Your token">
        <p dir="auto">
          <strong>{id === 'admin' ? 'The ADMIN_TOKEN of this host' : prose(`Token \`${id}\``)}</strong>
          {note !== undefined && ` (${note})`}: {prose(summarizeGrant(grant))};{' '}
          {expires === null ? 'does not expire' : ['expires ', <Time at={expires} />]}
        </p>
        <Fold title="Details">
          <List items={describeGrant(grant).map(prose)} />
        </Fold>
        <Action label="Forget the token" act={forget} />
      </section>
      <nav class="sections" aria-label="Manage">
        {sections.map(label => (
          <a href={`#${label.toLowerCase()}`} aria-current={label.toLowerCase() === current && 'page'}>
            {label}
          </a>
        ))}
      </nav>
    </div>
  )
}

// The browser loads the code of most views when they are first shown.
const loadAgent = loadModule(() => import('./agent-view.tsx'))
const loadEdit = loadModule(() => import('./edit-view.tsx'))
const loadAdmin = loadModule(() => import('./admin-views.tsx'))

/** Returns the view that a path names. */
const findView = ([name, segment = '']: readonly string[]): [title: string, read: () => Promise<Child>] => {
  const id = decodeSegment(segment) ?? segment
  if (name === 'agents' && id) return [id, () => loadAgent().then(({ AgentView }) => <AgentView id={id} />)]
  if (name === 'edit' && id) return [`Edit ${id}`, () => loadEdit().then(({ EditView }) => <EditView id={id} />)]
  if (name === 'new') return ['New agent', () => loadEdit().then(({ EditView }) => <EditView />)]
  if (name === 'tokens') return ['Tokens', () => loadAdmin().then(({ TokensView }) => <TokensView />)]
  if (name === 'audit') return ['Audit', () => loadAdmin().then(({ AuditView }) => <AuditView />)]
  return ['Agents', async () => <AgentsView />]
}

/** The view that the fragment of the address names when it is shown. */
const View = () => {
  const [[title, read]] = useState(() => findView(location.hash.slice(1).split('/')))
  const heading = useFocus<HTMLHeadingElement>()
  document.title = `${title} · ${PAGE_TITLE}`
  return (
    <>
      <h2 ref={heading} tabindex={-1} dir="auto">
        {title}
      </h2>
      <Load read={read} />
    </>
  )
}
