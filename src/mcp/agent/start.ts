export * from './mcp-agent.ts'
