import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import type { CallProfile } from '../card/call-profile.ts'
import { getIssuer, type Issuer, type IssuerEnv, isDiscoveryUrlOf, refreshIssuer } from './oidc-issuers.ts'
import type { BadToken, Principal } from './principal.ts'
import { sha256Hex } from './token.ts'

/** What a manifest says of the tokens of its card's issuers. */
type JwtRules = NonNullable<CallProfile['jwt']>

/** Whom a JWT names; or that it is for the agent to judge; or why it does not hold; or that nobody can tell now. */
type JwtVerdict = { bearer: Omit<Principal, 'strippedHeaders'> } | 'foreign' | 'unavailable' | { bad: BadToken }

/** Signatures that only the issuer can make: with a secret that is shared, or none, anybody's key would do. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
/** How far clocks may differ, in seconds. */
const clockTolerance = 10

/**
 * Judges a bearer token by the OpenID Connect issuers that an agent's card names. One for another audience is the agent's to
 * judge, like that of another issuer: it lets nobody in here, and many an agent has an audience of its own.
 */
export const verifyJwt = async (
  token: string,
  id: string,
  { jwt: rules, openIdConnectUrls }: Pick<CallProfile, 'jwt' | 'openIdConnectUrls'>,
  env: IssuerEnv,
  ctx: ExecutionContext,
): Promise<JwtVerdict> => {
  const { iss, aud } = unverified(token)
  const url = typeof iss === 'string' ? openIdConnectUrls.find(url => isDiscoveryUrlOf(url, iss)) : undefined
  if (!rules || !url || ![aud].flat().some(given => rules.audience.some(wanted => wanted === given))) return 'foreign'
  const issuer = await getIssuer(url, env, ctx)
  if (issuer === undefined) return 'unavailable'
  const verified = await verify(token, issuer, rules)
  if (verified !== 'unknown-key') return verdict(verified, id, rules)
  const again = await refreshIssuer(url, env, ctx)
  if (again === undefined) return 'unavailable'
  return verdict(again === issuer ? verified : await verify(token, again, rules), id, rules)
}

/** What a token says of itself: nothing of it holds yet. */
const unverified = (token: string): JWTPayload => {
  try {
    return decodeJwt(token)
  } catch {
    return {}
  }
}

type Verified = { payload: JWTPayload } | { bad: BadToken } | 'unknown-key'

const verify = async (token: string, known: Issuer, rules: JwtRules): Promise<Verified> => {
  try {
    const { issuer, keyFor } = known
    const options = { issuer, audience: rules.audience, algorithms, clockTolerance, requiredClaims: ['exp'] }
    const { payload } = await jwtVerify(token, keyFor, options)
    return { payload }
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return 'unknown-key'
    if (error instanceof errors.JWKSMultipleMatchingKeys) return verifyWithOne(error, token, known, rules)
    return { bad: error instanceof errors.JWTExpired ? 'expired' : 'unknown' }
  }
}

/** A token that does not say which key signed it is tried with each that might have. */
const verifyWithOne = async (
  keys: AsyncIterable<CryptoKey>,
  ...[token, issuer, rules]: Parameters<typeof verify>
): Promise<Verified> => {
  for await (const key of keys) {
    const verified = await verify(token, { ...issuer, keyFor: async () => key }, rules)
    if (verified !== 'unknown-key' && !('bad' in verified && verified.bad === 'unknown')) return verified
  }
  return { bad: 'unknown' }
}

const verdict = async (verified: Verified, id: string, { scope, tiers }: JwtRules): Promise<JwtVerdict> => {
  if (verified === 'unknown-key') return { bad: 'unknown' }
  if ('bad' in verified) return verified
  const { payload } = verified
  const held = scopesOf(payload)
  const granted = Object.entries(tiers).filter(([, rule]) =>
    'scope' in rule ? held.includes(rule.scope) : claims(payload, rule.claim, rule.equals),
  )
  return {
    bearer: {
      known: true,
      subject: await subjectOf(payload),
      scopes: scope === undefined || held.includes(scope) ? ['read'] : [],
      agents: [id],
      tiers: granted.map(([tier]) => tier),
    },
  }
}

/** The scopes of a token: `scope` (RFC 8693 §4.2), or `scp`, as text or as a list. */
const scopesOf = ({ scope, scp }: JWTPayload): string[] =>
  [scope, scp].flat().flatMap(value => (typeof value === 'string' ? value.split(' ') : []))

/** Whether a claim is, or lists, a value. */
const claims = (payload: JWTPayload, claim: string, wanted: string | number | boolean): boolean =>
  [payload[claim]].flat().includes(wanted)

/** One name for one subject of one issuer. A `sub` may be somebody's address, which is not for logs. */
const subjectOf = async ({ iss = '', sub = '' }: JWTPayload): Promise<string> =>
  `jwt:${URL.parse(iss)?.hostname ?? ''}:${(await sha256Hex(JSON.stringify([iss, sub]))).slice(0, 16)}`
