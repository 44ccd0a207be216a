import { agentIdPattern, type Scope } from '../card/model/index.ts'
import { config } from '../config.ts'
import type { RequestContext } from '../http/index.ts'
import { HttpError, log, logUnexpected, problem, serviceUnavailable, statusOf } from '../http/index.ts'
import { MAX_RECORDED_REFUSALS } from '../limits.ts'
import type { ProblemCode } from '../problems.ts'
import { ClockCache, findByName, readProfile } from '../registry/edge/index.ts'
import { getRegistry } from '../registry/store/index.ts'
import { authenticate, authenticateForAgent } from './authenticate.ts'
import { type Authentication, actorOf, hasPermission, hasScope, type Principal, type TokenError } from './principal.ts'
import { countRequest, countUnrecognized, tooManyAttempts } from './throttle.ts'

/** The principals of requests, even of those that were refused afterwards. */
const principals = new WeakMap<Request, Principal>()

/** Counts writes against the limit of a token, before any work for them. Throws 429 past it. */
export const countWrites = async ({ subject }: Principal, { WRITE_LIMIT }: Env, writes = 1): Promise<void> => {
  const count = () => countRequest(WRITE_LIMIT, subject, 'Too many writes with this token.')
  await Promise.all(Array.from({ length: writes }, count))
}

/** Throws unless a principal may write an agent, and the id is one that an agent can have. */
export const assertWriter = (principal: Principal, id: string): void => {
  if (!hasPermission(principal, 'write', id)) throw forbidden(principal, 'write', id)
  if (agentIdPattern.test(id)) return
  const form = '1 to 63 lowercase letters, digits and hyphens, beginning with a letter or digit'
  throw problem('bad-agent-id', `"${id.slice(0, 80)}" is not a valid agent id: use ${form}.`)
}

/** Returns the principal of a request if it has a scope for any agent. `caller` is a known result of `authenticate`. */
export const requireScope = async (context: RequestContext, scope: Scope, caller?: Authentication) => {
  const principal = await requirePrincipal(context, { scope, caller })
  if (hasScope(principal, scope)) return principal
  throw missingScope(scope)
}

/** Returns the principal of a request, whatever its scopes, or throws. `scope` is what the request needs later. */
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
    throw problem('admin-token-missing', ADMIN_TOKEN_MISSING)
  throw unauthorized(caller)
}

const ADMIN_TOKEN_MISSING =
  'This host refuses writes, because it has no ADMIN_TOKEN of at least 16 characters. ' +
  'Set a random one: npx wrangler secret put ADMIN_TOKEN'

/** The error for a caller whose credentials are missing, invalid or cannot be checked. */
export const unauthorized = (caller: Exclude<Authentication, Principal>) => {
  const { reason } = caller
  if (reason === 'throttled') return tooManyAttempts()
  if (reason === 'unavailable') return serviceUnavailable('The token cannot be verified right now.')
  // RFC 6750 §3.1: no error code for a request without credentials.
  if (reason === 'anonymous')
    return withChallenge('no-token', 'This needs a token: send `Authorization: Bearer <token>`.')
  const detail = tokenErrors['error' in caller ? caller.error : 'unknown']
  return withChallenge('bad-token', detail, ', error="invalid_token"')
}

const tokenErrors: Record<TokenError, string> = {
  unknown: 'The token is unknown, expired or revoked, or was not sent as `Authorization: Bearer <token>`.',
  expired: 'The bearer token has expired.',
  malformed:
    'The bearer token is malformed: it is incomplete or mistyped, or was not sent as `Authorization: Bearer <token>`.',
  several: 'There is more than one set of credentials: send one Authorization header with one bearer token.',
}

const withChallenge = <Code extends ProblemCode>(code: Code, detail: string, parameters = '') =>
  problem(code, detail, {
    headers: { 'WWW-Authenticate': `Bearer realm="calling-card"${parameters}` },
  })

