import * as v from 'valibot'
import { json, jsonObject, revisionNumber, strictObject } from '../card/model/index.ts'
import { MAX_KEY_SOURCES } from '../limits.ts'
import { TokenRecord } from '../registry/index.ts'

// The bodies of requests, apart from the handlers that read them: the OpenAPI document describes them too.

/** The body of `POST /tokens`. */
export const TokenRequest = v.object(
  {
    note: v.optional(TokenRecord.entries.note, ''),
    scopes: TokenRecord.entries.scopes,
    agents: v.optional(TokenRecord.entries.agents, ['*']),
    tiers: v.optional(TokenRecord.entries.tiers, []),
    expires: v.optional(
      v.union([v.string(), v.number(), v.null()], 'must be seconds from now, or a date such as 2027-01-31'),
      null,
    ),
  },
  'must be an object with scopes and, optionally, note, agents, tiers and expires',
)

const headerText = v.optional(v.pipe(v.string(), v.regex(/^[\x20-\x7e]*$/, 'must be the value of a header')))

/** A line of a batch: the body of `PUT /agents/{id}`, with its conditions. */
export const BatchLine = strictObject({ id: v.string(), manifest: json, ifMatch: headerText, ifNoneMatch: headerText })

/** The body of `POST /agents/{id}/rollback`. */
export const RollbackRequest = strictObject({ seq: revisionNumber })

/** The body of `POST /agents/{id}/check`, if there is one: whether work is started, too. */
export const CheckRequest = strictObject({ send: v.optional(v.boolean()) })

/** The body of `POST /agents/{id}/refresh`, if there is one: the entity tag of the pending card to accept. */
export const RefreshRequest = strictObject({ accept: v.optional(v.string()) })

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
