import { shorten } from '../../text/index.ts'
import { element } from '../elements/index.ts'
import type { Grant, ListedAgent, Note, StoredRevision } from './answers.ts'
import { CallError, type Client } from './client.ts'

/** What every view is given. */
export type Context = {
  client: Client
  grant: Grant
  /** Shows the view again, with a message above it. */
  reload: (kind: MessageKind, text: string) => void
}

/** An agent whose view is shown. The parts of the view read its newest revision once. */
export type Agent = ListedAgent & { context: Context; readNewest: () => Promise<StoredRevision> }

/** A view: its heading, and its content, which may load its parts by itself. */
export type View = { title: string; content: HTMLElement }

export type MessageKind = 'good' | 'warn' | 'bad'

/** Entries of a list that come without pages; those beyond are counted. */
const MAX_SHOWN = 100

/** Characters of one text of a card or an answer. */
const MAX_TEXT = 2000

/** Returns a text with its `code` in backticks as elements. */
export const prose = (text: string): (HTMLElement | string)[] =>
  shorten(text, MAX_TEXT)
    .split('`')
    .map((part, index) => (index % 2 === 1 ? element('code', {}, part) : part))

/** Returns a paragraph. */
export const paragraph = (text: string, attributes: Record<string, string> = {}): HTMLElement =>
  element('p', { dir: 'auto', ...attributes }, ...prose(text))

/** Returns a paragraph with a text of a card, which is shown as it is. */
export const cardText = (text: string, attributes: Record<string, string> = {}): HTMLElement =>
  element('p', { dir: 'auto', ...attributes }, shorten(text, MAX_TEXT))

/** Returns a message. */
export const message = (kind: MessageKind, text: string): HTMLElement => paragraph(text, { class: `message ${kind}` })

/** Returns a list of sentences, of which a long one is cut. */
export const list = (
  items: readonly (readonly (Node | string)[])[],
  attributes: Record<string, string> = {},
): HTMLElement => {
  const shown = items.slice(0, MAX_SHOWN).map(item => element('li', { dir: 'auto' }, ...item))
  const rest = items.length - shown.length
  return element('ul', attributes, ...shown, ...(rest > 0 ? [element('li', {}, `${rest} more`)] : []))
}

/** Returns notes at their pointers as a list. */
export const noteList = (notes: readonly Note[]): HTMLElement =>
  list(notes.map(({ pointer, message }) => [code(pointer || '(whole document)'), ' ', ...prose(message)]))

/** Returns a text of a program, such as a pointer, which is never translated or mirrored. */
export const code = (text: string): HTMLElement =>
  element('code', { dir: 'ltr', translate: 'no' }, shorten(text, MAX_TEXT))

/** Returns a time as its reader writes it. */
export const time = (iso: string): HTMLElement =>
  element(
    'time',
    { datetime: iso },
    new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' }),
  )

/** Returns an error for people: what is wrong, and where. */
export const describeFailure = (error: unknown): HTMLElement => {
  if (!(error instanceof CallError)) {
    // A defect of this page: developers find it in the console.
    console.error(error)
    return message('bad', 'This page has failed. Load it again.')
  }
  if (error.errors.length === 0) return message('bad', error.message)
  return element('div', { class: 'message bad' }, paragraph(error.message), noteList(error.errors))
}

/** Moves the focus to an element that replaces the one that had it. */
export const moveFocus = (target: HTMLElement): void => {
  target.tabIndex = -1
  target.focus()
}

/** Fills a part of a view when its data has arrived. Until then it says so; if it fails, it says why and offers to try again. */
export const load = async (target: HTMLElement, read: () => Promise<readonly (Node | string)[]>): Promise<void> => {
  target.setAttribute('aria-busy', 'true')
  target.replaceChildren(paragraph('Loading…', { class: 'muted' }))
  try {
    target.replaceChildren(...(await read()))
  } catch (error) {
    const retry = element('button', { type: 'button' }, 'Try again')
    retry.addEventListener('click', () => {
      void load(target, read)
      moveFocus(target)
    })
    target.replaceChildren(describeFailure(error), retry)
  }
  target.removeAttribute('aria-busy')
}

/** Returns a part of a view with a heading, which loads its content. */
export const section = (title: string, read: () => Promise<readonly (Node | string)[]>): HTMLElement => {
  const body = element('div')
  void load(body, read)
  return element('section', { class: 'panel', 'aria-label': title }, element('h3', {}, title), body)
}

/** Returns a button. `context` completes its name for those who do not see what is around it. */
export const button = (label: string, context = '', attributes: Record<string, string> = {}): HTMLButtonElement =>
  element(
    'button',
    { type: 'button', ...attributes },
    label,
    ...(context === '' ? [] : [element('span', { class: 'visually-hidden' }, ` ${context}`)]),
  )

/** Runs `act` when a button is pressed or a form is sent, one at a time; `output` shows why it failed. */
export const runOn = (
  target: HTMLButtonElement | HTMLFormElement,
  output: HTMLElement,
  act: () => Promise<unknown>,
): void => {
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
}

/** Returns a place for messages, which assistive technology reads out. */
export const statusOutput = (): HTMLElement => element('div', { role: 'status' })

/** Returns a table that scrolls by itself where it is too wide. */
export const table = (
  label: string,
  columns: readonly string[],
): { scroller: HTMLElement; add: (cells: readonly (Node | string)[]) => HTMLElement } => {
  const body = element('tbody')
  const head = element('tr', {}, ...columns.map(column => element('th', { scope: 'col' }, column)))
  const scroller = element(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label },
    element('table', {}, element('thead', {}, head), body),
  )
  const add = (cells: readonly (Node | string)[]): HTMLElement => {
    const row = element('tr', {}, ...cells.map(cell => element('td', { dir: 'auto' }, cell)))
    body.append(row)
    return row
  }
  return { scroller, add }
}

/** Shows a list page by page. `add` adds the items of a page and returns the first of them, which gets the focus after the first page. */
export const showPages = async <Shown extends { cursor?: string | undefined }>(
  more: HTMLElement,
  read: (cursor?: string) => Promise<Shown>,
  add: (page: Shown) => HTMLElement | undefined,
): Promise<void> => {
  const showPage = async (cursor?: string): Promise<void> => {
    const page = await read(cursor)
    const first = add(page)
    more.replaceChildren()
    if (page.cursor !== undefined) {
      const next = button('Show more')
      const output = statusOutput()
      runOn(next, output, () => showPage(page.cursor))
      more.append(next, output)
    }
    if (cursor !== undefined) moveFocus(first ?? more)
  }
  await showPage()
}

/** Asks whether to do something that cannot simply be undone. */
export const confirmAction = (title: string, content: readonly Node[], action: string): Promise<boolean> => {
  const cancel = button('Cancel', '', { autofocus: '' })
  const proceed = button(action, '', { class: 'danger' })
  const dialog = element(
    'dialog',
    { class: 'panel', 'aria-labelledby': 'confirm-title', 'aria-describedby': 'confirm-text' },
    element('h2', { id: 'confirm-title' }, title),
    element('div', { id: 'confirm-text', class: 'confirm-text', tabindex: '0' }, ...content),
    element('p', { class: 'actions' }, cancel, proceed),
  )
  cancel.addEventListener('click', () => dialog.close())
  proceed.addEventListener('click', () => dialog.close('confirmed'))
  document.body.append(dialog)
  dialog.showModal()
  return new Promise(resolve => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog.returnValue === 'confirmed')
    })
  })
}
