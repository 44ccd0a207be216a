export type { RevisionRow, StoredRevision } from './compare.ts'
export type { ListedAgent, SearchHit } from './search-fields.ts'
export { type PendingCard, SourceFailure, type SourceRecord, type SourceState } from './source-record.ts'
export { TokenRecord } from './token-record.ts'
