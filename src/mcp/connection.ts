import type { Client, ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { SourceFetch } from '../http/source-fetch.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { type Budget, RateBudget } from './budget.ts'
import { endSession } from './end-session.ts'
import { type McpError, notReady, sessionFailure } from './errors.ts'
import { pacedReconnections } from './paced-reconnections.ts'

/** How MCP servers are told who calls. */
export const clientInfo = { name: 'calling-card', version: '0.1.0' }

/** A client of an MCP server and the way to it, not connected yet. */
export type Connection = {
  client: Client
  transport: StreamableHTTPClientTransport
  /** Cuts it: whatever is under way fails for that reason. */
  cut: (reason: McpError) => void
  /** Whether it was: then nothing can be asked any more. */
  isCut: () => boolean
  /** What an error that a call of `client` threw means. */
  failure: (error: unknown) => McpError
  /** Cuts it, and ends the session for the server too. Takes at most 2 s; never rejects. */
  close: () => Promise<void>
}

/** What a connection is made with: see `SessionOptions`. */
export type ConnectionOptions = {
  responseBytes: number
  budget: Budget
  onToolsChanged: (() => void) | undefined
  versionNegotiation: NonNullable<ClientOptions['versionNegotiation']>
}

/** A new connection to an MCP server. The client library is loaded with the first, so that nobody who reads a card waits for it. */
export const newConnection = async (
  url: string,
  fetch: SourceFetch,
  { responseBytes, budget, onToolsChanged, versionNegotiation }: ConnectionOptions,
): Promise<Connection> => {
  const mcp = await import('@modelcontextprotocol/client')
  const listChanged = { tools: { autoRefresh: false, onChanged: () => onToolsChanged?.() } }
  const client = new mcp.Client(clientInfo, { versionNegotiation, ...(onToolsChanged && { listChanged }) })
  let reason: McpError | undefined
  const cut = (why: McpError): void => {
    if (reason) return
    reason = why
    // The client knows of its transport only once it is connected; the transport tells it.
    transport.close().catch(() => undefined)
  }
  const meter = new RateBudget(budget, cut)
  const tooLarge = notReady(`answered with more than ${responseBytes} bytes`)
  const bounds = { responseBytes, listens: onToolsChanged !== undefined, meter, onTooLarge: () => cut(tooLarge) }
  const transport = new mcp.StreamableHTTPClientTransport(new URL(url), {
    fetch: boundedFetch(fetch, bounds),
    // Whoever follows a redirect has to look where it leads: the guard does not, and nobody needs it here.
    requestInit: { redirect: 'manual' },
    reconnectionScheduler: pacedReconnections(),
  })
  meterSent(transport, meter)
  const close = async (): Promise<void> => {
    await client.close().catch(() => undefined)
    cut(notReady('was left'))
    await endSession(url, fetch, transport)
  }
  return {
    client,
    transport,
    cut,
    isCut: () => reason !== undefined,
    failure: error => reason ?? sessionFailure(error),
    close,
  }
}

/** The client answers whatever a server asks it: only as often as the session's budget has it. */
const meterSent = (transport: StreamableHTTPClientTransport, meter: RateBudget): void => {
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    const isAnswer = !Array.isArray(message) && !('method' in message)
    if (!isAnswer) meter.asked()
    if (!isAnswer || meter.mayAsk()) await send(message, options)
  }
}
