import type * as v from 'valibot'
import type { Finding } from '../../card/model/index.ts'
import { isJsonObject } from '../../json/index.ts'
import { MAX_PAGE_SIZE } from '../../limits.ts'
import type { ProblemCode } from '../../problems.ts'
import type { ParamsOf } from '../contract/shared.ts'
import type { endpoints } from './endpoints.ts'

type Endpoints = typeof endpoints

/** The name of an endpoint: its method, and its path in the route table. */
export type EndpointName = keyof Endpoints

/** The body of the response of an endpoint; undefined if it has none. */
export type ResponseOf<Name extends EndpointName> = OutputOf<Endpoints[Name][keyof Endpoints[Name] & number]>

/** The value of a shape, or of one in brackets: JSON lines of this shape. */
type OutputOf<Shape> = Shape extends v.GenericSchema
  ? v.InferOutput<Shape>
  : Shape extends readonly [infer Line extends v.GenericSchema]
    ? v.InferOutput<Line>[]
    : undefined

type BodyOptions<Row> = Row extends { body: readonly [infer Line extends v.GenericSchema] }
  ? { lines: readonly v.InferInput<Line>[] }
  : Row extends { body: infer Shape extends v.GenericSchema }
    ? undefined extends v.InferInput<Shape>
      ? { body?: v.InferInput<Shape> }
      : { body: v.InferInput<Shape> }
    : unknown

type Words<Text> = Text extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : Text

type QueryValue = string | number | boolean | readonly string[] | undefined

/** With `ignore`, a call has the result `undefined` for an error with this code. */
type Options<Name extends EndpointName, Code> = BodyOptions<Endpoints[Name]> &
  ([ParamsOf<Name>] extends [never] ? unknown : { params: { readonly [Param in ParamsOf<Name>]: string | number } }) & {
    query?: Endpoints[Name] extends { query: infer Query }
      ? { readonly [Key in Words<Query> & string]?: QueryValue }
      : never
    /** The entity tag of what a write replaces; null if there must be nothing. */
    etag?: Endpoints[Name] extends { conditional: true } ? string | null : never
    ignore?: Code
  } & CommonOptions

type CommonOptions = {
  /** The request must not be made twice: it is repeated only after 429, when the host has done nothing. */
  once?: true
  anonymous?: true
  timeoutMs?: number
  /** A body of lines, compressed with gzip. It is sent once, without a timeout. */
  stream?: ReadableStream
}

type ProblemOf<Name extends EndpointName> = Endpoints[Name] extends { problems: infer Codes } ? Words<Codes> : never

type Arguments<Name extends EndpointName, Code> =
  Record<never, never> extends Options<Name, Code> ? [options?: Options<Name, Code>] : [options: Options<Name, Code>]

type Ignored<Code> = [Code] extends [never] ? never : undefined

/** A response. `body` is undefined if there is none, or it is not JSON. */
export type ApiResponse<Body = unknown> = { status: number; headers: Headers; body: Body }

type ListName = { [Name in EndpointName]: 'cursor' extends keyof ResponseOf<Name> ? Name : never }[EndpointName]

/** Calls the API of a host. What fails is rejected with an `ApiError`, or with what its connection makes of that. */
export type Client = {
  /** Returns the body of the response. */
  call: <Name extends EndpointName, Code extends ProblemOf<Name> = never>(
    name: Name,
    ...options: Arguments<Name, Code>
  ) => Promise<ResponseOf<Name> | Ignored<Code>>
  /** Returns the response. `etag` is strong: a compressing proxy weakens it, which no condition of a write accepts. */
  send: <Name extends EndpointName, Code extends ProblemOf<Name> = never>(
    name: Name,
    ...options: Arguments<Name, Code>
  ) => Promise<(ApiResponse<ResponseOf<Name>> & { etag: string | undefined }) | Ignored<Code>>
  /** Iterates over the pages of a list. A page that failed is read again by the next call of `next`. */
  pages: <Name extends ListName>(
    name: Name,
    ...options: Arguments<Name, never>
  ) => AsyncIterableIterator<ResponseOf<Name>>
}

