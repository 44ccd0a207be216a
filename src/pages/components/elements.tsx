import type { Child, PropsWithChildren } from 'hono/jsx'
import { escapeInvisible, printable, shorten, webUrl } from './text.ts'

/** What a component may contain. */
export type { Child }

/** The items of a list, and the characters of one text, that are shown. */
const MAX_ITEMS = 100
const MAX_TEXT_LENGTH = 2000

/** A text of an author in a line: the element isolates its direction from what is around it. */
export const Inline = ({ text }: { text: string }) => <bdi>{printable(text)}</bdi>

/** A text of a program, which is never translated or mirrored. */
export const Code = ({ text }: { text: string }) => (
  <code dir="ltr" translate="no">
    {shorten(escapeInvisible(text), MAX_TEXT_LENGTH)}
  </code>
)

/** A JSON Pointer into a document. */
export const Pointer = ({ pointer }: { pointer: string }) => <Code text={pointer || '(whole document)'} />

/** A text in which `code` is in backticks. */
export const Prose = ({ text }: { text: string }) => (
  <>
    {shorten(text, MAX_TEXT_LENGTH)
      .split('`')
      .map((part, index) => (index % 2 === 1 ? <code dir="auto">{part}</code> : part))}
  </>
)

type TextProps = { text: string; class?: string }

/** A paragraph of an author, in the direction of its script. */
export const Paragraph = ({ text, class: name }: TextProps) => (
  <p class={name} dir="auto">
    {printable(text)}
  </p>
)

/** A paragraph in which `code` is in backticks. */
export const Sentence = ({ text, class: name }: TextProps) => (
  <p class={name}>
    <Prose text={text} />
  </p>
)

type SourceProps = PropsWithChildren<{ id: string; label: string }>

/** Source text in a box that scrolls; `id` is that of the text. */
export const Source = ({ id, label, children }: SourceProps) => (
  <pre class="code" tabindex={0} role="region" aria-label={label} dir="ltr">
    <code id={id}>{children}</code>
  </pre>
)

/** A list of links. */
export const Links = ({
  links,
  current,
}: {
  links: readonly (readonly [url: string, label: string])[]
  current?: string | undefined
}) => (
  <ul>
    {links.map(([url, label]) => (
      <li>
        <a href={url} aria-current={url === current ? 'page' : undefined}>
          {label}
        </a>
      </li>
    ))}
  </ul>
)

type WebLinkProps = { url: string; label?: string | undefined; target?: '_blank' }

/** A link of an author, or its text where nobody may follow it. */
export const WebLink = ({ url, label = url, target }: WebLinkProps) => {
  const href = webUrl(url)
  if (href === undefined) return <Inline text={label} />
  return (
    <a href={href} rel="noopener nofollow ugc" target={target} dir="auto">
      {printable(label)}
    </a>
  )
}

/** The parts of a URL that stay on a line of their own. More would be elements that nobody reads. */
const MAX_SEGMENTS = 20

/** A URL as code, whose lines end after slashes. */
export const Address = ({ url, id }: { url: string; id?: string }) => {
  const segments = printable(url).split(/(?<=\/)(?!\/)/)
  return (
    <code class="address" dir="ltr" translate="no" id={id}>
      {segments.slice(0, MAX_SEGMENTS).map(segment => (
        <span>{segment}</span>
      ))}
      {segments.slice(MAX_SEGMENTS).join('')}
    </code>
  )
}

/** Labels with what they stand for. A row without a value is left out. */
export const Facts = ({ rows }: { rows: readonly (readonly [label: Child, value: Child])[] }) => (
  <dl class="facts">{rows.map(([label, value]) => value && [<dt>{label}</dt>, <dd>{value}</dd>])}</dl>
)

/** The kind of a message, which its color shows. */
export type MessageKind = 'good' | 'warn' | 'bad' | 'info'

/** A message in a color of its kind. */
export const Message = ({ kind, children }: PropsWithChildren<{ kind: MessageKind }>) => (
  <div class={`message ${kind}`} dir="auto">
    {children}
  </div>
)

/** A sentence about what is around it. */
export const Hint = ({ id, children }: PropsWithChildren<{ id?: string }>) => (
  <p class="muted hint" dir="auto" id={id}>
    {children}
  </p>
)

/** A list, of which a long one is cut. */
export const List = ({ items }: { items: readonly Child[] }) => (
  <ul>
    {items.slice(0, MAX_ITEMS).map(item => (
      <li dir="auto">{item}</li>
    ))}
    {items.length > MAX_ITEMS && <li>{items.length - MAX_ITEMS} more</li>}
  </ul>
)

/** Notes, each at its pointer. */
export const NoteList = ({ notes }: { notes: readonly { pointer: string; message: string; rule?: string }[] }) => (
  <List
    items={notes.map(({ pointer, message, rule }) => (
      <>
        <Pointer pointer={pointer} /> <Prose text={message} />
        {rule !== undefined && ` (${rule})`}
      </>
    ))}
  />
)

type FoldProps = PropsWithChildren<{ title: Child; open?: boolean; class?: string }>

/** Content that is folded below its title. */
export const Fold = ({ title, open, class: name, children }: FoldProps) => (
  <details class={name} open={open}>
    <summary>{title}</summary>
    {children}
  </details>
)

type NoteFoldProps = Parameters<typeof NoteList>[0] & {
  title: string
  meaning: string
  open?: boolean
  content?: Child
}

/** Notes that are folded below their number, if there are any. `content` is shown in place of their list. */
export const NoteFold = ({ title, meaning, notes, open = false, content }: NoteFoldProps) =>
  notes.length > 0 && (
    <Fold title={`${title} (${notes.length})`} open={open}>
      <Hint>{meaning}</Hint>
      {content || <NoteList notes={notes} />}
    </Fold>
  )

/** What an agent can do: the features that this host knows. */
export const Badges = ({ labels, title }: { labels: readonly Child[]; title: string }) => (
  <ul class="chips" aria-label={title}>
    {labels.map(label => (
      <li class="badge">{label}</li>
    ))}
  </ul>
)

/** The words that an author has chosen, each of which leads to the agents that have it. */
export const Tags = ({ tags }: { tags: readonly string[] }) => (
  <ul class="chips" aria-label="Tags">
    {tags.map(tag => (
      <li class="tag">
        <a href={`/agents?tag=${encodeURIComponent(tag.toWellFormed())}`} dir="auto">
          {printable(shorten(tag, 40))}
        </a>
      </li>
    ))}
  </ul>
)

/** The button that copies the text of the element with the id `of`; src/pages/browser/dom makes it work. */
export const CopyButton = ({ of, label = 'Copy', title }: { of: string; label?: string; title?: string }) => (
  <button type="button" class="copy" data-copies={of} aria-label={title} aria-live="polite">
    {label}
  </button>
)
