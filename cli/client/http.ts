import {
  describeFailure,
  type FetchedJson,
  type FetchFailure,
  type FetchOptions,
  fetchJson,
  parseUrl,
  readBytes,
} from '../../src/http/shared.ts'
import { isDeeperThan, isJsonObject, type Json } from '../../src/json/index.ts'
import { MAX_JSON_DEPTH } from '../../src/limits.ts'
import type { Clock } from '../context.ts'
import { HostError } from '../failure.ts'
import { isUnencrypted } from '../hosts/index.ts'

/**
 * A response of the host. `body` is absent if it is not JSON; JSON lines are an array. `tokenFrom` is where the token
 * was found. `isRepeated`: an earlier attempt, whose response was lost, may have reached the host.
 */
export type Reply = {
  status: number
  headers: Headers
  body?: Json
  tokenFrom?: string | undefined
  isRepeated?: boolean
}

/** A host, and how requests to it are sent and retried. */
export type Connection = {
  url: string
  token: string
  /** The source of the token, for people. */
  tokenFrom?: string
  retries: number
  fetch: typeof globalThis.fetch
  clock: Clock
  /** Called with what the user should know: what failed before each retry, and that the host has another version. */
  inform: (message: string) => void
  /** Called before each request with the token. It throws a HostError if the host must not get the token. */
  identify?: () => Promise<unknown>
  /** The reason of the current failure, so that several requests at once report it only once. */
  outage?: { reason?: string }
  /** Once aborted, nothing is retried. Requests under way are completed. */
  signal?: AbortSignal | undefined
}

/** The parts of a request that not every request has. An `anonymous` one is sent without the token. */
type RequestDetails = {
  headers?: Record<string, string>
  body?: Json
  /** A body of JSON lines. */
  lines?: readonly Json[]
  anonymous?: boolean
  /** Checks whether a reply is a result although its status is one of a failure. */
  isResult?: (reply: Reply) => boolean
  /** The request must not be made twice: it is retried only after 429, when the host has done nothing. */
  isUnrepeatable?: boolean
  /** A refused connection is not retried. */
  failsIfRefused?: boolean
  timeoutMs?: number
}

/**
 * A failure that may pass. `limited`: the host has done nothing, because of a rate limit. `refused`: nothing listens at
 * the URL. `not-http`: the connection was closed without a response, or the response was not HTTP, as with https at a
 * URL with http. `retryAfterMs` is from the host's `Retry-After`.
 */
export class TransientError extends HostError {
  readonly kind: 'limited' | 'refused' | 'not-http' | undefined
  readonly retryAfterMs: number

  constructor(message: string, kind?: TransientError['kind'], retryAfterMs = 0) {
    super(message)
    this.kind = kind
    this.retryAfterMs = retryAfterMs
  }
}

const FIRST_RETRY_DELAY_MS = 250
const MAX_RETRY_DELAY_MS = 8000
/** The highest `Retry-After` that is obeyed: the period of the host's rate limits. */
const MAX_RETRY_AFTER_MS = 60_000
const REQUEST_TIMEOUT_MS = 30_000
const NDJSON = 'application/x-ndjson'
/** The longest page of a list is shorter. */
const MAX_REPLY_BYTES = 16 * 2 ** 20

/** Sends one request, and retries with exponential back-off while the host is unreachable or busy. */
export const request = async (
  connection: Connection,
  method: string,
  path: string,
  { headers = {}, body, lines, anonymous = false, isResult = () => false, ...details }: RequestDetails = {},
): Promise<Reply> => {
  const { isUnrepeatable = false, failsIfRefused = false, timeoutMs = REQUEST_TIMEOUT_MS } = details
  const { url, token, tokenFrom, retries, clock, inform, outage = {}, identify, signal } = connection
  if (!anonymous) await identify?.()
  const isAuthorized = !anonymous && token !== ''
  const type = lines ? NDJSON : 'application/json'
  const text = lines ? lines.map(line => JSON.stringify(line)).join('\n') : body !== undefined && JSON.stringify(body)
  let isRepeated = false
  for (let attempt = 0; ; attempt++)
    try {
      const reply: Reply = await send(connection, url + path, {
        method,
        headers: {
          Accept: type,
          ...(isAuthorized && { Authorization: `Bearer ${token}` }),
          ...(text !== false && { 'Content-Type': type }),
          ...headers,
        },
        ...(text !== false && { body: text }),
        // The token must not follow a redirect to another host.
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      })
      if (isAuthorized) reply.tokenFrom = tokenFrom
      if (isResult(reply)) return reply
      if (reply.status === 401) throw new HostError(isAuthorized ? rejectedTokenMessage(tokenFrom) : LOGIN_MESSAGE)
      rejectFailure(reply, clock.now())
      delete outage.reason
      return { ...reply, isRepeated }
    } catch (error) {
      if (!(error instanceof TransientError) || attempt >= retries || signal?.aborted) throw error
      if (isUnrepeatable && error.kind !== 'limited') throw error
      if (failsIfRefused && error.kind === 'refused') throw error
      isRepeated ||= error.kind !== 'limited' && error.kind !== 'refused'
      const waitMs = Math.min(error.retryAfterMs, MAX_RETRY_AFTER_MS)
      const when = waitMs > 0 ? ` in ${Math.ceil(waitMs / 1000)} s` : ''
      if (outage.reason !== error.message) inform(`${method} ${path}: ${error.message}; retrying${when}`)
      outage.reason = error.message
      await clock.sleep(waitMs + backOffMs(attempt), signal)
      if (signal?.aborted) throw error
    }
}

