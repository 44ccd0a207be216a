import type { JsonObject } from '../../src/json/json.ts'
import { ExitCode } from '../exit-codes.ts'
import type { Diagnostic, LocatedIssue } from '../manifests/index.ts'

/** How an action is shown, and its exit code. `due`: still to be done, after a dry run. */
type ActionStyle = { mark: string; color: 'dim' | 'green' | 'yellow' | 'red'; exit: number; due?: true }

const ACTIONS = {
  unchanged: { mark: '=', color: 'dim', exit: ExitCode.ok },
  created: { mark: '+', color: 'green', exit: ExitCode.ok },
  updated: { mark: '~', color: 'yellow', exit: ExitCode.ok },
  deleted: { mark: '-', color: 'red', exit: ExitCode.ok },
  kept: { mark: '=', color: 'dim', exit: ExitCode.ok },
  'to create': { mark: '+', color: 'green', exit: ExitCode.ok, due: true },
  'to update': { mark: '~', color: 'yellow', exit: ExitCode.ok, due: true },
  'to delete': { mark: '-', color: 'red', exit: ExitCode.ok, due: true },
  invalid: { mark: '✗', color: 'red', exit: ExitCode.rejected },
  refused: { mark: '✗', color: 'red', exit: ExitCode.rejected },
  'changed meanwhile': { mark: '✗', color: 'red', exit: ExitCode.rejected },
  forbidden: { mark: '✗', color: 'red', exit: ExitCode.unreachable },
  'not pushed': { mark: '✗', color: 'red', exit: ExitCode.unreachable },
} as const satisfies Record<string, ActionStyle>

/** What a synchronisation did with an agent. */
export type Action = keyof typeof ACTIONS

/** Returns how an action is shown. */
export const styleOf = (action: Action): ActionStyle => ACTIONS[action]

/** The result for one agent. `file` is absent if no file describes it, `id` if the file does not even have one. */
export type AgentResult = {
  file?: string
  id?: string
  action: Action
  detail?: string
  /** Whether the agent is internal only because its front matter has no `exposed`. */
  unexposed?: true
  /** What is wrong with the file, found by the host or by this command. */
  problems?: Diagnostic[]
  /** What the linter found in the file. */
  issues?: LocatedIssue[]
  /** The manifests of the host and of the file, if they differ. */
  change?: { before: JsonObject; after: JsonObject }
  seq?: number
  etag?: string
  url?: string
  root?: boolean
  /** False if the edge does not serve it yet; the host keeps retrying. */
  published?: boolean
  /** Why its upstream card is not up to date. */
  source?: string
  /** What was left out of its upstream card. */
  notes?: string[]
  /** Whether the edge serves it. Absent unless the command waited for that. */
  live?: boolean
}

/** Returns what identifies a result: its file, else its agent. */
export const nameOf = ({ file, id }: AgentResult): string => file ?? id ?? ''

/** The result of a synchronisation. `failure` is why it stopped. */
export type SyncResult = { url: string; results: AgentResult[]; failure?: string }

/** Returns the exit code of a synchronisation. With `check`, differences and lint errors count. */
export const exitCodeOf = ({ results, failure }: SyncResult, check: boolean): number =>
  Math.max(
    failure === undefined ? ExitCode.ok : ExitCode.unreachable,
    ...results.map(result => agentExitCode(result, check)),
  )

const agentExitCode = ({ action, issues = [], live, source }: AgentResult, check: boolean): number => {
  const { exit, due } = styleOf(action)
  const hasLintError = issues.some(({ issue }) => issue.severity === 'error')
  const isOutOfDate = live === false || source !== undefined || (check && (due || hasLintError))
  return Math.max(exit, isOutOfDate ? ExitCode.outOfDate : ExitCode.ok)
}
