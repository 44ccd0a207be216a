import type { Json } from '../../json/index.ts'
import { type Child, CopyButton, Source } from './elements.tsx'
import { escapeInvisible } from './text.ts'

/** Characters of a document that a page shows. Elements around each value make its HTML several times as long. */
const MAX_JSON_LENGTH = 32_768

/** A document as JSON, with colors. `more` follows one that is too long to be shown. `id` is that of its text. */
export const JsonText = ({ id, label, value, more }: { id: string; label: string; value: Json; more?: Child }) => {
  // One more than is shown. To escape characters takes long, so that is done to no others.
  const text = escapeInvisible(JSON.stringify(value, null, 2).slice(0, MAX_JSON_LENGTH + 1))
  const isCut = text.length > MAX_JSON_LENGTH
  return (
    <>
      {isCut && (
        <p class="message warn">
          This document is long: its first {MAX_JSON_LENGTH.toLocaleString('en')} characters follow. {more}
        </p>
      )}
      <Source id={id} label={label}>
        {highlight(isCut ? cutText(text) : text)}
      </Source>
      <CopyButton of={id} title={`Copy ${label}`} />
    </>
  )
}

/** Cuts a text after a whole line, or within a line that is too long by itself. */
const cutText = (text: string): string => {
  const end = text.lastIndexOf('\n', MAX_JSON_LENGTH)
  return `${text.slice(0, end > MAX_JSON_LENGTH / 2 ? end : MAX_JSON_LENGTH).toWellFormed()}\n…`
}

/** A name with its colon, a string, whose end may be cut, or a literal. */
const token = /("(?:[^"\\]|\\.)*"?)(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Renders JSON text with an element around each value; each isolates the direction of its text. */
const highlight = (text: string): Child[] => {
  const parts: Child[] = []
  let end = 0
  for (const { 0: match, 1: string, 2: colon, index } of text.matchAll(token)) {
    parts.push(text.slice(end, index))
    if (string === undefined) parts.push(<b>{match}</b>)
    else parts.push(colon === undefined ? <bdi>{string}</bdi> : [<i>{string}</i>, colon])
    end = index + match.length
  }
  return [...parts, text.slice(end)]
}
