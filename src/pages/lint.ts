import { html } from 'hono/html'
import { config } from '../config.ts'
import type { Handler } from '../http/index.ts'
import { MAX_BODY_BYTES } from '../limits.ts'
import { pageResponse } from './layout/index.ts'

const EXAMPLE = `name: Weather
description: Forecasts the weather.
url: https://weather.example.com/a2a
skills:
  - id: forecast
    name: Forecast
    description: The weather of the next days in a place.
    tags: [weather]`

/** `GET /lint`: the page on which a card of any dialect is checked. Its script calls `POST /lint`. */
export const getLintPage: Handler = (request, env) => {
  const main = html`<h1>Check a card</h1>
<p>Paste an Agent Card in any dialect (A2A 1.0 or 0.3, GopherHole, SuperX, Shaman, Telex), or a manifest: JSON, YAML, or Markdown with front
matter. This host reads it and stores nothing.</p>
<form id="check" class="check" data-max-bytes="${MAX_BODY_BYTES}">
<p class="check-tools"><label class="button">Open a file <input id="file" type="file" class="visually-hidden" accept=".json,.yaml,.yml,.md,.markdown"></label>
<button type="button" id="example" data-example="${EXAMPLE}">Show an example</button></p>
<label for="card">Card</label>
<textarea id="card" rows="16" spellcheck="false" autocapitalize="off" dir="ltr" placeholder="Paste a card, or drop a file here"></textarea>
<p class="check-tools"><button class="primary">Check</button> <button type="button" id="share">Copy the link to this page</button>
<span class="muted">The link contains nothing of your card.</span></p>
</form>
<noscript><p class="message">This page needs JavaScript. Without it, send a card in JSON: <code>curl ${new URL('/lint', request.url).href} -H 'Content-Type: application/json' -d @card.json</code></p></noscript>
<div id="status" role="status"></div>
<div id="report"></div>`
  const description =
    'Check an A2A Agent Card in any dialect: what is wrong, what is missing, and what each client would get.'
  return pageResponse({ title: 'Check a card', description, section: 'lint', main, script: 'lint.js' }, request, {
    cacheControl: config(env).publicCacheControl,
  })
}
