import type { CallProfile } from '../card/call-profile.ts'
import { baseTier, type Scope } from '../card/model/constants.ts'
import type { Authentication } from './principal.ts'

/** Checks a permission for one agent. `admin` includes every scope for every agent; no other scope includes another. */
export const hasPermission = (caller: Authentication, scope: Scope, agentId: string): boolean =>
  caller.authenticated &&
  (isAdmin(caller) || (caller.scopes.includes(scope) && caller.agents.some(glob => matchesGlob(glob, agentId))))

/** Checks whether a caller has the scope `admin`. */
export const isAdmin = (caller: Authentication): boolean => caller.authenticated && caller.scopes.includes('admin')

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

/** Matches an id against a glob, in which only `*` is special. Takes linear time, unlike a regular expression. */
export const matchesGlob = (glob: string, id: string): boolean => {
  const [start = '', ...parts] = glob.split('*')
  const end = parts.pop()
  if (end === undefined) return glob === id
  if (!id.startsWith(start)) return false
  let position = start.length
  for (const part of parts) {
    const found = id.indexOf(part, position)
    if (found === -1) return false
    position = found + part.length
  }
  return id.length - end.length >= position && id.endsWith(end)
}
