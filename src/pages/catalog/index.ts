import { html } from 'hono/html'
import type { FoundAgent } from '../../api/agents/index.ts'
import { fetchCacheable } from '../../api/index.ts'
import { config } from '../../config.ts'
import { type Handler, NO_STORE } from '../../http/index.ts'
import { type Html, pageResponse } from '../layout/index.ts'
import { plural } from '../text/index.ts'
import { type FacetName, facetNames, renderFilters } from './filters.ts'
import { renderAgents } from './results.ts'

const AGENTS_PER_PAGE = 24

/** A page of agents as the search of this host returns it. */
type Found = {
  agents: FoundAgent[]
  cursor?: string
  facets: Record<FacetName, { value: string; count: number }[]>
  approximate?: boolean
}

/**
 * `GET /` and `GET /agents` for browsers: the public agents that match a search. Its parameters are those of the API; an empty one, which
 * a form sends, counts as absent, and one that the page does not know is ignored.
 */
export const getCatalogPage: Handler = async (request, env, ctx) => {
  const search = readQuery(new URL(request.url).searchParams)
  const query = new URLSearchParams([...search, ['facets', facetNames.join(',')], ['limit', String(AGENTS_PER_PAGE)]])
  const response = await fetchCacheable('/agents', query, ctx)
  const [results, filters] = response.ok
    ? renderFound(await response.json<Found>(), search)
    : [renderProblem(await response.json<{ detail: string }>()), renderFilters(search, {})]
  const words = search.get('q')
  const main = html`<h1>Agents</h1>
<form class="catalog" action="/agents" role="search">
<div class="search-row">
<label class="visually-hidden" for="q">Search agents</label>
<input id="q" name="q" type="search" value="${words ?? ''}" maxlength="200" placeholder="Search by name, skill, tag …" autocomplete="off">
<button class="primary">Search</button>
</div>
${filters}
<section id="results" class="results" aria-labelledby="count">${results}</section>
</form>`
  const title = words === null ? 'Agents' : `Agents: ${words}`
  return pageResponse({ title, section: 'agents', main, script: 'catalog.js' }, request, {
    status: response.status,
    cacheControl: response.ok ? config(env).publicCacheControl : NO_STORE,
    headers: response.ok ? {} : retryHeaders(response),
  })
}

/** Returns the parameters of the search that have a value. */
const readQuery = (query: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...query].filter(([name, value]) => isParameter(name) && value.trim() !== ''))

const isParameter = (name: string): boolean =>
  name === 'q' || name === 'cursor' || facetNames.some(facet => facet === name)

const retryHeaders = ({ headers }: Response): Record<string, string> => {
  const retryAfter = headers.get('Retry-After')
  return retryAfter === null ? {} : { 'Retry-After': retryAfter }
}

const renderFound = ({ agents, cursor, facets, approximate }: Found, search: URLSearchParams): [Html, Html] => {
  const isSearch = search.size > (search.has('cursor') ? 1 : 0)
  const first = search.has('cursor') ? html`<a class="button" href="${pageUrl(search)}">First page</a> ` : ''
  const next =
    cursor === undefined ? '' : html`<a class="button" rel="next" href="${pageUrl(search, cursor)}">Next page</a>`
  const results = html`<p id="count" class="muted" role="status">${countAgents(agents.length, cursor !== undefined, isSearch)}</p>
${agents.length > 0 ? renderAgents(agents) : isSearch ? NOTHING_FOUND : NO_AGENTS}
<p>${first}${next}</p>`
  return [results, renderFilters(search, facets, approximate)]
}

/** Returns the address of the page after a cursor; of the first without one. */
const pageUrl = (search: URLSearchParams, cursor?: string): string => {
  const query = new URLSearchParams(search)
  query.delete('cursor')
  if (cursor !== undefined) query.set('cursor', cursor)
  return query.size === 0 ? '/agents' : `/agents?${query}`
}

const countAgents = (count: number, hasMore: boolean, isSearch: boolean): string => {
  const agents = hasMore ? `${count} or more agents` : plural(count, 'agent')
  return isSearch ? `${agents} found` : agents
}

const NOTHING_FOUND = html`<p>No agent matches. Try fewer words or filters, or <a href="/agents">see all agents</a>.</p>`

const NO_AGENTS = html`<p>No agent is registered here yet. In a clone of this host, <code>npx sync-card</code>
registers the cards of a folder. <a href="/lint">Check a card</a> shows what could be better in one.</p>`

const renderProblem = ({ detail }: { detail: string }): Html =>
  html`<p id="count" class="message bad" role="alert">${detail}</p><p><a href="/agents">See all agents</a></p>`
