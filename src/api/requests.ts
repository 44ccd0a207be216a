import * as v from 'valibot'
import { scopes } from '../card/model/constants.ts'
import { json, jsonObject, strictObject } from '../card/model/schema.ts'
import { MAX_KEY_SOURCES, MAX_TOKEN_ENTRIES } from '../limits.ts'

// The bodies of requests, apart from the handlers that read them: the OpenAPI document describes them too.

const uniqueList = <Item extends v.GenericSchema<string>>(item: Item, minLength: 0 | 1, message: string) =>
  v.pipe(
    v.array(item, message),
    v.minLength(minLength, message),
    v.maxLength(MAX_TOKEN_ENTRIES, `must have at most ${MAX_TOKEN_ENTRIES} entries`),
    v.transform(items => [...new Set(items)]),
  )

const scopeNames = `${scopes.slice(0, -1).join(', ')} or ${scopes.at(-1)}`
const scopesMessage = `must be a list of ${scopeNames}, with at least one of them`
const agentsMessage = 'must be a list of agent ids, in which * matches any characters; omit it for all agents'

/** The body of `POST /tokens`. */
export const TokenRequest = v.object(
  {
    note: v.optional(v.pipe(v.string(), v.regex(/^\P{Cc}{0,200}$/u, 'must be one line of at most 200 characters')), ''),
    scopes: uniqueList(v.picklist(scopes, `must be ${scopeNames}`), 1, scopesMessage),
    agents: v.optional(
      uniqueList(
        v.pipe(
          v.string(),
          v.regex(/^[a-z0-9*][a-z0-9*-]{0,62}$/, 'must be an agent id, in which * matches any characters'),
        ),
        1,
        agentsMessage,
      ),
      ['*'],
    ),
    tiers: v.optional(
      uniqueList(
        v.pipe(v.string(), v.regex(/^(?:\*|[a-z][a-z0-9-]{0,31})$/, 'must be the name of a tier, or * for all')),
        0,
        'must be a list of tier names',
      ),
      [],
    ),
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

/** The largest number of 15 digits: such numbers are exact. */
const MAX_SEQ = 999_999_999_999_999

/** The body of `POST /agents/{id}/rollback`. */
export const RollbackRequest = strictObject({
  seq: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_SEQ)),
})

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