/** A host, and how requests to it are sent and repeated. */
export type Connection = {
  /** What paths are appended to: the origin of the host, without it that of the page. */
  url?: string
  token: string
  /** Sends one request, and reads the response. Rejects with an `ApiError` without a status if there is none. */
  send: (url: string, init: RequestInit) => Promise<ApiResponse>
  retries: number
  /** Checks whether a failure that may pass is one for which a request is repeated. */
  canRetry?: (method: string, error: ApiError) => boolean
  clock?: { now: () => number; sleep: (ms: number, signal?: AbortSignal) => Promise<void> }
  /** Once aborted, nothing is repeated. Requests under way are completed. */
  signal?: AbortSignal | undefined
  /** Called before each request with the token. It throws if the host must not get the token. */
  identify?: () => Promise<unknown>
  /** Checks whether a response is a result. Without it, that is every JSON with a status below 300. */
  isResult?: (name: EndpointName, response: ApiResponse) => boolean
  /** Returns the error that callers get. */
  explain?: (error: ApiError) => Error
  /** Called before a request is repeated, once for several that fail for the same reason. */
  inform?: (message: string) => void
}

/** A call that failed. Its status is 0 if there is no response. The message is the `detail`, if there is one. */
export class ApiError extends Error {
  readonly status: number
  /** The stable code of the problem details; empty if there are none. */
  readonly code: string
  readonly detail: string | undefined
  readonly errors: readonly Finding[]
  readonly headers: Headers
  /**
   * Why another attempt may succeed: a rate limit, when the host has done nothing; nothing listens there; the response
   * was not HTTP; or the host or the network has failed.
   */
  readonly retry: 'limited' | 'refused' | 'not-http' | 'failed' | undefined
  isAuthorized = false
  /** An earlier attempt, whose response was lost, may have reached the host. */
  isRepeated = false

  constructor({ status = 0, headers = new Headers(), body }: Partial<ApiResponse>, retry?: ApiError['retry']) {
    const { code, detail, errors } = isJsonObject(body) ? body : {}
    const reason = typeof detail === 'string' ? detail : undefined
    super(reason ?? `the host responded with ${status}`)
    this.status = status
    this.headers = headers
    this.code = typeof code === 'string' ? code : ''
    this.detail = reason
    this.errors = Array.isArray(errors) ? errors.filter(isFinding) : []
    this.retry = retry ?? (canPass(status, this.code) ? (status === 429 ? 'limited' : 'failed') : undefined)
  }
}

const isFinding = (value: unknown): value is Finding =>
  isJsonObject(value) && typeof value.pointer === 'string' && typeof value.message === 'string'

/** Another attempt is of no use if an upstream of the host has failed, or the host lacks its secret. */
const canPass = (status: number, code: string): boolean =>
  [429, 500, 502, 503, 504].includes(status) && !code.startsWith('upstream-') && code !== 'admin-token-missing'

/** Checks whether a call failed with this code. */
export const isProblem = <Code extends ProblemCode>(error: unknown, code: Code): error is ApiError & { code: Code } =>
  error instanceof ApiError && error.code === code

const FIRST_RETRY_DELAY_MS = 250
const MAX_RETRY_DELAY_MS = 8000
/** The highest `Retry-After` that is obeyed: the period of the host's rate limits. */
const MAX_RETRY_AFTER_MS = 60_000
const REQUEST_TIMEOUT_MS = 30_000

const systemClock: NonNullable<Connection['clock']> = {
  now: Date.now,
  sleep: ms => new Promise(resolve => setTimeout(resolve, ms)),
}

type AnyOptions = CommonOptions & {
  params?: Readonly<Record<string, string | number>>
  query?: Readonly<Record<string, QueryValue>>
  body?: unknown
  lines?: readonly unknown[]
  etag?: string | null
  ignore?: string
}

