export { type PullResult, pullCards } from './pull-cards.ts'
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
export { createFilter, selectFiles } from './selection.ts'
export { NON_INTERACTIVE, syncCards } from './sync-cards.ts'
export type { SyncOptions } from './sync-run.ts'
export { ChangeTracker, watchCards } from './sync-run.ts'
