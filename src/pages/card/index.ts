import { html } from 'hono/html'
import { agentNotFound, loadCard } from '../../api/index.ts'
import { authenticate } from '../../auth/index.ts'
import { type AgentCard, agentIdPattern, cardUrl, type RepresentationName } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import { type Handler, parseUrl, type RequestContext } from '../../http/index.ts'
import type { Json, JsonObject } from '../../json/index.ts'
import { type CachedDocument, readDocument, readProfile, readReceipt } from '../../registry/edge/index.ts'
import { isStale, staleHeaders } from '../../registry/index.ts'
import { renderMonogram } from '../images/index.ts'
import { type Html, type Page, pageResponse } from '../layout/index.ts'
import { consoleSection } from './console.ts'
import { documentSection, findView, rawPath, type View } from './document.ts'
import type { CardFacts } from './facts.ts'
import { type CheckFacts, receiptSection } from './receipt.ts'
import {
  aboutSection,
  authenticationSection,
  badges,
  capabilitiesSection,
  endpointsSection,
  skillsSection,
  snippetsSection,
} from './sections.ts'
import { pageDescription, pageTitle, shareHead } from './share.ts'
import { signaturesSection } from './signatures.ts'
import type { CardSigning, SignedDocumentName } from './signing.ts'
import { snippetsFor } from './snippets.ts'
import { boundCard, printable } from './text.ts'

/** `GET /agents/{id}` for browsers: the card of an agent, for people. */
export const getCardPage: Handler = async (request, env, ctx, { id = '' }) => {
  if (!agentIdPattern.test(id)) throw agentNotFound(id)
  const context = { request, env, ctx }
  const view = findView(new URL(request.url).searchParams.get('view'))
  const { facts, document } = await loadFacts(id, view, context)
  const { source } = facts
  return pageResponse(renderCardPage(facts, view, document), request, {
    cacheControl: config(env).publicCacheControl,
    ...(source && isStale(source) && { headers: staleHeaders(source) }),
  })
}

/** Loads what the page of an agent shows, and the document of a view. Throws if the caller may not read the card. */
const loadFacts = async (
  id: string,
  view: View,
  context: RequestContext,
): Promise<{ facts: CardFacts; document: Json }> => {
  const { request, env, ctx } = context
  // Invalid credentials count each time they are checked, and the page has up to four documents.
  const caller = await authenticate(request, env, ctx)
  const load = async (name: RepresentationName): Promise<CachedDocument> => {
    const document = await loadCard(id, name, context, { caller })
    if (!document) throw agentNotFound(id)
    return document
  }
  const current = await load('1.0')
  const { modified, source } = current
  const card = (await parseBody(current.body)) as AgentCard & JsonObject
  const documents = { '1.0': current, 'agent-card.json': await load('agent-card.json'), '0.3': await load('0.3') }
  const shown = view.representation === '1.0' ? card : await parseBody((await load(view.representation)).body)
  const profile = await readProfile(id, env, ctx)
  const check = await loadCheck(id, context)
  const tool = profile?.mcp?.tools[0]
  const route = profile?.route ?? 'direct'
  const own = new URL(config(env).publicOrigin ?? request.url)
  const routed = route === 'gateway' ? parseUrl(card.supportedInterfaces[0]?.url ?? '') : null
  const { origin } = routed ?? own
  const facts: CardFacts = {
    ...{ id, card, origin, hostOrigin: own.origin, route, cardUrl: cardUrl({ origin, id }) },
    signing: await loadSigning(documents, [origin, own.origin], env),
    visibility: profile?.visibility ?? 'public',
    modified: new Date(modified),
    ...(tool && { tool }),
    ...(source && { source }),
    ...(check && { check }),
  }
  return { facts, document: shown }
}

/** Loads the newest receipt of an agent whose card the caller may read. The entity tag of an internal agent is not at the edge. */
const loadCheck = async (id: string, { env, ctx }: RequestContext): Promise<CheckFacts | undefined> => {
  const stored = await readReceipt(id, env, ctx)
  if (stored === null) return undefined
  const etag = (await readDocument(id, 'agent-card.json', env, ctx))?.etag
  return { ...stored, current: etag === undefined || etag === stored.receipt.card.etag, now: Date.now() }
}

/** Parses a document that this host wrote. */
const parseBody = (body: CachedDocument['body']): Promise<JsonObject> => new Response(body).json()

/** By the entity tags of documents, who signed them: to verify that takes longer than all else of a page. The keys of an isolate stay. */
const knownSigning = new Map<string, CardSigning>()
const MAX_KNOWN_SIGNING = 50

