import type { Part } from '@a2a-js/sdk'
import { memo, useState } from 'hono/jsx/dom'
import { parseUrl } from '../../../http/shared.ts'
import { isJsonObject } from '../../../json/index.ts'
import type { Child } from '../../components/index.ts'
import { escapeInvisible, Hint, Paragraph, printable, shorten, toFileName, WebLink } from '../../components/index.ts'
import { toBase64 } from './buffer.ts'
import type { PartList } from './conversation.ts'

/** What is shown of data: rows, columns and characters of the cells of a table, and characters of all else. */
const MAX_ROWS = 100
const MAX_COLUMNS = 20
const MAX_CELL_LENGTH = 500
const MAX_JSON_LENGTH = 32_768

/** The bytes of one image or sound. */
const MAX_MEDIA_BYTES = 8 * 1024 * 1024

/** Images that browsers draw. In an `<img>`, the scripts of an SVG do not run. */
const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml'])

/** Renders a component again whenever what it shows reports a change. */
export const useChanges = (source: { onChange: () => void }): void => {
  const [, redraw] = useState(0)
  source.onChange = () => redraw(count => count + 1)
}

type ButtonProps = { class?: string; label?: string; disabled?: boolean; onClick: () => unknown; children?: Child }

/** A small button. `label`, for screen readers, replaces its text. */
export const Button = ({ class: name = '', label, disabled, onClick, children }: ButtonProps) => (
  <button type="button" class={`console-small ${name}`} aria-label={label} disabled={disabled} onClick={onClick}>
    {children}
  </button>
)

/** What the page shows where it stops. */
export const Rest = () => <p class="message warn">There is more than this page shows.</p>

/** The parts of a message or artifact. Each one that did not change stays as it is. */
export const Parts = ({ list: { parts, isCut } }: { list: PartList }) => (
  <div class="console-parts">
    {parts.map((part, index) => (
      <PartView key={index} part={part} />
    ))}
    {isCut && <Rest />}
  </div>
)

const PartView = memo(({ part: { content, mediaType, filename } }: { part: Part }) => {
  if (content?.$case === 'text') return <Paragraph class="console-text" text={content.value} />
  if (content?.$case === 'data') return <JsonData value={content.value} />
  if (content?.$case === 'raw') return <Bytes bytes={content.value} mediaType={mediaType} filename={filename} />
  if (content?.$case !== 'url') return <Hint>a part of an unknown kind</Hint>
  // A file name can suggest another address than that of the link.
  const facts = itemsOf([filename && parseUrl(content.value)?.host, mediaType])
  return (
    <p>
      <WebLink url={content.value} label={visible(filename || content.value, 2000)} target="_blank" />{' '}
      {facts.length > 0 && <>({facts})</>}
    </p>
  )
})

const visible = (text: string, length = 200): string => escapeInvisible(shorten(text, length))

/** Texts in a row, none of which reorders the others. */
const itemsOf = (texts: readonly (string | undefined)[]): Child[] =>
  texts.filter(Boolean).map((text = '', index) => [index > 0 && ' · ', <bdi>{visible(text)}</bdi>])

type BytesProps = { bytes: Uint8Array; mediaType: string; filename: string }

/** An image, a sound or a file, from data URLs: a blob URL could be opened as a document of this origin. */
const Bytes = ({ bytes, mediaType, filename }: BytesProps) => {
  const type = mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const src = () => `data:${type};base64,${toBase64(bytes)}`
  const isSmall = bytes.length <= MAX_MEDIA_BYTES
  const name = visible(filename)
  return (
    <figure class="console-file">
      {isSmall && IMAGE_TYPES.has(type) && <img alt={name || 'image of the agent'} src={src()} />}
      {isSmall && /^audio\/[\w.+-]+$/.test(type) && (
        // biome-ignore lint/a11y/useMediaCaption: an agent sends none
        <audio controls src={src()} aria-label={name || 'sound of the agent'} />
      )}
      <figcaption dir="auto">
        {itemsOf([filename, mediaType, formatBytes(bytes.length)])}{' '}
        <Button label={`Save ${name || visible(type)}`} onClick={() => saveBytes(bytes, filename)}>
          Save
        </Button>
      </figcaption>
    </figure>
  )
}

const formatBytes = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} bytes`
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`
}

/** Saves bytes as a file, with a media type that no browser opens as a page. */
const saveBytes = (bytes: Uint8Array, filename: string): void => {
  const link = document.createElement('a')
  link.href = `data:application/octet-stream;base64,${toBase64(bytes)}`
  link.download = toFileName(filename)
  link.click()
}

const isFlat = (value: unknown): boolean =>
  isJsonObject(value) && Object.values(value).every(member => typeof member !== 'object' || member === null)

/** A JSON value: flat objects as a table, all else as text. */
const JsonData = ({ value }: { value: unknown }) => {
  if (Array.isArray(value) && value.length > 0 && value.every(isFlat)) {
    const rows = value.slice(0, MAX_ROWS + 1)
    const head = [...new Set(rows.flatMap(row => Object.keys(row)))]
    return <Table head={head} rows={rows.map(row => head.map(name => (Object.hasOwn(row, name) ? row[name] : '')))} />
  }
  if (isFlat(value) && Object.keys(value as object).length > 0)
    return <Table head={[]} rows={Object.entries(value as object)} />
  const text = JSON.stringify(value, null, 2) ?? ''
  return [
    <RawText label="JSON data" text={shorten(text, MAX_JSON_LENGTH)} />,
    text.length > MAX_JSON_LENGTH && <Rest />,
  ]
}

/** A table, which scrolls by itself. Without a head, the first cell of a row is its name. */
const Table = ({ head, rows }: { head: string[]; rows: unknown[][] }) => (
  <div class="console-table" tabindex={0} role="group" aria-label="Table">
    <table>
      {head.length > 0 && (
        <tr>
          {head.slice(0, MAX_COLUMNS).map(name => (
            <th scope="col">{cell(name)}</th>
          ))}
        </tr>
      )}
      {rows.slice(0, MAX_ROWS).map(row => (
        <tr>
          {row.slice(0, MAX_COLUMNS).map((value, index) => {
            const isName = index === 0 && head.length === 0
            return isName ? <th scope="row">{cell(value)}</th> : <td>{cell(value)}</td>
          })}
        </tr>
      ))}
    </table>
    {(rows.length > MAX_ROWS || head.length > MAX_COLUMNS) && <Rest />}
  </div>
)

const cell = (value: unknown) => <bdi>{printable(shorten(String(value), MAX_CELL_LENGTH))}</bdi>

/** A text that is shown as it is. It costs one element, whatever an agent sends. */
export const RawText = ({ label, text }: { label: string; text: string }) => (
  <pre class="console-raw" tabindex={0} role="group" aria-label={label} dir="ltr">
    {escapeInvisible(text)}
  </pre>
)

type LazyFoldProps = { title: Child; class?: string; isOpen?: boolean; content: () => Child }

/** Content that is built while its fold is open. It opens and closes with `isOpen`, until the person does that. */
export const LazyFold = ({ title, class: name, isOpen = false, content }: LazyFoldProps) => {
  const [chosen, choose] = useState<boolean | undefined>(undefined)
  const isShown = chosen ?? isOpen
  const toggle = ({ currentTarget }: Event): void => {
    const { open } = currentTarget as HTMLDetailsElement
    if (open !== isShown) choose(open)
  }
  return (
    <details class={name} open={isShown} onToggle={toggle}>
      <summary>{title}</summary>
      {isShown && content()}
    </details>
  )
}
