import * as v from 'valibot'
import { scopes, strictObject } from '../../card/model/index.ts'
import { TokenRecord } from '../../registry/shared.ts'
import { cursor, flag, text, texts, time, toTime } from './parts.ts'

/** The body of `POST /tokens`. */
export const TokenRequest = strictObject(
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

const token = {
  id: v.string(),
  scopes: v.array(v.picklist(scopes)),
  agents: texts('Agent ids, in which `*` matches any characters.'),
  tiers: texts('The tiers of extended cards that the token may read.'),
  expires: v.nullable(time('When the token ends. Null for never.')),
}

export const Token = v.object({ ...token, note: text('A remark for people.'), created: time('When it was issued.') })
export type Token = v.InferOutput<typeof Token>

export const IssuedToken = v.object({
  ...Token.entries,
  token: v.pipe(v.string(), v.regex(/^\w+$/), v.description('The token itself. No other response has it.')),
  published: flag('Whether every location accepts it.'),
})

export const TokenList = v.object({ tokens: v.array(Token), cursor })

export const OwnToken = v.object({
  ...token,
  id: text('The id of the token; `admin` for `ADMIN_TOKEN`.'),
  note: v.optional(text('A remark for people.')),
})

/** Returns a token as responses have it. */
export const toToken = ({ id, note, scopes, agents, tiers, created, expires }: TokenRecord): Token => ({
  ...{ id, note, scopes, agents, tiers },
  created: toTime(created),
  expires: expires === null ? null : toTime(expires),
})
