import type { Scope } from '../card/model/constants.ts'
import { HttpError } from '../http/errors.ts'
import { authenticate, isOneTooMany } from './authenticate.ts'
import { hasPermission, isAdmin } from './permissions.ts'
import type { Authentication, BadToken, Principal } from './principal.ts'
import { retryAfter } from './throttle.ts'
import { isAdminTokenMissing } from './token.ts'

/** Lets a request pass whose bearer may do something with an agent; every other one is told what it lacks. */
export const requireScope = async (
  request: Request,
  scope: Scope,
  agentId: string,
  env: Env,
  ctx: ExecutionContext,
): Promise<Principal> => {
  const bearer = await requireBearer(request, env, ctx)
  if (hasPermission(bearer, scope, agentId)) return bearer
  throw insufficientScope(bearer, scope, agentId)
}

/** What a bearer is told that may not do something with an agent. */
export const insufficientScope = ({ scopes }: Principal, scope: Scope, agentId: string): HttpError =>
  scopes.includes(scope) ? wrongAgent(scope, agentId) : missingScope(scope)

/**
 * Lets a request pass whose bearer has a scope for any agent: which of them is for the answer to heed. `caller` is who makes it,
 * where that is known: credentials that do not hold count each time that they are judged.
 */
export const requireAnyAgent = async (
  request: Request,
  scope: Scope,
  env: Env,
  ctx: ExecutionContext,
  caller?: Authentication,
): Promise<Principal> => {
  const bearer = await requireBearer(request, env, ctx, caller)
  if (isAdmin(bearer) || bearer.scopes.includes(scope)) return bearer
  throw missingScope(scope)
}

/** Who makes a request that nobody may make without a token of this host. */
const requireBearer = async (
  request: Request,
  env: Env,
  ctx: ExecutionContext,
  known?: Authentication,
): Promise<Principal> => {
  const caller = known ?? (await authenticate(request, env, ctx))
  if (caller.known) return caller
  // There is no agent here whose own credentials these might be: they are a guess like any other.
  if (caller.given === 'foreign' && (await isOneTooMany(request, env))) throw tooManyAttempts()
  throw unauthorized(caller, request, env)
}

/** What a caller is told whose credentials do not hold, or that brings none. */
export const unauthorized = (
  caller: Exclude<Authentication, Principal>,
  request: Request,
  env: Pick<Env, 'ADMIN_TOKEN'>,
): HttpError => {
  if (caller.given === 'throttled') return tooManyAttempts()
  if (caller.given === 'unavailable')
    return new HttpError(503, 'unavailable', 'This host cannot check the token now. Try again in a moment.', {
      headers: { 'Retry-After': '10' },
    })
  const hint = isAdminTokenMissing(request, env) ? noAdminToken : ''
  if (caller.given === 'nothing') return unauthenticated('no-token', hint.trim() || noToken)
  return unauthenticated('bad-token', whyBad['why' in caller ? caller.why : 'unknown'] + hint)
}

const noToken = 'This needs a token: send `Authorization: Bearer <token>`.'
const noAdminToken =
  ' This host has no ADMIN_TOKEN of at least 16 characters. Set a random one: npx wrangler secret put ADMIN_TOKEN'

/** What is wrong with a token, for its bearer. */
const whyBad: Record<BadToken, string> = {
  unknown: 'The bearer token is not one that this host knows; or it has expired, or was revoked.',
  expired: 'The bearer token has expired.',
  malformed:
    'The bearer token is not one that this host knows: it is cut short or mistyped, or not sent as `Authorization: Bearer <token>`.',
  several: 'There is more than one set of credentials: send one Authorization header with one bearer token.',
}

const unauthenticated = (code: 'no-token' | 'bad-token', detail: string): HttpError =>
  new HttpError(401, code, detail, { headers: { 'WWW-Authenticate': challenge(code) } })

/** The `WWW-Authenticate` of a 401 (RFC 6750 §3). */
const challenge = (code: 'no-token' | 'bad-token'): string =>
  `Bearer realm="calling-card"${code === 'bad-token' ? ', error="invalid_token"' : ''}`

/** The `WWW-Authenticate` of a 403, which names the scope that it takes. */
export const scopeChallenge = (scope: Scope): string =>
  `Bearer realm="calling-card", error="insufficient_scope", scope="${scope}"`

const forbidden = (scope: Scope, detail: string): HttpError =>
  new HttpError(403, 'forbidden', detail, { headers: { 'WWW-Authenticate': scopeChallenge(scope) } })

const missingScope = (scope: Scope): HttpError => forbidden(scope, `This token lacks the scope \`${scope}\`.`)

const wrongAgent = (scope: Scope, agentId: string): HttpError =>
  forbidden(scope, `This token's scope \`${scope}\` is not for the agent "${agentId.slice(0, 80)}".`)

const tooManyAttempts = (): HttpError =>
  new HttpError(
    429,
    'too-many-attempts',
    `Too many tokens of your address did not hold. Try again in ${retryAfter} seconds.`,
    { headers: { 'Retry-After': String(retryAfter) } },
  )
