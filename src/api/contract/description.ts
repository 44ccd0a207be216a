import type * as v from 'valibot'
import type { Scope, WireVersion } from '../../card/model/index.ts'
import type { HttpError } from '../../http/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { MAX_BODY_BYTES } from '../../limits.ts'
import type { ProblemCode } from '../../problems.ts'
import type { Parameter, QueryParameter } from './parameters.ts'

/** The groups of operations, in the order of the OpenAPI document. */
export const tags = {
  cards: 'Agent Cards, and lists of agents.',
  calls: 'A2A calls through the gateway of this host.',
  registry: 'Registering, changing and observing agents.',
  changes: 'Following changes.',
  catalogs: 'Documents for directories, crawlers and language models.',
  administration: 'Tokens, the audit, exports and imports.',
  pages: 'Pages and pictures for people.',
  documents: 'Descriptions of this API, and the state of the host.',
  compatibility: 'Endpoints for clients of Shaman and SuperX.',
} as const

/** The rate limits of wrangler.toml: requests in a period of seconds, and what they are counted for. */
export const rateLimits = {
  /** Calls, lists of agents as JSON, catalogs and look-ups by name. */
  CALL_LIMIT: { requests: 600, seconds: 60, per: 'each token, else each client address' },
  /** Failed authentication attempts. */
  AUTH_LIMIT: { requests: 30, seconds: 60, per: 'each client address, for failed authentication attempts' },
  /** `POST /lint` and `POST /verify`. */
  LINT_LIMIT: { requests: 60, seconds: 60, per: 'each client address' },
  /** Pages and pictures. */
  PAGE_LIMIT: { requests: 300, seconds: 60, per: 'each client address' },
  /** Requests for `POST /verify`, and for the extended card that an agent itself returns. */
  FETCH_LIMIT: { requests: 60, seconds: 60, per: 'each caller, for requests that this host sends on its behalf' },
  /** Writes of agents and tokens, checks and imports; every `LINES_PER_WRITE` lines of a batch count as one. */
  WRITE_LIMIT: { requests: 600, seconds: 60, per: 'each token, for writes' },
} as const

/** The name of a rate limit. */
export type RateLimitName = keyof typeof rateLimits

/**
 * Who may use an endpoint: everyone; everyone, though a token with `read` shows more (`optional`: any other credentials
 * are ignored; `reader`: they are refused); callers with any token; those with a scope; or those that the card admits.
 */
export type Access = 'public' | 'optional' | 'reader' | 'token' | Exclude<Scope, 'call' | 'read'> | 'card'

/** The content of one media type: the shape of JSON, or of `each` line or event of a sequence; or any other text. */
export type MediaType = v.GenericSchema | { each: v.GenericSchema } | { text: JsonObject }

/** A body by its media types. */
export type Content = Readonly<Record<string, MediaType>>

/** Headers of responses. */
export const responseHeaders = {
  ETag: 'The entity tag.',
  'Last-Modified': 'When the document last changed.',
  Link: 'Links to the catalogs of this host and to the next page (RFC 8288).',
  'A2A-Version': 'The version of A2A that the document has the form of.',
  'Gate-Warning': 'What the gate would refuse, or has repaired.',
} as const

type HeaderNames = readonly (keyof typeof responseHeaders)[]

/** A successful response. `Body` is what its handler returns for it. */
type ResponseDescription<Body = unknown> = {
  description: string
  content?: Content
  headers?: HeaderNames
  /** Only for the type. */
  body?: Body
}

/** The type of a body whose objects and lists may be read-only. */
type Sent<Value> = Value extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Sent<Value[Name]> }
    : Value

/** Describes a response with JSON of this shape, in one media type. */
export const json = <Schema extends v.GenericSchema>(
  description: string,
  schema: Schema,
  { type = 'application/json', headers = [] }: { type?: string; headers?: HeaderNames } = {},
): ResponseDescription<Sent<v.InferOutput<Schema>>> => ({ description, content: { [type]: schema }, headers })

/** Describes a response with another body. */
export const withContent = (
  description: string,
  content: Content,
  headers: HeaderNames = [],
): ResponseDescription<BodyInit | null> => ({ description, content, headers })

