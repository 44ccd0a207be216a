import { type CallEnd, observedCallOf } from '../../a2a/call-outcome.ts'
import { observeCall, observeMediaTypes } from '../../registry/edge/observations.ts'
import type { CallContext } from '../call-context.ts'
import type { AnsweredCall } from './check-answer.ts'

/** A call whose answer is observed. */
export type ObservedAnswer = Pick<CallContext, 'agent' | 'env' | 'ctx'> & {
  call: AnsweredCall
  /** Whether the call configures push notifications in its message. */
  hasPushConfig: boolean
}

/** Counts what an answer has shown: how the call ended, or the media types of a result or event. */
export const recordAnswer = (
  { agent, env, ctx, call, hasPushConfig }: ObservedAnswer,
  seen: { end: CallEnd } | { mediaTypes: readonly string[] },
): void => {
  if ('end' in seen) observeCall(agent.id, observedCallOf(call, hasPushConfig, seen.end), env, ctx)
  else observeMediaTypes(agent.id, seen.mediaTypes, env, ctx)
}
