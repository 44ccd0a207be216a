export * from './audit-log.ts'
export * from './shared.ts'
