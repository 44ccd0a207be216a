export * from './client.ts'
export type { ImportReply } from './imports.ts'
export * from './registry.ts'
