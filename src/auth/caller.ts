import type { Scope } from '../registry/token-record.ts'

/** Who makes a request, as far as this host can tell. */
export type Caller =
  /** No credentials; or such as this host does not know, which may be the agent's own. */
  | { known: false; given: 'nothing' | 'foreign' }
  /** Credentials of this host's own kind, or of an issuer that the agent's card names, that do not hold. */
  | { known: false; given: 'bad-token' }
  /**
   * A bearer of this host's. `subject` names it in logs and never is a secret; `agents` are globs of ids; `tiers` the
   * extended cards that it may read beside the first. `ours`: the credentials are this host's and never go upstream.
   */
  | {
      known: true
      subject: string
      scopes: readonly Scope[]
      agents: readonly string[]
      tiers: readonly string[]
      ours: boolean
    }
