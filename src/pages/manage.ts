import { html } from 'hono/html'
import { config } from '../config.ts'
import type { Handler } from '../http/index.ts'
import { type Html, pageResponse } from './layout/index.ts'

/** `GET /manage`: the page of owners. Its script calls the API with the token that its user enters. */
export const getManagePage: Handler = (request, env) => {
  const description = 'For owners: reports, revisions, remote cards, observed calls and tokens of the agents of a host.'
  return pageResponse({ title: 'Manage agents', description, section: 'manage', main, script: 'manage.js' }, request, {
    cacheControl: config(env).publicCacheControl,
  })
}

// The field of the token has no name: a form that is sent without the script sends nothing.
const main: Html = html`<h1>Manage agents</h1>
<p>See and change the agents that your token covers. All that this page does is in the <a href="/openapi.json">API</a>, and
<code>sync-card</code> can do it too.</p>
<form id="token-form" class="panel token-form" hidden>
<label for="token">Token with the scope <code>write</code> or <code>admin</code></label>
<input id="token" class="token-field" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" required aria-describedby="token-hint">
<p id="token-hint" class="muted">The token stays in the memory of this page until you leave it. It is sent to this host only, and stored nowhere.</p>
<button class="primary">Use this token</button>
</form>
<noscript><div class="message"><p>This page needs JavaScript. Without it, use a terminal in a clone of this host:</p>
<ul>
<li><code>npx sync-card whoami</code> shows what a token may do</li>
<li><code>npx sync-card list</code> and <code>show ID</code> find agents, <code>lint FILE</code> checks their cards</li>
<li><code>npx sync-card verify URL</code> shows who signed a card, <code>check ID</code> tests an agent against its card</li>
<li><code>npx sync-card refresh ID</code> fetches a remote card, and accepts a pending one</li>
<li><code>npx sync-card history ID</code>, <code>diff ID 7</code> and <code>rollback ID 6</code> compare and restore revisions</li>
<li><code>npx sync-card lint --observed FILE</code> compares a card with the calls of its agent</li>
<li><code>npx sync-card token</code> and <code>npx sync-card audit</code> are for tokens with the scope <code>admin</code></li>
</ul></div></noscript>
<div id="session"></div>
<div id="status" role="status"></div>
<div id="view"></div>`
