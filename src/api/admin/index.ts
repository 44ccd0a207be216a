export { getAudit } from './audit.ts'
export { getKeys } from './keys.ts'
export { getExport, postImport } from './move.ts'
