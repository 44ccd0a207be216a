import type { JsonObject } from '../../src/json/index.ts'
import type { ResponseOf } from '../client/index.ts'
import { ExitCode } from '../errors.ts'
import type { Diagnostic, LocatedIssue, SkippedFile } from '../manifests/index.ts'

/** The mark, the color and the exit code of an action. `due`: still to be done, after a dry run. */
type ActionStyle = { mark: string; color: 'dim' | 'green' | 'yellow' | 'red'; exit: number; due?: true }

/** How each action is shown, in the order of a summary. */
export const ACTIONS = {
  created: { mark: '+', color: 'green', exit: ExitCode.ok },
  updated: { mark: '~', color: 'yellow', exit: ExitCode.ok },
  deleted: { mark: '-', color: 'red', exit: ExitCode.ok },
  'to create': { mark: '+', color: 'green', exit: ExitCode.ok, due: true },
  'to update': { mark: '~', color: 'yellow', exit: ExitCode.ok, due: true },
  'to delete': { mark: '-', color: 'red', exit: ExitCode.ok, due: true },
  unchanged: { mark: '=', color: 'dim', exit: ExitCode.ok },
  kept: { mark: '=', color: 'dim', exit: ExitCode.ok },
  differs: { mark: '~', color: 'yellow', exit: ExitCode.outOfDate },
  invalid: { mark: '✗', color: 'red', exit: ExitCode.rejected },
  refused: { mark: '✗', color: 'red', exit: ExitCode.rejected },
  'changed meanwhile': { mark: '✗', color: 'red', exit: ExitCode.rejected },
  'owned by another set': { mark: '✗', color: 'red', exit: ExitCode.rejected },
  'not sent': { mark: '✗', color: 'red', exit: ExitCode.rejected },
  'not written': { mark: '✗', color: 'red', exit: ExitCode.rejected },
  'not registered': { mark: '✗', color: 'red', exit: ExitCode.rejected },
  forbidden: { mark: '✗', color: 'red', exit: ExitCode.unreachable },
  'not compared': { mark: '✗', color: 'red', exit: ExitCode.unreachable },
  'not pushed': { mark: '✗', color: 'red', exit: ExitCode.unreachable },
  'not deleted': { mark: '✗', color: 'red', exit: ExitCode.unreachable },
} satisfies Record<string, ActionStyle>

/** The name of what a synchronization or a pull did with an agent. */
export type Action = keyof typeof ACTIONS

/** The result for one agent. `file` is absent if no file describes it, `id` if the file does not even have one. */
export type AgentResult = {
  file?: string
  id?: string
  action: Action
  detail?: string
  /** The agent is internal only because its front matter has no `exposed`. */
  unexposed?: true
  /** The mistakes in the file, found by the host or by this command. */
  problems?: Diagnostic[]
  issues?: LocatedIssue[]
  /** The manifests of the host and of the file, if they differ. */
  change?: { before: JsonObject; after: JsonObject }
  seq?: number
  etag?: string
  url?: string
  root?: boolean
  /** False if the edge does not serve it yet; the host keeps retrying. */
  published?: boolean
  /** The reason why its upstream card is not up to date. */
  source?: string
  /** The class of the change for clients: `breaking`, `additive` or `cosmetic`; absent for a new agent. */
  class?: string
  /** Each of these changes, the most severe first. */
  changes?: NonNullable<ResponseOf<'PUT /agents/:id'>['changes']>
  /** Remarks such as what was left out of its upstream card. */
  notes?: string[]
  /** The edge serves it. Absent unless the command waited for that. */
  live?: boolean
}

/** Returns what identifies a result: its file, else its agent. */
export const nameOf = ({ file, id }: AgentResult): string => file ?? id ?? ''

/** The result of a synchronization. `failure` is why the host cannot be used; `interrupted`: the user stopped it. */
export type SyncResult = {
  url: string
  results: AgentResult[]
  skipped: SkippedFile[]
  failure?: string | undefined
  interrupted?: true | undefined
}

/** The failures besides errors: differences (`--check`, `--dry-run`), and findings of the linter. */
export type Strictness = { differences?: boolean; lint?: 'error' | 'warning' | undefined }

/** The rules of the host that find what makes every call of an agent fail. */
export const callRules: ReadonlySet<string> = new Set(['missing-binding', 'blocked-upstream'])

/** Checks whether the host cannot call the agent yet. */
export const isUncallable = ({ issues = [] }: AgentResult): boolean =>
  issues.some(({ issue }) => callRules.has(issue.rule))

/** Checks whether a result needs a line of its own: an unchanged agent does only if something is wrong with it. */
export const isNoteworthy = (result: AgentResult): boolean =>
  !['unchanged', 'kept'].includes(result.action) ||
  isUncallable(result) ||
  agentExitCode(result, { lint: 'error' }) > ExitCode.ok

/** Returns the exit code of a synchronization or a pull. */
export const exitCodeOf = (result: Omit<SyncResult, 'skipped'>, strictness: Strictness = {}): number =>
  Math.max(
    result.failure === undefined ? ExitCode.ok : ExitCode.unreachable,
    result.interrupted ? ExitCode.interrupted : ExitCode.ok,
    ...result.results.map(each => agentExitCode(each, strictness)),
  )

/** Returns the exit code of the result for one agent. */
export const agentExitCode = (result: AgentResult, { differences = false, lint }: Strictness): number => {
  const { action, live, source, issues = [] } = result
  const { exit, due }: ActionStyle = ACTIONS[action]
  const isFinding = ({ issue: { severity } }: LocatedIssue): boolean =>
    lint !== undefined && (severity === 'error' || severity === lint)
  const isOutOfDate = live === false || source !== undefined || (differences && due) || issues.some(isFinding)
  return Math.max(exit, isOutOfDate ? ExitCode.outOfDate : ExitCode.ok)
}
