import { useState } from 'hono/jsx/dom'
import { Code, CopyButton, Fold, List, Message, plural } from '../../components/index.ts'
import type { ResponseOf } from '../api/index.ts'
import { agentHref } from './agents-view.tsx'
import { Action, Field, Paged, prose, readForm, Time, useAction, useFocus, useLiveState } from './controls.tsx'
import { describeGrant } from './grant.ts'
import { useSession } from './session.ts'
import { ACTIONS, describeActor, describeDetails, describeHead } from './wording.ts'

type IssuedToken = ResponseOf<'POST /tokens'>
type Token = ResponseOf<'GET /tokens'>['tokens'][number]

/** The tokens of a host, for admins: issues one, lists and revokes all. */
export const TokensView = () => {
  const { pages } = useSession()
  const [issued, setIssued] = useLiveState<IssuedToken | undefined>(undefined)
  return (
    <>
      <h3>Issue a token</h3>
      <IssueForm onIssued={setIssued} />
      {issued && <NewToken key={issued.id} {...issued} />}
      <h3>Issued tokens</h3>
      <Paged
        key={issued?.id}
        open={() => pages('GET /tokens', { query: { limit: 50 } })}
        itemsOf={({ tokens }) => tokens}
        describe={count => (count === 0 ? 'No tokens are issued. The `ADMIN_TOKEN` is not listed.' : '')}
        class="managed"
        label="Issued tokens"
      >
        {token => <TokenItem {...token} />}
      </Paged>
    </>
  )
}

const SCOPES = [
  ['read', 'list and read internal agents, and read extended cards'],
  ['call', 'the same, and call agents that are only for callers with a token'],
  ['write', 'register, change, remove and refresh agents'],
  ['admin', 'everything, for all agents'],
] as const

/** The lifetimes of a new token, by the number of days. */
const LIFETIMES = { 1: 'A day', 30: '30 days', 90: '90 days', 365: 'A year', '': 'Without an end' }
const DEFAULT_LIFETIME = '30'

const IssueForm = ({ onIssued }: { onIssued: (token: IssuedToken) => void }) => {
  const { call } = useSession()
  const { run, isBusy, output } = useAction()
  const issue = run(async event => {
    const form = event.currentTarget as HTMLFormElement
    const token = await call('POST /tokens', { body: readTokenRequest(event) })
    form.reset()
    onIssued(token)
  })
  return (
    <form class="panel token-form" aria-label="Issue a token" aria-busy={isBusy} onSubmit={issue}>
      <fieldset>
        <legend>Scopes: what it may do</legend>
        {SCOPES.map(([scope, meaning]) => (
          <label class="choice">
            <input type="checkbox" name="scopes" value={scope} />
            <span>
              <code>{scope}</code>: {meaning}
            </span>
          </label>
        ))}
      </fieldset>
      <Field name="agents" label="Agents" hint="Ids, separated by commas; `*` is any characters. Empty: all agents." />
      <Field name="tiers" label="Tiers" hint="Tiers of extended cards that it may read, besides the base; `*`: all." />
      <Field name="expires" label="Valid for">
        {Object.entries(LIFETIMES).map(([days, label]) => (
          <option value={days} selected={days === DEFAULT_LIFETIME}>
            {label}
          </option>
        ))}
      </Field>
      <Field name="note" label="Note" hint="Whose token it is, or what it is for." />
      <button type="submit" class="primary">
        Issue the token
      </button>
      {output}
    </form>
  )
}

/** Returns the body of `POST /tokens`. What is empty has the default of the API. */
const readTokenRequest = (event: Event) => {
  const { agents, tiers, expires, note } = readForm(event)
  const chosen = new FormData(event.currentTarget as HTMLFormElement).getAll('scopes')
  const words = (text: string): string[] => text.split(/[\s,]+/).filter(word => word !== '')
  return {
    scopes: SCOPES.flatMap(([scope]) => (chosen.includes(scope) ? [scope] : [])),
    ...(agents && { agents: words(agents) }),
    ...(tiers && { tiers: words(tiers) }),
    ...(expires && { expires: Number(expires) * 86_400 }),
    ...(note && { note }),
  }
}

