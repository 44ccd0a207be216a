import * as v from 'valibot'
import { json, jsonObject, revisionNumber, strictObject, wholeNumber } from '../card/model/index.ts'
import { MAX_FILTERS, MAX_KEY_SOURCES, MAX_PAGE_SIZE, MAX_QUERY_LENGTH, MAX_SEARCH_TEXT_LENGTH } from '../limits.ts'
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

const textMessage = `must be a string of at most ${MAX_SEARCH_TEXT_LENGTH} characters`
const valuesMessage = `must be 1 to ${MAX_FILTERS} texts of 1 to ${MAX_QUERY_LENGTH} characters`

/** Values of one member are alternatives, and every member must match (ARD 0.91 §5.3.1). */
const filterValues = v.pipe(
  v.union([v.string(), v.array(v.string())], valuesMessage),
  v.check(value => {
    const values = [value].flat()
    const isText = (each: string) => each.trim() !== '' && each.length <= MAX_QUERY_LENGTH
    return values.length >= 1 && values.length <= MAX_FILTERS && values.every(isText)
  }, valuesMessage),
)

/** The body of `POST /ard/search` and `POST /search`. */
export const ArdSearchRequest = strictObject({
  query: strictObject({
    '@context': v.optional(json),
    text: v.pipe(
      v.string(textMessage),
      v.maxLength(MAX_SEARCH_TEXT_LENGTH, textMessage),
      v.description('What the agent should do, in natural language.'),
    ),
    filter: v.optional(
      strictObject({
        type: v.optional(filterValues),
        tags: v.optional(filterValues),
        capabilities: v.optional(filterValues),
      }),
    ),
  }),
  federation: v.optional(v.picklist(['auto', 'referrals', 'none'], 'must be auto, referrals or none')),
  pageSize: v.optional(wholeNumber(1, MAX_PAGE_SIZE), 10),
  pageToken: v.optional(v.pipe(v.string(), v.description('The `pageToken` of the page before.'))),
})

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
