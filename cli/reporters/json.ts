import type { SyncResult } from '../sync/index.ts'
import { toJsonPatch } from './diff.ts'
import type { LintReport, ObservedResult } from './lint-text.ts'

/** Formats a synchronisation as one JSON object. `patch` leads from the host's manifest to the file's. */
export const syncJson = ({ url, results, skipped, failure, interrupted }: SyncResult, exitCode: number): string =>
  JSON.stringify({
    url,
    exitCode,
    ...(interrupted && { interrupted }),
    ...(failure !== undefined && { failure }),
    ...(skipped.length > 0 && { skipped }),
    agents: results.map(({ change, issues, ...agent }) => ({
      ...agent,
      ...(issues && {
        issues: issues.map(({ issue, at: { file, line, column } }) => ({ ...issue, file, line, column })),
      }),
      ...(change && { patch: toJsonPatch(change) }),
    })),
  })

/**
 * Formats lint results as one JSON object: for each file what `POST /lint` returns, with positions in the file, and what its
 * agent's calls have shown if the host was asked.
 */
export const lintJson = ({ results, skipped }: LintReport): string =>
  JSON.stringify(
    {
      files: results.map(({ file, id, problems, report, observed }) => ({
        file,
        ...(id !== undefined && { id }),
        valid: problems.length === 0,
        errors: problems,
        ...report,
        ...(observed && { observed: withPositions(observed) }),
      })),
      skipped,
    },
    null,
    2,
  )

const withPositions = (observed: ObservedResult) =>
  observed.state === 'observed'
    ? {
        ...observed,
        proposals: observed.proposals.map(({ at: { file, line, column }, ...proposal }) => ({
          ...proposal,
          ...{ file, line, column },
        })),
      }
    : observed
