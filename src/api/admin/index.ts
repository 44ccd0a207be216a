export { getAudit } from './audit.ts'
export { getExport, postImport } from './move.ts'
