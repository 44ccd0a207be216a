import { agentIdPattern, type Scope } from '../card/model/index.ts'
import { config } from '../config.ts'
import { HttpError, type PathParams, type RequestContext, serviceUnavailable } from '../http/index.ts'
import { authenticate } from './authenticate.ts'
import { hasPermission, hasScope } from './permissions.ts'
import type { Authentication, Principal, TokenError } from './principal.ts'
import { countRequest, countUnrecognized, tooManyAttempts } from './throttle.ts'

const principals = new WeakMap<Request, Principal>()

/** Returns the principal that a request was found to have, even if it was refused afterwards; undefined for none. */
export const knownPrincipal = (request: Request): Principal | undefined => principals.get(request)

/** Returns the principal of a request if it has a scope for an agent, `*` standing for every agent; throws otherwise. */
export const requireScope = async (context: RequestContext, scope: Scope, agentId: string): Promise<Principal> => {
  const principal = await requirePrincipal(context, { scope })
  if (hasPermission(principal, scope, agentId)) return principal
  throw insufficientScope(principal, scope, agentId)
}

/**
 * Returns the principal that may write the agent of a path, and the agent's id; throws otherwise. Counts the request,
 * unless it only reads.
 */
export const requireWriter = async (
  context: RequestContext,
  { id = '' }: PathParams,
): Promise<{ principal: Principal; id: string }> => {
  const principal = await requirePrincipal(context, { scope: 'write' })
  assertWriter(principal, id)
  const { method } = context.request
  if (method !== 'GET' && method !== 'HEAD') await countWrites(principal, context.env)
  return { principal, id }
}

/** Counts writes against the limit of a token, before any work for them. Throws 429 past it. */
export const countWrites = async ({ subject }: Principal, { WRITE_LIMIT }: Env, writes = 1): Promise<void> => {
  const count = () => countRequest(WRITE_LIMIT, subject, 'Too many writes with this token.')
  await Promise.all(Array.from({ length: writes }, count))
}

/** Throws unless a principal may write an agent, and the id is one that an agent can have. */
export const assertWriter = (principal: Principal, id: string): void => {
  if (!hasPermission(principal, 'write', id)) throw insufficientScope(principal, 'write', id)
  if (!agentIdPattern.test(id)) throw invalidAgentId(id)
}

/**
 * Returns the principal of a request if it has a scope for any agent. `caller` is the result of `authenticate` where that is
 * known, because invalid credentials count each time they are checked.
 */
export const requireAnyAgent = async (
  context: RequestContext,
  scope: Scope,
  caller?: Authentication,
): Promise<Principal> => {
  const principal = await requirePrincipal(context, { scope, caller })
  if (hasScope(principal, scope)) return principal
  throw missingScope(scope)
}

/**
 * Returns the principal of a request, whatever its scopes; throws for a request without a valid token of this host. `caller` is the
 * result of `authenticate` where that is known, and `scope` what the request is going to need.
 */
export const requirePrincipal = async (
  { request, env, ctx }: RequestContext,
  { caller: known, scope = 'read' }: { caller?: Authentication | undefined; scope?: Scope } = {},
): Promise<Principal> => {
  const caller = known ?? (await authenticate(request, env, ctx))
  if (caller.authenticated) {
    principals.set(request, caller)
    return caller
  }
  if (await countUnrecognized(caller, request, env)) throw tooManyAttempts()
  if (scope !== 'read' && caller.reason !== 'unavailable' && config(env).adminToken === undefined)
    throw adminTokenMissing()
  throw unauthorized(caller)
}

/** The error for a caller whose credentials are missing, invalid or cannot be checked. */
export const unauthorized = (caller: Exclude<Authentication, Principal>): HttpError => {
  switch (caller.reason) {
    case 'throttled':
      return tooManyAttempts()
    case 'unavailable':
      return serviceUnavailable('The token cannot be verified right now.')
    case 'anonymous':
      return unauthenticated('no-token', 'This needs a token: send `Authorization: Bearer <token>`.')
    default:
      return unauthenticated('bad-token', tokenErrors['error' in caller ? caller.error : 'unknown'])
  }
}

/** The error for a write to a host that nobody can administer. Tokens that the host issued before are still valid. */
const adminTokenMissing = (): HttpError =>
  new HttpError(
    503,
    'admin-token-missing',
    'This host refuses writes, because it has no ADMIN_TOKEN of at least 16 characters. Set a random one: npx wrangler secret put ADMIN_TOKEN',
  )

const tokenErrors: Record<TokenError, string> = {
  unknown: 'The token is unknown, expired or revoked, or was not sent as `Authorization: Bearer <token>`.',
  expired: 'The bearer token has expired.',
  malformed:
    'The bearer token is malformed: it is incomplete or mistyped, or was not sent as `Authorization: Bearer <token>`.',
  several: 'There is more than one set of credentials: send one Authorization header with one bearer token.',
}

const unauthenticated = (code: 'no-token' | 'bad-token', detail: string): HttpError =>
  new HttpError(401, code, detail, {
    // RFC 6750 §3.1: no error code for a request without credentials.
    headers: {
      'WWW-Authenticate': `Bearer realm="calling-card"${code === 'bad-token' ? ', error="invalid_token"' : ''}`,
    },
  })

/** The error for a principal that lacks a permission for an agent. */
export const insufficientScope = (principal: Principal, scope: Scope, agentId: string): HttpError =>
  hasScope(principal, scope)
    ? forbidden(
        scope,
        `The scope \`${scope}\` of this token does not cover agent "${agentId.slice(0, 80)}": use a token that does.`,
      )
    : missingScope(scope)

/** The error for an operation that only `admin` may do; `action` begins the sentence. */
export const adminRequired = (action: string): HttpError =>
  forbidden('admin', `${action} requires a token with the scope \`admin\`.`)

const missingScope = (scope: Scope): HttpError =>
  forbidden(scope, `This token lacks the scope \`${scope}\`: use one that has it.`)

const forbidden = (scope: Scope, detail: string): HttpError =>
  new HttpError(403, 'forbidden', detail, {
    headers: { 'WWW-Authenticate': `Bearer realm="calling-card", error="insufficient_scope", scope="${scope}"` },
  })

const invalidAgentId = (id: string): HttpError =>
  new HttpError(
    400,
    'bad-agent-id',
    `"${id.slice(0, 80)}" is not a valid agent id: use 1 to 63 lower-case letters, digits and hyphens, beginning with a letter or digit.`,
  )
