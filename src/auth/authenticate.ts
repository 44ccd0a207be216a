import type { CallProfile } from '../card/call-profile.ts'
import { readToken } from '../registry/edge/lookups.ts'
import type { TokenRecord } from '../registry/records.ts'
import { hasPermission } from './permissions.ts'
import { ANONYMOUS, type Authentication, type BadToken, type Principal } from './principal.ts'
import { isBlocked, isFailure, recordFailure, recordSuccess } from './throttle.ts'
import { containsHostToken, isAdminToken, isToken, sha256Hex } from './token.ts'

/** The longest credentials that are looked at, in characters. What is longer is none of this host's. */
const most = 8192

/** What the Authorization header of a request holds. */
type Credentials = { scheme: 'bearer'; token: string } | { scheme: 'nothing' | 'foreign' | 'several' }

/** Reads the Authorization header. Two of them arrive as one, joined by a comma; a bearer token beside anything else is refused. */
export const parseAuthorization = (headers: Headers): Credentials => {
  const header = headers.get('Authorization')?.trim() ?? ''
  if (header === '') return { scheme: 'nothing' }
  const token = /^Bearer[ \t]+(\S+)$/i.exec(header)?.[1]
  if (token !== undefined) return token.length > most ? { scheme: 'foreign' } : { scheme: 'bearer', token }
  return /(?:^|,)[ \t]*Bearer[ \t,]/i.test(header) ? { scheme: 'several' } : { scheme: 'foreign' }
}

/** What of an agent's profile says how its callers prove who they are. */
type Schemes = Pick<CallProfile, 'apiKeyHeaders' | 'jwt' | 'openIdConnectUrls' | 'visibility'>

/** Where a token was found: the header, in lower case. */
type Found = { header: string; token: string }

/**
 * Who makes a request, by the token of this host in its Authorization header. Credentials that do not hold are counted. Most
 * callers bring none, and need not be waited for.
 */
export const authenticate = (
  request: Request,
  env: Env,
  ctx: ExecutionContext,
): Authentication | Promise<Authentication> =>
  request.headers.has('Authorization')
    ? judgeAuthorization(request, env, ctx).then(caller => counted(caller, request, env))
    : ANONYMOUS

/**
 * Who calls an agent: `before`, which is what `callerOf` says; or who it is by what the agent's card says besides: a JWT of an
 * OpenID Connect issuer, or a token of this host in the header of an API key. An internal agent's card says nothing to who may
 * not read it, not even by what is counted.
 */
export const authenticateForAgent = (
  before: Authentication,
  request: Request,
  id: string,
  profile: Schemes,
  env: Env,
  ctx: ExecutionContext,
): Authentication | Promise<Authentication> => {
  // Most callers bring nothing, and most cards have no API key: nobody need look for either.
  if (!before.known && before.given === 'nothing' && profile.apiKeyHeaders.length === 0) return before
  return judgeByCard(before, request, id, profile, env, ctx)
}

const judgeByCard = async (
  ...[before, request, id, profile, env, ctx]: Parameters<typeof authenticateForAgent>
): Promise<Authentication> => {
  const keys = ownKeys(request.headers, profile, env)
  const issuers = isOpen(before) ? await judgeIssuers(before, request.headers, id, profile, env, ctx) : before
  const caller = keys[0] && isOpen(issuers) ? await judge(keys[0], request, env, ctx) : issuers
  if (profile.visibility === 'internal' && !hasPermission(caller, 'read', id)) return before
  if (!caller.known) return caller === before ? before : counted(caller, request, env)
  return { ...caller, strippedHeaders: [...new Set([...caller.strippedHeaders, ...keys.map(({ header }) => header)])] }
}

/** Counts another failed attempt: where credentials that may be the agent's own were not enough. Whether there were too many. */
export const isOneTooMany = (request: Request, env: Pick<Env, 'AUTH_LIMIT'>): Promise<boolean> =>
  recordFailure(request, env.AUTH_LIMIT)

