export * from './checks.ts'
export type { CheckedAgent } from './exchange.ts'
export * from './shared.ts'
