export * from './access-tokens.ts'
export { getAudit } from './audit-log.ts'
export { getExport, postImport } from './export-import.ts'
export { getKeys } from './host-keys.ts'