/** Sends a request with the token whose body or response is a stream. It is never retried and has no timeout. */
export const openStream = async (
  { url, token, tokenFrom, fetch, identify }: Connection,
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: ReadableStream } = {},
): Promise<Response> => {
  await identify?.()
  const response = await fetch(url + path, {
    method,
    headers: { Accept: '*/*', ...(token !== '' && { Authorization: `Bearer ${token}` }), ...headers },
    ...(body && { body, duplex: 'half' as const }),
    redirect: 'manual',
  }).catch((error: unknown) => {
    if (!isNetworkError(error)) throw error
    throw new HostError(connectionFailure(error, url))
  })
  if (response.status === 401) throw new HostError(token === '' ? LOGIN_MESSAGE : rejectedTokenMessage(tokenFrom))
  return response
}

/** Reads the response to such a request, unless it is the stream itself. */
export const readReply = async (response: Response, { tokenFrom }: Connection): Promise<Reply> => {
  const { status, headers } = response
  const reply = { status, headers, ...parseBody(await readText(response)), tokenFrom }
  rejectFailure(reply, 0)
  return reply
}

/** Returns the message for a connection that failed. */
const connectionFailure = (error: Error, url: string): string =>
  `the connection failed (${describeNetworkError(error, url)})`

const UNKNOWN_AUTHORITY =
  'its certificate is of no authority that Node.js knows: set NODE_EXTRA_CA_CERTS to a file with that of the authority'

/** The reasons why TLS fails and what to do, by the code of Node.js or OpenSSL. Another attempt would fail, too. */
const TLS_FAILURES: Record<string, string> = {
  CERT_HAS_EXPIRED: 'its certificate has expired: renew it, or check the clock of this machine',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: check the clock of this machine',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is of another host: check the name in the URL',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak https, but probably http',
}

/** Returns why fetch failed at a URL: its own message is only "fetch failed". */
const describeNetworkError = (error: Error, url: string): string => {
  const { message, code, name } = causeOf(error)
  // For a name with several addresses, such as localhost, the error has only a code.
  const reason = TLS_FAILURES[String(code)] ?? (message || String(code ?? name))
  return code === 'ERR_SSL_WRONG_VERSION_NUMBER' ? `${reason}: use http://${new URL(url).host}` : reason
}

const causeOf = (error: Error): Error & { code?: unknown } => (error.cause instanceof Error ? error.cause : error)

/** Doubles with each attempt; the random part keeps clients apart that failed at the same time. */
const backOffMs = (attempt: number): number =>
  Math.min(FIRST_RETRY_DELAY_MS * 2 ** attempt * (1 + Math.random()), MAX_RETRY_DELAY_MS)

const send = async ({ fetch }: Connection, url: string, init: RequestInit): Promise<Reply> => {
  try {
    const response = await fetch(url, init)
    const { status, headers } = response
    const text = await readText(response)
    if (headers.get('Content-Type') !== NDJSON) return { status, headers, ...parseBody(text) }
    // Without a line that is not JSON, such as the last one of a response that was cut off.
    return { status, headers, body: text.split('\n').flatMap(line => Object.values(parseBody(line))) }
  } catch (error) {
    if (isBlockedPort(error)) throw new HostError(blockedPortMessage(url))
    if (!isNetworkError(error)) throw error
    const message = connectionFailure(error, url)
    const { code, name } = causeOf(error)
    if (String(code) in TLS_FAILURES) throw new HostError(message)
    const isNotHttp = code === 'UND_ERR_SOCKET' || name === 'HTTPParserError'
    throw new TransientError(message, code === 'ECONNREFUSED' ? 'refused' : isNotHttp ? 'not-http' : undefined)
  }
}

const LOGIN_MESSAGE = 'the host asks for a token or a login (401)'

const rejectedTokenMessage = (tokenFrom: string | undefined): string =>
  `the host rejects the token (401), which is wrong, expired or revoked${tokenFrom ? `: ${tokenFrom}` : ''}`

