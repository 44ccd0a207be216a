import { HttpError, logUnexpected } from '../http/start.ts'
import { findByName, readProfile } from '../registry/edge/start.ts'
import { authenticateForAgent } from './authenticate.ts'
import { type Authentication, hasPermission } from './principal.ts'

/** Checks whether the caller may learn that an internal agent exists. */
export type IsVisible = (id: string) => Promise<boolean> | boolean

/**
 * Resolves an id or name (case-insensitive) to the id of an agent, or to ''. An id takes precedence over a name, and
 * the oldest of several agents with one name. Ignores internal agents that the caller cannot see, and any whose check
 * fails unexpectedly: it must not block others of its name.
 */
export const findAgentByName = async (name: string, canSee: IsVisible, env: Env, ctx: ExecutionContext) => {
  const { public: publicId, internal } = await findByName(name, env, ctx)
  for (const id of internal) {
    try {
      if (await canSee(id)) return id
    } catch (error) {
      if (error instanceof HttpError) throw error
      logUnexpected(error)
    }
  }
  return publicId ?? ''
}

/** Returns a check for agents that the caller may call: with a token of this host, or credentials of the card. */
export const callableBy =
  (caller: Authentication, request: Request, env: Env, ctx: ExecutionContext): IsVisible =>
  async id => {
    if (caller.authenticated) return hasPermission(caller, 'read', id)
    const profile = await readProfile(id, env, ctx)
    if (profile === null) return false
    return hasPermission(await authenticateForAgent(caller, { id, profile }, { request, env, ctx }), 'read', id)
  }

/** Returns a check for agents whose cards the caller may read, which requires credentials in `Authorization`. */
export const readableBy = (caller: Authentication, request: Request, env: Env, ctx: ExecutionContext): IsVisible =>
  request.headers.has('Authorization') ? callableBy(caller, request, env, ctx) : () => false
