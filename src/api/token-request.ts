import * as v from 'valibot'
import type { CardError } from '../card/model/report.ts'
import { anyText, list, matches, oneOf, some } from '../card/model/schema.ts'
import { scopes } from '../card/model/scopes.ts'
import { toCardErrors } from '../card/model/valibot-errors.ts'
import { isJsonObject, type Json } from '../json/json.ts'
import { formatPointer } from '../json/pointer.ts'
import type { TokenRecord } from '../registry/token-record.ts'
import { parseExpiry } from './token-expiry.ts'

const most = 20

const few = <Item extends v.GenericSchema<string>>(item: Item, message: string) =>
  v.pipe(
    some(list(item, message), message),
    v.check(({ length }) => length <= most, `must hold at most ${most} entries`),
    v.transform(items => [...new Set(items)]),
  )

/** What `POST /tokens` takes: a token for everything of its scopes that does not say less. */
const TokenRequest = v.object(
  {
    note: v.optional(v.pipe(anyText, matches(/^\P{Cc}{0,200}$/u, 'must be one line of at most 200 characters')), ''),
    scopes: few(oneOf(...scopes), 'must be a list of read, write or admin, with one at least'),
    agents: v.optional(
      few(
        v.pipe(
          anyText,
          matches(/^[a-z0-9*][a-z0-9*-]{0,62}$/, "must be an agent's id, in which * stands for anything"),
        ),
        "must be a list of agents' ids, in which * stands for anything; leave it out for all agents",
      ),
      ['*'],
    ),
    tiers: v.optional(
      v.pipe(
        list(
          v.pipe(anyText, matches(/^(?:\*|[a-z][a-z0-9-]{0,31})$/, 'must be the name of a tier, or * for all')),
          'must be a list of names of tiers',
        ),
        v.check(({ length }) => length <= most, `must hold at most ${most} entries`),
        v.transform(tiers => [...new Set(tiers)]),
      ),
      [],
    ),
    expires: v.optional(
      v.custom<string | number | null>(
        value => ['string', 'number'].includes(typeof value) || value === null,
        'must be seconds from now, or a date such as 2027-01-31',
      ),
      null,
    ),
  },
  'must be an object with scopes, and perhaps note, agents, tiers and expires',
)

/** What a token is to be good for; or what is wrong with the request. `now` in ms since 1970. */
export const parseTokenRequest = (
  document: Json,
  now: number,
): { wanted: Omit<TokenRecord, 'id'> } | { errors: CardError[] } => {
  const unknown = Object.keys(isJsonObject(document) ? document : {}).filter(
    name => !Object.hasOwn(TokenRequest.entries, name),
  )
  const result = v.safeParse(TokenRequest, document)
  const errors = [
    ...unknown.map(name => ({
      pointer: formatPointer(name),
      message: `"${name.slice(0, 40)}" is not a field of a token`,
    })),
    ...(result.success ? [] : toCardErrors(result.issues, place => place)),
  ]
  if (!result.success || errors.length > 0) return { errors }
  const { note, scopes, agents, tiers, expires } = result.output
  const expiry = parseExpiry(expires, now)
  if ('refused' in expiry) return { errors: [{ pointer: '/expires', message: expiry.refused }] }
  if (scopes.includes('admin') && !agents.includes('*'))
    return {
      errors: [{ pointer: '/agents', message: 'cannot narrow a token with the scope admin, which may do everything' }],
    }
  return { wanted: { note, scopes, agents, tiers, created: now, expires: expiry.at } }
}
