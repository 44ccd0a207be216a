import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import type { CallProfile } from '../card/index.ts'
import { config } from '../config.ts'
import { log, parseUrl, type RequestContext, sha256Hex } from '../http/index.ts'
import { MAX_KEYS_TRIED } from '../limits.ts'
import { ClockCache, findHostOwner } from '../registry/edge/index.ts'
import { getFreshIssuer, getIssuer, type Issuer, isDiscoveryUrlOf, originOf, refreshIssuer } from './oidc-issuers.ts'
import { type Authentication, badToken, type Principal, THROTTLED, type TokenError, UNAVAILABLE } from './principal.ts'
import { isBlocked, recordSuccess } from './throttle.ts'

type JwtProfile = Pick<CallProfile, 'callers' | 'jwt' | 'openIdConnectUrls'>
type JwtAgent = { id: string; profile: JwtProfile }
type JwtRules = NonNullable<CallProfile['jwt']>

/** Asymmetric algorithms only: with a shared secret, or none, anybody could sign. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')
const CLOCK_TOLERANCE_SECONDS = 10

/** A JWT that was verified for an agent, and what it was verified by. `exp` is in seconds since 1970. */
type VerifiedJwt = {
  digest: string
  principal: Principal
  exp: number
  discoveryUrl: string
  issuer: Issuer
  callers: JwtProfile['callers']
  rules: JwtRules
  /** The same as text: those of a profile that is read again are another object. */
  rulesText: string
  size: number
}

const VERIFIED_JWTS_BYTES = 2 * 1024 * 1024
const VERIFIED_JWT_OVERHEAD = 800

/** The last valid JWTs, by the agent and their text, which are in memory only. */
const verifiedJwts = new ClockCache<VerifiedJwt>(VERIFIED_JWTS_BYTES)

const keyOf = (token: string, agentId: string): string => `${agentId} ${token}`

/** Returns the principal of a JWT that was verified before for an agent, by the same rules and the same keys. */
export const findVerifiedJwt = (token: string, { id, profile }: JwtAgent, request: Request): Principal | undefined => {
  const known = verifiedJwts.get(keyOf(token, id))
  if (known === undefined || hasExpired(known) || getFreshIssuer(known.discoveryUrl) !== known.issuer) return undefined
  if (!hasSameRules(known, profile) || isBlocked(request, known.digest)) return undefined
  recordSuccess(known.digest)
  return known.principal
}

/** Checks the time as jose does. */
const hasExpired = ({ exp }: VerifiedJwt): boolean => exp <= Math.floor(Date.now() / 1000) - CLOCK_TOLERANCE_SECONDS

const hasSameRules = (known: VerifiedJwt, { callers, jwt: rules, openIdConnectUrls }: JwtProfile): boolean => {
  if (callers !== known.callers || !openIdConnectUrls.includes(known.discoveryUrl)) return false
  if (rules === known.rules) return true
  if (rules === undefined || JSON.stringify(rules) !== known.rulesText) return false
  known.rules = rules
  return true
}

/** Authenticates by a bearer token that is a JWT for an agent; returns `before` for any other. */
export const authenticateJwt = async (
  token: string,
  before: Authentication,
  agent: JwtAgent,
  { request, env, ctx }: RequestContext,
): Promise<Authentication> => {
  const known = findVerifiedJwt(token, agent, request)
  if (known) return known
  const { id, profile } = agent
  const { jwt: rules, callers } = profile
  const discoveryUrl = findDiscoveryUrl(token, profile)
  if (discoveryUrl === undefined || rules === undefined) return before
  const digest = await sha256Hex(token)
  if (isBlocked(request, digest)) return THROTTLED
  let issuer = await getIssuer(discoveryUrl, env, ctx)
  let verified = issuer && (await verifySignature(token, issuer, rules))
  if (verified === 'unknown-key') {
    const refreshed = await refreshIssuer(discoveryUrl, env, ctx)
    if (refreshed !== issuer) {
      issuer = refreshed
      verified = issuer && (await verifySignature(token, issuer, rules))
    }
  }
  if (issuer === undefined || verified === undefined) return UNAVAILABLE
  if (typeof verified === 'string') return badToken(verified === 'unknown-key' ? 'unknown' : verified)
  recordSuccess(digest)
  const payload = verified
  const scopes = scopesOf(payload)
  const granted = Object.entries(rules.tiers).filter(([, rule]) =>
    'scope' in rule ? scopes.includes(rule.scope) : [payload[rule.claim]].flat().includes(rule.equals),
  )
  const hasScope = rules.scope === undefined || scopes.includes(rules.scope)
  const principal: Principal = {
    authenticated: true,
    subject: await subjectOf(payload),
    scopes: hasScope ? [callers === 'issuer' ? 'call' : 'read'] : [],
    agents: [id],
    tiers: granted.map(([tier]) => tier),
    oidcSubject: oidcSubjectOf(payload),
    // Other agents may accept it, too.
    strippedHeaders: ['authorization'],
  }
  const rulesText = JSON.stringify(rules)
  const size = VERIFIED_JWT_OVERHEAD + token.length + 4 * rulesText.length
  const { exp = 0 } = payload
  verifiedJwts.set(keyOf(token, id), { digest, principal, exp, discoveryUrl, issuer, callers, rules, rulesText, size })
  return principal
}

/**
 * Returns the discovery document of the issuer that a JWT claims, if an agent's card names that issuer and the audience
 * is this host's; undefined for any other token, which the agent itself may accept. Verifies nothing.
 */
