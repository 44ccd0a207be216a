import type { Failure, Refusal, Verdict } from '../a2a/errors.ts'
import type { A2ACall } from '../a2a/operations.ts'
import { authenticate } from '../auth/authenticate.ts'
import { hasPermission, highestTier } from '../auth/permissions.ts'
import type { Authentication } from '../auth/principal.ts'
import type { CallProfile } from '../card/call-profile.ts'
import type { AgentCard } from '../card/model/agent-card.ts'
import { collectModes } from '../card/model/calls.ts'
import type { Asking } from '../http/handler.ts'
import { log } from '../http/log.ts'
import { readExtended } from '../registry/edge/cards.ts'
import { authorizeCall, checkRateLimit, loadExtendedCard } from './access.ts'
import {
  type AgentRef,
  type Endpoint,
  type InboundCall,
  type ParsedCall,
  resolveCallContext,
  type Visit,
} from './call-context.ts'
import { forwardCall } from './forward.ts'
import { isSmall } from './jsonrpc-binding.ts'
import { evaluatePolicy, targetOf } from './policy.ts'

/** What is told of one call. */
type CallFacts = {
  /** Of an agent that is here; else empty. */
  id: string
  caller: Authentication | undefined
  call: A2ACall | undefined
  problem: Refusal | Failure | undefined
  warnings: readonly Refusal[]
  status: number
  upstream: number | undefined
  milliseconds: number
}

/** Writes the line of one call: words of this host, numbers and ids; nothing that a caller or an agent wrote. */
const logCall = ({ id, caller, call, problem, warnings, upstream, ...facts }: CallFacts): void => {
  const why = problem !== undefined && 'failed' in problem && problem.failed === 'misconfigured' && problem.detail
  // What the owner has to mend is an error, which `npm start` shows.
  log(why ? 'error' : 'info', 'call', {
    agent: id,
    caller: caller === undefined ? '' : caller.authenticated ? caller.subject : caller.reason,
    operation: call?.operation ?? '',
    binding: call?.binding ?? '',
    version: call?.version ?? '',
    verdict: problem === undefined ? 'passed' : tagOf(problem),
    ...(warnings.length > 0 && { warnings: warningsText(warnings) }),
    ...(why && { why }),
    ...(upstream !== undefined && { upstream }),
    ...facts,
  })
}

/** The names of what the gate would have refused, where the manifest says `warn`. */
const warningsText = (warnings: readonly Refusal[]): string => warnings.map(tagOf).join(', ')

const tagOf = (problem: Refusal | Failure): string => ('refused' in problem ? problem.refused : problem.failed)

/** What came of a call, and what is known of it for the log. */
type Outcome = { id?: string; caller?: Authentication; read?: ParsedCall; warnings?: Refusal[]; upstream?: number } & (
  | { response: Response }
  | { problem: Refusal | Failure }
)

/** Takes a call through the gate: who calls, how often, whose agent, what the card allows; then to the agent; and into the log. */
export const handleCall = async (endpoint: Endpoint, ...asking: Asking): Promise<Response> => {
  const begun = Date.now()
  const { asked, outcome } = await enter(endpoint, ...asking)
  const { id = '', caller, read, warnings = [], upstream } = outcome
  const problem = 'problem' in outcome ? outcome.problem : undefined
  const response = 'problem' in outcome ? asked.refuse(outcome.problem, read?.call) : outcome.response
  if (warnings.length > 0) response.headers.set('Gate-Warning', warningsText(warnings))
  const milliseconds = Date.now() - begun
  logCall({ id, caller, call: read?.call, problem, warnings, status: response.status, upstream, milliseconds })
  return response
}

/** Counts a call before its body is read, and before anybody is asked whose it is; a refused one too. */
const enter = async (
  { whose, body, ask }: Endpoint,
  ...asking: Asking
): Promise<{ asked: InboundCall; outcome: Outcome }> => {
  const [request, env] = asking
  const bearer = await authenticate(...asking)
  const visitOf = (addressee: AgentRef | Refusal) =>
    'refused' in addressee ? addressee : resolveCallContext(addressee, bearer, ...asking)
  const early = typeof whose === 'function' ? undefined : await visitOf(whose)
  const caller = early && 'caller' in early ? early.caller : bearer
  const tooMany = await checkRateLimit(caller, request, env)
  const asked = ask(tooMany && !isSmall(request) ? tooMany : await body())
  if (tooMany) return { asked, outcome: { caller, problem: tooMany } }
  if (asked.refusal) return { asked, outcome: { problem: asked.refusal } }
  const found =
    early ?? (await visitOf(typeof whose === 'function' ? await whose(asked.params, bearer, ...asking) : whose))
  return { asked, outcome: 'refused' in found ? { problem: found } : await pass(asked, found, ...asking) }
}

const pass = async (asked: InboundCall, visit: Visit, ...[request, env, ctx]: Asking): Promise<Outcome> => {
  const { id, caller } = visit
  const admitted = authorizeCall(visit)
  // The id of an agent that is not there is the caller's word.
  const known = { caller, ...(visit.profile && { id }) }
  if ('refused' in admitted) return { ...known, problem: admitted }
  const { profile } = admitted
  if (profile.cardMissing) return { ...known, problem: { failed: 'no-card' } }
  const read = asked.read(profile)
  if ('refused' in read) return { ...known, problem: read }
  const verdict = await judge(read.call, caller, id, profile, env, ctx)
  if ('refused' in verdict) return { ...known, read, problem: verdict }
  if (read.call.operation === 'extendedCard') {
    const card = await loadExtendedCard(caller, id, profile, read.dialect, env, ctx)
    return { ...known, read, ...('refused' in card ? { problem: card } : { response: asked.answerCard(card) }) }
  }
  const target = targetOf(read.call, profile)
  if (target === undefined) return { ...known, read, problem: { refused: 'closed' } }
  const forwarded = await forwardCall(id, read, target, profile, caller, request, env)
  return { ...known, read, warnings: verdict.warnings, ...forwarded }
}

/**
 * What the gate says of a call; and where it refuses its media types, what it says by the card that the caller may read: what an
 * extended skill takes is not refused to who knows of it.
 */
const judge = async (
  call: A2ACall,
  caller: Authentication,
  id: string,
  profile: CallProfile,
  env: Env,
  ctx: ExecutionContext,
): Promise<Verdict> => {
  const verdict = evaluatePolicy(call, profile, env.ALLOWED_ORIGINS)
  if (!('refused' in verdict) || !['input-modes', 'output-modes'].includes(verdict.refused)) return verdict
  const tier = hasPermission(caller, 'read', id) ? highestTier(caller, profile) : undefined
  // While KV is away, the public card is what there is to go by.
  const extended = tier === undefined ? null : await readExtended({ id, tier, name: '1.0' }, env, ctx).catch(() => null)
  if (extended === null) return verdict
  const card: AgentCard = JSON.parse(new TextDecoder().decode(extended.body))
  return evaluatePolicy(call, { ...profile, modes: collectModes(card) }, env.ALLOWED_ORIGINS)
}
