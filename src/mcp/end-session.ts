import type { SourceFetch } from '../http/source-fetch.ts'

/** How long a server is waited for that is told of the end, in ms: nobody has anything from its answer. */
const patience = 2000

/** Tells an MCP server that its session is over, where it has one. Never rejects. */
export const endSession = async (
  url: string,
  fetch: SourceFetch,
  { sessionId, protocolVersion }: { sessionId?: string | undefined; protocolVersion?: string | undefined },
): Promise<void> => {
  if (sessionId === undefined) return
  const headers = {
    'Mcp-Session-Id': sessionId,
    ...(protocolVersion !== undefined && { 'MCP-Protocol-Version': protocolVersion }),
  }
  try {
    const signal = AbortSignal.timeout(patience)
    const response = await fetch(url, { method: 'DELETE', headers, redirect: 'manual', signal })
    response.body?.cancel().catch(() => undefined)
  } catch {
    // It finds out by itself.
  }
}
