import type { CallProfile } from '../card/index.ts'
import type { RequestContext } from '../http/index.ts'
import { HttpError, sha256Hex } from '../http/start.ts'
import { readToken } from '../registry/edge/start.ts'
import { containsHostToken, containsIssuedToken, isAdminToken, isToken } from './bearer-token.ts'
import {
  ANONYMOUS,
  type Authentication,
  badToken,
  hasPermission,
  type Principal,
  THROTTLED,
  UNAVAILABLE,
} from './principal.ts'
import { isBlocked, recordFailure, recordSuccess } from './throttle.ts'

/** An agent, and the part of its profile that determines how its callers authenticate. */
type SecuredAgent = {
  id: string
  profile: Pick<CallProfile, 'apiKeyHeaders' | 'callers' | 'jwt' | 'openIdConnectUrls' | 'visibility' | 'targets'>
}

/** A token and the header that carries it, in lower case. */
type HeaderToken = { header: string; token: string }

const UNRECOGNIZED: Authentication = { authenticated: false, reason: 'unrecognized' }

/** Credentials that contain the ADMIN_TOKEN, among other guesses: the response must be that to a wrong one. */
const WITHHELD: Authentication = { ...UNRECOGNIZED, strippedHeaders: ['authorization'] }

/** Authenticates a request by the token of this host in its `Authorization` header. Counts invalid tokens. */
export const authenticate = (request: Request, env: Env, ctx: ExecutionContext) =>
  request.headers.has('Authorization') ? authenticateBearer({ request, env, ctx }) : ANONYMOUS

/**
 * Authenticates the caller of an agent. `caller` is the result of `authenticate`; the card may recognize more: a JWT of
 * an OpenID Connect issuer, or a token of this host in an API key header. For an internal agent that the caller may not
 * read, the result, and what is counted, is the same as for an agent that does not exist.
 */
export const authenticateForAgent = (caller: Authentication, agent: SecuredAgent, context: RequestContext) => {
  const isUnrecognized = !caller.authenticated && caller.reason === 'unrecognized'
  // Synchronous for most calls: a token that `authenticate` recognizes is stripped already.
  return isUnrecognized || agent.profile.apiKeyHeaders.length > 0 ? applyCardSchemes(caller, agent, context) : caller
}

type Credentials = { scheme: 'bearer'; token: string } | { scheme: 'none' | 'unrecognized' | 'several' }

const MAX_CREDENTIALS_LENGTH = 8192

/** Parses the Authorization header. Two headers arrive as one: a bearer token in a list is `several`. */
export const parseAuthorization = (headers: Headers): Credentials => {
  const header = headers.get('Authorization')?.trim() ?? ''
  if (header === '') return { scheme: 'none' }
  const token = /^Bearer[ \t]+(\S+)$/i.exec(header)?.[1]
  if (token !== undefined)
    return token.length > MAX_CREDENTIALS_LENGTH ? { scheme: 'unrecognized' } : { scheme: 'bearer', token }
  return /(?:^|,)[ \t]*Bearer[ \t,]/i.test(header) ? { scheme: 'several' } : { scheme: 'unrecognized' }
}

const authenticateBearer = async (context: RequestContext): Promise<Authentication> => {
  const { headers } = context.request
  const credentials = parseAuthorization(headers)
  if (credentials.scheme === 'none') return ANONYMOUS
  if (credentials.scheme === 'several') return countFailure(badToken('several'), context)
  const header = headers.get('Authorization')?.trim() ?? ''
  // Possibly the agent's own credentials: never counted, and never withheld from the agent.
  if (!containsHostToken(header, context.env)) return UNRECOGNIZED
  if (credentials.scheme !== 'bearer')
    return containsIssuedToken(header) ? countFailure(badToken('malformed'), context) : WITHHELD
  return countFailure(await verifyHostToken({ header: 'authorization', token: credentials.token }, context), context)
}

