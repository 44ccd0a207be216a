import { createPortal, memo, render, useLayoutEffect, useRef } from 'hono/jsx/dom'
import type { Json } from '../../../json/index.ts'
import type { Child } from '../../components/index.ts'
import { Fold, JsonText, Paragraph, Pointer, Prose, ResponsePlace, shorten } from '../../components/index.ts'
import type { Turn } from './conversation.ts'
import { RawExchange } from './exchanges.tsx'
import { Continuation, Options, showForm, TokenFields } from './form.tsx'
import { Button, Parts, RawText, Rest, useChanges } from './parts.tsx'
import type { Fix, Refusal } from './refusal.ts'
import type { Session } from './session.ts'

type ConsoleProps = { session: Session; body: HTMLElement }

/** Renders the console into its body, which keeps the form, and the folds of the options and the token. */
export const renderConsole = ({ session, body }: ConsoleProps): void => {
  for (const loading of body.querySelectorAll('details > p')) loading.remove()
  render(<Console session={session} body={body} />, find(body, '.console-results'))
}

const find = (body: HTMLElement, selector: string): HTMLElement => body.querySelector(selector) ?? body

const Console = ({ session, body }: ConsoleProps) => {
  useChanges(session)
  useLayoutEffect(() => showForm(session))
  const { turns, refusal, status, extendedCard } = session.state
  return (
    <>
      {createPortal(<Continuation session={session} />, find(body, '.console-label'))}
      {createPortal(<Options session={session} />, find(body, '.console-options'))}
      {createPortal(<TokenFields session={session} />, find(body, '.console-token'))}
      <p class={status.isShown ? 'console-status' : 'visually-hidden'} role="status">
        {status.text}
      </p>
      {refusal && <RefusalView {...refusal} />}
      <div class="console-log" role="log" aria-label="Conversation" aria-live="off">
        {turns.map((turn, index) => (
          <TurnView key={turn.number} turn={turn} actions={index === 0 && <TaskActions session={session} />} />
        ))}
      </div>
      {turns.length === 0 && !refusal && <ResponsePlace />}
      {extendedCard !== undefined && (
        <Fold title="Extended card" open>
          <JsonText id="extended-card" label="The extended card" value={extendedCard as Json} />
        </Fold>
      )}
      <RawExchange log={session.exchanges} />
    </>
  )
}

/** What can be done with the task, and while a call is made. */
const TaskActions = ({ session }: { session: Session }) => {
  const { isCalling, isCancelling, turns } = session.state
  const progress = turns[0]?.progress
  const isOpen = progress !== undefined && progress.taskId !== '' && !progress.hasEnded
  const isRunning = isOpen && !progress.state?.endsWith('required')
  return (
    <>
      {isCalling && <Button onClick={session.stop}>Stop waiting</Button>}
      {isRunning && !isCalling && <Button onClick={() => session.followTask()}>Follow the task</Button>}
      {isOpen && (
        <Button class="danger" disabled={isCancelling} onClick={session.cancelTask}>
          Cancel the task
        </Button>
      )}
    </>
  )
}

/** A message, and below it what the agent responds. `memo` does not compare children: the actions are a property. */
const TurnView = memo(({ turn, actions }: { turn: Turn; actions: Child }) => {
  useChanges(turn)
  const { question, messages, artifacts, isCut, progress } = turn
  const element = useRef<HTMLElement>(null)
  const scrolledTo = useRef(scrollY)
  const hasBegun = progress !== undefined
  // The first event shows the response, unless the person has scrolled meanwhile.
  useLayoutEffect(() => {
    if (hasBegun && scrollY === scrolledTo.current) element.current?.scrollIntoView({ block: 'nearest' })
  }, [hasBegun])
  const state = progress ? progress.state : 'waiting'
  const { taskId = '', contextId = '' } = progress ?? {}
  const ids = [...(taskId === '' ? [] : [`task ${taskId}`]), ...(contextId === '' ? [] : [`context ${contextId}`])]
  return (
    <article class="console-turn" ref={element}>
      <div class="console-question">
        <h3>You</h3>
        <Parts list={question} />
      </div>
      <div class="console-response">
        <div class="console-actions">
          <h3>Agent</h3>
          {state && <span class={`badge console-state-${state.replaceAll(' ', '-')}`}>{state}</span>}
          {actions}
        </div>
        {messages.map((list, index) => (
          <Parts key={index} list={list} />
        ))}
        {[...artifacts.values()].map(({ name, description, list }, index) => (
          <section key={index} class="console-artifact">
            {name !== '' && <h4 dir="auto">{shorten(name, 200)}</h4>}
            {description !== '' && <Paragraph class="muted" text={shorten(description, 2000)} />}
            <Parts list={list} />
          </section>
        ))}
        {isCut && <Rest />}
        {ids.length > 0 && (
          <Fold title="Task and context">
            {ids.map(id => (
              <p class="console-id">{shorten(id, 200)}</p>
            ))}
          </Fold>
        )}
      </div>
    </article>
  )
})

/** Why a call has no result, with a button for each fix. */
const RefusalView = ({ refusal, onFix }: { refusal: Refusal; onFix: (fix: Fix) => void }) => {
  const { title, message, cause, fixes } = refusal
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => element.current?.focus(), [refusal])
  return (
    <div class="message bad" role="alert" tabindex={-1} ref={element}>
      <h3>{title}</h3>
      <p class="console-text" dir="auto">
        <Prose text={message} />
      </p>
      {cause && <Cause {...cause} />}
      <p class="console-actions">
        {fixes.map(fix => (
          <button type="button" onClick={() => onFix(fix)}>
            {fix.label}
          </button>
        ))}
      </p>
    </div>
  )
}

const Cause = ({ pointer, line = 0, lines }: NonNullable<Refusal['cause']>) => (
  <>
    <p>
      {line === 0 ? 'The card does not have' : 'Because of'} <Pointer pointer={pointer} />
      {line === 0 ? (
        '.'
      ) : (
        <>
          , <a href="#document">line {line} of the card</a>:
        </>
      )}
    </p>
    {line > 0 && <RawText label="Lines of the card" text={lines.join('\n')} />}
  </>
)
