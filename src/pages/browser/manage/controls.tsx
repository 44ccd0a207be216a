import { flushSync, useLayoutEffect, useRef, useState } from 'hono/jsx/dom'
import { type Child, Hint, Message, NoteList, Prose } from '../../components/index.ts'
import { ApiError, describeError } from '../api/index.ts'

/** Returns the state of a component, and what changes it at once. A component that is gone does not change. */
export const useLiveState = <State,>(initial: State) => {
  const [state, setState] = useState(initial)
  const isShown = useRef(false)
  useLayoutEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])
  const change = (next: State): void => {
    if (isShown.current) flushSync(() => setState(() => next))
  }
  return [state, change] as const
}

/** Returns the reference of an element that has the focus when it is shown, unless `isWanted` is false. */
export const useFocus = <Target extends HTMLElement>(isWanted = true) => {
  const target = useRef<Target>(null)
  // The element is in the document only after the effect.
  useLayoutEffect(() => void (isWanted && queueMicrotask(() => target.current?.focus())), [])
  return target
}

/** Moves the focus to an element that cannot have it otherwise. */
const moveFocus = (target: Element | null | undefined): void => {
  if (!(target instanceof HTMLElement)) return
  target.tabIndex = -1
  target.focus()
}

const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** A time as its reader writes it, with its seconds. */
export const Time = ({ at }: { at: string }) => <time datetime={at}>{timeFormat.format(new Date(at))}</time>

/** Renders a text whose `code` is in backticks. */
export const prose = (text: string): Child => <Prose text={text} />

/** The attributes of fields for terms, which no browser knows better. */
export const PLAIN_INPUT: Record<string, string> = { autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' }

type FieldProps = { name?: string; id?: string; label: string; hint?: string; children?: Child; [key: string]: unknown }

/** A field of a form under its label, above what describes it; a selection if it has options. */
export const Field = ({ name, id = `field-${name}`, label, hint, children, ...attributes }: FieldProps) => {
  const common = { id, name, 'aria-describedby': hint && `${id}-hint`, ...attributes }
  return (
    <div class="field">
      <label for={id}>{prose(label)}</label>
      {children ? <select {...common}>{children}</select> : <input {...PLAIN_INPUT} {...common} />}
      {hint && <Hint id={`${id}-hint`}>{prose(hint)}</Hint>}
    </div>
  )
}

/** Returns what was entered in the form of an event, by the names of the fields that are not empty. */
export const readForm = ({ currentTarget }: Event): Readonly<Record<string, string>> => {
  const entered = [...new FormData(currentTarget as HTMLFormElement)]
  const texts = entered.map(([name, value]) => [name, String(value).trim()])
  return Object.fromEntries(texts.filter(([, text]) => text !== ''))
}

/** Renders why something has failed. Developers see a defect of this page in the console. */
export const renderFailure = (error: unknown): Child => {
  if (!(error instanceof ApiError)) console.error(error)
  const [text, notes] =
    error instanceof ApiError ? [describeError(error), error.errors] : ['This page has failed. Load it again.', []]
  return (
    <Message kind="bad">
      {prose(text)}
      {notes.length > 0 && <NoteList notes={notes} />}
    </Message>
  )
}

/** Returns what runs one action at a time, and the place that shows why one failed. */
export const useAction = () => {
  const [{ isBusy, failure }, setState] = useLiveState<{ isBusy: boolean; failure?: Child }>({ isBusy: false })
  const run = (act: (event: Event) => Promise<unknown>) => async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setState({ isBusy: true })
    setState({ isBusy: false, failure: await act(event).then(() => undefined, renderFailure) })
  }
  return { run, isBusy: String(isBusy), output: <div role="status">{failure}</div> }
}

type ActionProps = { label: string; about?: string; act: () => Promise<unknown>; class?: string }

