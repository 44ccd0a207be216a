import { readText } from './body.ts'
import { essence } from './media-type.ts'
import { type FetchFn, fetchFollowingRedirects, type GetHeaders, safeFetch } from './safe-fetch.ts'

/** Why there is no content. The detail is for the log alone: to a client all of these may have to be the same. */
export type FetchFailure = { detail: string } & (
  | { failed: 'blocked' | 'unreachable' | 'timeout' | 'redirect' | 'too-large' | 'not-text' }
  | { failed: 'status'; status: number }
  /** It is still what the validators stand for: only said to who sends some. */
  | { failed: 'unchanged' }
  /** What came is of this media type; of none, where it is empty. */
  | { failed: 'type'; type: string }
)

/** How something is fetched, and what it may cost (design §9). */
export type FetchOptions = GetHeaders & {
  /** Whether an answer of this `Content-Type` is wanted. */
  accepts: (type: string | null) => boolean
  /** Exempt from the fetch guard, separated by spaces or commas. */
  allowedOrigins?: string
  /** Makes each request in the place of the fetch guard. */
  ask?: FetchFn
  /** Of the body, inflated: 1 MiB. */
  maxBytes?: number
  /** For all of it, redirects and body too: 10. */
  seconds?: number
  /** How many are followed: 3. */
  redirects?: number
}

/** What an address answered: `headers` are the answer's, and `redirected` says whether it is another address's. */
export type Resource<Content> = { content: Content; headers: Headers; redirected: boolean }

/** Makes the content of a body, of which no more is read than `maxBytes`. */
type ReadBody<Content> = (response: Response, maxBytes: number) => Promise<{ content: Content } | FetchFailure>

/** GETs an address through the guard: a 200 of a type that is wanted, whole, within the limits. Never rejects. */
const fetchResource = async <Content>(
  url: string,
  options: FetchOptions,
  read: ReadBody<Content>,
): Promise<Resource<Content> | FetchFailure> => {
  const { seconds = 10 } = options
  const ending = new AbortController()
  const late = Promise.withResolvers<FetchFailure>()
  const timer = setTimeout(() => late.resolve({ failed: 'timeout', detail: `more than ${seconds} s` }), seconds * 1000)
  try {
    return await Promise.race([answerOf(url, options, read, ending.signal), late.promise])
  } catch (error) {
    return { failed: 'unreachable', detail: error instanceof Error ? error.message : '' }
  } finally {
    clearTimeout(timer)
    // What is left of a body that nobody wants would hold its connection.
    ending.abort()
  }
}

const answerOf = async <Content>(
  url: string,
  options: FetchOptions,
  read: ReadBody<Content>,
  signal: AbortSignal,
): Promise<Resource<Content> | FetchFailure> => {
  const { allowedOrigins, redirects: most = 3, maxBytes = 1024 * 1024 } = options
  const { ask = async (to, init) => safeFetch(to, init, allowedOrigins) } = options
  const followed = await fetchFollowingRedirects(url, options, ask, { most, signal })
  if ('failed' in followed) return followed
  const { response, redirected } = followed
  const { status, headers } = response
  if (status === 304 && options.validators && !redirected) return { failed: 'unchanged', detail: '304' }
  if (status !== 200) return { failed: 'status', status, detail: `${status}` }
  const type = headers.get('Content-Type')
  if (!options.accepts(type)) return typeFailure(type)
  const body = await read(response, maxBytes)
  return 'failed' in body ? body : { content: body.content, headers, redirected }
}

const typeFailure = (header: string | null): FetchFailure => {
  const type = essence(header).slice(0, 100)
  return { failed: 'type', type, detail: type === '' ? 'of no type' : type }
}

/** GETs a text through the guard: as `guardedAnswer`, and UTF-8; a BOM is no part of it. Never rejects. */
export const fetchText = (url: string, options: FetchOptions): Promise<Resource<string> | FetchFailure> =>
  fetchResource(url, options, async (response, maxBytes) => {
    const read = await readText(response, maxBytes)
    if ('text' in read) return { content: read.text }
    return read.failed === 'too-large'
      ? { failed: 'too-large', detail: `more than ${maxBytes} bytes` }
      : { failed: 'not-text', detail: 'not UTF-8' }
  })
