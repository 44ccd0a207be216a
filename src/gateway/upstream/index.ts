export type { AnswerPolicy, AnswerRepair } from './check-answer.ts'
export * from './identity-errors.ts'
export * from './start.ts'
export type { TraceContext } from './trace-context.ts'