/** A button that acts, and shows why that failed. `about` is for those who do not see what is around the button. */
export const Action = ({ label, about, act, class: kind }: ActionProps) => {
  const { run, isBusy, output } = useAction()
  return (
    <>
      <button type="button" class={kind} aria-busy={isBusy} onClick={run(act)}>
        {label}
        {about && <span class="visually-hidden"> {about}</span>}
      </button>
      {output}
    </>
  )
}

/** Content that is shown when its data arrives; if that fails, it can be tried again. */
export const Load = ({ read }: { read: () => Promise<Child> }) => {
  const place = useRef<HTMLDivElement>(null)
  const [content, setContent] = useLiveState<Child>(undefined)
  const load = async (): Promise<void> => {
    const retry = async (): Promise<void> => {
      setContent(undefined)
      moveFocus(place.current)
      await load()
    }
    setContent(await read().catch((error: unknown) => [renderFailure(error), <Action label="Try again" act={retry} />]))
  }
  useLayoutEffect(() => void load(), [])
  return (
    <div ref={place} aria-busy={String(content === undefined)}>
      {content ?? <Hint>Loading…</Hint>}
    </div>
  )
}

/** A part of a view with a heading, which loads its content. */
export const Section = ({ title, read }: { title: string; read: () => Promise<Child> }) => (
  <section class="panel" aria-label={title}>
    <h3>{title}</h3>
    <Load read={read} />
  </section>
)

type PagedProps<Page, Item> = {
  /** Called once: a list with another `key` is another one. */
  open: () => AsyncIterator<Page>
  itemsOf: (page: Page) => readonly Item[]
  /** Describes the list in a sentence, which screen readers announce. */
  describe?: (count: number, hasMore: boolean) => string
  class: string
  label?: string
  above?: (page: Page) => Child
  children: (item: Item, first: Item) => Child
}

/** A list that is read page by page. */
export const Paged = <Page extends { cursor?: string | undefined }, Item>(props: PagedProps<Page, Item>) => {
  const { open, itemsOf, describe, label, above, children } = props
  const [iterator] = useState(open)
  const list = useRef<HTMLOListElement>(null)
  const [pages, setPages] = useLiveState<readonly Page[]>([])
  const read = async (): Promise<undefined> => {
    const { length = 0 } = list.current?.children ?? {}
    const next = await iterator.next()
    setPages(next.done ? pages : [...pages, next.value])
    if (length > 0) moveFocus(list.current?.children[length])
  }
  const items = pages.flatMap(itemsOf)
  const hasMore = pages.at(-1)?.cursor !== undefined
  return (
    <>
      {describe && <p role="status">{pages.length > 0 && prose(describe(items.length, hasMore))}</p>}
      {pages.slice(-1).map(page => above?.(page))}
      <ol ref={list} class={props.class} aria-label={label} hidden={items.length === 0}>
        {items.map(item => children(item, items[0] ?? item))}
      </ol>
      {pages.length === 0 ? <Load read={read} /> : hasMore && <Action label="Show more" act={read} />}
    </>
  )
}

/** What a dialog asks. `action` is the label of the button that agrees; `isSafe`, that it takes nothing away. */
export type Question = { title: string; content: Child; action: string; isSafe?: boolean | undefined }

/** Asks a question, above all else of the page. */
export const Dialog = ({ title, content, action, isSafe, answer }: Question & { answer: (isYes: boolean) => void }) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => queueMicrotask(() => dialog.current?.showModal()), [])
  const close = (): void => answer(dialog.current?.returnValue === 'confirmed')
  return (
    <dialog ref={dialog} class="panel" aria-labelledby="confirm-title" aria-describedby="confirm-text" onClose={close}>
      <h2 id="confirm-title">{title}</h2>
      <div class="confirm-text" id="confirm-text" tabindex={0}>
        {content}
      </div>
      <form method="dialog" class="actions">
        <button type="submit" autofocus>
          Cancel
        </button>
        <button type="submit" class={isSafe ? 'primary' : 'danger'} value="confirmed">
          {action}
        </button>
      </form>
    </dialog>
  )
}