const findDiscoveryUrl = (token: string, { jwt: rules, openIdConnectUrls }: JwtProfile): string | undefined => {
  const { iss } = decodeUnverified(token)
  const isAccepted = audiencesOf(token).some(audience => rules?.audience.includes(audience))
  if (typeof iss !== 'string' || !isAccepted) return undefined
  return openIdConnectUrls.find(url => isDiscoveryUrlOf(url, iss))
}

/** More audiences than tokens have: each may cost a look-up. */
const MAX_AUDIENCES = 5

/** A name that an agent can claim, without a port. */
const hostName = /^[a-z\d-]+(?:\.[a-z\d-]+)+$/

type JwtReceiver = Pick<CallProfile, 'jwt' | 'targets'>

/** Returns the headers with a JWT for this host, which the called agent could use in the name of the caller. */
export const findJwtsForThisHost = async (headers: readonly string[], agent: JwtReceiver, context: RequestContext) => {
  const found: string[] = []
  for (const header of headers) {
    const value = context.request.headers.get(header)?.trim() ?? ''
    if (await isForThisHost(value.slice(value.lastIndexOf(' ') + 1), agent, context)) found.push(header)
  }
  return found
}

/** Matches the path of an agent of any Calling Card host, which may be this one under a name that it does not know. */
const agentPath = /^\/agents\/[^/]/

/** Checks whether an audience of a JWT may be this host or one of its agents. Verifies nothing. */
const isForThisHost = async (token: string, { jwt, targets }: JwtReceiver, { request, env, ctx }: RequestContext) => {
  const audiences = audiencesOf(token)
  // More are not looked up, so any of them may be.
  if (audiences.length > MAX_AUDIENCES || audiences.some(audience => jwt?.audience.includes(audience))) return true
  const own = [request.url, config(env).publicOrigin ?? ''].map(url => parseUrl(url)?.host)
  const origins = new Set(targets.map(target => parseUrl(target.url)?.origin))
  for (const audience of audiences) {
    const url = parseUrl(audience.includes('://') ? audience : `https://${audience}`)
    if (url === null || url.host === '') continue
    // Calls of the agent that all go to this origin: it is the agent's own.
    const isAgent = origins.size === 1 && origins.has(url.origin)
    if (own.includes(url.host) || (agentPath.test(url.pathname) && !isAgent)) return true
    if (hostName.test(url.host) && (await findHostOwner(url.host, env, ctx)) !== undefined) return true
  }
  return false
}

const audiencesOf = (token: string): string[] =>
  [decodeUnverified(token).aud].flat().filter(audience => typeof audience === 'string')

const decodeUnverified = (token: string): JWTPayload => {
  try {
    return decodeJwt(token)
  } catch {
    // Not a JWT: the agent may accept it.
    return {}
  }
}

/** The payload of a JWT, or why it is rejected. */
type Verified = JWTPayload | TokenError | 'unknown-key'

const verifySignature = async (token: string, { issuer, getKey }: Issuer, rules: JwtRules): Promise<Verified> => {
  const options = {
    ...{ issuer, audience: rules.audience, algorithms: ALGORITHMS, requiredClaims: ['exp'] },
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
  }
  try {
    const { payload } = await jwtVerify(token, getKey, options)
    return [payload.exp, payload.nbf, payload.iat].every(isTime) ? payload : 'unknown'
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return 'unknown-key'
    if (error instanceof errors.JWKSMultipleMatchingKeys) return verifyWithAny(error, token, issuer, rules)
    // The platform rejects malformed keys of an issuer with its own errors, which are worth a look.
    if (!(error instanceof errors.JOSEError))
      log('error', 'jwt-unverifiable', { 'calling_card.issuer': originOf(issuer), 'exception.message': String(error) })
    return error instanceof errors.JWTExpired ? 'expired' : 'unknown'
  }
}

/** The last time that a date can have, in seconds since 1970. */
const MAX_TIME_SECONDS = 8.64e12

/** Checks for a number that is a time: JSON reads `1e400` as infinity, so such a token would never expire. */
const isTime = (seconds: number | undefined): boolean => seconds === undefined || Math.abs(seconds) <= MAX_TIME_SECONDS

/** Tries a token without `kid` with the first of the keys that its algorithm fits. */
const verifyWithAny = async (keys: AsyncIterable<CryptoKey>, token: string, issuer: string, rules: JwtRules) => {
  let tried = 0
  for await (const key of keys) {
    const verified = await verifySignature(token, { issuer, getKey: async () => key }, rules)
    if (verified !== 'unknown-key' && verified !== 'unknown') return verified
    if (++tried === MAX_KEYS_TRIED) break
  }
  return 'unknown'
}

/** Returns the scopes of a token: `scope` (RFC 8693 §4.2) or `scp`, as text or as a list. */
const scopesOf = ({ scope, scp }: JWTPayload): string[] =>
  [scope, scp].flat().flatMap(value => (typeof value === 'string' ? value.split(' ') : []))

/** Returns one name for one subject of one issuer. Hashed: `sub` may be an e-mail address, which must not be logged. */
const subjectOf = async ({ iss = '', sub = '' }: JWTPayload): Promise<string> =>
  `jwt:${parseUrl(iss)?.hostname ?? ''}:${(await sha256Hex(JSON.stringify([iss, sub]))).slice(0, 32)}`

/** Returns the issuer's own name for a caller. jose checks neither that there is a subject, nor its type. */
const oidcSubjectOf = ({ iss = '', sub }: JWTPayload) => (typeof sub === 'string' && sub !== '' ? { iss, sub } : 'none')