const applyCardSchemes = async (before: Authentication, agent: SecuredAgent, context: RequestContext) => {
  const { id, profile } = agent
  const keys = hostTokensInApiKeys(profile.apiKeyHeaders, context)
  const byJwt = mayBeRefined(before) ? await authenticateJwt(before, agent, context) : before
  const caller = keys[0] && mayBeRefined(byJwt) ? await verifyHostToken(keys[0], context) : byJwt
  if (profile.visibility === 'internal' && !hasPermission(caller, 'read', id)) return before
  if (!caller.authenticated && !mayBeRefined(caller)) return caller === before ? before : countFailure(caller, context)
  const { strippedHeaders = [] } = caller
  const possible = ['authorization', ...profile.apiKeyHeaders].filter(
    header => !strippedHeaders.includes(header) && mayBeJwt.test(context.request.headers.get(header) ?? ''),
  )
  const find = async () => (await import('./jwt.ts')).findJwtsForThisHost(possible, profile, context)
  const jwts = possible.length > 0 ? await find().catch(unlessUnavailable) : []
  if ('reason' in jwts) return jwts
  const stripped = new Set([...strippedHeaders, ...keys.map(({ header }) => header), ...jwts])
  return stripped.size === strippedHeaders.length ? caller : { ...caller, strippedHeaders: [...stripped] }
}

const mayBeJwt = /^[^.]+\.[^.]+\.[^.]*$/

const mayBeRefined = (caller: Authentication): boolean =>
  !caller.authenticated && (caller.reason === 'anonymous' || caller.reason === 'unrecognized')

const countFailure = async (caller: Authentication, { request, env }: RequestContext): Promise<Authentication> => {
  const isFailure = !caller.authenticated && caller.reason === 'bad-token'
  return isFailure && (await recordFailure(request, env.AUTH_LIMIT)) ? THROTTLED : caller
}

/** Returns the tokens of this host in API key headers, but no ADMIN_TOKEN: a card could name hundreds, for guesses. */
const hostTokensInApiKeys = (apiKeyHeaders: readonly string[], { request }: RequestContext): HeaderToken[] =>
  apiKeyHeaders.flatMap(header => {
    const value = request.headers.get(header)?.trim() ?? ''
    return header !== 'authorization' && containsIssuedToken(value)
      ? [{ header, token: value.replace(/^Bearer[ \t]+/i, '') }]
      : []
  })

const verifyHostToken = async ({ header, token }: HeaderToken, { request, env, ctx }: RequestContext) => {
  const digest = await sha256Hex(token)
  const isIssued = containsIssuedToken(token)
  if (isBlocked(request, digest)) return isIssued ? THROTTLED : WITHHELD
  const grants = (await isAdminToken(token, env))
    ? { subject: 'admin', scopes: ['admin' as const], agents: ['*'], tiers: ['*'] }
    : isToken(token)
      ? await lookUpToken(digest, env, ctx)
      : isIssued
        ? badToken('malformed')
        : WITHHELD
  if ('authenticated' in grants) return grants
  recordSuccess(digest)
  return { authenticated: true, ...grants, strippedHeaders: [header] } satisfies Principal
}

const lookUpToken = async (digest: string, env: Env, ctx: ExecutionContext) => {
  const record = await readToken(digest, env, ctx).catch(unlessUnavailable)
  if (record === null) return badToken('unknown')
  if ('reason' in record) return record
  const { id, scopes, agents, tiers } = record
  return { subject: `token:${id}`, scopes, agents, tiers }
}

const authenticateJwt = async (before: Authentication, agent: SecuredAgent, context: RequestContext) => {
  const credentials = parseAuthorization(context.request.headers)
  if (credentials.scheme !== 'bearer' || agent.profile.openIdConnectUrls.length === 0) return before
  // Few cards name an issuer: the verification of signatures is loaded for the first that does.
  const jwts = await import('./jwt.ts')
  return jwts.authenticateJwt(credentials.token, before, agent, context)
}

/** Rethrows every error but that of KV, which its reader has logged: the error boundary logs all others. */
const unlessUnavailable = (error: unknown): typeof UNAVAILABLE => {
  if (error instanceof HttpError && error.code === 'unavailable') return UNAVAILABLE
  throw error
}
