export { checkSourceAllowed, describeBlocked, type FetchContext, fetchSource } from './fetch.ts'
export { reconcile } from './reconcile.ts'
export type { RefreshOutcome } from './refresh-card.ts'
export * from './start.ts'
