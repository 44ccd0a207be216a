import type { CallProfile } from '../card/call-profile.ts'
import { readToken } from '../registry/edge-tokens.ts'
import type { TokenRecord } from '../registry/token-record.ts'
import { isAdminToken } from './admin-token.ts'
import { countFailure, isFailure, isTurnedAway, noteProven } from './attempts.ts'
import type { BadToken, Bearer, Caller } from './caller.ts'
import { credentialsOf } from './credentials.ts'
import { judgeJwt } from './jwt.ts'
import { hashOf, isOurs, isToken } from './token.ts'

/** What of an agent's profile says how its callers prove who they are. */
type Schemes = Pick<CallProfile, 'apiKeyHeaders' | 'jwt' | 'openIdConnectUrls'>

/** Where a token was found: the header, in lower case. */
type Found = { header: string; token: string }

/** Who makes a request, by the bearer token of this host that it brings. Credentials that do not hold are counted. */
export const callerOf = async (request: Request, env: Env, ctx: ExecutionContext): Promise<Caller> => {
  const bearer = bearerOf(request.headers)
  return counted('token' in bearer ? await judge(bearer, request, env, ctx) : bearer, request, env)
}

/**
 * Who calls an agent: as `callerOf`, and by what the agent's card says besides: a token of this host in the header of an API
 * key, or a JWT of an OpenID Connect issuer.
 */
export const callerOfAgent = async (
  request: Request,
  id: string,
  profile: Schemes,
  env: Env,
  ctx: ExecutionContext,
): Promise<Caller> => {
  const bearer = bearerOf(request.headers)
  const keys = await ownTokens(request.headers, profile, env)
  const caller = 'token' in bearer ? await judge(bearer, request, env, ctx, { id, profile }) : bearer
  const better = keys[0] && isOpen(caller) ? await judge(keys[0], request, env, ctx) : caller
  if (!better.known) return counted(better, request, env)
  return { ...better, withheld: [...new Set([...better.withheld, ...keys.map(({ header }) => header)])] }
}

/** Counts another failed attempt: where credentials that may be the agent's own were not enough. Whether there were too many. */
export const isOneTooMany = (request: Request, env: Pick<Env, 'AUTH_LIMIT'>): Promise<boolean> =>
  countFailure(request, env.AUTH_LIMIT)

const counted = async (caller: Caller, request: Request, env: Env): Promise<Caller> =>
  isFailure(caller) && (await isOneTooMany(request, env)) ? { known: false, given: 'throttled' } : caller

const bearerOf = (headers: Headers): Found | Caller => {
  const credentials = credentialsOf(headers)
  if (credentials.scheme === 'bearer') return { header: 'authorization', token: credentials.token }
  const { scheme } = credentials
  return scheme === 'nothing' || scheme === 'foreign' ? { known: false, given: scheme } : bad(scheme)
}

const bad = (why: BadToken): Caller => ({ known: false, given: 'bad-token', why })

/** Whether other credentials of the request may still say who calls. */
const isOpen = (caller: Caller): boolean => !caller.known && (caller.given === 'nothing' || caller.given === 'foreign')

/** The tokens of this host in the headers of an agent's API keys. */
const ownTokens = async (headers: Headers, { apiKeyHeaders }: Schemes, env: Env): Promise<Found[]> => {
  const found: Found[] = []
  for (const header of apiKeyHeaders) {
    const token = headers.get(header)?.trim() ?? ''
    if (isOurs(token) || (token !== '' && (await isAdminToken(token, env)))) found.push({ header, token })
  }
  return found
}

const judge = async (
  { header, token }: Found,
  request: Request,
  env: Env,
  ctx: ExecutionContext,
  agent?: { id: string; profile: Schemes },
): Promise<Caller> => {
  const hash = await hashOf(token)
  if (isTurnedAway(request, hash)) return { known: false, given: 'throttled' }
  const caller = await judgeText(header, token, hash, env, ctx, agent)
  if (caller.known) noteProven(hash)
  return caller
}

const judgeText = async (
  header: string,
  token: string,
  hash: string,
  env: Env,
  ctx: ExecutionContext,
  agent?: { id: string; profile: Schemes },
): Promise<Caller> => {
  if (await isAdminToken(token, env)) return administrator(header)
  if (isOurs(token)) return isToken(token) ? judgeHash(header, hash, env, ctx) : bad('malformed')
  const judged = agent ? await judgeJwt(token, agent.id, agent.profile, env, ctx) : 'foreign'
  if (typeof judged === 'string') return { known: false, given: judged }
  // The agent may want to see for itself who calls: the issuer's tokens are not this host's to keep.
  return 'bad' in judged ? bad(judged.bad) : { ...judged.bearer, withheld: [] }
}

const judgeHash = async (header: string, hash: string, env: Env, ctx: ExecutionContext): Promise<Caller> => {
  try {
    const record = await readToken(hash, env, ctx)
    return record ? bearerOfRecord(record, header) : bad('unknown')
  } catch {
    // KV is away and has said so in the log.
    return { known: false, given: 'unavailable' }
  }
}

const administrator = (header: string): Bearer => ({
  known: true,
  subject: 'admin',
  scopes: ['admin'],
  agents: ['*'],
  tiers: ['*'],
  withheld: [header],
})

const bearerOfRecord = ({ id, scopes, agents, tiers }: TokenRecord, header: string): Bearer => ({
  known: true,
  subject: `token:${id}`,
  scopes,
  agents,
  tiers,
  withheld: [header],
})
