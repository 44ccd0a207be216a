import * as v from 'valibot'
import { CLOUDFLARE_ERRORS } from '../http/safe-fetch.ts'

/** What went wrong between this host and an MCP server. `message` is for the agent's owner. */
export type McpError =
  /** What this host does not call is `unreachable` too: nobody can probe with it. `why` is for the log alone. */
  | { code: 'unreachable'; message: string; why: string }
  | { code: 'timeout' | 'not-ready'; message: string }
  /** The server knows the session no longer (HTTP 404): a new one may be opened. */
  | { code: 'lost'; message: string }
  /** The server's own JSON-RPC error. */
  | { code: 'refused'; message: string; error: RpcError }

/** A JSON-RPC error, as an MCP server answers it. */
export type RpcError = { code: number; message: string; data?: unknown }

/** What is said of a server that took too long. */
export const timedOut: McpError = { code: 'timeout', message: 'The MCP server did not answer in time.' }

/** What is said of a server that runs but does not do what MCP asks of it. */
export const notReady = (what: string): McpError => ({ code: 'not-ready', message: `The MCP server ${what}.` })

/** Errors of the client library, by its own marks: to compare with its classes they would have to be loaded. */
const ProtocolError = v.object({
  name: v.literal('ProtocolError'),
  code: v.number(),
  message: v.string(),
  data: v.optional(v.unknown()),
})
const HttpError = v.object({
  name: v.literal('SdkHttpError'),
  data: v.object({ status: v.number(), text: v.optional(v.unknown()) }),
})
const LibraryError = v.object({ name: v.literal('SdkError'), code: v.string() })
const ErrorBody = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ error: v.object({ code: v.number(), message: v.string(), data: v.optional(v.unknown()) }) }),
)
const NamedError = v.object({ name: v.string(), message: v.string() })

/** What an error of the client library means. */
export const sessionFailure = (error: unknown): McpError => {
  if (v.is(ProtocolError, error)) return refused(error)
  if (v.is(HttpError, error)) return ofStatus(error.data.status, error.data.text)
  if (v.is(LibraryError, error)) return byCode[error.code] ?? notReady('answered what MCP does not define')
  return v.is(NamedError, error) ? ofName(error.name, error.message) : unreachable('')
}

/** The one message for what was not called, does not answer or has no address. */
const unreachable = (why: string): McpError => ({
  code: 'unreachable',
  message:
    'The MCP server cannot be reached. See that its address is right, public and https; the log of this host says more.',
  why,
})

const refused = ({ code, message, data }: RpcError): McpError => ({
  code: 'refused',
  message: `The MCP server answered with error ${code}: ${clipped(message)}`,
  error: { code, message, ...(data !== undefined && { data }) },
})

const ofStatus = (status: number, body: unknown): McpError => {
  const network = CLOUDFLARE_ERRORS.get(status)
  if (network !== undefined) return network.failed === 'timeout' ? timedOut : unreachable(`HTTP ${status}`)
  if (status === 404) return { code: 'lost', message: 'The MCP server answered with HTTP 404.' }
  if (status === 401 || status === 403)
    return notReady(`does not let this host in (HTTP ${status}): upstream.secret names the secret that is sent to it`)
  if (status >= 300 && status < 400)
    return notReady(`redirects (HTTP ${status}), which is not followed: set upstream.mcp to where it leads`)
  const error = errorIn(body)
  return error ? refused(error) : notReady(`answered with HTTP ${status}`)
}

/** The JSON-RPC error that came with an HTTP status that tells of one. */
const errorIn = (body: unknown): RpcError | undefined => {
  const parsed = v.safeParse(ErrorBody, body)
  return parsed.success ? parsed.output.error : undefined
}

const byCode: Readonly<Record<string, McpError>> = {
  REQUEST_TIMEOUT: timedOut,
  CONNECTION_CLOSED: notReady('ended the session'),
  NOT_CONNECTED: notReady('ended the session'),
  CLIENT_HTTP_UNEXPECTED_CONTENT: notReady('answered with neither JSON nor an event stream'),
  INVALID_RESULT: notReady('answered with a result that MCP does not define'),
}

const ofName = (name: string, message: string): McpError => {
  const [, version] = /protocol version is not supported: (.*)/s.exec(message) ?? []
  if (version !== undefined) return notReady(`speaks version "${clipped(version)}" of MCP, which this host does not`)
  if (name === 'SyntaxError' || name === 'ZodError') return notReady('answered with something that is not JSON-RPC')
  return name === 'TimeoutError' ? timedOut : unreachable(message)
}

/** What a server says is shown to people and kept: as much of it as helps. */
const clipped = (text: string): string => (text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text)
