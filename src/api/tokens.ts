import { requireScope } from '../auth/require.ts'
import { createToken, tokenId } from '../auth/token.ts'
import { privateNoStore } from '../http/caching.ts'
import { HttpError } from '../http/errors.ts'
import type { Handler } from '../http/handler.ts'
import { CORS_HEADERS } from '../http/headers.ts'
import { readJson } from '../http/json-body.ts'
import { jsonResponse } from '../http/json-response.ts'
import { cacheToken } from '../registry/edge/edge-tokens.ts'
import { getRegistry } from '../registry/store/client.ts'
import type { TokenRecord } from '../registry/token-record.ts'
import { paginate, parsePageQuery } from './pagination.ts'
import { parseTokenRequest } from './token-request.ts'

const headers = { 'Cache-Control': privateNoStore }

/** `POST /tokens`: issues a token. Its text is in this answer and nowhere else. */
export const postToken: Handler = async (request, env, ctx) => {
  await requireScope(request, 'admin', '*', env, ctx)
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
  await requireScope(request, 'admin', '*', env, ctx)
  const { after, limit } = parsePageQuery(new URL(request.url), tokenId)
  const { shown: tokens, ...more } = paginate(await getRegistry(env).tokens(after, limit + 1), limit)
  return jsonResponse({ tokens: tokens.map(shown), ...more }, 200, headers)
}

/** `DELETE /tokens/{id}`: ends a token here at once, and everywhere within the cache time. */
export const deleteToken: Handler = async (request, env, ctx) => {
  await requireScope(request, 'admin', '*', env, ctx)
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
