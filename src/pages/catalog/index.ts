import { html } from 'hono/html'
import { countList } from '../../api/agents/lists.ts'
import { fetchCacheable } from '../../api/shared-cache.ts'
import { ANONYMOUS } from '../../auth/principal.ts'
import { HttpError } from '../../http/errors.ts'
import type { Handler } from '../../http/handler.ts'
import { publicCacheControl } from '../../http/headers.ts'
import { pageResponse } from '../layout/page.ts'

type ListedAgent = { id: string; name: string; description: string; version: string }

/** `GET /` and `GET /agents` for browsers: the public agents that match a search. */
export const getCatalogPage: Handler = async (request, env, ctx) => {
  const { searchParams } = new URL(request.url)
  await countList(ANONYMOUS, request, env)
  const response = await fetchCacheable('/agents', searchParams, ctx)
  if (!response.ok) {
    const { code, detail } = (await response.json()) as { code: string; detail: string }
    throw new HttpError(response.status, code, detail)
  }
  const { agents } = (await response.json()) as { agents: ListedAgent[] }
  const main = html`<h1>Agents</h1>
<ul class="agents">${agents.map(
    ({ id, name, description, version }) => html`<li class="agent">
<h2 dir="auto"><a href="/agents/${id}">${name}</a></h2>
<p dir="auto">${description}</p>
<p class="version">${version}</p>
</li>`,
  )}</ul>`
  return pageResponse({ title: 'Agents', section: 'agents', main, script: 'catalog.js' }, request, {
    cacheControl: publicCacheControl(env),
  })
}
