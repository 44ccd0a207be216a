import type {
  Client,
  ClientOptions,
  ReconnectionScheduler,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import type { UpstreamFetch } from '../http/bindings.ts'
import { isJsonObject, type JsonObject } from '../json/json.ts'
import { type Budget, boundedFetch, RateBudget } from './budget.ts'
import { type McpError, notReady, sessionFailure, timedOut } from './errors.ts'

/** How long a server is waited for that is told of the end, in ms: nobody has anything from its answer. */
const patience = 2000

/** Tells an MCP server that its session is over, where it has one. Never rejects. */
const endSession = async (
  url: string,
  fetch: UpstreamFetch,
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

/** How far apart an event stream of a session is asked for again after another, or after itself, in ms: servers may say 0. */
const apart = 1000

/** When event streams that have ended are asked for again: when the server says, but one at a time. */
const pacedReconnections = (): ReconnectionScheduler => {
  let free = Date.now() + apart
  return (reconnect, delay) => {
    let timer = setTimeout(() => {
      const now = Date.now()
      const wait = Math.max(0, free - now)
      free = now + wait + apart
      timer = setTimeout(reconnect, wait)
    }, delay)
    return () => clearTimeout(timer)
  }
}

/** How MCP servers are told who calls. */
export const clientInfo = { name: 'calling-card', version: '0.1.0' }

/** A client of an MCP server and the way to it, not connected yet. */
type Connection = {
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
type ConnectionOptions = {
  responseBytes: number
  budget: Budget
  onToolsChanged: (() => void) | undefined
  versionNegotiation: NonNullable<ClientOptions['versionNegotiation']>
}

/** A new connection to an MCP server. The client library is loaded with the first, so that nobody who reads a card waits for it. */
const newConnection = async (
  url: string,
  fetch: UpstreamFetch,
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

/** What an MCP server says of itself as a session opens. */
export type ServerInfo = { protocolVersion: string; capabilities: JsonObject; serverInfo: JsonObject }

/**
 * What a server has said to `client`. `initialized` is its answer to `initialize` as it came: the client itself keeps of it only
 * what it knows of. Servers of a version without `initialize` said the same in their answer to `server/discover`.
 */
const serverFacts = (client: Client, initialized: JsonObject | undefined): ServerInfo => ({
  protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
  capabilities: objectOf(initialized ? initialized.capabilities : client.getServerCapabilities()),
  serverInfo: objectOf(initialized ? initialized.serverInfo : client.getServerVersion()),
})

const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})

/** What the opening of a session may cost, and who is told of news. */
export type SessionOptions = {
  /** In ms, for each of the at most two ways in which it is tried. */
  timeout?: number
  /** Gives the opening up. */
  signal?: AbortSignal
  /** The most bytes of one response, of an event stream too: past it the session ends. */
  responseBytes?: number
  /** What the server may cost in a minute: past it the session ends too. */
  budget?: Budget
  /** Called when the server says that its tools have changed. Without it no stream for what it says unasked is opened. */
  onToolsChanged?: () => void
}

/** A session with an MCP server, initialised. */
export type Session = Pick<Connection, 'client' | 'failure' | 'isCut' | 'close'> & { server: ServerInfo }

const mebibyte = 1024 * 1024

/** What a session may cost that is kept: enough for a server whose event streams end again and again while it works. */
const keptBudget: Budget = {
  unasked: 30,
  bytes: 16 * mebibyte,
  perRequest: { unasked: 4, bytes: 4 * mebibyte },
}

/** A session that is open; or why there is none. */
type Opened = { session: Session } | { failure: McpError }

/** The version of MCP since which a session opens without `initialize`: servers that know no other refuse that. */
const withoutInitialize = '2026-07-28'

/** Opens a session with an MCP server over Streamable HTTP, in whichever version of MCP it speaks. Never rejects. */
export const openSession = async (url: string, fetch: UpstreamFetch, options: SessionOptions = {}): Promise<Opened> => {
  const opened = await open(url, fetch, options, { mode: 'legacy' })
  if ('session' in opened || !refusals.has(opened.failure.code)) return opened
  const newer = await open(url, fetch, options, { mode: { pin: withoutInitialize } })
  return 'session' in newer ? newer : { failure: ofOpening(opened.failure) }
}

const refusals = new Set<McpError['code']>(['refused', 'lost'])

/** Nothing can be lost that was not there. */
const ofOpening = (failure: McpError): McpError =>
  failure.code === 'lost' ? notReady('is not at its address, which answers with HTTP 404') : failure

const open = async (
  url: string,
  fetch: UpstreamFetch,
  { timeout = 10_000, signal, responseBytes = 4 * mebibyte, budget = keptBudget, onToolsChanged }: SessionOptions,
  versionNegotiation: NonNullable<ClientOptions['versionNegotiation']>,
): Promise<Opened> => {
  const late = AbortSignal.any([AbortSignal.timeout(timeout), ...(signal ? [signal] : [])])
  if (late.aborted) return { failure: timedOut }
  const connection = await newConnection(url, fetch, { responseBytes, budget, onToolsChanged, versionNegotiation })
  // The client's own limits are for its requests alone: an opening is more than those.
  const tooLate = () => connection.cut(timedOut)
  late.addEventListener('abort', tooLate)
  try {
    const server = await connected(connection, timeout)
    return { session: { ...connection, server } }
  } catch (error) {
    const failure = connection.failure(error)
    await connection.close()
    return { failure }
  } finally {
    late.removeEventListener('abort', tooLate)
  }
}

const connected = async ({ client, transport }: Connection, timeout: number): Promise<ServerInfo> => {
  let initialized: JsonObject | undefined
  // The client leaves who was there before it its place.
  transport.onmessage = message => {
    if ('result' in message && isJsonObject(message.result)) initialized ??= message.result
  }
  await client.connect(transport, { timeout })
  return serverFacts(client, initialized)
}