/** A new token, whose text is shown until its user is done with it. */
const NewToken = ({ id, token, published }: IssuedToken) => {
  const { reload } = useSession()
  const heading = useFocus<HTMLHeadingElement>()
  const finish = async () => reload('good', `The token \`${id}\` is issued. Its text is no longer shown.`)
  return (
    <section class="panel" aria-label="New token">
      <h4 ref={heading} tabindex={-1}>
        Token {id}
      </h4>
      <Message kind="warn">
        Copy the token now: this host does not store its text, and nobody can show it again.
        {!published && ' It is accepted everywhere as soon as the host has published it, which it keeps trying.'}
      </Message>
      <code class="secret" id="new-token" dir="ltr" translate="no">
        {token}
      </code>
      <div class="actions">
        <CopyButton of="new-token" title="Copy the token" />
        <Action label="Done" class="primary" act={finish} />
      </div>
    </section>
  )
}

const TokenItem = (token: Token) => {
  const { call, confirm, grant, reload } = useSession()
  const { id, scopes, agents, tiers, expires, note } = token
  const revoke = async (): Promise<void> => {
    const content = (
      <>
        <bdi>{note}</bdi>
        <List items={describeGrant(token).map(prose)} />
        <p>Within a minute, this host rejects it everywhere. A revoked token cannot be restored.</p>
        {id === grant.id && <Message kind="bad">This is the token that you use now.</Message>}
      </>
    )
    if (!(await confirm({ title: `Revoke the token ${id}?`, content, action: 'Revoke the token' }))) return
    await call('DELETE /tokens/:id', { params: { id } })
    reload('good', `The token \`${id}\` is revoked.`)
  }
  return (
    <li class="panel">
      <p class="facts">
        <Code text={id} />
        {Object.entries({ Scopes: scopes, Agents: agents, Tiers: tiers }).map(
          ([label, words]) => words.length > 0 && <span>{`${label}: ${words.join(', ')}`}</span>,
        )}
        <span>Expires: {expires === null ? 'never' : <Time at={expires} />}</span>
        <bdi class="muted">{note}</bdi>
      </p>
      <Action label="Revoke" about={`the token ${id}`} class="danger" act={revoke} />
    </li>
  )
}

/** The audit of a host, for admins: who changed what, newest first. */
export const AuditView = () => {
  const { pages } = useSession()
  const [{ filters, count }, setSearch] = useState({ filters: {}, count: 0 })
  const search = (event: Event): void => {
    event.preventDefault()
    setSearch({ filters: readForm(event), count: count + 1 })
  }
  return (
    <>
      <Fold title="Filter" open={matchMedia('(min-width: 48rem)').matches}>
        <form class="audit-filters" role="search" aria-label="Filter the audit" onSubmit={search}>
          <Field name="agent" label="Agent (id)" />
          <Field name="actor" label="Who (admin, host, anonymous or the id of a token)" />
          <Field name="what" label="What">
            <option value="">anything</option>
            {Object.keys(ACTIONS).map(what => (
              <option>{what}</option>
            ))}
          </Field>
          <Field name="since" label="Since (UTC)" type="date" />
          <Field name="until" label="Before (UTC)" type="date" />
          <button type="submit">Filter</button>
        </form>
      </Fold>
      <Paged
        key={count}
        open={() => pages('GET /audit', { query: { ...filters, limit: 50 } })}
        itemsOf={({ entries }) => entries}
        describe={(count, hasMore) =>
          count === 0 ? 'No entry matches.' : `${plural(count, 'entry')}${hasMore ? ', and there are older ones' : ''}`
        }
        above={({ head }) => (
          <>
            <Message kind={head?.signature === undefined ? 'info' : 'good'}>{prose(describeHead(head))}</Message>
            {head && (
              <Fold title="The newest entry as a line to keep outside of this host">
                <Code text={`${head.number}:${head.hash}`} />
              </Fold>
            )}
          </>
        )}
        class="audit"
        label="Entries of the audit"
      >
        {({ number, time, actor, what, agent, seq, details }) => (
          <li dir="auto">
            <span class="muted">
              {number} · <Time at={time} />
            </span>
            <span>
              {prose(describeActor(actor))} {ACTIONS[what] ?? what}{' '}
              {agent !== undefined && <a href={agentHref(agent)}>{agent}</a>}
              {seq !== undefined && `, revision ${seq}`}
            </span>
            <span class="muted">{describeDetails({ details })}</span>
          </li>
        )}
      </Paged>
    </>
  )
}