/** Creates a client, which repeats requests with exponential back-off while the host is unreachable or busy. */
export const createClient = (connection: Connection): Client => {
  const { url = '', token, retries, clock = systemClock, signal, inform } = connection
  const { isResult = isAnyJson, explain = error => error, canRetry = () => true } = connection
  /** The reason of the current failure. */
  let outage: string | undefined

  const send = async (name: EndpointName, options: AnyOptions = {}) => {
    const { ignore, once, anonymous, stream, timeoutMs = REQUEST_TIMEOUT_MS } = options
    if (!anonymous) await connection.identify?.()
    const isAuthorized = !anonymous && token !== ''
    const { path, ...request } = toRequest(name, options)
    const { method, headers } = request
    if (isAuthorized) headers.Authorization = `Bearer ${token}`
    let isRepeated = false
    for (let attempt = 0; ; attempt++)
      try {
        const init = { ...request, ...(!stream && { signal: AbortSignal.timeout(timeoutMs) }) }
        const response = await connection.send(url + path, init)
        if (!isResult(name, response)) throw new ApiError(response)
        outage = undefined
        return { ...response, etag: response.headers.get('ETag')?.replace(/^W\//, '') }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        Object.assign(error, { isAuthorized, isRepeated })
        const { retry, code } = error
        if (code !== '' && code === ignore) return undefined
        const explained = explain(error)
        if (retry === undefined || attempt >= retries || signal?.aborted || !canRetry(method, error)) throw explained
        if (stream || (once && retry !== 'limited')) throw explained
        isRepeated ||= retry !== 'limited' && retry !== 'refused'
        const waitMs = Math.min(parseRetryAfterMs(error.headers, clock.now()), MAX_RETRY_AFTER_MS)
        const when = waitMs > 0 ? ` in ${Math.ceil(waitMs / 1000)} s` : ''
        if (outage !== explained.message) inform?.(`${method} ${path}: ${explained.message}; retrying${when}`)
        outage = explained.message
        await clock.sleep(waitMs + backOffMs(attempt), signal)
        if (signal?.aborted) throw explained
      }
  }

  const pages = (name: EndpointName, { query, ...options }: AnyOptions = {}) =>
    paginate(async cursor => {
      return (await send(name, { ...options, query: { limit: MAX_PAGE_SIZE, cursor, ...query } }))?.body ?? {}
    }, explain)

  const call = async (name: EndpointName, options?: AnyOptions) => (await send(name, options))?.body

  // The responses have the types of the table: `isResult` has checked them, or the host is that of the page.
  return { send, call, pages } as Client
}

const isAnyJson = (_: EndpointName, { status, body }: ApiResponse): boolean =>
  status === 204 || (status >= 200 && status < 300 && body !== undefined)

const toRequest = (name: EndpointName, { params = {}, query = {}, body, lines, stream, etag }: AnyOptions) => {
  const [method = '', template = ''] = name.split(' ')
  const path = template.replaceAll(/(?<=\/):(\w+)/g, (_, param: string) => encodeURIComponent(params[param] ?? ''))
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([key, value]) =>
      value === undefined ? [] : [value].flat().map((each): [string, string] => [key, String(each)]),
    ),
  )
  const type = lines || stream ? 'application/x-ndjson' : 'application/json'
  const sent = stream ?? (lines ? lines.map(line => JSON.stringify(line)).join('\n') : JSON.stringify(body))
  const headers: Record<string, string> = {
    Accept: lines ? type : 'application/json',
    ...(sent !== undefined && { 'Content-Type': type }),
    ...(stream && { 'Content-Encoding': 'gzip' }),
    ...(etag === null ? { 'If-None-Match': '*' } : etag !== undefined && { 'If-Match': etag }),
  }
  return {
    ...{ method, path: search.size > 0 ? `${path}?${search}` : path, headers },
    ...(sent !== undefined && { body: sent }),
    ...(stream && { duplex: 'half' as const }),
  }
}

/** Doubles with each attempt; the random part keeps clients apart that failed at the same time. */
const backOffMs = (attempt: number): number =>
  Math.min(FIRST_RETRY_DELAY_MS * 2 ** attempt * (1 + Math.random()), MAX_RETRY_DELAY_MS)

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
 * Iterates over the pages of a list. `read` returns the one that begins at a cursor; the last one has no cursor. Fails
 * for a list without end: a proxy may ignore the cursor or serve stored pages, so that a page repeats.
 */
export const paginate = <Page extends object>(
  read: (cursor: string | undefined) => Promise<Page>,
  explain: (error: ApiError) => Error = error => error,
): AsyncIterableIterator<Page> => {
  const cursors = new Set<string>()
  let cursor: string | undefined
  let isDone = false
  const fail = (detail: string): Error => explain(new ApiError({ body: { detail } }))
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: async () => {
      if (isDone) return { done: true, value: undefined }
      if (cursor !== undefined && cursors.has(cursor)) throw fail('the host returns the same page of a list again')
      if (cursors.size + 1 === MAX_PAGES) throw fail('the host returns a list without end')
      const page = await read(cursor)
      if (cursor !== undefined) cursors.add(cursor)
      cursor = 'cursor' in page && typeof page.cursor === 'string' ? page.cursor : undefined
      isDone = cursor === undefined
      return { done: false, value: page }
    },
  }
}
