import { ApiError, type Client, describeError, type ResponseOf } from '../api/index.ts'
import {
  button,
  type Child,
  element,
  hint,
  type MessageKind,
  message,
  noteList,
  paragraph,
  replaceContent,
} from '../elements/index.ts'

/** The session in which every view is shown. */
export type Context = Client & {
  grant: ResponseOf<'GET /tokens/self'>
  /** Shows the view again, with a message above it. */
  reload: (kind: MessageKind, text: string) => void
}

/** An agent in a list. */
export type ListedAgent = ResponseOf<'GET /agents'>['agents'][number]

/** An agent whose view is shown. The parts of the view read its newest revision once. */
export type Agent = ListedAgent & { context: Context; readNewest: () => Promise<Revision> }

type Revision = ResponseOf<'GET /agents/:id/revisions/:seq'>

const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** Returns a time as its reader writes it. */
export const time = (iso: string): HTMLElement => element('time', { datetime: iso }, timeFormat.format(new Date(iso)))

/** Returns an error for people: what is wrong, and where. */
export const describeFailure = (error: unknown): HTMLElement => {
  if (!(error instanceof ApiError)) {
    // A defect of this page: developers find it in the console.
    console.error(error)
    return message('bad', 'This page has failed. Load it again.')
  }
  return element('div.message.bad', paragraph(describeError(error)), error.errors.length > 0 && noteList(error.errors))
}

/** Moves the focus to an element that replaces the one that had it. */
export const moveFocus = (target: HTMLElement): void => {
  target.tabIndex = -1
  target.focus()
}

/** Returns a part of a view that is filled when its data arrives; if that fails, it offers to try again. */
export const load = (read: () => Promise<Child>, target = element('div')): HTMLElement => {
  const fill = async (): Promise<void> => {
    target.setAttribute('aria-busy', 'true')
    replaceContent(target, hint('Loading…'))
    try {
      replaceContent(target, await read())
    } catch (error) {
      const retry = (): void => {
        void fill()
        moveFocus(target)
      }
      replaceContent(target, describeFailure(error), button('Try again', retry))
    }
    target.removeAttribute('aria-busy')
  }
  void fill()
  return target
}

/** Returns a part of a view with a heading, which loads its content. */
export const section = (title: string, read: () => Promise<Child>): HTMLElement =>
  element('section.panel', { 'aria-label': title }, element('h3', title), load(read))

/** Returns a label whose end is only for those who do not see what is around it. */
export const labelWith = (label: string, more: string): Child => [label, element('span.visually-hidden', ` ${more}`)]

/** Runs `act` when a button is pressed or a form is sent, one at a time; `output` shows why it failed. */
export const runOn = <Target extends HTMLButtonElement | HTMLFormElement>(
  target: Target,
  output: HTMLElement,
  act: () => Promise<unknown>,
): Target => {
  let isRunning = false
  target.addEventListener(target instanceof HTMLFormElement ? 'submit' : 'click', async event => {
    event.preventDefault()
    if (isRunning) return
    isRunning = true
    target.setAttribute('aria-busy', 'true')
    output.replaceChildren()
    try {
      await act()
    } catch (error) {
      output.replaceChildren(describeFailure(error))
    }
    isRunning = false
    target.removeAttribute('aria-busy')
  })
  return target
}

/** Returns a place for messages, which assistive technology reads out. */
export const statusOutput = (): HTMLElement => element('div', { role: 'status' })

/** Creates a table that scrolls by itself where it is too wide, and the function that adds a row. */
export const createTable = (label: string, columns: readonly string[]) => {
  const body = element('tbody')
  const head = element('tr', ...columns.map(column => element('th', { scope: 'col' }, column)))
  const table = element('table', element('thead', head), body)
  const scroller = element('div.scroll', { tabindex: '0', role: 'region', 'aria-label': label }, table)
  const addRow = (cells: readonly Child[]): HTMLElement => {
    const row = element('tr', ...cells.map(cell => element('td', { dir: 'auto' }, cell)))
    body.append(row)
    return row
  }
  return { scroller, addRow }
}

/** Reads a list page by page, and returns the place of the button for more. `add` returns the first added item. */
export const showPages = async <Page extends { cursor?: string | undefined }>(
  pages: AsyncIterator<Page>,
  add: (page: Page) => HTMLElement | undefined,
): Promise<HTMLElement> => {
  const more = element('div')
  const showPage = async (isFirst = false): Promise<void> => {
    const { value, done } = await pages.next()
    if (done) return
    const added = add(value)
    const output = statusOutput()
    const next = value.cursor !== undefined && runOn(button('Show more'), output, () => showPage())
    replaceContent(more, next && [next, output])
    if (!isFirst) moveFocus(added ?? more)
  }
  await showPage(true)
  return more
}

/** Shows what a form searches for. Each search has its own place: the response to an earlier one may arrive last. */
export const showSearch = (search: (isCurrent: () => boolean) => Promise<Child>, results: HTMLElement): void => {
  const target = element('div')
  results.replaceChildren(target)
  load(() => search(() => target.isConnected), target)
}

/** Asks whether to do something that cannot simply be undone. */
export const confirmAction = (title: string, content: Child, action: string): Promise<boolean> => {
  const dialog = element('dialog.panel', { 'aria-labelledby': 'confirm-title', 'aria-describedby': 'confirm-text' })
  const heading = element('h2', { id: 'confirm-title' }, title)
  const text = element('div.confirm-text', { id: 'confirm-text', tabindex: '0' }, content)
  const cancel = button('Cancel', () => dialog.close(), { autofocus: '' })
  const confirm = button(action, () => dialog.close('confirmed'), { class: 'danger' })
  dialog.append(heading, text, element('p.actions', cancel, confirm))
  document.body.append(dialog)
  dialog.showModal()
  return new Promise(resolve => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog.returnValue === 'confirmed')
    })
  })
}
