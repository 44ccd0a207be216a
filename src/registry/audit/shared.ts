export { AUDIT_HEAD_TYPE, AUDITED, type AuditEntry, findChainBreak, sha256 } from './chain.ts'
