export * from './alarm.ts'
export { compareWithLatest, type Recompile, toOffer, withClass } from './compare.ts'
export * from './prepare.ts'
export {
  type BatchResult,
  type CardVerification,
  type CatalogAgent,
  type Expected,
  type Filter,
  type FilterName,
  type ListedAgent,
  type ListQuery,
  type PendingCard,
  type RankedAgent,
  type RefreshBase,
  type RefreshWithoutCard,
  type Registered,
  type Registration,
  type RevisionRow,
  type SearchHit,
  type SearchQuery,
  type SigningState,
  SourceFailure,
  type SourceRecord,
  type SourceState,
  type StoredManifest,
  type StoredRevision,
  Validators,
  type WriteCause,
  type WriteRejection,
  type WriteTerms,
} from './records.ts'
export { toTerm } from './search-fields.ts'
export { splitWords, toAnyWordExpressions, toMatchExpressions } from './search-words.ts'
export * from './start.ts'
export { TokenRecord } from './token-record.ts'
