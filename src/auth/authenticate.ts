import type { CallProfile } from '../card/index.ts'
import { config } from '../config.ts'
import type { RequestContext } from '../http/index.ts'
import { HttpError, sha256Hex } from '../http/start.ts'
import { ClockCache, getCachedToken, readToken } from '../registry/edge/start.ts'
import type { TokenRecord } from '../registry/index.ts'
import { containsHostToken, containsIssuedToken, isAdminToken, isToken } from './bearer-token.ts'
import type { Authentication, Principal } from './principal.ts'
import { ANONYMOUS, badToken, hasPermission, THROTTLED, UNAVAILABLE } from './principal.ts'
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

/**
 * Authenticates a request by the token of this host in its `Authorization` header. Counts invalid tokens. Without
 * a promise where nothing is counted or read: for a token that was valid before, and for credentials of the agent.
 */
export const authenticate = (request: Request, env: Env, ctx: ExecutionContext, headers = request.headers) => {
  const header = headers.get('Authorization')
  return header === null ? ANONYMOUS : authenticateBearer(header.trim(), { request, env, ctx })
}

/**
 * Authenticates the caller of an agent. `caller` is the result of `authenticate`; the card may recognize more: a JWT of
 * an OpenID Connect issuer, or a token of this host in an API key header. For an internal agent that the caller may not
 * read, the result, and what is counted, is the same as for an agent that does not exist. Without a promise unless the
 * card may recognize an API key, or a JWT that was not verified before.
 */
export const authenticateForAgent = (caller: Authentication, agent: SecuredAgent, context: RequestContext) => {
  const { request } = context
  if (agent.profile.apiKeyHeaders.some(header => request.headers.has(header)))
    return applyCardSchemes(caller, agent, context)
  // A token that `authenticate` recognizes is stripped already. Of other credentials, only a JWT is of interest.
  const isUnrecognized = !caller.authenticated && caller.reason === 'unrecognized'
  if (!isUnrecognized || !threeParts.test(request.headers.get('Authorization') ?? '')) return caller
  return findVerifiedJwt(caller, agent, context) ?? applyCardSchemes(caller, agent, context)
}

/** Matches every text that contains a JWT. */
const threeParts = /\.[^.]*\./

type Credentials = { scheme: 'bearer'; token: string } | { scheme: 'none' | 'unrecognized' | 'several' }

const MAX_CREDENTIALS_LENGTH = 8192

/** Parses the Authorization header. Two headers arrive as one: a bearer token in a list is `several`. */
export const parseAuthorization = (headers: Headers): Credentials =>
  parseCredentials(headers.get('Authorization')?.trim() ?? '')

const parseCredentials = (header: string): Credentials => {
  if (header === '') return { scheme: 'none' }
  const token = /^Bearer[ \t]+(\S+)$/i.exec(header)?.[1]
  if (token !== undefined)
    return token.length > MAX_CREDENTIALS_LENGTH ? { scheme: 'unrecognized' } : { scheme: 'bearer', token }
  return /(?:^|,)[ \t]*Bearer[ \t,]/i.test(header) ? { scheme: 'several' } : { scheme: 'unrecognized' }
}

const authenticateBearer = (header: string, context: RequestContext): Authentication | Promise<Authentication> => {
  const credentials = parseCredentials(header)
  if (credentials.scheme === 'none') return ANONYMOUS
  if (credentials.scheme === 'several') return countFailure(badToken('several'), context)
  const sent = credentials.scheme === 'bearer' ? { header: 'authorization', token: credentials.token } : undefined
  const known = sent && findKnownToken(sent, context)
  if (known) return known
  // Possibly the agent's own credentials: never counted, and never withheld from the agent.
  if (!containsHostToken(header, context.env)) return UNRECOGNIZED
  if (sent === undefined) return containsIssuedToken(header) ? countFailure(badToken('malformed'), context) : WITHHELD
  return verifyHostToken(sent, context).then(caller => countFailure(caller, context))
}

