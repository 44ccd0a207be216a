import type { CallProfile } from '../card/call-profile.ts'
import { baseTier, type Scope } from '../card/model/constants.ts'
import type { Authentication } from './principal.ts'

/** Whether an id is one that a glob names; `*` stands for any characters, and is the only one that is special. Takes linear time. */
export const matchesGlob = (glob: string, id: string): boolean => {
  const [start = '', ...parts] = glob.split('*')
  const end = parts.pop()
  if (end === undefined) return glob === id
  if (!id.startsWith(start)) return false
  let at = start.length
  for (const part of parts) {
    const found = id.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return id.length - end.length >= at && id.endsWith(end)
}

/** Whether a caller may do something with an agent. `admin` may do everything with every agent; no other scope holds another. */
export const hasPermission = (caller: Authentication, scope: Scope, agentId: string): boolean =>
  caller.known &&
  (isAdmin(caller) || (caller.scopes.includes(scope) && caller.agents.some(glob => matchesGlob(glob, agentId))))

/** Whether a caller may do everything. */
export const isAdmin = (caller: Authentication): boolean => caller.known && caller.scopes.includes('admin')

/**
 * The tiers of an agent that a caller may read, lowest first: the base is every bearer's, the others those that its credentials
 * name. Whether it may `read` the agent at all is for `may` to say.
 */
export const readableTiers = (caller: Authentication, { tiers }: Pick<CallProfile, 'tiers'>): string[] =>
  caller.known
    ? tiers.filter(
        tier => tier === baseTier || isAdmin(caller) || caller.tiers.includes('*') || caller.tiers.includes(tier),
      )
    : []

/** The highest of those tiers: the extended card that is the caller's. Undefined where there is none. */
export const highestTier = (caller: Authentication, profile: Pick<CallProfile, 'tiers'>): string | undefined =>
  readableTiers(caller, profile).at(-1)
