export {
  type AuditHead,
  type AuditPage,
  type AuditQuery,
  appendEntry,
  type Refusal,
  selectHead,
  storeEntry,
} from './log.ts'
export * from './shared.ts'
