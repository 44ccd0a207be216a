export * from './access-tokens.ts'
export { getAudit } from './audit-log.ts'
export { exportHost, importHost } from './export-import.ts'
export { getKeys } from './host-keys.ts'
