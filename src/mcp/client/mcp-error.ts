import * as v from 'valibot'
import { CLOUDFLARE_ERRORS } from '../../http/index.ts'
import { asObject, type Json } from '../../json/index.ts'

/** An error between this host and an MCP server, for the agent's owner. No log repeats `quote`, the server's text. */
export type McpError =
  /** Blocked, without an address, or not answering: one outcome, so that nobody can probe. `why` is for the log. */
  | { code: 'unreachable'; message: string; why: string }
  | { code: 'timeout'; message: string }
  | { code: 'broken-off'; message: string }
  | { code: 'not-ready'; message: string; quote?: string }
  | { code: 'too-large'; message: string; maxBytes: number }
  /** The server no longer knows the session. The client may open a new one. */
  | { code: 'session-lost'; message: string; status: number; quote?: string }
  /** The server's own JSON-RPC error. */
  | { code: 'refused'; message: string }

export const timedOut: McpError = { code: 'timeout', message: 'The MCP server did not answer in time.' }

export const brokenOff: McpError = { code: 'broken-off', message: 'The MCP server ended its response too early.' }

export const tooLarge = (maxBytes: number): McpError => ({
  code: 'too-large',
  message: `The MCP server answered with more than ${maxBytes} bytes.`,
  maxBytes,
})

/** Returns the error of a server that runs, but not as MCP requires; `what` completes "The MCP server …". */
export const notReady = (what: string): McpError => ({ code: 'not-ready', message: `The MCP server ${what}.` })

/** A request without a response, or a response that the network cut off. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

/** The `data` of a JSON-RPC error that this host reports to its own MCP client, see `failRequest` in session.ts. */
export class LocalFailure {
  readonly error: McpError

  constructor(error: McpError) {
    this.error = error
  }
}

/** Errors of the MCP client library, by name: importing its classes would load the whole library. */
const SdkProtocolError = v.object({
  name: v.literal('ProtocolError'),
  code: v.number(),
  message: v.string(),
  data: v.optional(v.unknown()),
})
const SdkHttpError = v.object({
  name: v.literal('SdkHttpError'),
  data: v.object({ status: v.number(), text: v.optional(v.unknown()) }),
})
const SdkError = v.object({ name: v.literal('SdkError'), code: v.string() })

const ErrorBody = v.object({ error: v.object({ code: v.number(), message: v.string() }) })

/** The members in which servers and their proxies describe an HTTP error otherwise. */
const DESCRIPTIONS = ['error_description', 'message', 'detail', 'error', 'title'] as const

/** Returns what an error of the MCP client means. Throws every other error again: those are bugs of this host. */
export const toMcpError = (error: unknown): McpError => {
  if (v.is(SdkProtocolError, error)) return error.data instanceof LocalFailure ? error.data.error : refused(error)
  if (v.is(SdkHttpError, error)) return fromStatus(error.data.status, error.data.text)
  if (v.is(SdkError, error)) return sdkErrors[error.code] ?? notReady('gave an answer that MCP does not define')
  if (error instanceof NetworkError) return unreachable(error.message)
  // The library's parsers throw these for a response that is not JSON, or not JSON-RPC.
  if (error instanceof SyntaxError || (error instanceof Error && error.name === 'ZodError'))
    return notReady('answered with something that is not JSON-RPC')
  const [, version] = /protocol version is not supported: (.*)/s.exec(error instanceof Error ? error.message : '') ?? []
  if (version !== undefined)
    return notReady(`speaks MCP version "${truncate(version)}", which this host does not support`)
  throw error
}

const sdkErrors: Readonly<Record<string, McpError>> = {
  REQUEST_TIMEOUT: timedOut,
  CONNECTION_CLOSED: notReady('ended the session'),
  NOT_CONNECTED: notReady('ended the session'),
  CLIENT_HTTP_UNEXPECTED_CONTENT: notReady('answered with neither JSON nor an event stream'),
  INVALID_RESULT: notReady('answered with a result that MCP does not define'),
}

const unreachable = (why: string): McpError => {
  const advice = 'Check that its address is correct, public and https; the log of this host has the reason.'
  return { code: 'unreachable', message: `The MCP server cannot be reached. ${advice}`, why }
}

const refused = ({ code, message }: { code: number; message: string }): McpError => ({
  code: 'refused',
  message: `The MCP server answered with error ${code}: ${truncate(message)}`,
})

const fromStatus = (status: number, body: unknown): McpError => {
  const network = CLOUDFLARE_ERRORS.get(status)
  if (network !== undefined) return network.failed === 'timeout' ? timedOut : unreachable(`HTTP ${status}`)
  const quote = quoteOf(body)
  const quoted = quote === undefined ? {} : { quote }
  // The examples of the official SDK answer with 400 to a session that they do not know.
  if (status === 404 || (status === 400 && /session/i.test(quote ?? '')))
    return { code: 'session-lost', status, message: `The MCP server answered with HTTP ${status}.`, ...quoted }
  if (status === 401 || status === 403)
    return notReady(`rejects the credentials of this host (HTTP ${status}): name its secret in upstream.secret`)
  if (status >= 300 && status < 400)
    return notReady(`redirects (HTTP ${status}), which this host does not follow: set upstream.mcp to the target`)
  const { output, success } = v.safeParse(ErrorBody, parseOrUndefined(body))
  if (success) return refused(output.error)
  return { code: 'not-ready', message: `The MCP server answered with HTTP ${status}.`, ...quoted }
}

/** Returns the description in the body of an HTTP error, as one line; undefined for none, and for markup. */
const quoteOf = (body: unknown): string | undefined => {
  if (typeof body !== 'string' || /^\s*</.test(body)) return undefined
  const members = asObject(parseOrUndefined(body))
  const texts = [asObject(members.error).message, ...DESCRIPTIONS.map(name => members[name])]
  const found = texts.find(each => typeof each === 'string') ?? body
  const text = truncate(found.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim())
  return text === '' ? undefined : text
}

const parseOrUndefined = (text: unknown): Json | undefined => {
  const { output, success } = v.safeParse(v.pipe(v.string(), v.parseJson()), text)
  return success ? (output as Json) : undefined
}

/** Describes a failure to the owner of the agent, with what the server itself wrote. */
export const describeFailure = (failure: McpError): string =>
  withQuote(failure.message, 'quote' in failure ? failure.quote : undefined)

/** Appends what a server wrote to the description of its failure. */
export const withQuote = (description: string, quote: string | undefined): string =>
  quote === undefined ? description : `${description} It wrote: ${quote}`

/** Enough to explain what is wrong with the arguments of a tool: only the server validates them. */
const MAX_QUOTE_LENGTH = 1_000

/** Shortens a text, with an ellipsis. */
export const truncate = (text: string, maxLength = MAX_QUOTE_LENGTH): string =>
  text.length > maxLength ? `${text.slice(0, maxLength).toWellFormed()}…` : text
