export type { Elicitation, ElicitResult, OnElicitation } from './elicitation.ts'
export { describeFailure, type McpError, withQuote } from './mcp-error.ts'
export * from './server-card.ts'
export { openSession, type Session, VERSION_WITHOUT_INITIALIZE } from './session.ts'
