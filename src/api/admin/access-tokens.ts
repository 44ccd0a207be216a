import { actorOf, createToken, parseAuthorization, unauthorized } from '../../auth/index.ts'
import { tokenIdPattern } from '../../card/model/index.ts'
import { problem, serviceUnavailable, sha256Hex } from '../../http/index.ts'
import { MAX_TOKEN_SECONDS, MIN_TOKEN_SECONDS } from '../../limits.ts'
import { cacheToken, readToken } from '../../registry/edge/index.ts'
import type { TokenRecord } from '../../registry/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { anyText, endpoint, invalidBody, json, jsonBody, noContent, pageQuery, paginate } from '../contract/index.ts'
import { IssuedToken, OwnToken, parseTime, TokenList, TokenRequest, toToken } from '../schemas/index.ts'

/** `POST /tokens`: issues a token. Its text is in this response and nowhere else. */
export const issueToken = endpoint(
  {
    tag: 'administration',
    summary: 'Issue a token',
    access: 'admin',
    body: jsonBody(TokenRequest, { problem: 'invalid-token-request', outcome: 'No token was issued.' }),
    responses: { 201: json('The token, with its text.', IssuedToken) },
    problems: ['too-many-tokens'],
    limits: ['WRITE_LIMIT'],
  },
  async ({ body, caller, env }) => {
    const created = Date.now()
    const expires = parseExpiry(body.expires, created)
    if (body.scopes.includes('admin') && !body.agents.includes('*'))
      throw invalidToken('/agents', 'cannot narrow a token with the scope admin, which covers everything')
    const { id, token, hash } = await createToken()
    const record: TokenRecord = { id, ...body, created, expires }
    const issued = await getRegistry(env).issueToken(record, hash, actorOf(caller))
    // Ids are random: a collision is less likely than a request that reaches the Registry twice.
    if (issued.outcome === 'id-taken') return serviceUnavailable('No token was issued.')
    if (issued.outcome === 'too-many-tokens')
      return problem(issued.outcome, `This host stores at most ${issued.limit} tokens. Revoke some first.`)
    cacheToken(hash, record, issued.seq)
    return { body: { ...toToken(record), token, published: issued.published } }
  },
)

/** `GET /tokens`: a page of the issued tokens, by id, without their text, which is not stored. */
export const listTokens = endpoint(
  {
    tag: 'administration',
    summary: 'List the tokens, without their texts',
    access: 'admin',
    query: pageQuery(tokenIdPattern),
    responses: { 200: json('A page of tokens.', TokenList) },
  },
  async ({ env, query: { limit, cursor } }) => {
    const { page, ...rest } = paginate(await getRegistry(env).tokens(cursor, limit + 1), limit, 'id')
    return { body: { tokens: page.map(toToken), ...rest } }
  },
)

/** `GET /tokens/self`: what the token of the request allows, and until when. */
export const getOwnToken = endpoint(
  {
    tag: 'administration',
    summary: 'Get the scopes, agents and tiers of the token that is sent',
    access: 'token',
    responses: { 200: json('The token, without its text.', OwnToken) },
    problems: ['bad-token'],
  },
  async ({ caller, request, env, ctx }) => {
    const { subject, scopes, agents, tiers } = caller
    if (subject === 'admin') return { body: { id: subject, scopes, agents, tiers, expires: null } }
    const credentials = parseAuthorization(request.headers)
    const hash = credentials.scheme === 'bearer' ? await sha256Hex(credentials.token) : ''
    const record = await readToken(hash, env, ctx)
    // It may just have expired.
    if (record === null) throw unauthorized({ authenticated: false, reason: 'bad-token', error: 'unknown' })
    const { created, note, ...token } = toToken(record)
    return { body: { ...token, ...(note !== '' && { note }) } }
  },
)

/** `DELETE /tokens/{id}`: revokes a token, here at once and everywhere within the cache time. */
export const revokeToken = endpoint(
  {
    tag: 'administration',
    summary: 'Revoke a token',
    access: 'admin',
    params: { id: anyText('The id of the token.') },
    responses: { 204: noContent('The token was revoked.') },
    problems: ['token-not-found'],
    limits: ['WRITE_LIMIT'],
  },
  async ({ params: { id }, caller, env }) => {
    const revoked = tokenIdPattern.test(id) ? await getRegistry(env).revokeToken(id, actorOf(caller)) : undefined
    if (revoked?.outcome !== 'revoked')
      return problem('token-not-found', 'No token with this id exists. GET /tokens lists tokens.')
    cacheToken(revoked.hash, null, revoked.seq)
    return {}
  },
)

const invalidToken = (pointer: string, message: string) =>
  invalidBody('invalid-token-request', 'No token was issued.', [{ pointer, message }])

/** Parses the end of a token, in ms since 1970 or null for never: seconds from now, a date, or a time with its zone. */
const parseExpiry = (expires: string | number | null, now: number): number | null => {
  if (expires === null) return null
  const at = typeof expires === 'number' ? now + expires * 1000 : parseTime(expires)
  const invalid = (message: string) => invalidToken('/expires', message)
  if (!Number.isFinite(at))
    throw invalid('must be seconds from now, or a date such as 2027-01-31 or 2027-01-31T12:00:00Z')
  if (typeof expires === 'number' && !Number.isInteger(expires)) throw invalid('must be whole seconds')
  if (at < now + MIN_TOKEN_SECONDS * 1000) throw invalid(`must be at least ${MIN_TOKEN_SECONDS} seconds from now`)
  if (at <= now + MAX_TOKEN_SECONDS * 1000) return at
  throw invalid(`must be at most ${MAX_TOKEN_SECONDS / 86_400} days from now; omit it for a token without an end`)
}
