import { log } from '../http/log.ts'
import type { Outcome } from './results.ts'

/** Writes the line of one call of a tool: in words of this host; nothing that a caller or a tool wrote. */
export const logTool = (agent: string, outcome: Outcome, milliseconds: number): void => {
  const why = whyNot(outcome)
  // What the owner has to mend is an error, which `npm start` shows.
  log(why ? 'error' : 'info', 'tool-call', { agent, outcome: tagOf(outcome), ...(why && { why }), milliseconds })
}

const tagOf = (outcome: Outcome): string => {
  if ('result' in outcome) return outcome.result.isError ? 'tool-failed' : 'done'
  if ('refused' in outcome) return 'refused'
  if ('unusable' in outcome) return 'unusable'
  if ('crowded' in outcome) return 'crowded'
  return 'notReady' in outcome ? 'not-ready' : outcome.failure.failed
}

const whyNot = (outcome: Outcome): string => {
  if ('notReady' in outcome) return outcome.notReady
  return 'failure' in outcome ? (outcome.detail ?? '') : ''
}
