export { type AgentResult, exitCodeOf, type SyncResult, styleOf } from './result.ts'
export { NON_INTERACTIVE, type SyncOptions, syncCards } from './sync.ts'
export { ChangeTracker, watchCards } from './watch.ts'