const rejectFailure = (reply: Reply, now: number): void => {
  const { status, headers } = reply
  if (codeOf(reply) === 'admin-token-missing')
    throw new HostError(
      'the host refuses writes until it has an ADMIN_TOKEN of at least 16 characters: ' +
        'npx wrangler secret put ADMIN_TOKEN',
    )
  const kind = status === 429 ? 'limited' : undefined
  if (isTransient(reply))
    throw new TransientError(`the host responded with ${status}`, kind, parseRetryAfterMs(headers, now))
  if (status >= 300 && status < 400 && status !== 304)
    throw new HostError(`the host has moved: it responded with ${status} to ${headers.get('Location') ?? '?'}`)
}

/** Reads the body of a response, but not without end: the other side may not be a host. */
const readText = async (response: Response): Promise<string> => {
  const read = await readBytes(response, MAX_REPLY_BYTES)
  if ('bytes' in read) return new TextDecoder().decode(read.bytes)
  throw new HostError(`the response is longer than ${MAX_REPLY_BYTES / 2 ** 20} MiB, which no host sends`)
}

/** Recognizes a failure of the network: a TypeError without a cause is a mistake in the request itself. */
const isNetworkError = (error: unknown): error is Error =>
  error instanceof Error &&
  (error.name === 'TimeoutError' || (error instanceof TypeError && error.cause instanceof Error))

/** Checks whether a request failed because fetch, as browsers do, blocks the port, such as 6000 or 6667. */
export const isBlockedPort = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && error.cause.message === 'bad port'

/** Returns the message for a blocked port. */
export const blockedPortMessage = (url: string): string =>
  `port ${new URL(url).port} is blocked by fetch and browsers: use another`

/** A manifest in a list of changes nests deeper than a manifest. */
const MAX_RESPONSE_DEPTH = 2 * MAX_JSON_DEPTH

const parseBody = (text: string): { body?: Json } => {
  if (isDeeperThan(text, MAX_RESPONSE_DEPTH)) return {}
  try {
    return { body: JSON.parse(text) }
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

/** Checks whether the same request may succeed later. It is of no use if an upstream of the host has failed. */
export const isTransient = (reply: Pick<Reply, 'status' | 'body'>): boolean =>
  [429, 500, 502, 503, 504].includes(reply.status) && !codeOf(reply).startsWith('upstream-')

const codeOf = ({ body }: Pick<Reply, 'body'>): string =>
  isJsonObject(body) && typeof body.code === 'string' ? body.code : ''

/** Parses a number of seconds or a date (RFC 9110 §10.2.3). */
const parseRetryAfterMs = (headers: Headers, now: number): number => {
  const value = headers.get('Retry-After')
  if (value === null) return 0
  const wait = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isFinite(wait) ? Math.max(0, wait) : 0
}

/** No list has as many pages. */
const MAX_PAGES = 100_000

/**
 * Yields the pages of a list. `read` returns the one that begins at a cursor; the last one has no cursor. Throws a
 * HostError for a list without end: a proxy may ignore the cursor or serve stored pages, so that a page repeats.
 */
export async function* paginate<Page extends object>(
  read: (cursor: string | undefined) => Promise<Page>,
): AsyncGenerator<Page> {
  const cursors = new Set<string>()
  for (let cursor: string | undefined; ; ) {
    const page = await read(cursor)
    yield page
    if (!('cursor' in page) || typeof page.cursor !== 'string') return
    cursor = page.cursor
    if (cursors.has(cursor)) throw new HostError('the host returns the same page of a list again')
    if (cursors.add(cursor).size === MAX_PAGES) throw new HostError('the host returns a list without end')
  }
}

/** Fetches a JSON document of any server, of a bounded size and within a bounded time. */
export const fetchDocument = (
  url: string,
  options: Omit<FetchOptions, 'accepts' | 'fetch'>,
  { fetch }: { fetch: typeof globalThis.fetch },
): Promise<FetchedJson> => fetchJson(url, { ...options, fetch: withReason(fetch) }, describeWithReason)

/** Adds the reason of the system, such as an unknown host name, to errors of the network. */
const withReason =
  (fetch: typeof globalThis.fetch): NonNullable<FetchOptions['fetch']> =>
  (to, init) =>
    fetch(to, { ...init, redirect: 'manual' }).catch((error: unknown) => {
      throw error instanceof Error ? new Error(describeNetworkError(error, String(to)), { cause: error }) : error
    })

const describeWithReason = (failure: FetchFailure, maxBytes?: number): string =>
  failure.failed === 'unreachable' ? `cannot be reached: ${failure.detail}` : describeFailure(failure, maxBytes)

/** Checks whether nobody on the way to a URL can replace what it responds with. */
export const isFetchable = (url: string): boolean => parseUrl(url) !== null && !isUnencrypted(url)
