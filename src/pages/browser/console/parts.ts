import type { Part } from '@a2a-js/sdk'
import { shorten } from '../../text/index.ts'
import { type Child, element } from '../elements/index.ts'
import { toBase64 } from './buffer.ts'
import { button, externalLink, formatBytes } from './dom.ts'

/** The members of an object or list that are shown at once. */
const MAX_MEMBERS = 200

/** The characters of one string that are shown. */
const MAX_STRING_LENGTH = 10_000

/** The characters of text that a list of parts shows; the parts that it shows; the bytes of one image. */
const MAX_TEXT_LENGTH = 256 * 1024
const MAX_PARTS = 200
const MAX_IMAGE_BYTES = 8 * 1024 * 1024

/** What all parts of one answer may take together. */
const MAX_ANSWER_LENGTH = 32 * 1024 * 1024

/** Images that browsers draw. In an `<img>`, the scripts of an SVG do not run. */
const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml'])

/** Renders a JSON value as a tree, whose branches are built when they open. */
export const renderJson = (value: unknown, name?: string): HTMLElement => {
  const label: Child[] =
    name === undefined ? [] : [element('span', { class: 'console-key', dir: 'auto' }, shorten(name, 200)), ': ']
  if (typeof value !== 'object' || value === null)
    return element(
      'div',
      {},
      ...label,
      element('span', { class: 'console-value', dir: 'auto' }, shorten(JSON.stringify(value) ?? '', MAX_STRING_LENGTH)),
    )
  const count = Array.isArray(value) ? value.length : Object.keys(value).length
  const summary = Array.isArray(value) ? `list of ${count}` : `object of ${count}`
  if (count === 0) return element('div', {}, ...label, Array.isArray(value) ? '[]' : '{}')
  const tree = element(
    'details',
    { class: 'console-tree' },
    element('summary', {}, ...label, element('span', { class: 'muted' }, summary)),
  )
  const build = (): void => {
    if (!tree.open || tree.childElementCount > 1) return
    const members = Object.entries(value).slice(0, MAX_MEMBERS)
    const rest = count - members.length
    tree.append(
      ...members.map(([key, member]) => renderJson(member, key)),
      ...(rest > 0 ? [element('p', { class: 'muted' }, `${rest} more are not shown.`)] : []),
    )
  }
  tree.addEventListener('toggle', build)
  if (name === undefined) {
    tree.open = true
    build()
  }
  return tree
}

/** The memory that the parts of one answer may take, in bytes or characters. */
export class PartBudget {
  #left = MAX_ANSWER_LENGTH

  /** Takes a part of the budget. Returns whether it is left. */
  take(length: number): boolean {
    if (length > this.#left) return false
    this.#left -= length
    return true
  }

  release(length: number): void {
    this.#left += length
  }
}

/** Parts of a message or artifact on the page, to which further ones can be added. */
export class PartList {
  readonly element = element('div', { class: 'console-parts' })
  readonly #budget: PartBudget
  #taken = 0
  #count = 0
  #textLength = 0
  #isFull = false
  /** The text that is last, and its media type: text that follows in a stream continues it. */
  #last: { text: Text; mediaType: string } | undefined

  constructor(budget: PartBudget, parts: readonly Part[] = []) {
    this.#budget = budget
    this.append(parts)
  }

  append(parts: readonly Part[]): void {
    for (const part of parts) if (!this.#isFull && !this.#appendPart(part)) this.#markFull()
  }

  /** Takes the list from the page. */
  remove(): void {
    this.element.remove()
    this.#budget.release(this.#taken)
    this.#taken = 0
  }

  /** Shows a part. Returns whether all of it is shown. */
  #appendPart(part: Part): boolean {
    const { content, mediaType } = part
    const isText = content?.$case === 'text'
    const length = lengthOf(part)
    const shown = isText ? content.value.slice(0, MAX_TEXT_LENGTH - this.#textLength) : ''
    const continued = isText && this.#last?.mediaType === mediaType ? this.#last.text : undefined
    if ((!continued && this.#count >= MAX_PARTS) || !this.#budget.take(length)) return false
    this.#taken += length
    this.#textLength += shown.length
    if (continued) continued.appendData(shown)
    else {
      const text = document.createTextNode(shown)
      this.#count += 1
      this.#last = isText ? { text, mediaType } : undefined
      this.element.append(isText ? element('p', { class: 'console-text', dir: 'auto' }, text) : renderPart(part))
    }
    return !isText || shown.length === content.value.length
  }

  #markFull(): void {
    this.#isFull = true
    this.element.append(element('p', { class: 'message warn' }, 'There is more than this page shows.'))
  }
}

const lengthOf = ({ content }: Part): number =>
  content === undefined
    ? 0
    : content.$case === 'data'
      ? (JSON.stringify(content.value)?.length ?? 0)
      : content.value.length

const renderPart = ({ content, mediaType, filename }: Part): HTMLElement => {
  if (content?.$case === 'data') return renderJson(content.value)
  if (content?.$case === 'url')
    return element(
      'p',
      {},
      externalLink(content.value, filename || content.value),
      mediaType ? ` (${shorten(mediaType, 100)})` : '',
    )
  if (content?.$case === 'raw') return renderBytes(content.value, mediaType, filename)
  return element('p', { class: 'muted' }, 'a part of an unknown kind')
}

const renderBytes = (bytes: Uint8Array<ArrayBuffer>, mediaType: string, filename: string): HTMLElement => {
  const type = mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const caption = [filename, mediaType, formatBytes(bytes.length)]
    .filter(Boolean)
    .map(text => shorten(text, 200))
    .join(' · ')
  const figcaption = element(
    'figcaption',
    { dir: 'auto' },
    caption,
    ' ',
    button('Save', () => saveBytes(bytes, filename), {
      class: 'console-small',
      'aria-label': `Save ${shorten(filename || type, 200)}`,
    }),
  )
  if (!IMAGE_TYPES.has(type) || bytes.length > MAX_IMAGE_BYTES)
    return element('figure', { class: 'console-file' }, figcaption)
  // A data URL: a blob URL could be opened as a document of this origin.
  const image = element('img', { alt: filename || 'image of the agent', src: `data:${type};base64,${toBase64(bytes)}` })
  return element('figure', { class: 'console-file' }, image, figcaption)
}

/** Saves bytes as a file, with a media type that no browser opens as a page. */
const saveBytes = (bytes: Uint8Array<ArrayBuffer>, filename: string): void => {
  const href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  element('a', { href, download: filename || 'file' }).click()
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
}
