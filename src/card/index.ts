export { CallProfile, type McpAgentProfile, missingCardProfile } from './call-profile.ts'
export * from './mcp-clients.ts'
