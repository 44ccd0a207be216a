import { essence, isJsonType, type Json, parseUnambiguous } from '../json/index.ts'
import { CARD_TIMEOUT_SECONDS, MAX_CARD_BYTES, MAX_REDIRECTS } from '../limits.ts'
import { readText } from './body.ts'
import { type FetchFn, parseUrl, safeFetch } from './safe-fetch.ts'

/** The reason why a resource was not fetched. `detail` is for the log only: clients may see one reason for all. */
export type FetchFailure = { detail: string } & (
  | { failed: 'blocked' | 'unreachable' | 'timeout' | 'redirect' | 'too-large' | 'not-text' }
  | { failed: 'status'; status: number }
  /** The validators still match. Only for requests with validators. */
  | { failed: 'unchanged' }
  /** The response is not JSON. Its media type is empty if it has none. */
  | { failed: 'type'; type: string }
)

/** The headers and limits of a fetch. */
export type FetchOptions = {
  headers?: Record<string, string>
  /** Headers for the origin of the first URL, until a redirect leaves it. */
  credentials?: Record<string, string> | undefined
  /** Conditional headers, for the first URL only. */
  validators?: Record<string, string> | undefined
  /** Origins that are exempt from the checks of `safeFetch`. */
  allowedOrigins?: ReadonlySet<string>
  /** Makes each request instead of `safeFetch`. */
  fetch?: FetchFn
  /** Limit of the body after decompression, `MAX_CARD_BYTES` by default. */
  maxBytes?: number
  /** Limit of the whole, redirects and body included, `CARD_TIMEOUT_SECONDS` by default. */
  timeoutSeconds?: number
  /** Limit of the redirects that are followed, `MAX_REDIRECTS` by default. */
  maxRedirects?: number
}

/** A fetched text and the URL that it was fetched from: after a redirect, another than the requested one. */
export type Resource = { content: string; headers: Headers; url: string; redirected: boolean }

type Fetched = Resource | FetchFailure

/** Runs work, or returns `late` in time. The signal aborts at the end: an unread response keeps a connection open. */
export const within = async <Result>(seconds: number, late: Result, work: (signal: AbortSignal) => Promise<Result>) => {
  const controller = new AbortController()
  const timeout = new Promise<Result>(resolve => {
    const timer = setTimeout(() => resolve(late), seconds * 1000)
    controller.signal.addEventListener('abort', () => clearTimeout(timer))
  })
  try {
    return await Promise.race([work(controller.signal), timeout])
  } finally {
    controller.abort()
  }
}

/** Fetches the text of JSON with `safeFetch`: a 200 in UTF-8, complete and within the limits. */
export const fetchText = (url: string, options: FetchOptions): Promise<Fetched> => {
  const { timeoutSeconds = CARD_TIMEOUT_SECONDS } = options
  const late: FetchFailure = { failed: 'timeout', detail: `more than ${timeoutSeconds} s` }
  return within<Fetched>(timeoutSeconds, late, signal => fetchWithin(url, options, signal))
}

/** A JSON document with its URL after redirects; or an error that completes a sentence about its address. */
type FetchedJson = { document: Json; headers: Headers; url: string } | { error: string }

/** Fetches a JSON document as `fetchText` does. `explain` replaces the description of a failure for clients. */
export const fetchJson = async (
  url: string,
  options: FetchOptions,
  explain = describeFailure,
): Promise<FetchedJson> => {
  const fetched = await fetchText(url, options)
  if ('failed' in fetched) return { error: explain(fetched, options.maxBytes) }
  const parsed = parseUnambiguous(fetched.content)
  if ('value' in parsed) return { document: parsed.value, headers: fetched.headers, url: fetched.url }
  const isAmbiguous = parsed.refused === 'duplicate-name'
  const found = isAmbiguous ? `JSON in which ${parsed.pointer} ${parsed.message}` : 'invalid JSON'
  return { error: `responded with ${found}` }
}

const fetchWithin = async (url: string, options: FetchOptions, signal: AbortSignal): Promise<Fetched> => {
  const { allowedOrigins, maxBytes = MAX_CARD_BYTES } = options
  const { fetch = async (to, init) => safeFetch(to, init, allowedOrigins) } = options
  const followed = await fetchFollowingRedirects(url, options, fetch, signal).catch(unreachable)
  if ('failed' in followed) return followed
  const { response, redirected } = followed
  const { status, headers } = response
  if (status === 304 && options.validators && !redirected) return { failed: 'unchanged', detail: '304' }
  if (status !== 200) return { failed: 'status', status, detail: `${status}` }
  const contentType = headers.get('Content-Type')
  if (!isJsonType(contentType)) {
    const type = essence(contentType).slice(0, 100)
    return { failed: 'type', type, detail: type === '' ? 'no media type' : type }
  }
  const body = await readText(response, maxBytes).catch(unreachable)
  if ('text' in body) return { content: body.text, headers, url: followed.url, redirected }
  if ('detail' in body) return body
  return body.failed === 'too-large'
    ? { failed: 'too-large', detail: `more than ${maxBytes} bytes` }
    : { failed: 'not-text', detail: 'not UTF-8' }
}

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308])

/** GETs a URL, and follows redirects with `fetchFn`, too. Rejects as that does. */
export const fetchFollowingRedirects = async (
  address: string,
  { headers, credentials, validators, maxRedirects = MAX_REDIRECTS }: FetchOptions,
  fetchFn: FetchFn,
  signal: AbortSignal,
): Promise<{ response: Response; url: string; redirected: boolean } | FetchFailure> => {
  const visited = new Set<string>()
  let sameOrigin = true
  for (let url = address; ; ) {
    const sent = { ...headers, ...(sameOrigin && credentials), ...(visited.size === 0 && validators) }
    visited.add(url)
    const response = await fetchFn(url, { method: 'GET', headers: sent, signal })
    if ('blocked' in response) return { failed: 'blocked', detail: response.blocked }
    if (!REDIRECT_STATUSES.has(response.status)) return { response, url, redirected: visited.size > 1 }
    const location = response.headers.get('Location')
    const next = location === null ? null : parseUrl(location, url)
    if (next === null) return { failed: 'redirect', detail: 'to no address' }
    if (url.startsWith('https:') && next.protocol !== 'https:')
      return { failed: 'blocked', detail: 'a redirect away from https' }
    next.hash = ''
    if (visited.has(next.href)) return { failed: 'redirect', detail: 'in a circle' }
    if (visited.size > maxRedirects) return { failed: 'redirect', detail: `more than ${maxRedirects} times` }
    sameOrigin &&= next.origin === parseUrl(address)?.origin
    url = next.href
  }
}

/**
 * Describes a failure for clients, in words that complete a sentence about the address. A blocked address looks like
 * one that does not respond: otherwise callers could map the network around this host.
 */
export const describeFailure = (failure: FetchFailure, maxBytes = MAX_CARD_BYTES): string => {
  const { failed, detail } = failure
  if (failed === 'timeout') return 'did not respond in time'
  if (failed === 'status') return `responded with HTTP ${failure.status}`
  if (failed === 'redirect') return `redirects ${detail}`
  if (failed === 'too-large') return `is larger than ${maxBytes / 1024} KiB`
  if (failed === 'type') return 'responded with something other than JSON'
  return failed === 'not-text' ? 'responded with something other than UTF-8' : 'cannot be reached'
}

/** Network errors have no type of their own, so they are caught where they arise. */
const unreachable = (error: unknown): FetchFailure => ({
  failed: 'unreachable',
  detail: error instanceof Error ? error.message : String(error),
})
