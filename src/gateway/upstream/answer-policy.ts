import { readAcceptedOutputModes } from '../../a2a/message.ts'
import { type A2ACall, operations } from '../../a2a/operations.ts'
import type { AnswerPlace, ResultFacts } from '../../a2a/results.ts'
import type { CallProfile } from '../../card/call-profile.ts'
import type { OwnedCall } from '../../task-owners/agent-owners.ts'
import { readExtendedModes } from '../access.ts'
import type { CallContext, GateWarning } from '../call-context.ts'
import { logStream } from '../call-log.ts'
import { createOutputComparison } from '../content-negotiation.ts'
import type { AnswerPolicy } from './check-answer.ts'

/**
 * Builds how the answers to a call are checked. What is found is reported in `Gate-Warning` and in the log. `owned` is set where
 * tasks are kept apart: then answers must be A2A, because what cannot be read could show the tasks of others.
 */
export const createAnswerPolicy = (
  context: CallContext,
  call: A2ACall,
  profile: CallProfile,
  owned?: OwnedCall,
): AnswerPolicy => {
  const policy = createGatePolicy(context, call, profile)
  if (owned === undefined) return policy
  const inspect: AnswerPolicy['inspect'] = (facts, place) => {
    const decision = owned.inspect(facts)
    if (!(decision instanceof Promise)) return decision ?? policy.inspect?.(facts, place)
    return decision.then(decided => decided ?? policy.inspect?.(facts, place))
  }
  return { ...policy, level: 'enforce', inspect }
}

const createGatePolicy = (context: CallContext, call: A2ACall, profile: CallProfile): AnswerPolicy => {
  const level = profile.gate.responses
  const onStreamError: AnswerPolicy['onStreamError'] = error => logStream(context, { error })
  if (level === 'off') return { level, onStreamError, warn: () => undefined }
  const reported = new Set<string>()
  const warn = (warning: GateWarning, place: AnswerPlace): void => {
    if (reported.has(warning.kind)) return
    reported.add(warning.kind)
    // The headers of a stream have been sent, and its call was logged.
    if (place === 'event') logStream(context, { warning })
    else context.warnings = [...context.warnings, warning]
  }
  if (profile.gate.modes === 'off') return { level, warn, onStreamError }
  const accepted = operations[call.operation].sends ? readAcceptedOutputModes(call.params) : undefined
  const compare = createOutputComparison(accepted)
  const inspect = ({ mediaTypes }: ResultFacts, place: AnswerPlace): Promise<undefined> | undefined => {
    const warnings = compare(mediaTypes, profile.modes, reported)
    if (warnings.length === 0) return undefined
    // The extended card that the caller may read can declare more.
    return readExtendedModes(context, profile).then(modes => {
      for (const warning of modes ? compare(mediaTypes, modes, reported) : warnings) warn(warning, place)
      return undefined
    })
  }
  return { level, warn, onStreamError, inspect }
}
