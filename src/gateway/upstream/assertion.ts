import { SignJWT } from 'jose'
import { type Authentication, hasPermission, readableTiers } from '../../auth/index.ts'
import { ASSERTION_SECONDS } from '../../limits.ts'
import { ClockCache } from '../../registry/edge/index.ts'
import { getSigningKeys, type KeyEnv } from '../../signing/index.ts'

/** Distinguishes an assertion from everything else that the same key signs (RFC 8725 §3.11). */
export const ASSERTION_TYPE = 'calling-card-assertion+jwt'

/** A caller, and the agent that it calls. */
export type AssertedCall = {
  caller: Authentication
  /** The origin of this host that signs. */
  issuer: string
  /** The URL of the agent's endpoint. */
  audience: string
  /** The agent's id. */
  agent: string
  /** The tiers of the agent. */
  tiers: string[]
}

/** Assertions by what they state; `renewAt` is in ms since 1970. */
const assertions = new ClockCache<{ assertion: string; renewAt: number; size: number }>(1024 * 1024)

/**
 * Returns a signed assertion of the caller for the agent, a JWT; or what is wrong with the configuration. Calls of one caller to one
 * agent share an assertion for half of its lifetime, so that a call does not cost a signature.
 */
export const assertCaller = async (
  { caller, issuer, audience, agent, tiers }: AssertedCall,
  env: KeyEnv,
  now = Date.now(),
): Promise<{ assertion: string } | { misconfigured: string }> => {
  const keys = await getSigningKeys(env, now)
  if ('misconfigured' in keys) return keys
  const claims = {
    iss: issuer,
    aud: audience,
    ...identify(caller),
    agent,
    scopes: caller.authenticated ? caller.scopes.filter(scope => hasPermission(caller, scope, agent)) : [],
    tiers: hasPermission(caller, 'read', agent) ? readableTiers(caller, { tiers }) : [],
  }
  const key = JSON.stringify([keys.current.kid, claims])
  const known = assertions.get(key)
  if (known && now < known.renewAt) return known
  const issuedAt = Math.floor(now / 1000)
  const assertion = await new SignJWT({
    ...claims,
    iat: issuedAt,
    exp: issuedAt + ASSERTION_SECONDS,
    jti: crypto.randomUUID(),
  })
    .setProtectedHeader({ alg: 'ES256', typ: ASSERTION_TYPE, kid: keys.current.kid })
    .sign(keys.current.privateKey)
  const renewAt = (issuedAt + ASSERTION_SECONDS / 2) * 1000
  assertions.set(key, { assertion, renewAt, size: key.length + assertion.length })
  return { assertion }
}

/**
 * Returns the claims that identify a caller; none if other callers could have the same. `sub` is unique on this host: no user of an
 * issuer has the `sub` of a token. `sub_id` is the subject as its issuer identifies it (RFC 9493 §3.2.4).
 */
const identify = (caller: Authentication): { sub?: string; sub_id?: object } => {
  if (!caller.authenticated) return {}
  const { subject, oidcSubject } = caller
  if (oidcSubject === undefined) return { sub: subject }
  return oidcSubject === 'none' ? {} : { sub: subject, sub_id: { format: 'iss_sub', ...oidcSubject } }
}
