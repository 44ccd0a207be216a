import type { Scope } from '../card/model/index.ts'

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
export const UNAVAILABLE = { authenticated: false, reason: 'unavailable' } as const satisfies Authentication

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
  /**
   * With a JWT: how its issuer names the caller, or `none` if it does not. Personal data: only for an agent whose owner asks for it,
   * never for a log.
   */
  oidcSubject?: { iss: string; sub: string } | 'none'
  /** Headers, in lower case, that carry credentials for this host and are never forwarded. */
  strippedHeaders: readonly string[]
}

/** Returns the name under which what a caller writes is recorded: `admin`, or the id of its token. */
export const actorOf = ({ subject }: Pick<Principal, 'subject'>): string => subject.replace(/^token:/, '')

/**
 * Returns the subject of a caller that this host can tell apart from all others. Empty for an anonymous caller, and for a JWT whose
 * issuer does not name its users, so that they do not count as one.
 */
export const distinctSubject = (caller: Authentication): string =>
  caller.authenticated && caller.oidcSubject !== 'none' ? caller.subject : ''
