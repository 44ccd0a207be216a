import { parseUrl } from '../../../net/urls.ts'

/** What an element can have within it. */
export type Child = Node | string | undefined

/** Builds an element. Text is always text: nothing of a card or an answer is parsed as HTML. */
export const el = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] => {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children.filter(child => child !== undefined))
  return element
}

let labelled = 0

/** Builds a form field under its label, with a hint that describes it. */
export const field = (label: string, control: HTMLElement, hint?: string): HTMLElement => {
  labelled += 1
  control.id = `console-field-${labelled}`
  const description = hint === undefined ? undefined : el('p', { className: 'muted console-hint' }, hint)
  if (description) {
    description.id = `${control.id}-hint`
    control.setAttribute('aria-describedby', description.id)
  }
  return el('div', { className: 'console-field' }, el('label', { htmlFor: control.id }, label), control, description)
}

/** Builds a box with its label beside it. */
export const checkbox = (
  label: string,
  properties: Partial<HTMLInputElement> = {},
): [HTMLElement, HTMLInputElement] => {
  const input = el('input', { type: 'checkbox', ...properties })
  return [el('label', { className: 'console-check' }, input, el('span', { dir: 'auto' }, label)), input]
}

/** Builds a button that acts where it is: it never submits a form. */
export const button = (label: string, onClick: () => void, properties: Partial<HTMLButtonElement> = {}) => {
  const element = el('button', { type: 'button', ...properties }, label)
  element.addEventListener('click', onClick)
  return element
}

/** Builds the options of a selection from pairs of a value and its label. */
export const options = (pairs: readonly (readonly [value: string, label: string])[]): HTMLOptionElement[] =>
  pairs.map(([value, label]) => el('option', { value }, label))

/** Cuts text that is longer than `length`, in characters. */
export const shorten = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length)}…`

/** Builds a link that opens in a new tab, or only the text if the URL is no http(s) URL or has credentials. */
export const externalLink = (url: string, label = url): HTMLElement => {
  const parsed = parseUrl(url)
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username !== '' || parsed.password !== '')
    return el('span', { dir: 'auto' }, shorten(label, 2000))
  return el(
    'a',
    { href: parsed.href, rel: 'noopener nofollow ugc', target: '_blank', dir: 'auto' },
    shorten(label, 2000),
  )
}

/** Escapes the characters of raw text that are invisible, or that reorder others. */
export const escapeInvisible = (text: string): string =>
  text.replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu, character =>
    Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
      .map(unit => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  )

/** Writes a number of bytes for people. */
export const formatBytes = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} bytes`
    : bytes < 1024 * 1024
      ? `${(bytes / 1024).toFixed(1)} KiB`
      : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