/** Returns who signed the documents of a card. `origins` are those of this host. */
const loadSigning = async (
  documents: Record<SignedDocumentName, CachedDocument>,
  origins: readonly string[],
  env: Env,
): Promise<CardSigning> => {
  const key = [...Object.values(documents).map(({ etag }) => etag), ...origins].join(' ')
  const known = knownSigning.get(key)
  if (known) return known
  const signing = await verifyDocuments(documents, origins, env)
  const [oldest] = knownSigning.keys()
  if (oldest !== undefined && knownSigning.size >= MAX_KNOWN_SIGNING) knownSigning.delete(oldest)
  knownSigning.set(key, signing)
  return signing
}

/** Loads what verifies signatures only for a card that has some. */
const verifyDocuments: typeof loadSigning = async (documents, origins, env) => {
  const entries = Object.entries(documents).map(async ([name, { body }]) => [name, await parseBody(body)] as const)
  const parsed = Object.fromEntries(await Promise.all(entries)) as Record<SignedDocumentName, JsonObject>
  if (Object.values(parsed).every(({ signatures }) => signatures === undefined)) return { signers: [] }
  const { findSigning } = await import('./signing.ts')
  return findSigning(parsed, origins, env)
}

/** Renders the page of an agent. */
export const renderCardPage = (facts: CardFacts, view: View, document: Json): Page => {
  const { id, source } = facts
  const { card, isCut } = boundCard(facts.card)
  const raw = rawPath(id, view)
  const main = html`<article class="card-page">
${source && isStale(source) ? html`<p class="message warn">This host cannot reach the server that publishes this card. This is the copy of <time datetime="${new Date(source.checked).toISOString()}">${new Date(source.checked).toUTCString()}</time>.</p>` : ''}
${isCut ? html`<p class="message warn">This card is too large for a page, which shows a part of it. <a href="${raw}">The raw document</a> has all.</p>` : ''}
${hero(facts, card)}
<div class="columns">
<div>
${skillsSection(card, facts.card.skills.length)}
</div>
<div class="aside">
${endpointsSection(facts, card.supportedInterfaces)}
${authenticationSection(card)}
${capabilitiesSection(card)}
${signaturesSection(facts)}
${receiptSection(id, facts.check)}
${aboutSection(facts, card)}
</div>
</div>
${consoleSection(facts)}
${snippetsSection(snippetsFor(facts))}
${documentSection(id, view, document)}
<p id="status" class="visually-hidden" role="status"></p>
</article>`
  return {
    title: pageTitle(facts),
    description: pageDescription(facts),
    section: 'agents',
    head: shareHead(facts),
    main,
    script: 'card.js',
    connectTo: callableOrigins(facts),
  }
}

const hero = (facts: CardFacts, { name, description, provider }: AgentCard): Html => {
  const { id } = facts
  return html`<header class="hero">
${icon(facts)}
<div class="identity"><h1 dir="auto">${printable(name)}</h1>
${provider?.organization === undefined ? '' : html`<p class="muted byline" dir="auto">${printable(provider.organization)}</p>`}
</div>
<p class="text" dir="auto">${printable(description)}</p>
${badges(facts)}
<p class="copied"><code id="card-url" dir="ltr">${facts.cardUrl}</code><button type="button" class="copy primary" data-copies="card-url">Copy card URL</button></p>
<p class="muted">Clients find the agent at this address. <a href="/agents/${id}/.well-known/agent-card.json">Open it</a>, <a href="#document">read the card as JSON</a>, or <a href="#console">try the agent</a>.</p>
</header>`
}

/** Renders the icon of an agent if it is on this host, else a monogram: the page loads no images of other hosts. */
const icon = ({ id, card, origin }: CardFacts): Html => {
  const url = card.iconUrl === undefined ? null : parseUrl(card.iconUrl)
  // Without the origin, because the page may have been opened under another name of this host.
  const own = url?.origin === origin ? url.pathname.replace(/^\/+/, '/') + url.search : undefined
  return html`<div class="icon">${own === undefined ? renderMonogram({ id, name: card.name }, { size: 64 }) : html`<img src="${own}" alt="" width="64" height="64">`}</div>`
}

const MAX_ORIGINS = 10

/**
 * Returns the origins of the endpoints in the card, which the console calls. They can be this host's, which may have another name than
 * the page. A host name may have characters that a policy reads otherwise.
 */
const callableOrigins = ({ card, origin }: CardFacts): string[] => {
  const origins = card.supportedInterfaces.flatMap(({ url }) => parseUrl(url)?.origin ?? [])
  // A host without TLS is in development, and its agents may be, too.
  const scheme = origin.startsWith('http:') ? 'https?' : 'https'
  const plain = origins.filter(each => new RegExp(`^${scheme}://[a-z0-9.-]+(?::\\d+)?$`).test(each))
  return [...new Set(plain)].slice(0, MAX_ORIGINS)
}
