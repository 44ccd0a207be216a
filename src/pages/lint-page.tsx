import { MAX_BODY_BYTES } from '../limits.ts'
import { scriptPage } from './layout/index.ts'

const EXAMPLE = `name: Weather
description: Forecasts the weather.
url: https://weather.example.com/a2a
skills:
  - id: getForecast
    name: Forecast
    description: The weather of the next days in a place.
    tags: [weather]
documentationURL: https://weather.example.com/docs`

/** `GET /lint`: the page on which a card of any dialect is checked. Its script calls `POST /lint`. */
export const getLintPage = scriptPage('Get the page that checks a card', request => ({
  title: 'Check a card',
  description:
    'Check an A2A Agent Card in any dialect: what is wrong, what is missing, and what each client would get.',
  section: 'lint',
  script: 'lint-page.js',
  main: (
    <>
      <h1>Check a card</h1>
      <p>
        Paste an Agent Card in any dialect (A2A 1.0 or 0.3, GopherHole, SuperX, Shaman, Telex), or a manifest: JSON,
        YAML, or Markdown with front matter. This host reads it and stores nothing.
      </p>
      <form id="check" class="check" data-max-bytes={MAX_BODY_BYTES}>
        <p class="check-tools">
          <label class="button">
            Open a file <input id="file" type="file" class="visually-hidden" accept=".json,.yaml,.yml,.md,.markdown" />
          </label>
          <button type="button" id="example" data-example={EXAMPLE} disabled>
            Show an example
          </button>
        </p>
        <label for="card">Card</label>
        <textarea
          id="card"
          rows={16}
          spellcheck={false}
          autocapitalize="off"
          dir="ltr"
          placeholder="Paste a card, or drop a file here"
        />
        <p class="check-tools">
          <button type="submit" class="primary" disabled>
            Check
          </button>
          <button type="button" id="share" aria-live="polite" aria-describedby="share-hint" disabled>
            Copy link with this card
          </button>
          <span id="share-hint" class="muted">
            The card is in the link itself, after the #, which browsers never send.
          </span>
        </p>
      </form>
      <noscript>
        <p class="message">
          This page needs JavaScript. Without it, send a card in JSON:{' '}
          <code>curl {new URL('/lint', request.url).href} -H 'Content-Type: application/json' -d @card.json</code>
        </p>
      </noscript>
      <div id="status" role="status" tabindex={-1} />
      <div id="report" />
    </>
  ),
}))
