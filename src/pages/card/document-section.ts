import { html } from 'hono/html'
import type { Json } from '../../json/index.ts'
import type { Html } from '../layout/index.ts'
import { escapeInvisible, representationLabels } from '../text/index.ts'

/** The views of a card, the default first: a representation, its name in `?view=`, and its label. */
export const views = (['1.0', '0.3', 'agent-card.json', 'gopherhole', 'superx', 'shaman', 'telex'] as const).map(
  representation => ({
    name: representation === 'agent-card.json' ? 'hybrid' : representation,
    representation,
    label: representationLabels[representation],
  }),
)

/** One of the views. */
export type View = (typeof views)[number]

/** Returns the view that a page shows: the default for a name that does not exist. */
export const findView = (name: string | null): View => (views.find(view => view.name === name) ?? views[0]) as View

/** Returns the address of the document of a view, which is JSON for a browser too. */
export const rawPath = (id: string, { name }: View): string =>
  `/agents/${id}/.well-known/agent-card.json${name === 'hybrid' ? '' : `?dialect=${name}`}`

/** Beyond this, the page names the document instead. Elements around each value make the HTML several times as long. */
const MAX_JSON_LENGTH = 32_768

/** Renders the switch between representations, and the one that is chosen. */
export const documentSection = (id: string, view: View, document: Json): Html => {
  // One more than is shown. To escape characters takes long, so that is done to no others.
  const text = escapeInvisible(JSON.stringify(document, null, 2).slice(0, MAX_JSON_LENGTH + 1))
  const path = rawPath(id, view)
  const links = views.map(({ name, label }) => {
    const current = name === view.name && html` aria-current="true"`
    return html`<li><a href="?view=${name}#document"${current}>${label}</a></li>`
  })
  const notice = html`<p class="message warn">This document is long: its first ${MAX_JSON_LENGTH.toLocaleString('en')}
characters follow. <a href="${path}">The raw document</a> has all.</p>`
  return html`<section id="document" aria-labelledby="document-title">
<h2 id="document-title">The card as JSON</h2>
<nav class="views" aria-label="Representations"><ul>${links}</ul></nav>
<p class="actions"><a href="${path}">Open the raw document</a><button type="button" class="copy"
data-copies="json">Copy JSON</button></p>
${text.length > MAX_JSON_LENGTH && notice}
<pre id="json" class="code" tabindex="0" role="region" aria-label="The card in ${view.label}"
dir="ltr"><code>${highlight(cutJson(text))}</code></pre>
</section>`
}

/** Cuts a text after a whole line, or within a line that is too long by itself. */
const cutJson = (text: string): string => {
  if (text.length <= MAX_JSON_LENGTH) return text
  const end = text.lastIndexOf('\n', MAX_JSON_LENGTH)
  return `${text.slice(0, end > MAX_JSON_LENGTH / 2 ? end : MAX_JSON_LENGTH).toWellFormed()}\n…`
}

/** A name with its colon, a string, whose end may be cut, or a literal. */
const token = /("(?:[^"\\]|\\.)*"?)(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Renders JSON text with an element around each value; each isolates the direction of its text. */
const highlight = (text: string): Html[] => {
  const parts: Html[] = []
  let end = 0
  for (const { 0: match, 1: string, 2: colon, index } of text.matchAll(token)) {
    parts.push(html`${text.slice(end, index)}`)
    if (string === undefined) parts.push(html`<b>${match}</b>`)
    else parts.push(colon === undefined ? html`<bdi>${string}</bdi>` : html`<i>${string}</i>${colon}`)
    end = index + match.length
  }
  parts.push(html`${text.slice(end)}`)
  return parts
}
