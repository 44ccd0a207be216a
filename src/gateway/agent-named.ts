import { authenticateForAgent } from '../auth/authenticate.ts'
import { hasPermission } from '../auth/permissions.ts'
import type { Authentication } from '../auth/principal.ts'
import type { Asking } from '../http/handler.ts'
import { findByName } from '../registry/edge/edge-names.ts'
import { readProfile } from '../registry/edge/edge-profiles.ts'

/** Whether who asks is to learn of an internal agent. */
export type CanSee = (id: string) => Promise<boolean> | boolean

/**
 * The agent that a name or an id stands for to who asks, whatever its case: an id before a name, who has had a name longest before
 * others, and as though the internal ones that it does not see were not there. An empty text where there is none.
 */
export const findAgentByName = async (name: string, sees: CanSee, ...[, env, ctx]: Asking): Promise<string> => {
  const { open, internal } = await findByName(name, env, ctx)
  for (const id of internal) if (await sees(id)) return id
  return open ?? ''
}

/** Whether a caller may call an internal agent: by a token of this host, or by what the agent's card says besides. */
export const mayCall =
  (caller: Authentication, ...[request, env, ctx]: Asking): CanSee =>
  async id => {
    if (caller.known) return hasPermission(caller, 'read', id)
    const profile = await readProfile(id, env, ctx)
    return (
      profile !== null && hasPermission(await authenticateForAgent(caller, request, id, profile, env, ctx), 'read', id)
    )
  }

/** Whether its caller may read an internal agent's card: that takes a token where tokens are sent. */
export const mayRead = (caller: Authentication, ...asking: Asking): CanSee =>
  asking[0].headers.has('Authorization') ? mayCall(caller, ...asking) : () => false