const applyCardSchemes = async (before: Authentication, agent: SecuredAgent, context: RequestContext) => {
  const { id, profile } = agent
  const keys = hostTokensInApiKeys(profile.apiKeyHeaders, context)
  const byJwt = mayBeRefined(before) ? await authenticateJwt(before, agent, context) : before
  const byKey = keys[0] && mayBeRefined(byJwt) ? keys[0] : undefined
  const caller = byKey ? (findKnownToken(byKey, context) ?? (await verifyHostToken(byKey, context))) : byJwt
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

/** A token of this host that was valid when `adminToken` was that of the host; without `record`, it is that token. */
type KnownToken = {
  digest: string
  record: TokenRecord | undefined
  adminToken: string | undefined
  principal: Principal
  size: number
}

const KNOWN_TOKENS_BYTES = 1024 * 1024
const KNOWN_TOKEN_OVERHEAD = 500

/** The last valid tokens by their texts, which are in memory only. */
const knownTokens = new ClockCache<KnownToken>(KNOWN_TOKENS_BYTES)

/** Returns the principal of a token that was valid before, and whose record is fresh and the same. */
const findKnownToken = ({ header, token }: HeaderToken, { request, env }: RequestContext): Principal | undefined => {
  const known = knownTokens.get(token)
  if (known === undefined || known.adminToken !== config(env).adminToken) return undefined
  const { digest, record, principal } = known
  if (record !== undefined && getCachedToken(digest) !== record) return undefined
  if (principal.strippedHeaders[0] !== header || isBlocked(request, digest)) return undefined
  recordSuccess(digest)
  return principal
}

const ADMIN = { id: 'admin', scopes: ['admin'], agents: ['*'], tiers: ['*'] } as const

const verifyHostToken = async ({ header, token }: HeaderToken, context: RequestContext): Promise<Authentication> => {
  const { request, env, ctx } = context
  const digest = await sha256Hex(token)
  const isIssued = containsIssuedToken(token)
  if (isBlocked(request, digest)) return isIssued ? THROTTLED : WITHHELD
  const isAdmin = await isAdminToken(token, env)
  if (!isAdmin && !isToken(token)) return isIssued ? badToken('malformed') : WITHHELD
  const record = isAdmin ? undefined : await readToken(digest, env, ctx).catch(unlessUnavailable)
  if (record === null) return badToken('unknown')
  if (record && 'reason' in record) return record
  recordSuccess(digest)
  const { id, scopes, agents, tiers } = record ?? ADMIN
  const subject = record ? `token:${id}` : id
  const principal: Principal = { authenticated: true, subject, scopes, agents, tiers, strippedHeaders: [header] }
  const size = KNOWN_TOKEN_OVERHEAD + token.length + (record ? 2 * JSON.stringify(record).length : 0)
  knownTokens.set(token, { digest, record, adminToken: config(env).adminToken, principal, size })
  return principal
}

/** Loaded with the first JWT: few cards name an issuer. */
let jwts: typeof import('./jwt.ts') | undefined

/** Returns the same as `applyCardSchemes`, without a promise, for a JWT that was verified before. */
const findVerifiedJwt = (before: Authentication, agent: SecuredAgent, { request }: RequestContext) => {
  if (jwts === undefined || agent.profile.jwt === undefined) return undefined
  const credentials = parseAuthorization(request.headers)
  if (credentials.scheme !== 'bearer') return undefined
  const principal = jwts.findVerifiedJwt(credentials.token, agent, request)
  const isHidden = principal && agent.profile.visibility === 'internal' && !hasPermission(principal, 'read', agent.id)
  return isHidden ? before : principal
}

const authenticateJwt = async (before: Authentication, agent: SecuredAgent, context: RequestContext) => {
  const credentials = parseAuthorization(context.request.headers)
  if (credentials.scheme !== 'bearer' || agent.profile.openIdConnectUrls.length === 0) return before
  jwts ??= await import('./jwt.ts')
  return jwts.authenticateJwt(credentials.token, before, agent, context)
}

/** Rethrows every error but that of KV, which its reader has logged: the error boundary logs all others. */
const unlessUnavailable = (error: unknown): typeof UNAVAILABLE => {
  if (error instanceof HttpError && error.code === 'unavailable') return UNAVAILABLE
  throw error
}
