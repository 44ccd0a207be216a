export { AUDIT_HEAD_TYPE, AUDITED, type AuditEntry, type Audited, findChainBreak, sha256 } from './chain.ts'
