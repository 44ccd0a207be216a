import { exitCodeOf, type Outcome } from '../sync/outcome.ts'
import { patchOf } from './delta.ts'

/** What came of a synchronisation as one object for programs; what differs is a JSON Patch from the host's to the file's. */
export const outcomeJson = (outcome: Outcome, check: boolean): string => {
  const { url, results, failure } = outcome
  return JSON.stringify({
    url,
    exitCode: exitCodeOf(outcome, check),
    ...(failure !== undefined && { failure }),
    agents: results.map(({ change, findings, ...result }) => ({
      ...result,
      ...(findings && {
        issues: findings.map(({ issue, at: { file, line, column } }) => ({ ...issue, file, line, column })),
      }),
      ...(change && { patch: patchOf(change.before, change.after) }),
    })),
  })
}
