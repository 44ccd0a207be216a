import { html } from 'hono/html'
import { agentPath, type Described, endpoint, HTML, withContent } from '../api/contract/index.ts'
import { config } from '../config.ts'
import { type Handler, problem, toHttpError } from '../http/index.ts'
import { MAX_BODY_BYTES } from '../limits.ts'
import { getCardPage as cardPage } from './card/index.ts'
import { getCatalogPage as catalogPage } from './catalog/index.ts'
import { errorPage, type Html, type Page, pageResponse } from './layout/index.ts'

const described = {
  tag: 'pages',
  access: 'public',
  responses: { 200: withContent('The page.', HTML) },
  validated: true,
  raw: true,
  limits: ['PAGE_LIMIT'],
} as const

/** Returns an endpoint that answers its errors with pages, too. */
const page = <Params extends string>(endpoint: Handler & Described<Params>): Handler & Described<Params> => {
  const handle: Handler = async (request, ...rest) => {
    try {
      return await endpoint(request, ...rest)
    } catch (error) {
      const httpError = toHttpError(error)
      if (!httpError) throw error
      return errorPage(httpError, request)
    }
  }
  return Object.assign(handle, { description: endpoint.description })
}

/** Returns a page that is the same for all, and does its work in a script. */
const scriptPage = (summary: string, content: Omit<Page, 'main'>, main: (request: Request) => Html) =>
  page(
    endpoint({ ...described, summary }, ({ request, env }) =>
      pageResponse({ ...content, main: main(request) }, request, { cacheControl: config(env).publicCacheControl }),
    ),
  )

const catalog = {
  ...described,
  summary: 'Get the page on which people find agents',
  description: 'For browsers only. Its query is that of `GET /agents`.',
  problems: ['not-found'],
} as const

/** `GET /` and `GET /agents` for browsers: the agents that match a search. */
export const getCatalogPage = page(endpoint(catalog, catalogPage))

/** `GET /agents/{id}` for browsers: the card of an agent. */
export const getCardPage = page(
  endpoint(
    { ...described, summary: 'Get the page of an agent', params: agentPath, problems: ['agent-not-found'] },
    cardPage,
  ),
)

/** Any path without an endpoint, for browsers. */
export const getNotFoundPage = page(
  endpoint({ ...described, summary: 'Get the page of an unknown address', problems: ['not-found'] }, () =>
    problem('not-found', 'This host has no page with this address.'),
  ),
)

const EXAMPLE = `name: Weather
description: Forecasts the weather.
url: https://weather.example.com/a2a
skills:
  - id: forecast
    name: Forecast
    description: The weather of the next days in a place.
    tags: [weather]`

/** `GET /lint`: the page on which a card of any dialect is checked. Its script calls `POST /lint`. */
export const getLintPage = scriptPage(
  'Get the page that checks a card',
  {
    title: 'Check a card',
    description:
      'Check an A2A Agent Card in any dialect: what is wrong, what is missing, and what each client would get.',
    section: 'lint',
    script: 'lint-page.js',
  },
  request => html`<h1>Check a card</h1>
<p>Paste an Agent Card in any dialect (A2A 1.0 or 0.3, GopherHole, SuperX, Shaman, Telex), or a manifest: JSON, YAML, or
Markdown with front matter. This host reads it and stores nothing.</p>
<form id="check" class="check" data-max-bytes="${MAX_BODY_BYTES}">
<p class="check-tools"><label class="button">Open a file <input id="file" type="file" class="visually-hidden"
accept=".json,.yaml,.yml,.md,.markdown"></label>
<button type="button" id="example" data-example="${EXAMPLE}">Show an example</button></p>
<label for="card">Card</label>
<textarea id="card" rows="16" spellcheck="false" autocapitalize="off" dir="ltr"
placeholder="Paste a card, or drop a file here"></textarea>
<p class="check-tools"><button class="primary">Check</button>
<button type="button" id="share">Copy the link to this page</button>
<span class="muted">The link contains nothing of your card.</span></p>
</form>
<noscript><p class="message">This page needs JavaScript. Without it, send a card in JSON: <code>curl
${new URL('/lint', request.url).href} -H 'Content-Type: application/json' -d @card.json</code></p></noscript>
<div id="status" role="status"></div>
<div id="report"></div>`,
)

/** `GET /manage`: the page of owners. Its script calls the API with the token that its user enters. */
export const getManagePage = scriptPage(
  'Get the page on which owners manage agents',
  {
    title: 'Manage agents',
    description: 'For owners: reports, revisions, remote cards, observed calls and tokens of the agents of a host.',
    section: 'manage',
    script: 'manage.js',
  },
  // The field of the token has no name: a form that is sent without the script sends nothing.
  () => html`<h1>Manage agents</h1>
<p>See and change the agents that your token covers. All that this page does is in the <a href="/openapi.json">API</a>,
and <code>sync-card</code> can do it too.</p>
<form id="token-form" class="panel token-form" hidden>
<label for="token">Token with the scope <code>write</code> or <code>admin</code></label>
<input id="token" class="token-field" type="password" autocomplete="off" autocapitalize="off" spellcheck="false"
required aria-describedby="token-hint">
<p id="token-hint" class="muted">The token stays in the memory of this page until you leave it. It is sent to this host
only, and stored nowhere.</p>
<button class="primary">Use this token</button>
</form>
<noscript><div class="message"><p>This page needs JavaScript. Without it, use a terminal in a clone of this host:</p>
<ul>
<li><code>npx sync-card whoami</code> shows what a token may do</li>
<li><code>npx sync-card list</code> and <code>show ID</code> find agents, <code>lint FILE</code> checks their cards</li>
<li><code>npx sync-card verify URL</code> shows who signed a card, <code>check ID</code> tests an agent against it</li>
<li><code>npx sync-card refresh ID</code> fetches a remote card, and accepts a pending one</li>
<li><code>npx sync-card history ID</code>, <code>diff ID 7</code> and <code>rollback ID 6</code> compare and restore
revisions</li>
<li><code>npx sync-card lint --observed FILE</code> compares a card with the calls of its agent</li>
<li><code>npx sync-card token</code> and <code>npx sync-card audit</code> are for the scope <code>admin</code></li>
</ul></div></noscript>
<div id="session"></div>
<div id="status" role="status"></div>
<div id="view"></div>`,
)
