import type { CallToolRequest, Progress, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import * as v from 'valibot'
import type { UpstreamFetch } from '../../http/index.ts'
import { asObject, isJsonObject, type Json, type JsonObject } from '../../json/index.ts'
import { VERSION } from '../../version.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { callWithElicitation, type ElicitationPolicy, type OnElicitation, RunningCalls } from './elicitation.ts'
import { brokenOff, LocalFailure, type McpError, notReady, timedOut, toMcpError, tooLarge } from './mcp-error.ts'

/** An initialized session with an MCP server. Its requests resolve with what they return, or with why they failed. */
export type Session = ReturnType<typeof toSession>

/** The declarations of an MCP server as a session opens. */
export type ServerInfo = {
  protocolVersion: string
  capabilities: JsonObject
  serverInfo: JsonObject
  /** Instructions for models. */
  instructions?: string
}

const ResourceContents = v.union([
  v.object({ uri: v.string(), mimeType: v.optional(v.string()), text: v.string() }),
  v.object({ uri: v.string(), mimeType: v.optional(v.string()), blob: v.string() }),
])
const ReadResult = v.object({ contents: v.array(ResourceContents) })

/** The lists of MCP: `tools/list`, `resources/list` and `prompts/list`. */
export type ListKind = 'tools' | 'resources' | 'prompts'

/** A request that failed, and why. */
export type Failed = { failure: McpError }
type Opened = { session: Session } | Failed

type RequestOptions = { timeoutMs: number; signal: AbortSignal }

type ToolCallOptions = RequestOptions & {
  /** However much progress the tool reports; `timeoutMs` starts again with each report, and with each answer. */
  maxTimeoutMs: number
  onProgress: (progress: Progress) => void
  onElicitation: OnElicitation
}

/** The limits of a session, and the messages of the server that it accepts. */
export type SessionOptions = {
  /** For each of the at most two ways in which the session is opened. */
  timeoutMs?: number
  /** Gives up the opening. */
  signal?: AbortSignal
  /** Limit of one response, event streams included: a request that gets more fails. */
  maxResponseBytes?: number
  /** Limit of all responses: a session that receives more ends. */
  maxSessionBytes?: number
  /** The elicitations that are passed on. Without it, the client declares no elicitation. */
  elicitations?: ElicitationPolicy
  /** Called when the server announces other tools. Without it, the server gets no stream for its own messages. */
  onToolsChanged?: () => void
}

/** The name and version of this host for MCP servers. */
export const clientInfo = { name: 'calling-card', version: VERSION }

/** The first version of MCP without `initialize`. Servers that support no other version refuse `initialize`. */
export const VERSION_WITHOUT_INITIALIZE = '2026-07-28'

const OPENING_TIMEOUT_MS = 10_000
const CLOSING_TIMEOUT_MS = 2_000
const MIN_RECONNECTION_DELAY_MS = 1_000

/** Opens a session over Streamable HTTP, in whichever version of MCP the server speaks. */
export const openSession = async (url: string, fetch: UpstreamFetch, options: SessionOptions = {}): Promise<Opened> => {
  const opened = await open(url, fetch, { ...options, mode: 'legacy' })
  // Without a session, a server can elicit only in the newest version, in its response to a call.
  const mayBeNewer =
    'session' in opened
      ? opened.session.isStateless && (options.elicitations ?? 'none') !== 'none'
      : ['refused', 'session-lost'].includes(opened.failure.code)
  if (!mayBeNewer) return opened
  const newer = await open(url, fetch, { ...options, mode: { pin: VERSION_WITHOUT_INITIALIZE } })
  if ('session' in newer) {
    if ('session' in opened) await opened.session.close()
    return newer
  }
  if ('session' in opened || opened.failure.code !== 'session-lost') return opened
  // The server did not lose a session: there was none.
  const { status, message, quote } = opened.failure
  if (status === 404) return { failure: notReady('does not exist at this address (HTTP 404)') }
  return { failure: { code: 'not-ready', message, ...(quote !== undefined && { quote }) } }
}

type OpenOptions = SessionOptions & { mode: 'legacy' | { pin: string } }

const open = async (url: string, fetch: UpstreamFetch, options: OpenOptions): Promise<Opened> => {
  const { timeoutMs = OPENING_TIMEOUT_MS, signal } = options
  const deadline = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])])
  if (deadline.aborted) return { failure: timedOut }
  const connection = await createConnection(url, fetch, options)
  // The client's own timeouts are for single requests, and opening a session takes several.
  const onDeadline = () => connection.end(timedOut)
  deadline.addEventListener('abort', onDeadline)
  try {
    const server = await initialize(connection, timeoutMs)
    const isStateless = connection.transport.sessionId === undefined
    // Several callers may use the session.
    if (isStateless) connection.calls.policy = undefined
    return { session: toSession(connection, server, isStateless) }
  } catch (error) {
    try {
      return { failure: connection.toFailure(error) }
    } finally {
      await connection.close()
    }
  } finally {
    deadline.removeEventListener('abort', onDeadline)
  }
}

