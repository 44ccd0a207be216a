import { isJsonObject } from '../../../json/index.ts'
import {
  type Child,
  Code,
  Differences,
  Fold,
  Hint,
  JsonText,
  List,
  Message,
  NoteFold,
  NoteList,
  Pointer,
  plural,
  printable,
  shorten,
} from '../../components/index.ts'
import type { ResponseOf } from '../api/index.ts'
import { NOTE_GROUPS, SEVERITIES, summarize } from '../report/index.ts'
import { AgentFacts, type ListedAgent } from './agents-view.tsx'
import { Action, Load, prose, Section, Time } from './controls.tsx'
import { Revisions } from './revisions.tsx'
import { type Session, useSession } from './session.ts'
import { describeObserved, describeSource, describeVerification } from './wording.ts'

/** An agent whose view is shown, with its newest revision, and whether its card is fetched. */
type Agent = ListedAgent & { newest: ResponseOf<'GET /agents/:id/revisions/:seq'>; isRemote: boolean }

/** One agent: what is registered and served, what could be better, how it has changed, and how it is called. */
export const AgentView = ({ id }: { id: string }) => {
  const session = useSession()
  const { call } = session
  const read = async (): Promise<Child> => {
    const [listed] = (await call('GET /agents', { query: { id } })).agents
    if (!listed)
      return (
        <>
          <Message kind="warn">
            No agent with this id is registered. If it was removed, you can go back to one of its revisions.
          </Message>
          <Revisions id={id} etag={null} />
        </>
      )
    const { revisions } = await call('GET /agents/:id/revisions', { params: { id }, query: { limit: 1 } })
    const newest = await call('GET /agents/:id/revisions/:seq', { params: { id, seq: revisions[0]?.seq ?? 1 } })
    const upstream = newest.manifest?.upstream
    const isRemote = isJsonObject(upstream) && ('card' in upstream || 'mcp' in upstream)
    const agent: Agent = { ...listed, newest, isRemote }
    return (
      <>
        <Overview {...agent} />
        <Section title="Report" read={() => readReport(session, agent)} />
        <Section title="Source" read={() => readSource(session, agent)} />
        <Revisions id={id} etag={agent.etag} />
        <Section title="Observed calls" read={() => readObserved(session, id)} />
        <CardSection {...agent} />
      </>
    )
  }
  return (
    <>
      <a href="#agents">← All agents</a>
      <Load read={read} />
    </>
  )
}

const Overview = (agent: Agent) => {
  const { id, etag, name, visibility } = agent
  const { call, confirm, reload } = useSession()
  const remove = async (): Promise<void> => {
    const content =
      'Clients can no longer find or call it. Its history stays: to bring it back, open it by its id, below the list ' +
      'of agents, and go back to a revision.'
    if (!(await confirm({ title: `Remove ${id}?`, content, action: 'Remove the agent' }))) return
    await call('DELETE /agents/:id', { params: { id }, ...(etag !== undefined && { etag }) })
    reload('good', 'The agent is removed.')
  }
  return (
    <>
      <p class="agent-name" dir="auto">
        {printable(shorten(name, 200))}
      </p>
      <AgentFacts {...agent}>
        {visibility === 'public' && <a href={`/agents/${id}`}>Page of the card</a>}
        {visibility === 'public' && <a href={`/agents/${id}/.well-known/agent-card.json`}>Card as JSON</a>}
      </AgentFacts>
      <div class="actions">
        <a class="button" href={`#edit/${encodeURIComponent(id)}`}>
          Edit the manifest
        </a>
        <Action label="Remove" class="danger" act={remove} />
      </div>
      {visibility === 'internal' &&
        'An internal agent has no page, because a browser sends no token when it opens one. Its card is below.'}
    </>
  )
}

const CardSection = ({ id, visibility, newest: { seq, card } }: Agent) => (
  <section class="panel" aria-label="Card">
    <h3>Card</h3>
    {card === undefined ? (
      'No card of this agent was ever fetched.'
    ) : (
      <Fold title={`Card of revision ${seq}`} open={visibility === 'internal'}>
        <Hint>As this host serves it, in the form of A2A 1.0, with every other field as it was written.</Hint>
        <JsonText id="card-text" label={`the card of ${id}`} value={card} more={`GET /agents/${id} has all of it.`} />
      </Fold>
    )}
  </section>
)

