import type { Part } from '@a2a-js/sdk'
import { shorten, webUrl } from '../../text/index.ts'
import { append, button, type Child, element } from '../elements/index.ts'
import { toBase64 } from './buffer.ts'

/** The members of an object or list, and the characters of one string, that are shown of JSON. */
const MAX_MEMBERS = 200
const MAX_STRING_LENGTH = 10_000

/** The characters of text and the parts that a list shows; the bytes of one image. */
const MAX_TEXT_LENGTH = 256 * 1024
const MAX_PARTS = 200
const MAX_IMAGE_BYTES = 8 * 1024 * 1024

/** Images that browsers draw. In an `<img>`, the scripts of an SVG do not run. */
const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml'])

/** Renders a JSON value as a tree, whose branches are built when they open. */
export const renderJson = (value: unknown, name?: string): HTMLElement => {
  const label: Child = name !== undefined && [element('span.console-key', { dir: 'auto' }, shorten(name, 200)), ': ']
  if (typeof value !== 'object' || value === null) {
    const text = shorten(JSON.stringify(value) ?? '', MAX_STRING_LENGTH)
    return element('div', label, element('span', { dir: 'auto' }, text))
  }
  const members = Object.entries(value)
  if (members.length === 0) return element('div', label, JSON.stringify(value))
  const summary = `${Array.isArray(value) ? 'list' : 'object'} of ${members.length}`
  const tree = element('details.console-tree', element('summary', label, element('span.muted', summary)))
  const build = (): void => {
    if (!tree.open || tree.childElementCount > 1) return
    const rest = members.length - MAX_MEMBERS
    const shown = members.slice(0, MAX_MEMBERS).map(([key, member]) => renderJson(member, key))
    append(tree, shown, rest > 0 && element('p.muted', `${rest} more are not shown.`))
  }
  tree.addEventListener('toggle', build)
  // The event of this change builds the root.
  tree.open = name === undefined
  return tree
}

/** Returns what the page shows where it stops. */
export const renderRest = (): HTMLElement => element('p.message.warn', 'There is more than this page shows.')

/** The memory that all parts of one turn may still take, in bytes or characters. */
export type Budget = { left: number }

/** Parts of a message or artifact on the page, to which further ones can be added. */
export class PartList {
  readonly element = element('div.console-parts')
  readonly #budget: Budget
  #taken = 0
  #count = 0
  #textLength = 0
  #isFull = false
  /** The text that is last, and its media type: text that follows in a stream continues it. */
  #last: { text: Text; mediaType: string } | undefined

  constructor(budget: Budget, parts: readonly Part[] = []) {
    this.#budget = budget
    this.append(parts)
  }

  append(parts: readonly Part[]): void {
    for (const part of parts) {
      if (this.#isFull || this.#appendPart(part)) continue
      this.#isFull = true
      this.element.append(renderRest())
    }
  }

  remove(): void {
    this.element.remove()
    this.#budget.left += this.#taken
  }

  /** Shows a part. Returns whether all of it is shown. */
  #appendPart(part: Part): boolean {
    const { content, mediaType } = part
    const isText = content?.$case === 'text'
    const length = lengthOf(part)
    const shown = isText ? content.value.slice(0, MAX_TEXT_LENGTH - this.#textLength) : ''
    const continued = isText && this.#last?.mediaType === mediaType ? this.#last.text : undefined
    if ((!continued && this.#count >= MAX_PARTS) || length > this.#budget.left) return false
    this.#budget.left -= length
    this.#taken += length
    this.#textLength += shown.length
    if (continued) continued.appendData(shown)
    else {
      const text = document.createTextNode(shown)
      this.#count += 1
      this.#last = isText ? { text, mediaType } : undefined
      this.element.append(isText ? element('p.console-text', { dir: 'auto' }, text) : renderPart(part))
    }
    return !isText || shown.length === content.value.length
  }
}

const lengthOf = ({ content }: Part): number => {
  if (content?.$case === 'data') return JSON.stringify(content.value)?.length ?? 0
  return content?.value.length ?? 0
}

const renderPart = ({ content, mediaType, filename }: Part): HTMLElement => {
  if (content?.$case === 'data') return renderJson(content.value)
  if (content?.$case === 'raw') return renderBytes(content.value, mediaType, filename)
  if (content?.$case !== 'url') return element('p.muted', 'a part of an unknown kind')
  // The link opens in a new tab. A URL that is no http(s) URL or has credentials is only a text.
  const href = webUrl(content.value)
  const label = shorten(filename || content.value, 2000)
  const attributes = { rel: 'noopener nofollow ugc', target: '_blank', dir: 'auto' }
  const link = href ? element('a', { href, ...attributes }, label) : element('span', { dir: 'auto' }, label)
  return element('p', link, mediaType !== '' && ` (${shorten(mediaType, 100)})`)
}

const renderBytes = (bytes: Uint8Array<ArrayBuffer>, mediaType: string, filename: string): HTMLElement => {
  const type = mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const caption = [filename, mediaType, formatBytes(bytes.length)].filter(Boolean).map(text => shorten(text, 200))
  const label = `Save ${shorten(filename || type, 200)}`
  const save = button('Save', () => saveBytes(bytes, filename), { class: 'console-small', 'aria-label': label })
  // A data URL: a blob URL could be opened as a document of this origin.
  const image =
    IMAGE_TYPES.has(type) &&
    bytes.length <= MAX_IMAGE_BYTES &&
    element('img', { alt: filename || 'image of the agent', src: `data:${type};base64,${toBase64(bytes)}` })
  return element('figure.console-file', image, element('figcaption', { dir: 'auto' }, caption.join(' · '), ' ', save))
}

const formatBytes = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} bytes`
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`
}

/** Saves bytes as a file, with a media type that no browser opens as a page. */
const saveBytes = (bytes: Uint8Array<ArrayBuffer>, filename: string): void => {
  const href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  element('a', { href, download: filename || 'file' }).click()
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
}
