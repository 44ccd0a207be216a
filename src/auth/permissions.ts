import type { CallProfile } from '../card/call-profile.ts'
import { baseTier, matchesGlob, type Scope } from '../card/model/constants.ts'
import type { Authentication } from './principal.ts'

/** Checks a permission for one agent. `admin` includes every scope for every agent; no other scope includes another. */
export const hasPermission = (caller: Authentication, scope: Scope, agentId: string): boolean =>
  caller.authenticated &&
  (isAdmin(caller) || (caller.scopes.includes(scope) && caller.agents.some(glob => matchesGlob(glob, agentId))))

/** Checks whether a caller has the scope `admin`. */
export const isAdmin = (caller: Authentication): boolean => caller.authenticated && caller.scopes.includes('admin')

/** Returns globs of the agents for which a caller has one of these scopes. */
export const coveredAgents = (caller: Authentication, scopes: readonly Scope[]): readonly string[] => {
  if (!caller.authenticated) return []
  if (isAdmin(caller)) return ['*']
  return scopes.some(scope => caller.scopes.includes(scope)) ? caller.agents : []
}

/**
 * Returns the tiers of an agent that a caller may read, lowest first: the base tier for every principal, and the tiers that
 * its credentials name. Does not check the scope `read`; `hasPermission` does.
 */
export const readableTiers = (caller: Authentication, { tiers }: Pick<CallProfile, 'tiers'>): string[] =>
  caller.authenticated
    ? tiers.filter(
        tier => tier === baseTier || isAdmin(caller) || caller.tiers.includes('*') || caller.tiers.includes(tier),
      )
    : []

/** Returns the highest of those tiers, whose extended card the caller gets; undefined if there is none. */
export const highestTier = (caller: Authentication, profile: Pick<CallProfile, 'tiers'>): string | undefined =>
  readableTiers(caller, profile).at(-1)
