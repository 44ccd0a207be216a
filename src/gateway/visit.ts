import type { Refusal } from '../a2a/verdict.ts'
import { authenticateForAgent } from '../auth/authenticate.ts'
import type { Authentication } from '../auth/principal.ts'
import type { CallProfile } from '../card/call-profile.ts'
import type { Asking } from '../http/handler.ts'
import { lookUpProfile } from '../registry/edge/edge-profiles.ts'
import type { AgentRef } from './endpoint.ts'

/** Who calls which agent; there is none of that id where `profile` is null. */
export type Visit = AgentRef & { profile: CallProfile | null; caller: Authentication }

/** Finds the agent of a call, and who calls it: `bearer`, unless the agent's card says more. */
export const resolveCallContext = async (
  { id, named }: AgentRef,
  bearer: Authentication,
  ...[request, env, ctx]: Asking
): Promise<Visit | Refusal> => {
  const profile = await lookUpProfile(id, env, ctx)
  if (profile === undefined) return unavailable
  const caller = profile ? await authenticateForAgent(bearer, request, id, profile, env, ctx) : bearer
  return { id, named, profile, caller }
}

/** What is told while KV or the Registry is away, which the log has been told. */
export const unavailable: Refusal = { refused: 'unavailable' }
