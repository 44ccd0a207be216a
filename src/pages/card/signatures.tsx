import { CopyButton, Facts, Fold, listWords, Prose, quote, representationLabels, WebLink } from '../components/index.ts'
import { headline } from './bound-card.ts'
import type { CardFacts } from './card-facts.ts'
import { Checks } from './details.tsx'
import type { CardSigning, Signer } from './signing.ts'

/** Keys by which signatures are shown; a card can name one in each of its signatures. */
const MAX_SHOWN_SIGNERS = 10
const MAX_NAME_LENGTH = 200

const signerNames = { host: 'this host', author: 'its author (not verified here)' } as const

/** Returns in a few words who signed a card. */
export const signingWords = ({ signers }: CardSigning): string => {
  if (signers.length === 0) return 'Not signed'
  const names = new Set(signers.flatMap(({ by }) => (by === 'invalid' ? [] : [signerNames[by]])))
  return names.size === 0 ? 'Its signature is not valid' : `Signed by ${listWords([...names])}`
}

const UNVERIFIED =
  'This page does not verify the signatures of the author: it knows no key that it could trust for them.'

/** Who signed the card, with which keys, what that covers, and which SDKs accept it: a line that can be opened. */
export const Signatures = ({ signing, cardUrl }: Pick<CardFacts, 'signing' | 'cardUrl'>) => {
  const { signers, verdicts } = signing
  if (signers.length === 0) return null
  const rest = signers.length - MAX_SHOWN_SIGNERS
  const accepting = verdicts?.filter(({ accepted }) => accepted).length
  const accepted = verdicts ? `; ${accepting} of ${verdicts.length} verifiers accept it` : ''
  const body = JSON.stringify({ url: cardUrl })
  return (
    <Fold class="line" title={signingWords(signing) + accepted}>
      <div id="signatures">
        <ul class="panels">
          {signers.slice(0, MAX_SHOWN_SIGNERS).map(signer => (
            <SignerItem {...signer} />
          ))}
        </ul>
        {rest > 0 && <p>And {rest} more.</p>}
        {signers.some(({ by }) => by === 'author') && <p class="muted">{UNVERIFIED}</p>}
        {verdicts && (
          <>
            <h3>Which verifiers accept them</h3>
            <p>
              With the <a href="/.well-known/jwks.json">keys of this host</a>:
            </p>
            <Checks
              items={verdicts.map(({ sdk, accepted, reason = '' }) =>
                accepted
                  ? ['yes', `${sdk}: accepts the card.`]
                  : ['no', `${sdk}: does not accept the card. It ${headline(reason, MAX_NAME_LENGTH)}.`],
              )}
            />
          </>
        )}
        <h3>Verify them</h3>
        <p>This host, and any other Calling Card host, verifies the card at an address:</p>
        <p class="copied">
          <code id="verify" dir="ltr">
            curl {new URL('/verify', cardUrl).href} -H 'Content-Type: application/json' -d '{body}'
          </code>
          <CopyButton of="verify" title="Copy the command that verifies the card" />
        </p>
      </div>
    </Fold>
  )
}

/** The description of a signature, before the name of its key. */
const signerWords = {
  host: 'Signed by this host with',
  author: 'A signature of its author names',
  invalid: 'Not a valid signature of this host, although it names',
} as const

const SignerItem = ({ by, kid, alg, jku, documents, covers, reasons }: Signer) => {
  const key = kid === undefined ? 'a key without a name' : `the key ${quote(headline(kid, MAX_NAME_LENGTH))}`
  const algorithm = alg === undefined ? '' : ` (${quote(headline(alg, 40))})`
  const why = by !== 'author' && reasons.length > 0 && `It ${headline(reasons.join('; '), MAX_NAME_LENGTH)}.`
  return (
    <li class="panel">
      <p>
        <Prose text={`${signerWords[by]} ${key}${algorithm}`} />
        {jku !== undefined && [' from ', <WebLink url={jku} label={headline(jku, MAX_NAME_LENGTH)} />]}.
      </p>
      <Facts
        rows={[
          ['In', listWords(documents.map(name => representationLabels[name]))],
          ['Covers', listWords(covers.map(([phrase, rules]) => `${phrase} (${rules.join(', ')})`))],
          ['Why', why],
        ]}
      />
    </li>
  )
}
