import type { A2ACall } from '../a2a/call.ts'
import type { Failure, Refusal } from '../a2a/verdict.ts'
import type { Authentication } from '../auth/principal.ts'
import { log } from '../http/log.ts'

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
export const logCall = ({ id, caller, call, problem, warnings, upstream, ...facts }: CallFacts): void => {
  const why = problem !== undefined && 'failed' in problem && problem.failed === 'misconfigured' && problem.detail
  // What the owner has to mend is an error, which `npm start` shows.
  log(why ? 'error' : 'info', 'call', {
    agent: id,
    caller: caller === undefined ? '' : caller.known ? caller.subject : caller.given,
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
export const warningsText = (warnings: readonly Refusal[]): string => warnings.map(tagOf).join(', ')

const tagOf = (problem: Refusal | Failure): string => ('refused' in problem ? problem.refused : problem.failed)
