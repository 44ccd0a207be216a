import type { Scope } from '../card/model/constants.ts'

/** What is wrong with credentials that do not hold. */
export type BadToken = 'unknown' | 'expired' | 'malformed' | 'several'

/** Who makes a request, as far as this host can tell. */
export type Authentication =
  | Principal
  /** No credentials; or such as this host does not know, which may be the agent's own. */
  | { known: false; given: 'nothing' | 'foreign' }
  /** Credentials of this host's own kind, or of an issuer that the agent's card names, that do not hold. */
  | { known: false; given: 'bad-token'; why: BadToken }
  /** Credentials that cannot be judged now: the issuer that the agent's card names does not answer. Nothing may pass. */
  | { known: false; given: 'unavailable' }
  /** Credentials that were not looked at: too many of this address did not hold. */
  | { known: false; given: 'throttled' }

/** Who brings no credentials. */
export const ANONYMOUS: Authentication = { known: false, given: 'nothing' }

/** A caller whose credentials hold. */
export type Principal = {
  known: true
  /** Names the caller in logs and counts its calls. Never a secret, nor anything personal. */
  subject: string
  scopes: readonly Scope[]
  /** Globs of agents' ids. */
  agents: readonly string[]
  /** The extended cards that it may read beside the first. */
  tiers: readonly string[]
  /** The headers, in lower case, whose credentials are this host's: they never go upstream. */
  strippedHeaders: readonly string[]
}
