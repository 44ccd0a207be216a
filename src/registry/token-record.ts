import type { Scope } from '../card/model/scopes.ts'

/** A token as the Registry and KV know it: never the token itself. `expires` and `created` in ms since 1970. */
export type TokenRecord = {
  id: string
  /** For people: whose it is, what it is for. */
  note: string
  scopes: Scope[]
  /** Globs of agents' ids. */
  agents: string[]
  tiers: string[]
  created: number
  expires: number | null
}
