export { checkSourceAllowed, describeBlocked, type FetchContext, fetchSource } from './fetch.ts'
export { prepareRemote, reconcile } from './reconcile.ts'
export type { RefreshOutcome } from './refresh.ts'
export * from './start.ts'
