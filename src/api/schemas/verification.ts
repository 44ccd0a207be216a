import * as v from 'valibot'
import { jsonObject, payloadRules, strictObject } from '../../card/model/index.ts'
import { MAX_KEY_SOURCES } from '../../limits.ts'
import { described, flag, oneOf, text, texts } from './parts.ts'

const keyMessage = 'must be a JWK, the URL of a JWK Set, or a DID such as did:web:agent.example.com'

/** The body of `POST /verify`: a card or its address, and the keys that the caller trusts. */
export const VerifyRequest = v.pipe(
  strictObject(
    {
      card: v.optional(jsonObject('must be an Agent Card, as an object')),
      url: v.optional(
        v.pipe(v.string(), v.regex(/^https?:\/\//, 'must be the URL of a card, such as https://agent.example.com')),
      ),
      keys: v.optional(
        v.pipe(
          v.array(
            v.union([jsonObject(), v.pipe(v.string(), v.regex(/^(?:https?:\/\/|did:web:)/, keyMessage))], keyMessage),
          ),
          v.minLength(1, 'must name at least one key; omit it for the keys of the origin of the card'),
          v.maxLength(MAX_KEY_SOURCES, `must have at most ${MAX_KEY_SOURCES} entries`),
        ),
      ),
    },
    'must be an object with card or url, and optionally keys',
  ),
  v.check(({ card, url }) => (card === undefined) !== (url === undefined), 'must have either `card` or `url`'),
)

export const VerifyResult = v.object({
  verified: flag('Whether the card has a valid signature by a trusted key.'),
  reason: v.optional(text('Why not.')),
  trust: v.object({
    basis: oneOf(['given', 'origin', 'signer'], 'Who chose the keys: the request, the origin of the card, its signer.'),
    meaning: text('What that is worth.'),
  }),
  signatures: v.array(
    v.object({
      version: v.optional(described(v.literal('1.0'), 'Set for signatures of a separate document for A2A 1.0.')),
      ...{ kid: v.optional(v.string()), alg: v.optional(v.string()) },
      ...{ typ: v.optional(v.string()), jku: v.optional(v.string()) },
      valid: v.boolean(),
      rule: v.optional(oneOf(payloadRules, 'By which rule the signed text is made from the card.')),
      omits: v.optional(text('What it does not cover.')),
      key: v.optional(v.object({ kid: v.string(), thumbprint: text('See RFC 7638.'), from: text('Its source.') })),
      reason: v.optional(text('Why it is not valid, as a clause about the signature.')),
    }),
  ),
  sdks: v.array(
    v.object({
      sdk: text('An SDK and its versions, or another verifier.'),
      accepted: flag('Whether it accepts a signature of the card.'),
      reason: v.optional(text('Why not, as a clause about the SDK.')),
    }),
  ),
  keys: v.object({
    sources: texts('Where keys were searched.'),
    errors: texts('Why keys of a source cannot be used.'),
  }),
  missing: v.optional(text('Why there is no document for A2A 1.0.')),
})
