import type { ClientOptions } from '@modelcontextprotocol/client'
import type { SourceFetch } from '../http/source-fetch.ts'
import { isJsonObject, type JsonObject } from '../json/json.ts'
import type { Budget } from './budget.ts'
import { type Connection, newConnection } from './connection.ts'
import { type McpError, notReady, timedOut } from './errors.ts'
import { type ServerInfo, serverFacts } from './server-facts.ts'

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
export const keptBudget: Budget = {
  unasked: 30,
  bytes: 16 * mebibyte,
  perRequest: { unasked: 4, bytes: 4 * mebibyte },
}

/** A session that is open; or why there is none. */
export type Opened = { session: Session } | { failure: McpError }

/** The version of MCP since which a session opens without `initialize`: servers that know no other refuse that. */
const withoutInitialize = '2026-07-28'

/** Opens a session with an MCP server over Streamable HTTP, in whichever version of MCP it speaks. Never rejects. */
export const openSession = async (url: string, fetch: SourceFetch, options: SessionOptions = {}): Promise<Opened> => {
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
  fetch: SourceFetch,
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
