import { html } from 'hono/html'
import { loadCard } from '../../api/cards.ts'
import { agentNotFound } from '../../api/errors.ts'
import { agentIdPattern } from '../../card/model/constants.ts'
import type { Handler } from '../../http/handler.ts'
import { publicCacheControl } from '../../http/headers.ts'
import { pageResponse } from '../layout/page.ts'

/** `GET /agents/{id}` for browsers: the card of an agent, for people. */
export const getCardPage: Handler = async (request, env, ctx, { id = '' }) => {
  if (!agentIdPattern.test(id)) throw agentNotFound(id)
  const document = await loadCard(id, '1.0', { request, env, ctx })
  if (!document) throw agentNotFound(id)
  const card = await new Response(document.body).json<{ name: string; description: string }>()
  const main = html`<article class="card-page">
<h1 dir="auto">${card.name}</h1>
<p dir="auto">${card.description}</p>
</article>`
  return pageResponse(
    { title: card.name, description: card.description, section: 'agents', main, script: 'card.js' },
    request,
    {
      cacheControl: publicCacheControl(env),
    },
  )
}
