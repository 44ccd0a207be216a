import type { PropsWithChildren } from 'hono/jsx'
import { useState } from 'hono/jsx/dom'
import { Code, plural, printable, shorten } from '../../components/index.ts'
import type { ResponseOf } from '../api/index.ts'
import { createTimer } from '../dom/index.ts'
import { Field, Paged, readForm } from './controls.tsx'
import { useSession } from './session.ts'

/** An agent in a list. */
export type ListedAgent = ResponseOf<'GET /agents'>['agents'][number]

/** The time after the last key, before the page searches. */
const TYPING_PAUSE_MS = 250

/** The agents that a token may write, with a filter by words. */
export const AgentsView = () => {
  const { pages } = useSession()
  const [words, setWords] = useState('')
  const [later] = useState(createTimer)
  const searchAfter = (pause: number) => (event: Event) => {
    event.preventDefault()
    const { words = '' } = readForm(event)
    later(() => setWords(words), pause)
  }
  // A removed agent is in no list, but has a history.
  const open = (event: Event): void => {
    event.preventDefault()
    location.hash = agentHref(readForm(event).id ?? '')
  }
  return (
    <>
      <a class="button" href="#new">
        New agent
      </a>
      <form class="inline-form" role="search" onInput={searchAfter(TYPING_PAUSE_MS)} onSubmit={searchAfter(0)}>
        <Field name="words" label="Words in name, description or skills" type="search" maxlength={200} />
        <button type="submit">Filter</button>
      </form>
      <Paged
        key={words}
        open={() => pages('GET /agents', { query: { writable: true, limit: 24, q: words || undefined } })}
        itemsOf={({ agents }) => agents}
        describe={(count, hasMore) => describeCount(count, words, hasMore)}
        class="managed"
      >
        {agent => (
          <li class="panel">
            <h3 dir="auto">
              <a href={agentHref(agent.id)}>{printable(shorten(agent.name, 200)) || agent.id}</a>
            </h3>
            <AgentFacts {...agent}>
              <Code text={agent.id} />
            </AgentFacts>
          </li>
        )}
      </Paged>
      <form class="inline-form" onSubmit={open}>
        <Field name="id" label="Open an agent by its id, also one that was removed" required />
        <button type="submit">Open</button>
      </form>
    </>
  )
}

const describeCount = (count: number, words: string, hasMore: boolean): string => {
  if (count === 0)
    return words === ''
      ? 'None of the agents that this token covers is registered.'
      : 'No agent has these words. One that was removed can be opened by its id below.'
  const agents = hasMore ? `The first ${plural(count, 'agent')}` : plural(count, 'agent')
  return words === '' ? agents : `${agents} with these words`
}

/** What an agent is, in a view and in a list. */
export const AgentFacts = ({ description, version, visibility, set, children }: PropsWithChildren<ListedAgent>) => (
  <>
    <p class="muted" dir="auto">
      {printable(shorten(description, 1000))}
    </p>
    <p class="facts">
      <span>Version {shorten(version, 50)}</span>
      {visibility === 'internal' && <span class="badge">internal</span>}
      {set !== undefined && <span class="badge">set {set}</span>}
      {children}
    </p>
  </>
)

/** Returns the address of the view of an agent: the fragment, which browsers do not send. */
export const agentHref = (id: string): string => `#agents/${encodeURIComponent(id)}`
