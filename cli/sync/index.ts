export { type PullResult, pullCards } from './pull.ts'
export {
  type Action,
  type AgentResult,
  agentExitCode,
  callRules,
  countActions,
  exitCodeOf,
  isNoteworthy,
  isUncallable,
  type Strictness,
  type SyncResult,
  styleOf,
} from './result.ts'
export type { SyncOptions } from './run.ts'
export { createFilter, selectFiles } from './selection.ts'
export { NON_INTERACTIVE, syncCards } from './sync.ts'
export { ChangeTracker, watchCards } from './watch.ts'
