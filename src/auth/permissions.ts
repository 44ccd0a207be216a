import type { CallProfile } from '../card/index.ts'
import { baseTier, matchesGlob, type Scope } from '../card/model/start.ts'
import type { Authentication } from './principal.ts'

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
