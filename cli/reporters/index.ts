export * from './lint-report.ts'
export * from './sync-report.ts'
