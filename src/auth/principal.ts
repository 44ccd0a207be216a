import type { CallProfile } from '../card/index.ts'
import { baseTier, matchesGlob, type Scope } from '../card/model/start.ts'

/** The reason why a token is rejected. */
export type TokenError = 'unknown' | 'expired' | 'malformed' | 'several'

/** The caller of a request, as far as this host knows it. */
export type Authentication = Principal | (Unauthenticated & Partial<Pick<Principal, 'strippedHeaders'>>)

type Unauthenticated =
  /** No credentials; or credentials that this host does not recognize, which may be the agent's own. */
  | { authenticated: false; reason: 'anonymous' | 'unrecognized' }
  /** An invalid token of this host, or of an issuer that the agent's card names. */
  | { authenticated: false; reason: 'bad-token'; error: TokenError }
  /** A token that cannot be verified now, because KV or its issuer does not respond. The request must not pass. */
  | { authenticated: false; reason: 'unavailable' }
  /** A token that was not checked: too many attempts from this address have failed. */
  | { authenticated: false; reason: 'throttled' }

/** A caller without credentials. */
export const ANONYMOUS: Authentication = { authenticated: false, reason: 'anonymous' }

/** A caller whose token cannot be verified now. */
export const UNAVAILABLE: Authentication & { reason: 'unavailable' } = { authenticated: false, reason: 'unavailable' }

/** A caller whose token was not checked. */
export const THROTTLED: Authentication = { authenticated: false, reason: 'throttled' }

/** Returns a caller with an invalid token. */
export const badToken = (error: TokenError): Authentication => ({ authenticated: false, reason: 'bad-token', error })

/** A caller with valid credentials. */
export type Principal = {
  authenticated: true
  /** Identifies the caller in logs and rate limits. Never a secret, never personal data. */
  subject: string
  scopes: readonly Scope[]
  /** Globs of agent ids. */
  agents: readonly string[]
  /** The tiers, besides the base tier, whose extended cards the caller may read. */
  tiers: readonly string[]
  /** With a JWT: how its issuer names the caller. Personal data: only for agents that ask for it, never for a log. */
  oidcSubject?: { iss: string; sub: string } | 'none'
  /** Headers, in lower case, that carry credentials for this host and are never forwarded. */
  strippedHeaders: readonly string[]
}

/** Returns the name under which what a caller writes is recorded: `admin`, or the id of its token. */
export const actorOf = ({ subject }: Pick<Principal, 'subject'>): string => subject.replace(/^token:/, '')

/** Returns the subject of a caller if it is unique: '' for an anonymous caller, or a JWT whose issuer names no user. */
export const distinctSubject = (caller: Authentication): string =>
  caller.authenticated && caller.oidcSubject !== 'none' ? caller.subject : ''

/** Checks whether a caller has a scope for any agent. `call` includes `read`, and `admin` includes every scope. */
export const hasScope = (caller: Authentication, scope: Scope): boolean =>
  caller.authenticated &&
  (caller.scopes.includes(scope) || isAdmin(caller) || (scope === 'read' && caller.scopes.includes('call')))

/** Checks a permission for one agent. A caller with the scope `admin` has it for every agent. */
export const hasPermission = (caller: Authentication, scope: Scope, agentId: string): boolean =>
  caller.authenticated &&
  (isAdmin(caller) || (hasScope(caller, scope) && caller.agents.some(glob => matchesGlob(glob, agentId))))

/** Checks whether a caller has the scope `admin`. */
export const isAdmin = (caller: Authentication): boolean => caller.authenticated && caller.scopes.includes('admin')

/** Returns globs of the agents for which a caller has one of these scopes. */
export const coveredAgents = (caller: Authentication, scopes: readonly Scope[]): readonly string[] => {
  if (!caller.authenticated) return []
  if (isAdmin(caller)) return ['*']
  return scopes.some(scope => hasScope(caller, scope)) ? caller.agents : []
}

/**
 * Returns the tiers of an agent that a caller may read, lowest first: the base tier for every principal, and those that
 * its credentials name. Does not check the scope `read`; `hasPermission` does.
 */
export const readableTiers = (caller: Authentication, { tiers }: Pick<CallProfile, 'tiers'>): string[] => {
  if (!caller.authenticated) return []
  const granted = [baseTier, ...caller.tiers]
  return isAdmin(caller) || granted.includes('*') ? tiers : tiers.filter(tier => granted.includes(tier))
}

/** Returns the highest of those tiers, whose extended card the caller gets, or undefined without one. */
export const highestTier = (caller: Authentication, profile: Pick<CallProfile, 'tiers'>): string | undefined =>
  readableTiers(caller, profile).at(-1)
