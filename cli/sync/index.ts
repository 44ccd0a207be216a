export { type PullResult, pullCards } from './pull-cards.ts'
export * from './result.ts'
export { NON_INTERACTIVE, syncCards } from './sync-cards.ts'
export { ChangeTracker, createFilter, type SyncOptions, selectFiles, watchCards } from './sync-run.ts'
