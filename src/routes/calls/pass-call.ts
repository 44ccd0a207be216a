import { check, targetOf } from '../../a2a/gate.ts'
import type { Failure, Refusal } from '../../a2a/verdict.ts'
import type { Caller } from '../../auth/caller.ts'
import { callerOfAgent } from '../../auth/callers.ts'
import { agentId } from '../../card/limits.ts'
import { readProfile } from '../../registry/edge-profiles.ts'
import { type Addressee, admissionRefusal } from './admission.ts'
import type { Asked, Read } from './asked.ts'
import { logCall, warningsText } from './call-log.ts'
import { extendedCardFor } from './extended-card.ts'
import { forwardCall } from './forward-call.ts'

/** What came of a call, and what is known of it for the log. */
type Outcome = { read?: Read; caller?: Caller; warnings?: Refusal[]; upstream?: number } & (
  | { response: Response }
  | { problem: Refusal | Failure }
)

/** Takes a call through the gate: whose agent, who calls, how often, what the card allows; then to the agent; and into the log. */
export const passCall = async (
  asked: Asked,
  addressee: Addressee,
  request: Request,
  env: Env,
  ctx: ExecutionContext,
): Promise<Response> => {
  const begun = Date.now()
  const outcome = await pass(asked, addressee, request, env, ctx)
  const { read, caller, warnings = [], upstream } = outcome
  const problem = 'problem' in outcome ? outcome.problem : undefined
  const response = 'problem' in outcome ? asked.refuse(outcome.problem, read?.call) : outcome.response
  if (warnings.length > 0) response.headers.set('Gate-Warning', warningsText(warnings))
  const milliseconds = Date.now() - begun
  logCall({
    id: addressee.id,
    caller,
    call: read?.call,
    problem,
    warnings,
    status: response.status,
    upstream,
    milliseconds,
  })
  return response
}

const pass = async (
  asked: Asked,
  addressee: Addressee,
  request: Request,
  env: Env,
  ctx: ExecutionContext,
): Promise<Outcome> => {
  const { id, named } = addressee
  const profile = agentId.test(id) ? await readProfile(id, env, ctx) : null
  if (profile === null) return { problem: { refused: 'unknown-agent', agent: named } }
  const caller = await callerOfAgent(request, id, profile, env, ctx)
  const stopped = await admissionRefusal(addressee, profile, caller, request, env)
  if (stopped) return { caller, problem: stopped }
  const read = asked.read(profile)
  if ('refused' in read) return { caller, problem: read }
  const verdict = check(read.call, profile)
  if ('refused' in verdict) return { read, caller, problem: verdict }
  if (read.call.operation === 'extendedCard') {
    const card = await extendedCardFor(caller, id, profile, read.dialect, env, ctx)
    return 'refused' in card ? { read, caller, problem: card } : { read, caller, response: asked.answerCard(card) }
  }
  const target = targetOf(read.call, profile)
  if (target === undefined) return { read, caller, problem: { refused: 'closed' } }
  const forwarded = await forwardCall(id, read, target, profile, caller, request, env)
  return { read, caller, warnings: verdict.warnings, ...forwarded }
}
