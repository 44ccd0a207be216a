import { html } from 'hono/html'
import { fetchCacheable } from '../../api/index.ts'
import type { FoundAgent } from '../../api/schemas/index.ts'
import { config } from '../../config.ts'
import { NO_STORE, type RequestContext } from '../../http/index.ts'
import { renderMonogram } from '../images/index.ts'
import { type Html, pageResponse } from '../layout/index.ts'
import { plural, shorten } from '../text/index.ts'
import { type Facets, facetNames, labelCapability, renderFilters } from './filters.ts'

const AGENTS_PER_PAGE = 24

type Found = { agents: FoundAgent[]; cursor?: string; facets: Facets; approximate?: boolean }

/** `GET /` and `GET /agents` for browsers. Only parameters of the API count, and no empty ones, which a form sends. */
export const getCatalogPage = async ({ request, env, ctx }: RequestContext): Promise<Response> => {
  const parameters = new Set<string>(['q', 'cursor', ...facetNames])
  const given = [...new URL(request.url).searchParams]
  const search = new URLSearchParams(given.filter(([name, value]) => parameters.has(name) && value.trim() !== ''))
  const query = new URLSearchParams([...search, ['facets', facetNames.join(',')], ['limit', String(AGENTS_PER_PAGE)]])
  const response = await fetchCacheable('/agents', query, ctx)
  const [results, filters] = response.ok
    ? renderFound(await response.json<Found>(), search)
    : [renderProblem(await response.json<{ detail: string }>()), renderFilters(search, {})]
  const words = search.get('q')
  const main = html`<h1>Agents</h1>
<form class="catalog" id="search" action="/agents" role="search">
<div class="search-row">
<label class="visually-hidden" for="q">Search agents</label>
<input id="q" name="q" type="search" value="${words}" maxlength="200" placeholder="Search by name, skill, tag …"
autocomplete="off">
<button class="primary">Search</button>
</div>
${filters}
<section id="results" class="results" aria-labelledby="count">${results}</section>
</form>`
  const title = words === null ? 'Agents' : `Agents: ${words}`
  const retryAfter = response.headers.get('Retry-After')
  return pageResponse({ title, section: 'agents', main, script: 'catalog-page.js' }, request, {
    status: response.status,
    cacheControl: response.ok ? config(env).publicCacheControl : NO_STORE,
    headers: response.ok || retryAfter === null ? {} : { 'Retry-After': retryAfter },
  })
}

const renderFound = ({ agents, cursor, facets, approximate }: Found, search: URLSearchParams): [Html, Html] => {
  const isSearch = search.size > (search.has('cursor') ? 1 : 0)
  const first = search.has('cursor') && html`<a class="button" href="${pageUrl(search)}">First page</a> `
  const next =
    cursor !== undefined && html`<a class="button" rel="next" href="${pageUrl(search, cursor)}">Next page</a>`
  const count = cursor === undefined ? plural(agents.length, 'agent') : `${agents.length} or more agents`
  const list = html`<ul class="agents">${agents.map(renderAgent)}</ul>`
  const results = html`<p id="count" class="muted" role="status">${count}${isSearch && ' found'}</p>
${agents.length > 0 ? list : isSearch ? NOTHING_FOUND : NO_AGENTS}
<p>${first}${next}</p>`
  return [results, renderFilters(search, facets, approximate)]
}

const pageUrl = (search: URLSearchParams, cursor?: string): string => {
  const query = new URLSearchParams(search)
  query.delete('cursor')
  if (cursor !== undefined) query.set('cursor', cursor)
  return query.size === 0 ? '/agents' : `/agents?${query}`
}

const NOTHING_FOUND = html`<p>No agent matches. Try fewer words or filters, or <a href="/agents">see all
agents</a>.</p>`

const NO_AGENTS = html`<p>No agent is registered here yet. In a clone of this host, <code>npx sync-card</code>
registers the cards of a folder. <a href="/lint">Check a card</a> shows what could be better in one.</p>`

const renderProblem = ({ detail }: { detail: string }): Html =>
  html`<p id="count" class="message bad" role="alert">${detail}</p><p><a href="/agents">See all agents</a></p>`

const MAX_TAGS = 6

/** Characters of a description, of which the style sheet shows a few lines. */
const MAX_DESCRIPTION_LENGTH = 400

/** The capabilities that the list shows. */
const BADGES = ['streaming', 'pushNotifications', 'extendedAgentCard']

const renderAgent = (agent: FoundAgent): Html => {
  const { id, name, description, version, provider, tags, capabilities, protocolVersions, signed } = agent
  const features = [
    protocolVersions.length > 0 && `A2A ${protocolVersions.slice(0, 4).join(', ')}`,
    ...BADGES.filter(name => capabilities.includes(name)).map(labelCapability),
    signed && 'Signed',
  ].filter(Boolean)
  const byline = [shorten(version, 40), ...(provider === undefined ? [] : [shorten(provider, 120)])].join(' · ')
  return html`<li class="panel agent">
<div class="icon">${renderMonogram({ id, name }, { size: 44 })}</div>
<div class="identity"><h2 dir="auto"><a href="/agents/${id}">${shorten(name, 120)}</a></h2>
<p class="muted byline" dir="auto">${byline}</p></div>
<p class="description" dir="auto">${shorten(description, MAX_DESCRIPTION_LENGTH)}</p>
<ul class="tags" aria-label="Features and tags">${features.map(text => html`<li class="badge">${text}</li>`)}
${tags.slice(0, MAX_TAGS).map(tag => html`<li class="tag" dir="auto">${shorten(tag, 40)}</li>`)}</ul>
</li>`
}