/** Describes a response without a body. */
export const noContent = (description: string): ResponseDescription<undefined> => ({ description })

/** A page for people. */
export const HTML = { 'text/html': { text: { type: 'string' } } } as const satisfies Content

/** The body of a request. `Value` is what the handler gets. */
export type Body<Value = unknown, Code extends ProblemCode = ProblemCode> = {
  content: Content
  maxBytes: number
  description?: string
  /** The body of a request that has none; undefined if it must have one. */
  fallback?: Value | undefined
  /** How it is read: as JSON of this shape, as text, or by the handler, which counts the bytes of the stream. */
  as: v.GenericSchema | 'text' | 'stream'
  /** The error for JSON of another shape, and the first sentence of its detail, such as "No token was issued." */
  problem?: Code
  outcome?: string
}

/** Describes a body of JSON. */
export const jsonBody = <Schema extends v.GenericSchema, Code extends ProblemCode = never>(
  schema: Schema,
  options: { problem?: Code; outcome?: string; fallback?: v.InferOutput<Schema> } = {},
): Body<v.InferOutput<Schema>, Code> => ({
  ...{ content: { 'application/json': schema }, as: schema, maxBytes: MAX_BODY_BYTES },
  ...options,
})

/** Describes a body that the endpoint reads as text, or leaves to its handler as a stream. */
export const otherBody = <As extends 'text' | 'stream'>(as: As, content: Content, maxBytes: number) =>
  ({ as, content, maxBytes }) satisfies Body as Body<As extends 'text' ? string : undefined>

/** Errors in another form than problem details: over HTTP+JSON that of the version of A2A. */
export type ErrorForm = 'ard' | 'superx' | 'JSONRPC' | 'MCP' | WireVersion

/** All that is known of an endpoint besides its method, its path and its name. */
export type Description = {
  tag: keyof typeof tags
  summary: string
  description?: string
  access: Access
  /** The scope that it requires with `ROLE` set to `internal`. */
  internal?: 'read'
  params?: Readonly<Record<string, Parameter>>
  /** All that the query may have; undefined if it is not read. */
  query?: Readonly<Record<string, QueryParameter>>
  /** Other parameters and other values are ignored: clients add some to the URLs of cards and pictures. */
  openQuery?: true
  headers?: Readonly<Record<string, Parameter>>
  /** A write that takes `If-Match` and `If-None-Match`. */
  conditional?: true
  body?: Body
  responses: Readonly<Record<number, ResponseDescription>>
  /** The response has the entity tag of its bytes, and a client that has it gets 304. */
  validated?: true
  /** The handler makes the response: a page, a stream, or a document that was made before. */
  raw?: true
  /** The errors besides those that follow from all else. */
  problems?: readonly ProblemCode[]
  /** The rate limits. `AUTH_LIMIT` follows from `access`; `FETCH_LIMIT` is counted with each request that is sent. */
  limits?: readonly RateLimitName[]
  /** Errors in another form. Without `toResponse`, the handler makes them all, and counts the limits, itself. */
  errors?: { form: ErrorForm; toResponse?: (error: HttpError) => Response }
}

type Result<Status, Each> = { headers?: Record<string, string> } & (Each extends ResponseDescription<infer Value>
  ? [Value] extends [undefined]
    ? { body?: undefined }
    : { body: Value }
  : never) &
  ([Status] extends [never] ? unknown : { status: Status })

type IsOne<Union, Each = Union> = Each extends unknown ? ([Union] extends [Each] ? true : false) : never

/** What a handler returns: a declared response, whose status it names if there are several, or a declared error. */
export type ResultOf<D extends Description> =
  | (D extends { raw: true } ? Response : never)
  | {
      [Status in keyof D['responses']]: Result<
        IsOne<keyof D['responses']> extends true ? never : Status,
        D['responses'][Status]
      >
    }[keyof D['responses']]
  | HttpError<DeclaredProblem<D>>

/** The errors that a handler may return: those that the description names or that follow from it. */
type DeclaredProblem<D extends Description> =
  | 'unavailable'
  | (D['conditional'] extends true ? 'precondition-failed' : never)
  | (D['problems'] extends readonly (infer Code extends ProblemCode)[] ? Code : never)
  | (D['body'] extends Body<unknown, infer Code> ? Code : never)
