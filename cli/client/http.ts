import { ApiError, type ApiResponse, type Connection, isProblem } from '../../src/api/client/index.ts'
import { describeFailure, type FetchOptions, fetchJson, parseUrl, readBytes } from '../../src/http/shared.ts'
import { parseHostJson } from '../../src/json/index.ts'
import type { Context } from '../context.ts'
import { HostError } from '../errors.ts'
import { isUnencrypted } from '../hosts/index.ts'

/** A host, its token, and how requests are sent and repeated. */
export type HostAccess = Pick<Connection, 'token' | 'retries' | 'signal'> &
  Required<Pick<Connection, 'url' | 'clock' | 'inform'>> & {
    /** The source of the token, for people. */
    tokenFrom?: string
    fetch: typeof globalThis.fetch
  }

/** The longest page of a list is shorter. */
const MAX_REPLY_BYTES = 16 * 2 ** 20

/** Returns what sends one request. The token must not follow a redirect to another host. */
export const sendWith =
  (fetch: HostAccess['fetch']): Connection['send'] =>
  async (url, init) => {
    try {
      return await readReply(await fetch(url, { ...init, redirect: 'manual' }))
    } catch (error) {
      if (isBlockedPort(error)) throw new HostError(blockedPortMessage(url))
      if (!isNetworkError(error)) throw error
      const detail = connectionFailure(error, url)
      const { code, name } = causeOf(error)
      if (String(code) in TLS_FAILURES) throw new HostError(detail)
      const isNotHttp = code === 'UND_ERR_SOCKET' || name === 'HTTPParserError'
      throw new ApiError({ body: { detail } }, code === 'ECONNREFUSED' ? 'refused' : isNotHttp ? 'not-http' : 'failed')
    }
  }

/** Reads a response. JSON lines are an array, without a line that is not JSON, such as one that was cut off. */
const readReply = async (response: Response): Promise<ApiResponse> => {
  const { status, headers } = response
  // The other side may not be a host, and send without end.
  const read = await readBytes(response, MAX_REPLY_BYTES)
  if (!('bytes' in read))
    throw new HostError(`the response is longer than ${MAX_REPLY_BYTES / 2 ** 20} MiB, which no host sends`)
  const text = new TextDecoder().decode(read.bytes)
  const isLines = headers.get('Content-Type') === 'application/x-ndjson'
  return {
    status,
    headers,
    body: isLines ? text.split('\n').flatMap(line => parseHostJson(line) ?? []) : parseHostJson(text),
  }
}

/** Sends a GET request with the token, once and without a timeout, and returns the response, whose body is a stream. */
export const openStream = async (access: HostAccess, path: string): Promise<Response> => {
  const { url, token, fetch } = access
  const headers = { Accept: '*/*', ...(token !== '' && { Authorization: `Bearer ${token}` }) }
  const response = await fetch(url + path, { headers, redirect: 'manual' }).catch((error: unknown) => {
    if (!isNetworkError(error)) throw error
    throw new HostError(connectionFailure(error, url))
  })
  if (response.ok) return response
  throw explainWith(access)(Object.assign(new ApiError(await readReply(response)), { isAuthorized: token !== '' }))
}

/** Returns what turns the failure of a call into a HostError, unless the host has rejected the request. */
export const explainWith =
  ({ url, tokenFrom }: Pick<HostAccess, 'url' | 'tokenFrom'>) =>
  (error: ApiError): Error => {
    const { status, headers, detail, retry, isAuthorized } = error
    const fail = (message: string): HostError => new HostError(message, { cause: error })
    const place = tokenFrom ? `: ${tokenFrom}` : ''
    if (status === 401 && !isAuthorized) return fail('the host asks for a token or a login (401)')
    if (status === 401) return fail(`the host rejects the token (401), which is wrong, expired or revoked${place}`)
    if (isProblem(error, 'admin-token-missing')) return fail(NO_ADMIN_TOKEN)
    if (status === 0) return fail(error.message)
    if (retry) return fail(`the host responded with ${status}`)
    if (status < 300) return fail(`${url} responds, but it is not a Calling Card host`)
    if (status < 400 && status !== 304)
      return fail(`the host has moved: it responded with ${status} to ${headers.get('Location') ?? '?'}`)
    const source = status === 403 && isAuthorized && tokenFrom !== undefined ? ` (${tokenFrom}).` : '$&'
    // The end of some messages is for clients that send requests themselves.
    if (detail !== undefined) error.message = detail.replace(/ GET \/\w+ lists \w+\.$/, '').replace(/\.?$/, source)
    return error
  }

const NO_ADMIN_TOKEN =
  'the host refuses writes until it has an ADMIN_TOKEN of at least 16 characters: npx wrangler secret put ADMIN_TOKEN'

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

/** Fetches a JSON document of any server, of a bounded size and within a bounded time. */
export const fetchDocument = (url: string, options: Omit<FetchOptions, 'fetch'>, { fetch }: Pick<Context, 'fetch'>) => {
  // Adds the reason of the system, such as an unknown host name, to errors of the network.
  const fetchWithReason: FetchOptions['fetch'] = (to, init) =>
    fetch(to, { ...init, redirect: 'manual' }).catch((error: unknown) => {
      throw error instanceof Error ? new Error(describeNetworkError(error, String(to)), { cause: error }) : error
    })
  return fetchJson(url, { ...options, fetch: fetchWithReason }, (failure, maxBytes) =>
    failure.failed === 'unreachable' ? `cannot be reached: ${failure.detail}` : describeFailure(failure, maxBytes),
  )
}

/** Checks whether nobody on the way to a URL can replace what it responds with. */
export const isFetchable = (url: string): boolean => parseUrl(url) !== null && !isUnencrypted(url)
