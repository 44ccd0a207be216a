import { html } from 'hono/html'
import type { Handler } from '../http/handler.ts'
import { publicCacheControl } from '../http/headers.ts'
import { pageResponse } from './layout/page.ts'

/** `GET /manage`: the page of owners, which calls the API with the token that its user enters. */
export const getManagePage: Handler = (request, env) =>
  pageResponse(
    { title: 'Manage agents', section: 'manage', main: html`<h1>Manage agents</h1>`, script: 'manage.js' },
    request,
    { cacheControl: publicCacheControl(env) },
  )
