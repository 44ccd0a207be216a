import type { JsonObject } from '../../src/json/json.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Finding } from '../files/findings.ts'
import type { Problem } from '../files/problem.ts'
import { type Action, telling } from './actions.ts'

/** What came of one agent. `file` is absent where no file describes it, `id` where the file does not even say which it is. */
export type Result = {
  file?: string
  id?: string
  action: Action
  detail?: string
  /** Whether the agent is internal only because its front matter does not say that it is exposed. */
  unexposed?: true
  /** What is wrong with the file, by the host's word or this command's own. */
  problems?: Problem[]
  /** What the linter found in the file. */
  findings?: Finding[]
  /** What was, and what is, where the two differ. */
  change?: { before: JsonObject; after: JsonObject }
  seq?: number
  etag?: string
  url?: string
  root?: boolean
  /** False where the host kept it, but its edge has not taken it yet; the host goes on trying. */
  published?: boolean
  /** What is the matter with a card that comes from elsewhere. */
  source?: string
  /** What of that the card leaves out. */
  notes?: string[]
  /** Whether the edge serves it already, where that was waited for. */
  live?: boolean
}

/** What came of a whole synchronisation. `failure` is why it could not go on. */
export type Outcome = { url: string; results: Result[]; failure?: string }

/** The exit code that says it; `check` makes differences and lint errors count. */
export const exitCodeOf = (outcome: Outcome, check: boolean): number =>
  Math.max(
    outcome.failure === undefined ? exitCodes.ok : exitCodes.unreachable,
    ...outcome.results.map(result => severity(result, check)),
  )

const severity = ({ action, findings = [], live, source }: Result, check: boolean): number => {
  const { exit, due } = telling(action)
  const behind =
    live === false ||
    source !== undefined ||
    (check && (due || findings.some(({ issue }) => issue.severity === 'error')))
  return Math.max(exit, behind ? exitCodes.outOfDate : exitCodes.ok)
}
