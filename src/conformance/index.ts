export type { CheckedAgent } from './exchange.ts'
export * from './receipt.ts'
export * from './run.ts'
export * from './shared.ts'
