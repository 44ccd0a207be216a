export type { ExportCursor } from './export.ts'
export type { Imported, ImportReply, ImportStep } from './import.ts'
export * from './shared.ts'
