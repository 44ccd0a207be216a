import { html } from 'hono/html'
import type { Handler } from '../http/handler.ts'
import { publicCacheControl } from '../http/headers.ts'
import { pageResponse } from './layout/page.ts'

/** `GET /lint`: the page on which a card of any dialect is checked. */
export const getLintPage: Handler = (request, env) =>
  pageResponse(
    { title: 'Check a card', section: 'lint', main: html`<h1>Check a card</h1>`, script: 'lint.js' },
    request,
    { cacheControl: publicCacheControl(env) },
  )
