import * as v from 'valibot'
import { requireScope } from '../auth/require.ts'
import { createToken, tokenId } from '../auth/token.ts'
import { scopes } from '../card/model/constants.ts'
import type { CardError } from '../card/model/report.ts'
import { validate } from '../card/model/schema.ts'
import { readJson } from '../http/body.ts'
import { HttpError } from '../http/errors.ts'
import type { Handler } from '../http/handler.ts'
import { CORS_HEADERS, PRIVATE_NO_STORE } from '../http/headers.ts'
import { jsonResponse } from '../http/responses.ts'
import { formatPointer, isJsonObject, type Json } from '../json/json.ts'
import { cacheToken } from '../registry/edge/lookups.ts'
import type { TokenRecord } from '../registry/records.ts'
import { getRegistry } from '../registry/store/client.ts'
import { paginate, parsePageQuery } from './pagination.ts'

const day = 86_400
/** In seconds: KV keeps nothing for less than a minute, and nobody knows who holds a token in ten years. */
const least = 60
const mostTokenExpiry = 3650 * day

const form = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** When a token ends, in ms since 1970, or null for never: from seconds, or from a date (its beginning in UTC) or a time with its zone. */
const parseExpiry = (expires: string | number | null, now: number): { at: number | null } | { refused: string } => {
  if (expires === null) return { at: null }
  const at = typeof expires === 'number' ? now + expires * 1000 : timeOf(expires)
  if (Number.isNaN(at))
    return { refused: 'must be seconds from now, or a date such as 2027-01-31 or 2027-01-31T12:00:00Z' }
  if (typeof expires === 'number' && !Number.isInteger(expires)) return { refused: 'must be whole seconds' }
  if (at < now + least * 1000) return { refused: `must be at least ${least} seconds from now` }
  if (at > now + mostTokenExpiry * 1000)
    return { refused: `must be at most ${mostTokenExpiry / day} days from now; leave it out for no end` }
  return { at }
}

/** A day that its month has not is no date, though `Date` takes it for one of the next. */
const timeOf = (text: string): number => {
  const date = form.exec(text)?.[1]
  if (date === undefined) return Number.NaN
  const midnight = Date.parse(date)
  return new Date(midnight || 0).toISOString().startsWith(date) ? Date.parse(text) : Number.NaN
}

const most = 20

const few = <Item extends v.GenericSchema<string>>(item: Item, message: string) =>
  v.pipe(
    v.array(item, message),
    v.nonEmpty(message),
    v.check(({ length }) => length <= most, `must hold at most ${most} entries`),
    v.transform(items => [...new Set(items)]),
  )

/** What `POST /tokens` takes: a token for everything of its scopes that does not say less. */
const TokenRequest = v.object(
  {
    note: v.optional(v.pipe(v.string(), v.regex(/^\P{Cc}{0,200}$/u, 'must be one line of at most 200 characters')), ''),
    scopes: few(
      v.picklist(scopes, 'must be read, write or admin'),
      'must be a list of read, write or admin, with one at least',
    ),
    agents: v.optional(
      few(
        v.pipe(
          v.string(),
          v.regex(/^[a-z0-9*][a-z0-9*-]{0,62}$/, "must be an agent's id, in which * stands for anything"),
        ),
        "must be a list of agents' ids, in which * stands for anything; leave it out for all agents",
      ),
      ['*'],
    ),
    tiers: v.optional(
      v.pipe(
        v.array(
          v.pipe(v.string(), v.regex(/^(?:\*|[a-z][a-z0-9-]{0,31})$/, 'must be the name of a tier, or * for all')),
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
const parseTokenRequest = (
  document: Json,
  now: number,
): { wanted: Omit<TokenRecord, 'id'> } | { errors: CardError[] } => {
  const unknown = Object.keys(isJsonObject(document) ? document : {}).filter(
    name => !Object.hasOwn(TokenRequest.entries, name),
  )
  const result = validate(TokenRequest, document)
  const errors = [
    ...unknown.map(name => ({
      pointer: formatPointer(name),
      message: `"${name.slice(0, 40)}" is not a field of a token`,
    })),
    ...('errors' in result ? result.errors : []),
  ]
  if ('errors' in result || errors.length > 0) return { errors }
  const { note, scopes, agents, tiers, expires } = result.output
  const expiry = parseExpiry(expires, now)
  if ('refused' in expiry) return { errors: [{ pointer: '/expires', message: expiry.refused }] }
  if (scopes.includes('admin') && !agents.includes('*'))
    return {
      errors: [{ pointer: '/agents', message: 'cannot narrow a token with the scope admin, which may do everything' }],
    }
  return { wanted: { note, scopes, agents, tiers, created: now, expires: expiry.at } }
}

const headers = { 'Cache-Control': PRIVATE_NO_STORE }

/** `POST /tokens`: issues a token. Its text is in this answer and nowhere else. */
export const postToken: Handler = async (request, env, ctx) => {
  await requireScope({ request, env, ctx }, 'admin', '*')
  const asked = parseTokenRequest(await readJson(request), Date.now())
  if ('errors' in asked) {
    const { pointer = '', message = '' } = asked.errors[0] ?? {}
    throw new HttpError(422, 'invalid-token-request', `No token was issued. ${pointer || 'The document'} ${message}.`, {
      errors: asked.errors.slice(0, 100),
    })
  }
  const { id, token, hash } = await createToken()
  const record = { id, ...asked.wanted }
  const issued = await getRegistry(env).issueToken(record, hash)
  // Ids are random: that one is taken is less likely than that the object is away.
  if (issued.outcome === 'id-taken') throw new HttpError(503, 'unavailable', 'No token was issued. Try again.')
  if (issued.outcome === 'too-many-tokens')
    throw new HttpError(409, issued.outcome, `This host keeps ${issued.most} tokens at most. Revoke some first.`)
  cacheToken(hash, record, issued.seq)
  return jsonResponse({ ...shown(record), token, published: issued.published }, 201, headers)
}

/** `GET /tokens`: a page of the tokens that were issued, by their ids. The tokens themselves nobody knows any more. */
export const listTokens: Handler = async (request, env, ctx) => {
  await requireScope({ request, env, ctx }, 'admin', '*')
  const { after, limit } = parsePageQuery(new URL(request.url), tokenId)
  const { shown: tokens, ...more } = paginate(await getRegistry(env).tokens(after, limit + 1), limit)
  return jsonResponse({ tokens: tokens.map(shown), ...more }, 200, headers)
}

/** `DELETE /tokens/{id}`: ends a token here at once, and everywhere within the cache time. */
export const deleteToken: Handler = async (request, env, ctx) => {
  await requireScope({ request, env, ctx }, 'admin', '*')
  const id = request.params.id ?? ''
  const revoked = tokenId.test(id) ? await getRegistry(env).revokeToken(id) : undefined
  if (revoked?.outcome !== 'revoked')
    throw new HttpError(404, 'token-not-found', 'There is no token of that id. GET /tokens lists those that there are.')
  cacheToken(revoked.hash, null, revoked.seq)
  return new Response(null, { status: 204, headers: { ...CORS_HEADERS, ...headers } })
}

const shown = ({ id, note, scopes, agents, tiers, created, expires }: TokenRecord) => ({
  id,
  note,
  scopes,
  agents,
  tiers,
  created: new Date(created).toISOString(),
  expires: expires === null ? null : new Date(expires).toISOString(),
})
