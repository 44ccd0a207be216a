export type { ExportCursor, ExportPage } from './export.ts'
export * from './import.ts'
export * from './shared.ts'
