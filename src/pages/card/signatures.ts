import { html } from 'hono/html'
import type { Html } from '../layout/index.ts'
import { representationLabels } from '../text/index.ts'
import type { CardFacts } from './facts.ts'
import type { CardSigning, Signer } from './signing.ts'
import { code, headline, inline, sentenceList, webLink } from './text.ts'

/** Keys by which signatures are shown; a card can name one in each of its signatures. */
const MAX_SHOWN_SIGNERS = 10
const MAX_NAME_LENGTH = 200

const signerNames = { host: 'this host', author: 'its author (not verified here)' } as const

/** What a signature says of its key, before the name of the key. */
const signerWords = {
  host: 'Signed by this host with',
  author: 'A signature of its author names',
  invalid: 'Not a valid signature of this host, although it names',
} as const

/** Returns in a few words who signed a card. */
export const signingWords = ({ signers }: CardSigning): string => {
  if (signers.length === 0) return 'The card is not signed.'
  const names = new Set(signers.flatMap(({ by }) => (by === 'invalid' ? [] : [signerNames[by]])))
  return names.size === 0 ? 'Its signature is not valid.' : `Signed by ${[...names].join(' and ')}.`
}

/** Renders who signed the card, with which keys, what that covers, and which SDKs accept it; nothing for a card without signatures. */
export const signaturesSection = ({ signing, cardUrl }: CardFacts): Html | string => {
  const { signers, verdicts } = signing
  if (signers.length === 0) return ''
  const rest = signers.length - MAX_SHOWN_SIGNERS
  const hasAuthor = signers.some(({ by }) => by === 'author')
  return html`<section aria-labelledby="signatures"><h2 id="signatures">Signatures</h2>
<ul class="endpoints">${signers.slice(0, MAX_SHOWN_SIGNERS).map(signerItem)}</ul>
${rest > 0 ? html`<p>And ${rest} more.</p>` : ''}
${hasAuthor ? html`<p class="muted">This page does not verify the signatures of the author: it knows no key that it could trust for them.</p>` : ''}
${
  verdicts === undefined
    ? ''
    : html`<h3 id="verifiers">Which verifiers accept them</h3>
<p>With the <a href="/.well-known/jwks.json">keys of this host</a>:</p>
<ul class="capabilities" aria-labelledby="verifiers">${verdicts.map(({ sdk, accepted, reason }) =>
        accepted
          ? html`<li class="yes">${sdk}: accepts the card.</li>`
          : html`<li class="no">${sdk}: does not accept the card. It ${inline(headline(reason ?? '', MAX_NAME_LENGTH))}.</li>`,
      )}</ul>`
}
<h3>Verify them</h3>
<p>This host, and any other Calling Card host, verifies the card at an address:</p>
<p class="copied"><code id="verify" dir="ltr">curl ${new URL('/verify', cardUrl).href} -H 'Content-Type: application/json' -d '${JSON.stringify({ url: cardUrl })}'</code><button type="button" class="copy" data-copies="verify" aria-label="Copy the command that verifies the card">Copy</button></p>
</section>`
}

const signerItem = ({ by, kid, alg, jku, documents, covers, reasons }: Signer): Html => {
  const key = kid === undefined ? html`a key without a name` : html`the key ${code(headline(kid, MAX_NAME_LENGTH))}`
  const algorithm = alg === undefined ? '' : html` (${inline(headline(alg, 40))})`
  const from = jku === undefined ? '' : html` from ${webLink(jku, headline(jku, MAX_NAME_LENGTH))}`
  const labels = documents.map(name => html`${representationLabels[name]}`)
  return html`<li class="panel"><p>${signerWords[by]} ${key}${algorithm}${from}.</p>
<dl class="facts"><dt>In</dt><dd>${sentenceList(labels, 'and')}</dd>${
    covers.length === 0
      ? ''
      : html`<dt>Covers</dt><dd><ul class="plain">${covers.map(
          ([phrase, rules]) => html`<li>${phrase} (${rules.join(', ')})</li>`,
        )}</ul></dd>`
  }${reasons.length === 0 || by === 'author' ? '' : html`<dt>Why</dt><dd>It ${inline(headline(reasons.join('; '), MAX_NAME_LENGTH))}.</dd>`}</dl></li>`
}
