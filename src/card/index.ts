export { CallProfile, type McpAgentProfile, missingCardProfile } from './call-profile.ts'