/** Connects, and returns what the server declares: the client itself keeps only the members that it knows. */
const initialize = async ({ client, transport }: Connection, timeoutMs: number): Promise<ServerInfo> => {
  let initialized: JsonObject | undefined
  // The client keeps this handler, and calls it before its own.
  transport.onmessage = message => {
    if ('result' in message && isJsonObject(message.result)) initialized ??= message.result
  }
  await client.connect(transport, { timeout: timeoutMs })
  const instructions = client.getInstructions()
  return {
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    // Without `initialize`, the first result is that of `server/discover`, which has the same members.
    capabilities: asObject(initialized ? initialized.capabilities : client.getServerCapabilities()),
    serverInfo: asObject(initialized ? initialized.serverInfo : client.getServerVersion()),
    ...(instructions !== undefined && { instructions }),
  }
}

const toSession = (connection: Connection, server: ServerInfo, isStateless: boolean) => {
  const { client, calls, toFailure, isClosed, close } = connection
  const attempt = async <Result extends object>(request: () => Promise<Result>): Promise<Result | Failed> => {
    try {
      return await request()
    } catch (error) {
      return { failure: toFailure(error) }
    }
  }
  return {
    server,
    /** The server keeps nothing between two requests, so several callers may share the session. */
    isStateless,
    isClosed,
    close,
    callTool: async (name: string, args: JsonObject, options: ToolCallOptions) => {
      const { timeoutMs, maxTimeoutMs, signal, onProgress, onElicitation } = options
      // Not the client's own timeout, which would count while the caller answers an elicitation.
      const call = calls.add(timeoutMs, onElicitation)
      const { silence } = call
      const ended = AbortSignal.any([signal, silence.signal])
      const begun = Date.now()
      const callOnce = (params: CallToolRequest['params']) => {
        const remainingMs = Math.max(1, maxTimeoutMs - (Date.now() - begun))
        return client.callTool(params, {
          signal: ended,
          timeout: remainingMs,
          maxTotalTimeout: remainingMs,
          allowInputRequired: true,
          onprogress: progress => {
            silence.restart()
            onProgress(progress)
          },
        })
      }
      return attempt(() =>
        callWithElicitation({ name, arguments: args }, callOnce, elicitation =>
          silence.pause(onElicitation(elicitation, ended)),
        ),
      ).finally(() => calls.remove(call))
    },
    /** Reads a resource. Its contents are those of MCP: a text or a blob each. */
    readResource: (uri: string, { timeoutMs: timeout, signal }: RequestOptions) =>
      attempt(() => client.request({ method: 'resources/read', params: { uri } }, ReadResult, { timeout, signal })),
    /** Requests one page of a list, from its beginning or from `cursor`. */
    listPage: (kind: ListKind, cursor: string | undefined, { timeoutMs: timeout, signal }: RequestOptions) => {
      const request = { method: `${kind}/list`, ...(cursor !== undefined && { params: { cursor } }) }
      return attempt(async () => ({ page: await client.request(request, pageSchema(kind), { timeout, signal }) }))
    },
  }
}

/** The items of a page are not validated: one bad item must not cost the others. */
const pageSchema = (kind: ListKind) =>
  v.pipe(
    v.looseObject({}),
    v.transform(({ [kind]: items, nextCursor }) => ({ items, nextCursor })),
    v.object({
      items: v.array(v.custom<Json>(() => true)),
      nextCursor: v.fallback(v.optional(v.pipe(v.string(), v.nonEmpty())), undefined),
    }),
  )