/** Reads what `POST /lint` finds in the manifest of an agent, or in the card that was fetched. */
const readReport = async ({ call }: Session, { visibility = 'public', newest, isRemote }: Agent): Promise<Child> => {
  if (isRemote && newest.card === undefined) return 'No card was ever fetched, so there is nothing to check.'
  const result = await call('POST /lint', {
    body: isRemote ? { card: newest.card ?? null, visibility } : (newest.manifest ?? null),
  })
  const { errors, issues = [], dropped = {} } = result
  const leftOut = Object.entries(dropped).flatMap(([dialect, pointers]) =>
    pointers.map(pointer => ({ pointer, message: `in ${dialect}` })),
  )
  const { kind, headline } = summarize(result)
  return (
    <>
      <Hint>
        This is about the {isRemote ? 'card that was fetched, as this host serves it' : 'manifest as it was registered'}
        .
      </Hint>
      <Message kind={kind}>{headline}</Message>
      <NoteList notes={errors} />
      {SEVERITIES.map(([name, , title, meaning]) => (
        <NoteFold title={title} meaning={meaning} notes={issues.filter(({ severity }) => severity === name)} open />
      ))}
      {NOTE_GROUPS.map(([name, title, meaning]) => (
        <NoteFold title={title} meaning={meaning} notes={result[name] ?? []} />
      ))}
      <NoteFold title="Left out of other dialects" meaning="Fields for which a dialect has no place." notes={leftOut} />
    </>
  )
}

/** Reads what the calls of an agent have shown, in words, and where its card differs. */
const readObserved = async ({ call }: Session, id: string): Promise<Child> => {
  const observed = await call('GET /agents/:id/observed', { params: { id } })
  const { calls, since, lastSeen, proposals } = observed
  return (
    <>
      {since && lastSeen && (
        <>
          {plural(calls, 'call')} since <Time at={since} />; the last one at <Time at={lastSeen} />.
        </>
      )}
      <List items={describeObserved(observed).map(prose)} />
      {calls > 0 && <Proposals proposals={proposals} />}
    </>
  )
}

const Proposals = ({ proposals }: Pick<ResponseOf<'GET /agents/:id/observed'>, 'proposals'>) => {
  if (!proposals)
    return (
      <Message kind="warn">The calls cannot be compared, because this host has no valid card of the agent.</Message>
    )
  if (proposals.length === 0) return <Message kind="good">The card fits what the calls have shown.</Message>
  const items = proposals.map(({ pointer, message, rule, change: { op, path, value } }) => (
    <>
      <Pointer pointer={pointer} /> {prose(message)} ({rule})<br />
      To correct the card, {op === 'remove' ? 'remove ' : ['write ', <Code text={JSON.stringify(value)} />, ' at ']}
      <Code text={path} />.
    </>
  ))
  return (
    <>
      <Message kind="warn">
        The card differs from what the calls have shown in {plural(proposals.length, 'place')}.
      </Message>
      <List items={items} />
      <Hint>Pointers of corrections are into the card in the form of A2A 1.0.</Hint>
    </>
  )
}

type Source = ResponseOf<'GET /agents/:id/source'>['source']

const OUTCOMES = {
  refreshed: ['good', 'The card was fetched, and has changed.'],
  unchanged: ['good', 'The card was fetched, and has not changed.'],
  pending: ['warn', 'A new card was fetched, and waits for you.'],
} as const

/** Reads the state of a remote card: where it is fetched, whether that works, and a pending card to accept. */
const readSource = async ({ call, reload }: Session, { id, isRemote }: Agent): Promise<Child> => {
  if (!isRemote) return 'The card is in the manifest: it changes only when somebody registers it.'
  const { source } = await call('GET /agents/:id/source', { params: { id } })
  const { kind, url, state, checked, due, failure, pending } = source
  const [summary, ...rest] = describeSource(source)
  const refresh = async (): Promise<void> => {
    const [kind, text] = OUTCOMES[(await call('POST /agents/:id/refresh', { params: { id } })).outcome]
    reload(kind, text)
  }
  return (
    <>
      <Message kind={state === 'fresh' ? 'good' : state === 'no-card' ? 'bad' : 'warn'}>{summary}</Message>
      <p>
        {kind === 'mcp' ? 'MCP server: ' : 'Fetched from: '}
        <Code text={url} />.{checked && [' Last confirmed: ', <Time at={checked} />, '.']} Next fetch: <Time at={due} />
        .
      </p>
      <List items={[...rest, ...(kind === 'card' ? describeVerification(source) : [])].map(prose)} />
      {failure && (
        <p dir="auto">
          Failing since <Time at={failure.since} />: {shorten(failure.message, 1000)}
        </p>
      )}
      {failure?.errors && <NoteList notes={failure.errors} />}
      {pending && <Pending id={id} {...pending} />}
      <Action label="Fetch the card now" act={refresh} />
    </>
  )
}

/** A card that waits for its owner. One that was fetched since is not accepted. */
const Pending = ({ id, etag, widens, drift }: NonNullable<Source['pending']> & { id: string }) => {
  const { call, confirm, reload } = useSession()
  const action = 'Accept this card'
  const accept = async (): Promise<void> => {
    const content = ['Clients get this card from now on. It waits because of this:', <NoteList notes={widens} />]
    if (!(await confirm({ title: `Accept the new card of ${id}?`, content, action }))) return
    await call('POST /agents/:id/refresh', { params: { id }, body: { accept: etag } })
    reload('good', 'The card is accepted: clients get it from now on.')
  }
  return (
    <>
      <h4>Why the new card waits</h4>
      <NoteList notes={widens} />
      <Differences title="All differences from the card that is served" differences={drift} />
      <Action label={action} class="primary" act={accept} />
    </>
  )
}
