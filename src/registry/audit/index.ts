export * from './log.ts'
export * from './shared.ts'
