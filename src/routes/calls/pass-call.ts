import type { Call } from '../../a2a/call.ts'
import { check, targetOf } from '../../a2a/gate.ts'
import type { Failure, Refusal, Verdict } from '../../a2a/verdict.ts'
import type { Caller } from '../../auth/caller.ts'
import { callerOf, callerOfAgent } from '../../auth/callers.ts'
import { highestTier, may } from '../../auth/may.ts'
import type { AgentCard } from '../../card/agent-card.ts'
import { type CallProfile, modesOf } from '../../card/call-profile.ts'
import { agentId } from '../../card/limits.ts'
import { readExtended } from '../../registry/edge-extended.ts'
import { readProfile } from '../../registry/edge-profiles.ts'
import { type Addressee, admission } from './admission.ts'
import type { Asked, Read } from './asked.ts'
import { logCall, warningsText } from './call-log.ts'
import { extendedCardFor } from './extended-card.ts'
import { forwardCall } from './forward-call.ts'

/** What came of a call, and what is known of it for the log. */
type Outcome = { read?: Read; caller?: Caller; warnings?: Refusal[]; upstream?: number } & (
  | { response: Response }
  | { problem: Refusal | Failure }
)

/** Refuses a call before it is known whose it is. */
export const refuseCall = ({ refuse }: Pick<Asked, 'refuse'>, problem: Refusal): Response =>
  logged(refuse(problem), '', { problem }, Date.now())

/** Takes a call through the gate: whose agent, who calls, how often, what the card allows; then to the agent; and into the log. */
export const passCall = async (
  asked: Asked,
  addressee: Addressee,
  request: Request,
  env: Env,
  ctx: ExecutionContext,
): Promise<Response> => {
  const begun = Date.now()
  const { id } = addressee
  const profile = agentId.test(id) ? await readProfile(id, env, ctx) : null
  const outcome = await pass(asked, addressee, profile, request, env, ctx)
  const response = 'problem' in outcome ? asked.refuse(outcome.problem, outcome.read?.call) : outcome.response
  if (outcome.warnings?.length) response.headers.set('Gate-Warning', warningsText(outcome.warnings))
  // The id of an agent that is not there is the caller's word.
  return logged(response, profile ? id : '', outcome, begun)
}

const logged = (response: Response, id: string, outcome: Outcome, begun: number): Response => {
  const { read, caller, warnings = [], upstream } = outcome
  const problem = 'problem' in outcome ? outcome.problem : undefined
  const milliseconds = Date.now() - begun
  logCall({ id, caller, call: read?.call, problem, warnings, status: response.status, upstream, milliseconds })
  return response
}

const pass = async (
  asked: Asked,
  addressee: Addressee,
  found: CallProfile | null,
  request: Request,
  env: Env,
  ctx: ExecutionContext,
): Promise<Outcome> => {
  const { id } = addressee
  const bearer = await callerOf(request, env, ctx)
  const caller = found ? await callerOfAgent(bearer, request, id, found, env, ctx) : bearer
  const admitted = await admission(addressee, found, caller, request, env)
  if ('refused' in admitted) return { caller, problem: admitted }
  const { profile } = admitted
  const read = asked.read(profile)
  if ('refused' in read) return { caller, problem: read }
  const verdict = await judge(read.call, caller, id, profile, env, ctx)
  if ('refused' in verdict) return { read, caller, problem: verdict }
  if (read.call.operation === 'extendedCard') {
    const card = await extendedCardFor(caller, id, profile, read.dialect, request, env, ctx)
    return 'refused' in card ? { read, caller, problem: card } : { read, caller, response: asked.answerCard(card) }
  }
  const target = targetOf(read.call, profile)
  if (target === undefined) return { read, caller, problem: { refused: 'closed' } }
  const forwarded = await forwardCall(id, read, target, profile, caller, request, env)
  return { read, caller, warnings: verdict.warnings, ...forwarded }
}

/**
 * What the gate says of a call; and where it refuses its media types, what it says by the card that the caller may read: what an
 * extended skill takes is not refused to who knows of it.
 */
const judge = async (
  call: Call,
  caller: Caller,
  id: string,
  profile: CallProfile,
  env: Env,
  ctx: ExecutionContext,
): Promise<Verdict> => {
  const verdict = check(call, profile)
  if (!('refused' in verdict) || !['input-modes', 'output-modes'].includes(verdict.refused)) return verdict
  const tier = may(caller, 'read', id) ? highestTier(caller, profile) : undefined
  const extended = tier === undefined ? null : await readExtended(id, tier, '1.0', env, ctx)
  if (extended === null) return verdict
  const card: AgentCard = JSON.parse(new TextDecoder().decode(extended.body))
  return check(call, { ...profile, modes: modesOf(card) })
}