/** The error for a principal that lacks a permission for an agent. */
export const forbidden = (principal: Principal, scope: Scope, agentId: string) => {
  if (!hasScope(principal, scope)) return missingScope(scope)
  const covered = `does not cover agent "${agentId.slice(0, 80)}"`
  return insufficientScope(scope, `The scope \`${scope}\` of this token ${covered}: use a token that does.`)
}

/** The error for an operation that only `admin` may do; `action` begins the sentence. */
export const adminRequired = (action: string) =>
  insufficientScope('admin', `${action} requires a token with the scope \`admin\`.`)

const missingScope = (scope: Scope) =>
  insufficientScope(scope, `This token lacks the scope \`${scope}\`: use one that has it.`)

const insufficientScope = (scope: Scope, detail: string) =>
  withChallenge('forbidden', detail, `, error="insufficient_scope", scope="${scope}"`)

const HOUR_MS = 3_600_000
const MAX_ACTORS = 1_000

/** The refusals of an actor that this isolate has reported in an hour, and how many it has not. */
const reported = new ClockCache<{ hour: number; count: number; omitted: number; size: 1 }>(MAX_ACTORS)

/** Reports an error to the Registry if it is a refusal, at most as many an hour as that records. Never rejects. */
export const reportRefusal = async (error: HttpError, id: string | undefined, { request, env }: RequestContext) => {
  const { code } = error
  const status = statusOf(error)
  // A failure of this host or an upstream is no refusal; nor is 429, the response to too many requests.
  if (status < 400 || status >= 500 || status === 429) return
  const principal = principals.get(request)
  const actor = principal ? actorOf(principal) : 'anonymous'
  const omitted = countReport(actor)
  if (omitted === undefined) return
  const agent = id !== undefined && agentIdPattern.test(id) ? { agent: id } : {}
  try {
    await getRegistry(env).recordRefusal({ actor, ...agent, code, status, omitted })
  } catch (failure) {
    log('warn', 'refusal-unrecorded', { 'calling_card.caller': actor, 'exception.message': String(failure) })
  }
}

/** Counts a refusal of an actor. Returns how many were omitted before it; undefined if it is omitted too. */
const countReport = (actor: string): number | undefined => {
  const hour = Math.floor(Date.now() / HOUR_MS)
  const known = reported.get(actor)
  const count = known?.hour === hour ? known.count : 0
  const omitted = known?.omitted ?? 0
  const isOmitted = count >= MAX_RECORDED_REFUSALS
  const changed = isOmitted ? { count, omitted: omitted + 1 } : { count: count + 1, omitted: 0 }
  reported.set(actor, { hour, ...changed, size: 1 })
  return isOmitted ? undefined : omitted
}

/** Checks whether the caller may learn that an internal agent exists. */
export type IsVisible = (id: string) => Promise<boolean> | boolean

/**
 * Resolves an id or name (case-insensitive) to the id of an agent, or to ''. An id takes precedence over a name, and
 * the oldest of several agents with one name. Ignores internal agents that the caller cannot see, and any whose check
 * fails unexpectedly: it must not block others of its name.
 */
export const findAgentByName = async (name: string, canSee: IsVisible, env: Env, ctx: ExecutionContext) => {
  const { public: publicId, internal } = await findByName(name, env, ctx)
  for (const id of internal) {
    try {
      if (await canSee(id)) return id
    } catch (error) {
      if (error instanceof HttpError) throw error
      logUnexpected(error)
    }
  }
  return publicId ?? ''
}

/** Returns a check for agents that the caller may call: with a token of this host, or credentials of the card. */
export const callableBy =
  (caller: Authentication, request: Request, env: Env, ctx: ExecutionContext): IsVisible =>
  async id => {
    if (caller.authenticated) return hasPermission(caller, 'read', id)
    const profile = await readProfile(id, env, ctx)
    if (profile === null) return false
    return hasPermission(await authenticateForAgent(caller, { id, profile }, { request, env, ctx }), 'read', id)
  }

/** Returns a check for agents whose cards the caller may read, which requires credentials in `Authorization`. */
export const readableBy = (caller: Authentication, request: Request, env: Env, ctx: ExecutionContext): IsVisible =>
  request.headers.has('Authorization') ? callableBy(caller, request, env, ctx) : () => false
