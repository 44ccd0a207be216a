import { shorten } from '../../text/index.ts'

/** The attributes of an element by their names. */
export type Attributes = Readonly<Record<string, string>>

/** Nodes, texts, which are never read as HTML, and lists of both. `false` and `undefined` are left out. */
export type Child = Node | string | false | undefined | readonly Child[]

/** Creates an element from its name and classes, such as `p.message.bad`, its attributes and its content. */
export const element = <Name extends keyof HTMLElementTagNameMap>(
  selector: Name | `${Name}.${string}`,
  ...content: readonly (Child | Attributes)[]
): HTMLElementTagNameMap[Name] => {
  const [name, ...classes] = selector.split('.')
  const created = document.createElement(name as Name)
  if (classes.length > 0) created.className = classes.join(' ')
  append(created, ...content)
  return created
}

const isList = (content: unknown): content is readonly Child[] => Array.isArray(content)

/** Adds attributes and content to an element. */
export const append = (target: Element, ...content: readonly (Child | Attributes)[]): void => {
  for (const each of content) {
    if (isList(each)) append(target, ...each)
    else if (typeof each === 'string' || each instanceof Node) target.append(each)
    else for (const [name, value] of Object.entries(each || {})) target.setAttribute(name, value)
  }
}

/** Replaces all that an element contains. */
export const replaceContent = (target: Element, ...content: readonly Child[]): void => {
  target.replaceChildren()
  append(target, ...content)
}

/** Returns the element of a page with this id. Throws if there is none: script and page are of one build. */
export const byId = <Type extends HTMLElement>(id: string, type: new () => Type): Type => {
  const found = document.getElementById(id)
  if (!(found instanceof type)) throw new Error(`The page has no ${type.name} #${id}.`)
  return found
}

/** The items of a list, and the characters of one text, that are shown. */
const MAX_ITEMS = 100
const MAX_TEXT_LENGTH = 2000

/** Returns a text with its `code` in backticks as elements. */
export const prose = (text: string): Child[] =>
  shorten(text, MAX_TEXT_LENGTH)
    .split('`')
    .map((part, index) => (index % 2 === 1 ? element('code', part) : part))

/** Returns a paragraph, whose `code` is in backticks. */
export const paragraph = (text: string, attributes: Attributes = {}): HTMLElement =>
  element('p', { dir: 'auto', ...attributes }, prose(text))

/** Returns a paragraph about what is around it. */
export const hint = (text: string): HTMLElement => paragraph(text, { class: 'muted hint' })

/** The kind of a message, which its color shows. */
export type MessageKind = 'good' | 'warn' | 'bad'

/** Returns a message. */
export const message = (kind: MessageKind, text: string): HTMLElement => paragraph(text, { class: `message ${kind}` })

/** Returns a list, of which a long one is cut. */
export const list = (items: readonly Child[]): HTMLElement => {
  const shown = items.slice(0, MAX_ITEMS).map(item => element('li', { dir: 'auto' }, item))
  return element('ul', shown, items.length > MAX_ITEMS && element('li', `${items.length - MAX_ITEMS} more`))
}

/** Returns a text of a program, which is never translated or mirrored. */
export const code = (text: string): HTMLElement =>
  element('code', { dir: 'ltr', translate: 'no' }, shorten(text, MAX_TEXT_LENGTH))

/** Returns a JSON Pointer into a document. */
export const pointerCode = (pointer: string): HTMLElement => code(pointer || '(whole document)')

/** Returns notes at their pointers as a list. */
export const noteList = (notes: readonly { pointer: string; message: string; rule?: string }[]): HTMLElement =>
  list(notes.map(({ pointer, message, rule }) => [pointerCode(pointer), ' ', prose(message), rule && ` (${rule})`]))

/** Returns content that is folded below its title. */
export const details = (title: Child, ...content: readonly Child[]): HTMLDetailsElement =>
  element('details', element('summary', title), content)

/** Returns a text that scrolls by itself, such as a document in JSON. */
export const scrollingText = (label: string, text: string): HTMLElement =>
  element('pre', { tabindex: '0', role: 'region', 'aria-label': label, dir: 'ltr' }, text)

/** Creates a button that acts where it is: it never submits a form. */
export const button = (label: Child, onClick?: () => unknown, attributes: Attributes = {}): HTMLButtonElement => {
  const created = element('button', { type: 'button', ...attributes }, label)
  if (onClick) created.addEventListener('click', onClick)
  return created
}

/** Creates the options of a selection from pairs of a value and its label. */
export const options = (pairs: readonly (readonly [value: string, label: string])[]): HTMLOptionElement[] =>
  pairs.map(([value, label]) => element('option', { value }, label))

/** The attributes of a field for terms that no browser knows better. */
export const PLAIN_INPUT = { autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' } as const

let fields = 0

/** Returns a control of a form under its label, with a hint that describes it. */
export const field = (label: string, control: HTMLElement, description?: string): HTMLElement => {
  fields += 1
  control.id = `field-${fields}`
  const above = element('label', { for: control.id }, label)
  if (description === undefined) return element('div.field', above, control)
  const below = hint(description)
  below.id = `${control.id}-hint`
  control.setAttribute('aria-describedby', below.id)
  return element('div.field', above, control, below)
}

/** Acts when a form is sent, which the browser does not do itself. */
export const handleSubmit = (form: HTMLFormElement, act: () => unknown): void =>
  form.addEventListener('submit', event => {
    event.preventDefault()
    act()
  })

/** Searches when a form is sent, and when nothing was entered for `pause` ms. */
export const handleSearch = (form: HTMLFormElement, pause: number, search: () => unknown): void => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const searchAfter = (delay: number): void => {
    clearTimeout(timer)
    timer = setTimeout(search, delay)
  }
  form.addEventListener('input', () => searchAfter(pause))
  handleSubmit(form, () => searchAfter(0))
}

const CONFIRMED_MS = 2000

/** Copies a text, and confirms it for a moment on the button. Returns whether the browser allows it. */
export const copyText = async (target: HTMLButtonElement, text: string): Promise<boolean> => {
  target.dataset.label ??= target.textContent
  const copying = navigator.clipboard.writeText(text).then(() => true)
  const isCopied = await copying.catch(() => false)
  target.textContent = isCopied ? 'Copied' : 'Not copied'
  setTimeout(() => {
    target.textContent = target.dataset.label ?? ''
  }, CONFIRMED_MS)
  return isCopied
}

/** Creates a button that copies a text, which screen readers announce. */
export const copyButton = (label: Child, text: string): HTMLButtonElement => {
  const created = button(label, () => void copyText(created, text), { 'aria-live': 'polite' })
  return created
}
