export { isExpired, isStale, type SourceHealth, staleHeaders } from './kv-format.ts'
export * from './lazy-object.ts'
