import { html } from 'hono/html'
import { type HttpError, NO_STORE } from '../../http/index.ts'
import { type Html, pageResponse } from './page.ts'

const titles: Readonly<Record<number, string>> = {
  400: 'This address is not valid',
  404: 'There is nothing here',
  429: 'Too many requests',
}

/** Returns an error as a page, which says where to go next. */
export const errorPage = ({ status, message, headers }: HttpError, request: Request): Promise<Response> => {
  const title = titles[status] ?? 'This page is not available right now'
  const main = html`<section class="error-page">
<h1>${title}</h1>
<p dir="auto">${message}</p>
${nextSteps}
</section>`
  return pageResponse({ title, main }, request, { status, cacheControl: NO_STORE, headers })
}

const nextSteps: Html = html`<ul>
<li><a href="/agents">Find an agent of this host</a></li>
<li><a href="/lint">Check a card before you publish it</a></li>
<li><a href="/openapi.json">Read the description of the API</a></li>
</ul>`
