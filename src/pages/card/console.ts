import { html } from 'hono/html'
import { assetPath, type Html } from '../layout/index.ts'
import type { CardFacts } from './facts.ts'

/**
 * Returns the section of a card page in which a person tries the agent. The console itself is built in the browser once it opens, by
 * src/pages/browser/console: until then it weighs nothing, and without JavaScript it could do nothing.
 */
export const consoleSection = ({
  id,
  hostOrigin,
  route,
}: CardFacts): Html => html`<section id="console" class="console-section" aria-labelledby="console-title" data-agent="${id}" data-origin="${hostOrigin}" data-route="${route}">
<h2 id="console-title">Try it</h2>
<p>Send this agent a message from your browser, and see what it answers and what goes over the wire.</p>
<p class="console-open"><button type="button" class="primary" hidden>Open the console</button></p>
<p role="status"></p>
<p class="message console-needs-scripts">The console needs JavaScript. The <code>curl</code> command on this page makes the same call.</p>
<script type="module" src="${assetPath('console.js')}"></script>
</section>`
