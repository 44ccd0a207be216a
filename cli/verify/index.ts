export * from './text.ts'
export type { CardVerification } from './verify-card.ts'