const counted = async (caller: Authentication, request: Request, env: Env): Promise<Authentication> =>
  isFailure(caller) && (await isOneTooMany(request, env)) ? throttled : caller

const bad = (why: BadToken): Authentication => ({ known: false, given: 'bad-token', why })

const foreign: Authentication = { known: false, given: 'foreign' }

/** Whether other credentials of the request may still say who calls. */
const isOpen = (caller: Authentication): boolean =>
  !caller.known && (caller.given === 'nothing' || caller.given === 'foreign')

/** The tokens of this host in the headers of an agent's API keys, with or without a scheme before them. */
const ownKeys = (headers: Headers, { apiKeyHeaders }: Schemes, env: Env): Found[] =>
  apiKeyHeaders.flatMap(header => {
    const text = headers.get(header)?.trim() ?? ''
    return text !== '' && header !== 'authorization' && containsHostToken(text, env)
      ? [{ header, token: text.replace(/^Bearer[ \t]+/i, '') }]
      : []
  })

/** A token of this host is judged, and goes nowhere else, however the header says it. */
const judgeAuthorization = async (request: Request, env: Env, ctx: ExecutionContext): Promise<Authentication> => {
  const credentials = parseAuthorization(request.headers)
  if (credentials.scheme === 'nothing') return ANONYMOUS
  if (credentials.scheme === 'several') return bad('several')
  const text = request.headers.get('Authorization')?.trim() ?? ''
  const token = credentials.scheme === 'bearer' ? credentials.token : text
  if (containsHostToken(text, env)) return judge({ header: 'authorization', token }, request, env, ctx)
  // What may be the agent's own is never kept from it, whatever else its sender's address has tried.
  return foreign
}

const throttled: Authentication = { known: false, given: 'throttled' }

/** Judges what holds a token of this host. */
const judge = async (
  { header, token }: Found,
  request: Request,
  env: Env,
  ctx: ExecutionContext,
): Promise<Authentication> => {
  const hash = await sha256Hex(token)
  if (isBlocked(request, hash)) return throttled
  const caller = (await isAdminToken(token, request, env))
    ? administrator(header)
    : isToken(token)
      ? await judgeHash(header, hash, env, ctx)
      : bad('malformed')
  if (caller.known) recordSuccess(hash)
  return caller
}

/** Judges a bearer token that may be a JWT of the agent's issuers; `before` is who calls where there is none. */
const judgeIssuers = async (
  before: Authentication,
  headers: Headers,
  id: string,
  profile: Schemes,
  env: Env,
  ctx: ExecutionContext,
): Promise<Authentication> => {
  const credentials = parseAuthorization(headers)
  if (credentials.scheme !== 'bearer' || profile.openIdConnectUrls.length === 0) return before
  // Few cards name an issuer: what verifies signatures is loaded with the first that does.
  const { verifyJwt } = await import('./jwt.ts')
  const judged = await verifyJwt(credentials.token, id, profile, env, ctx)
  if (typeof judged === 'string') return judged === 'foreign' ? before : { known: false, given: judged }
  if ('bad' in judged) return bad(judged.bad)
  // The agent may want to see for itself who calls: the issuer's tokens are not this host's to keep.
  return { ...judged.bearer, strippedHeaders: [] }
}

const judgeHash = async (header: string, hash: string, env: Env, ctx: ExecutionContext): Promise<Authentication> => {
  try {
    const record = await readToken(hash, env, ctx)
    return record ? bearerOfRecord(record, header) : bad('unknown')
  } catch {
    // KV is away and has said so in the log.
    return { known: false, given: 'unavailable' }
  }
}

const administrator = (header: string): Principal => ({
  known: true,
  subject: 'admin',
  scopes: ['admin'],
  agents: ['*'],
  tiers: ['*'],
  strippedHeaders: [header],
})

const bearerOfRecord = ({ id, scopes, agents, tiers }: TokenRecord, header: string): Principal => ({
  known: true,
  subject: `token:${id}`,
  scopes,
  agents,
  tiers,
  strippedHeaders: [header],
})
