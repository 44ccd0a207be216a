import { shorten, webUrl } from '../../text/index.ts'
import { type Attributes, element } from '../elements/index.ts'

let labelled = 0

/** Builds a form field under its label, with a hint that describes it. */
export const field = (label: string, control: HTMLElement, hint?: string): HTMLElement => {
  labelled += 1
  control.id = `console-field-${labelled}`
  const name = element('label', { for: control.id }, label)
  if (hint === undefined) return element('div', { class: 'console-field' }, name, control)
  const id = `${control.id}-hint`
  control.setAttribute('aria-describedby', id)
  return element(
    'div',
    { class: 'console-field' },
    name,
    control,
    element('p', { id, class: 'muted console-hint' }, hint),
  )
}

/** Builds a box with its label beside it. */
export const checkbox = (label: string, attributes: Attributes = {}): [HTMLElement, HTMLInputElement] => {
  const input = element('input', { type: 'checkbox', ...attributes })
  return [element('label', { class: 'console-check' }, input, element('span', { dir: 'auto' }, label)), input]
}

/** Builds a button that acts where it is: it never submits a form. */
export const button = (label: string, onClick: () => void, attributes: Attributes = {}) => {
  const created = element('button', { type: 'button', ...attributes }, label)
  created.addEventListener('click', onClick)
  return created
}

/** Builds the options of a selection from pairs of a value and its label. */
export const options = (pairs: readonly (readonly [value: string, label: string])[]): HTMLOptionElement[] =>
  pairs.map(([value, label]) => element('option', { value }, label))

/** Builds a link that opens in a new tab, or only the text if the URL is no http(s) URL or has credentials. */
export const externalLink = (url: string, label = url): HTMLElement => {
  const href = webUrl(url)
  const text = shorten(label, 2000)
  return href === undefined
    ? element('span', { dir: 'auto' }, text)
    : element('a', { href, rel: 'noopener nofollow ugc', target: '_blank', dir: 'auto' }, text)
}

/** Writes a number of bytes for people. */
export const formatBytes = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} bytes`
    : bytes < 1024 * 1024
      ? `${(bytes / 1024).toFixed(1)} KiB`
      : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
