import { SignJWT } from 'jose'
import type { Manifest } from '../card/manifest/index.ts'
import type { Finding } from '../card/model/index.ts'
import { config, type Variables } from '../config.ts'
import { ASSERTION_SECONDS } from '../limits.ts'
import { ClockCache } from '../registry/edge/index.ts'
import { getSigningKeys, type KeyEnv } from '../signing/index.ts'
import { type Authentication, hasPermission, readableTiers } from './principal.ts'

/** Distinguishes an assertion from everything else that the same key signs (RFC 8725 §3.11). */
export const ASSERTION_TYPE = 'calling-card-assertion+jwt'

/** A caller, and the id and tiers of the agent that it calls. */
export type AssertedCall = {
  caller: Authentication
  /** The origin of this host that signs. */
  issuer: string
  /** The URL of the agent's endpoint. */
  audience: string
  agent: string
  tiers: string[]
}

/** Assertions by what they state; `renewAt` is in ms since 1970. */
const assertions = new ClockCache<{ assertion: string; renewAt: number; size: number }>(1024 * 1024)

/**
 * Returns a signed assertion of the caller for the agent, a JWT; or the error of the configuration. Calls of one caller
 * to one agent share an assertion for half of its lifetime, so that a call does not cost a signature.
 */
export const assertCaller = async (call: AssertedCall, env: KeyEnv, now = Date.now()) => {
  const { caller, issuer, audience, agent, tiers } = call
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
  const times = { iat: issuedAt, exp: issuedAt + ASSERTION_SECONDS }
  const assertion = await new SignJWT({ ...claims, ...times, jti: crypto.randomUUID() })
    .setProtectedHeader({ alg: 'ES256', typ: ASSERTION_TYPE, kid: keys.current.kid })
    .sign(keys.current.privateKey)
  const renewAt = (issuedAt + ASSERTION_SECONDS / 2) * 1000
  assertions.set(key, { assertion, renewAt, size: key.length + assertion.length })
  return { assertion }
}

/**
 * Returns the claims that identify a caller; none if other callers could have the same. `sub` is unique on this host:
 * no user of an issuer has the `sub` of a token. `sub_id` is the subject of its issuer (RFC 9493 §3.2.4).
 */
const identify = (caller: Authentication): { sub?: string; sub_id?: object } => {
  if (!caller.authenticated) return {}
  const { subject, oidcSubject } = caller
  if (oidcSubject === undefined) return { sub: subject }
  return oidcSubject === 'none' ? {} : { sub: subject, sub_id: { format: 'iss_sub', ...oidcSubject } }
}

/** Returns the reasons why this host cannot assert the callers of an agent as its manifest requires. */
export const findIdentityErrors = async ({ upstream, hosts }: Manifest, env: KeyEnv & Variables) => {
  if (upstream.identity === undefined) return []
  const keys = await getSigningKeys(env)
  const messages = [
    // The host name of a request is the caller's choice, so it must not become the issuer.
    ...(config(env).publicOrigin || hosts.some(host => host !== '*') ? [] : [noIssuer]),
    ...('misconfigured' in keys ? [`needs a key to sign with. ${keys.misconfigured}`] : []),
  ]
  return messages.map((message): Finding => ({ pointer: '/upstream/identity', message }))
}

const noIssuer =
  'needs a public origin of this host as the issuer: set PUBLIC_URL in wrangler.toml, or give the agent a host name ' +
  'in `hosts`'
