import { html, raw } from 'hono/html'
import { agentNotFound } from '../../api/index.ts'
import { type AgentCard, agentIdPattern } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import { parseUrl, type RequestContext } from '../../http/index.ts'
import type { Json } from '../../json/index.ts'
import { isStale, staleHeaders } from '../../registry/index.ts'
import { renderMonogram } from '../images/index.ts'
import { assetPath, type Html, type Page, pageResponse } from '../layout/index.ts'
import { escapeCharacter, escapeInvisible, representationLabels, webUrl } from '../text/index.ts'
import { type CardFacts, loadFacts } from './card-facts.ts'
import { boundCard, headline, printable } from './markup.ts'
import { badges, cardColumns, mcpSection, snippetsSection } from './sections.ts'
import { snippetsFor } from './snippets.ts'

/** `GET /agents/{id}` for browsers: the card of an agent, for people. */
export const getCardPage = async ({ params: { id }, ...context }: RequestContext & { params: { id: string } }) => {
  if (!agentIdPattern.test(id)) return agentNotFound(id)
  const { request, env } = context
  const view = findView(new URL(request.url).searchParams.get('view'))
  const { facts, document } = await loadFacts(id, view.representation, context)
  const { source } = facts
  return pageResponse(renderCardPage(facts, view, document), request, {
    cacheControl: config(env).publicCacheControl,
    ...(source && isStale(source) && { headers: staleHeaders(source) }),
  })
}

/** Renders the page of an agent. */
export const renderCardPage = (facts: CardFacts, view: View, document: Json): Page => {
  const { id, source } = facts
  const { card, isCut } = boundCard(facts.card)
  const checked = source && isStale(source) && new Date(source.checked)
  const cut = html`<p class="message warn">This card is too large for a page, which shows a part of it.
<a href="${rawPath(id, view)}">The raw document</a> has all.</p>`
  const main = html`<article class="card-page">
${
  checked &&
  html`<p class="message warn">This host cannot reach the server that publishes this card. This is the copy of
<time datetime="${checked.toISOString()}">${checked.toUTCString()}</time>.</p>`
}
${isCut && cut}
${hero(facts, card)}
${cardColumns(facts, card)}
${consoleSection(facts)}
${snippetsSection(snippetsFor(facts))}
${mcpSection(facts)}
${documentSection(id, view, document)}
<p id="status" class="visually-hidden" role="status"></p>
</article>`
  const title = headline(facts.card.name, MAX_TITLE_LENGTH) || id
  const description = headline(facts.card.description, MAX_DESCRIPTION_LENGTH)
  const head = shareHead(facts, title, description)
  const connectTo = callableOrigins(facts)
  return { title, description, section: 'agents', head, main, script: 'card-page.js', connectTo }
}

const hero = (facts: CardFacts, { name, description, provider }: AgentCard): Html => {
  const { id, cardUrl } = facts
  const organization = provider?.organization
  return html`<header class="hero">
${icon(facts)}
<div class="identity"><h1 dir="auto">${printable(name)}</h1>
${organization !== undefined && html`<p class="muted byline" dir="auto">${printable(organization)}</p>`}
</div>
<p class="text" dir="auto">${printable(description)}</p>
${badges(facts)}
<p class="copied"><code id="card-url" dir="ltr">${cardUrl}</code><button type="button" class="copy primary"
data-copies="card-url">Copy card URL</button></p>
<p class="muted">Clients find the agent at this address.
<a href="/agents/${id}/.well-known/agent-card.json">Open it</a>, <a href="#document">read the card as JSON</a>,
or <a href="#console">try the agent</a>.</p>
</header>`
}

/** Renders the icon of an agent if it is on this host, else a monogram: the page loads no images of other hosts. */
const icon = ({ id, card, origin }: CardFacts): Html => {
  const url = card.iconUrl === undefined ? null : parseUrl(card.iconUrl)
  // Without the origin, because the page may have been opened under another name of this host.
  const own = url?.origin === origin ? url.pathname.replace(/^\/+/, '/') + url.search : undefined
  const image = own !== undefined && html`<img src="${own}" alt="" width="64" height="64">`
  return html`<div class="icon">${image || renderMonogram({ id, name: card.name }, { size: 64 })}</div>`
}

/** Renders the section in which a person tries the agent, which src/pages/browser/console fills when it opens. */
const consoleSection = ({ id, hostOrigin, route }: CardFacts): Html =>
  html`<section id="console" class="console-section" aria-labelledby="console-title"
data-agent="${id}" data-origin="${hostOrigin}" data-route="${route}">
<h2 id="console-title">Try it</h2>
<p>Send this agent a message from your browser, and see what it answers and what goes over the wire.</p>
<p class="console-open"><button type="button" class="primary" hidden>Open the console</button></p>
<p role="status"></p>
<p class="message console-needs-scripts">The console needs JavaScript. The <code>curl</code> command on this page makes
the same call.</p>
<script type="module" src="${assetPath('console.js')}"></script>
</section>`

const MAX_ORIGINS = 10

/** Returns the origins of the endpoints in the card, which the console calls. */
const callableOrigins = ({ card, origin }: CardFacts): string[] => {
  const origins = card.supportedInterfaces.flatMap(({ url }) => parseUrl(url)?.origin ?? [])
  // A host without TLS is in development, and its agents may be, too.
  const scheme = origin.startsWith('http:') ? 'https?' : 'https'
  // A host name may have characters that a policy reads otherwise.
  const plain = origins.filter(each => new RegExp(`^${scheme}://[a-z0-9.-]+(?::\\d+)?$`).test(each))
  return [...new Set(plain)].slice(0, MAX_ORIGINS)
}

const MAX_TITLE_LENGTH = 100
const MAX_DESCRIPTION_LENGTH = 280

/** Renders what previews and search engines read. It names no picture: that of the agent is SVG, which most reject. */
const shareHead = (facts: CardFacts, title: string, description: string): Html => {
  const { id, origin, cardUrl } = facts
  const url = `${origin}/agents/${id}`
  const data = structuredData(facts, title, description, url)
  return html`<link rel="canonical" href="${url}">
<link rel="alternate" type="application/json" href="${cardUrl}" title="Agent Card">
<meta property="og:type" content="website">
<meta property="og:site_name" content="Calling Card">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${url}">
<meta name="twitter:card" content="summary">
<meta name="twitter:title" content="${title}">
<meta name="twitter:description" content="${description}">
<script type="application/ld+json">${jsonInScript(data)}</script>`
}

/** Describes an agent in the terms of schema.org. */
const structuredData = ({ card, modified }: CardFacts, name: string, description: string, url: string): object => {
  const { provider, documentationUrl } = card
  const help = webUrl(documentationUrl)
  const organization = provider?.organization !== undefined && {
    '@type': 'Organization',
    name: headline(provider.organization, MAX_TITLE_LENGTH),
    url: webUrl(provider.url),
  }
  return {
    '@context': 'https://schema.org',
    '@type': 'SoftwareApplication',
    name,
    description,
    applicationCategory: 'AI agent',
    softwareVersion: headline(card.version, MAX_TITLE_LENGTH),
    url,
    dateModified: modified.toISOString(),
    softwareHelp: help && { '@type': 'CreativeWork', url: help },
    provider: organization || undefined,
  }
}

/** Writes JSON that ends no script element and begins no comment, whatever its strings are. */
const jsonInScript = (value: object) => raw(JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, escapeCharacter))

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
const rawPath = (id: string, { name }: View): string =>
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