type Connection = Awaited<ReturnType<typeof createConnection>>

/** The client library is loaded with the first connection, so that no reader of a card waits for it. */
const createConnection = async (url: string, fetch: UpstreamFetch, options: OpenOptions) => {
  const { mode, elicitations, onToolsChanged } = options
  const { maxResponseBytes = Number.POSITIVE_INFINITY, maxSessionBytes = Number.POSITIVE_INFINITY } = options
  const mcp = await import('@modelcontextprotocol/client')
  const client = new mcp.Client(clientInfo, {
    versionNegotiation: { mode },
    ...(onToolsChanged && { listChanged: { tools: { autoRefresh: false, onChanged: () => onToolsChanged() } } }),
    ...(elicitations && { capabilities: { elicitation: { form: {}, url: {} } } }),
  })
  const calls = new RunningCalls(elicitations)
  if (elicitations)
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => calls.ask(params, mcpReq.signal))
  client.fallbackRequestHandler = async ({ method }) => {
    const message =
      method === 'sampling/createMessage'
        ? 'This client declines sampling: it is a gateway, and has no language model.'
        : `This client does not offer ${method.slice(0, 100).toWellFormed()}.`
    throw new mcp.ProtocolError(mcp.ProtocolErrorCode.MethodNotFound, message)
  }
  let ended: McpError | undefined
  /** Closes the transport: every request under way fails with this error. */
  const end = (failure: McpError): void => {
    if (ended) return
    ended = failure
    // Not `client.close()`: a client that is still connecting has no transport yet.
    transport.close().catch(() => undefined)
  }
  const bounded = boundedFetch(fetch, {
    maxResponseBytes,
    maxSessionBytes,
    listens: onToolsChanged !== undefined,
    onResponseTooLarge: id => failRequest(transport, id, tooLarge(maxResponseBytes)),
    onSessionTooLarge: () => end(notReady('sends more than a session may receive')),
  })

  /** Fails a request whose event stream ended without a response: the client would wait for its timeout. */
  class Transport extends mcp.StreamableHTTPClientTransport {
    override send(...[message, options]: Parameters<StreamableHTTPClientTransport['send']>): Promise<void> {
      const onRequestStreamEnd = () => {
        if ('method' in message && 'id' in message) failRequest(this, message.id, brokenOff)
      }
      return super.send(message, { onRequestStreamEnd, ...options })
    }
  }
  const transport: StreamableHTTPClientTransport = new Transport(new URL(url), {
    fetch: bounded,
    // The fetch guard does not check where a redirect leads, and MCP needs none.
    requestInit: { redirect: 'manual' },
    reconnectionOptions: {
      maxRetries: 2,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 1.5,
    },
    // Limits how often streams are reopened: a server may send `retry: 0`, and end each of them at once.
    reconnectionScheduler: (reconnect, delay) => {
      const timer = setTimeout(reconnect, Math.max(delay, MIN_RECONNECTION_DELAY_MS))
      return () => clearTimeout(timer)
    },
  })
  return {
    client,
    transport,
    calls,
    end,
    toFailure: (error: unknown) => ended ?? toMcpError(error),
    isClosed: () => ended !== undefined,
    /** Ends the session, here and at the server. Takes at most two seconds and never rejects. */
    close: async (): Promise<void> => {
      await client.close().catch(() => undefined)
      end(notReady('session was closed by this host'))
      const { sessionId, protocolVersion } = transport
      if (sessionId === undefined) return
      const headers = {
        'Mcp-Session-Id': sessionId,
        ...(protocolVersion !== undefined && { 'MCP-Protocol-Version': protocolVersion }),
      }
      const signal = AbortSignal.timeout(CLOSING_TIMEOUT_MS)
      // Servers also end sessions by themselves.
      await fetch(url, { method: 'DELETE', headers, redirect: 'manual', signal })
        .then(({ body }) => body?.cancel())
        .catch(() => undefined)
    },
  }
}

/** Fails a request of the client, which takes this for the server's response. */
const failRequest = (transport: StreamableHTTPClientTransport, id: string | number, failure: McpError): void =>
  transport.onmessage?.({
    jsonrpc: '2.0',
    id,
    error: { code: -32000, message: failure.message, data: new LocalFailure(failure) },
  })
