import { MAX_EXAMPLE_CALL_LENGTH } from '../limits.ts'
import type { CallProfile } from './call-profile.ts'
import type { AgentCard } from './model/index.ts'
import { callCredentials, headerCredential } from './read/index.ts'

/** A header that MCP clients send, as the server card of SEP-2127 describes it. An ellipsis stands for the secret. */
export type McpHeader = { name: string; placeholder: string; isRequired: boolean; isSecret: boolean }

/** The address of an MCP server, and what its clients send. */
export type McpServer = { url: string; headers?: readonly McpHeader[] | undefined }

/** Returns the headers that an agent needs as an MCP server: those of its card, and a token that this host checks. */
export const mcpHeaders = (
  card: AgentCard,
  { visibility, callers }: Pick<CallProfile, 'visibility' | 'callers'>,
): McpHeader[] => {
  const ofHost = visibility === 'internal' || callers !== 'anyone' ? [headerCredential('HOST_TOKEN')] : []
  const prefixes = [...callCredentials(card), ...ofHost].flatMap((each): [name: string, prefix: string][] => {
    if (each.kind === 'basic') return [['Authorization', 'Basic ']]
    return each.kind === 'header' ? [[each.name, each.prefix]] : []
  })
  // A header has one value: the last, which this host checks.
  const secret = { isRequired: true, isSecret: true }
  const headers = [...new Map(prefixes)].map(([name, prefix]) => ({ name, placeholder: `${prefix}…`, ...secret }))
  // No server accepts a longer list.
  return JSON.stringify(headers).length > MAX_EXAMPLE_CALL_LENGTH ? [] : headers
}

/** Quotes a text as one argument of a POSIX shell. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Returns the settings with which MCP clients use a server: a command or a file for each client. */
export const mcpSnippets = (name: string, { url, headers = [] }: McpServer) => {
  const entries = headers.map(({ name, placeholder }) => [name, placeholder] as const)
  const address = /^[\w:/.-]+$/.test(url) ? url : shellQuote(url)
  const options = entries.map(([name, value]) => `--header ${shellQuote(`${name}: ${value}`)}`)
  const server = { type: 'http', url, ...(entries.length > 0 && { headers: Object.fromEntries(entries) }) }
  const file = (member: string) => JSON.stringify({ [member]: { [name]: server } }, null, 2)
  return [
    {
      ...{ name: 'claude-code', title: 'Claude Code' },
      code: ['claude mcp add --transport http', name, address, ...options].join(' '),
    },
    { name: 'mcp-json', title: 'Cursor (.cursor/mcp.json), and others with an mcp.json', code: file('mcpServers') },
    { name: 'vs-code', title: 'VS Code (.vscode/mcp.json)', code: file('servers') },
  ] as const
}
