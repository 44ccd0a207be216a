import {
  actorOf,
  audited,
  countWrites,
  createToken,
  parseAuthorization,
  requirePrincipal,
  requireScope,
  unauthorized,
} from '../../auth/index.ts'
import { type CardError, tokenIdPattern, validate } from '../../card/model/index.ts'
import { type Handler, problem, readJson, serviceUnavailable, sha256Hex } from '../../http/index.ts'
import { formatPointer, isJsonObject, type Json } from '../../json/index.ts'
import { MAX_TOKEN_SECONDS, MIN_TOKEN_SECONDS } from '../../limits.ts'
import { cacheToken, readToken } from '../../registry/edge/index.ts'
import type { TokenRecord } from '../../registry/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { invalidBody, paginate, parsePageQuery, parseTime } from '../parse-request.ts'
import { noContent, privateJson } from '../private-responses.ts'
import { TokenRequest } from '../request-bodies.ts'

/** `POST /tokens`: issues a token. Its text is in this response and nowhere else. */
export const postToken: Handler = audited(async (request, env, ctx) => {
  const principal = await requireScope({ request, env, ctx }, 'admin', '*')
  await countWrites(principal, env)
  const parsed = parseTokenRequest(await readJson(request), Date.now())
  if ('errors' in parsed) throw invalidBody('invalid-token-request', 'No token was issued. ', parsed.errors)
  const { id, token, hash } = await createToken()
  const record = { id, ...parsed.record }
  const issued = await getRegistry(env).issueToken(record, hash, actorOf(principal))
  // Ids are random: a collision is less likely than a request that reaches the Registry twice.
  if (issued.outcome === 'id-taken') throw serviceUnavailable('No token was issued.')
  if (issued.outcome === 'too-many-tokens')
    throw problem(issued.outcome, `This host stores at most ${issued.limit} tokens. Revoke some first.`)
  cacheToken(hash, record, issued.seq)
  return privateJson({ ...serializeToken(record), token, published: issued.published }, 201)
})

/** `GET /tokens`: a page of the issued tokens, by id, without their text, which is not stored. */
export const listTokens: Handler = async (request, env, ctx) => {
  await requireScope({ request, env, ctx }, 'admin', '*')
  const { after, limit } = parsePageQuery(new URL(request.url), tokenIdPattern)
  const { page, ...rest } = paginate(await getRegistry(env).tokens(after, limit + 1), limit, 'id')
  return privateJson({ tokens: page.map(serializeToken), ...rest })
}

/** `GET /tokens/self`: what the token of the request allows, and until when. */
export const getOwnToken: Handler = async (request, env, ctx) => {
  const { subject, scopes, agents, tiers } = await requirePrincipal({ request, env, ctx })
  if (subject === 'admin') return privateJson({ id: subject, scopes, agents, tiers, expires: null })
  const credentials = parseAuthorization(request.headers)
  const hash = credentials.scheme === 'bearer' ? await sha256Hex(credentials.token) : ''
  const record = await readToken(hash, env, ctx)
  // It may just have expired.
  if (record === null) throw unauthorized({ authenticated: false, reason: 'bad-token', error: 'unknown' })
  const { created, note, ...token } = serializeToken(record)
  return privateJson({ ...token, ...(note !== '' && { note }) })
}

/** `DELETE /tokens/{id}`: revokes a token, here at once and everywhere within the cache time. */
export const deleteToken: Handler = audited(async (request, env, ctx, { id = '' }) => {
  const principal = await requireScope({ request, env, ctx }, 'admin', '*')
  await countWrites(principal, env)
  const revoked = tokenIdPattern.test(id) ? await getRegistry(env).revokeToken(id, actorOf(principal)) : undefined
  if (revoked?.outcome !== 'revoked')
    throw problem('token-not-found', 'No token with this id exists. GET /tokens lists tokens.')
  cacheToken(revoked.hash, null, revoked.seq)
  return noContent()
})

const serializeToken = ({ id, note, scopes, agents, tiers, created, expires }: TokenRecord) => ({
  ...{ id, note, scopes, agents, tiers },
  created: new Date(created).toISOString(),
  expires: expires === null ? null : new Date(expires).toISOString(),
})

/** Parses the body of `POST /tokens` into a record without an id. `now` is in ms since 1970. */
const parseTokenRequest = (
  document: Json,
  now: number,
): { record: Omit<TokenRecord, 'id'> } | { errors: CardError[] } => {
  const errors = Object.keys(isJsonObject(document) ? document : {})
    .filter(name => !Object.hasOwn(TokenRequest.entries, name))
    .map(name => ({ pointer: formatPointer(name), message: `"${name.slice(0, 40)}" is not a field of a token` }))
  const result = validate(TokenRequest, document)
  if ('errors' in result) return { errors: [...errors, ...result.errors] }
  if (errors.length > 0) return { errors }
  const { note, scopes, agents, tiers, expires } = result.output
  const expiry = parseExpiry(expires, now)
  if ('error' in expiry) return { errors: [{ pointer: '/expires', message: expiry.error }] }
  const covers = 'cannot narrow a token with the scope admin, which covers everything'
  if (scopes.includes('admin') && !agents.includes('*')) return { errors: [{ pointer: '/agents', message: covers }] }
  return { record: { note, scopes, agents, tiers, created: now, expires: expiry.at } }
}

/** Parses the end of a token, in ms since 1970 or null for never: seconds from now, a date, or a time with its zone. */
const parseExpiry = (expires: string | number | null, now: number): { at: number | null } | { error: string } => {
  if (expires === null) return { at: null }
  const at = typeof expires === 'number' ? now + expires * 1000 : parseTime(expires)
  if (!Number.isFinite(at))
    return { error: 'must be seconds from now, or a date such as 2027-01-31 or 2027-01-31T12:00:00Z' }
  if (typeof expires === 'number' && !Number.isInteger(expires)) return { error: 'must be whole seconds' }
  if (at < now + MIN_TOKEN_SECONDS * 1000) return { error: `must be at least ${MIN_TOKEN_SECONDS} seconds from now` }
  if (at > now + MAX_TOKEN_SECONDS * 1000)
    return { error: `must be at most ${MAX_TOKEN_SECONDS / 86_400} days from now; omit it for a token without an end` }
  return { at }
}
