import type { Scope } from '../../card/model/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { MAX_PAGE_SIZE } from '../../limits.ts'
import type { ProblemCode } from '../../problems.ts'
import type * as requests from '../request-bodies.ts'
import type { schemas } from './schemas/index.ts'

/** The name of a schema in the document. */
type SchemaName = keyof typeof schemas | keyof typeof requests | 'AgentCard' | 'CardFields' | 'Manifest'

/** The groups of operations, in the order of the document. */
export const tags = {
  cards: 'Agent Cards, and lists of agents.',
  calls: 'A2A calls through the gateway of this host.',
  registry: 'Registering, changing and observing agents.',
  changes: 'Following changes.',
  catalogs: 'Documents for directories, crawlers and language models.',
  administration: 'Tokens, the audit, exports and imports.',
  pages: 'Pages for people. A client gets them if its `Accept` prefers `text/html`.',
  documents: 'Descriptions of this API, and the state of the host.',
  compatibility: 'Endpoints for clients of Shaman and SuperX.',
} as const

/** The rate limits of wrangler.toml: requests in a period of seconds, and what they are counted for. */
export const rateLimits = {
  CALL_LIMIT: { requests: 600, seconds: 60, per: 'each token, else each client address' },
  AUTH_LIMIT: { requests: 30, seconds: 60, per: 'each client address, for failed authentication attempts' },
  LINT_LIMIT: { requests: 60, seconds: 60, per: 'each client address' },
  PAGE_LIMIT: { requests: 300, seconds: 60, per: 'each client address' },
  FETCH_LIMIT: { requests: 60, seconds: 60, per: 'each caller, for requests that this host sends on its behalf' },
  WRITE_LIMIT: { requests: 600, seconds: 60, per: 'each token, for writes' },
} as const

/** A parameter in the query or a header, with its schema; a string if there is only a description. */
type Parameter = string | { description: string; schema: JsonObject }

/** Returns the object of a parameter, or of a header of a response. */
export const toParameter = (parameter: Parameter): JsonObject =>
  typeof parameter === 'string' ? { description: parameter, schema: { type: 'string' } } : parameter

/** The name of a schema, or a schema. */
type ItemSchema = SchemaName | JsonObject

/** The media types of a body, each with its schema, or with that of `each` line or event in a sequence of documents. */
export type Content = Readonly<Record<string, ItemSchema | { each: ItemSchema }>>

const toSchema = (schema: ItemSchema): JsonObject =>
  typeof schema === 'string' ? { $ref: `#/components/schemas/${schema}` } : schema

/** Returns the media types of a body. */
export const toContent = (content: Content): JsonObject =>
  Object.fromEntries(
    Object.entries(content).map(([type, body]): [string, JsonObject] => [
      type,
      isSequence(body)
        ? { schema: { type: 'string' }, 'x-item-schema': toSchema(body.each) }
        : { schema: toSchema(body) },
    ]),
  )

/** Checks whether a body is a sequence of JSON documents. */
export const isSequence = (body: Content[string]): body is { each: ItemSchema } =>
  typeof body === 'object' && 'each' in body

/** A response without an error. */
type Answer = { description: string; content?: Content; headers?: readonly HeaderName[] }

/** Headers of responses. */
export const headers = {
  ETag: 'The entity tag.',
  'Last-Modified': 'When the document last changed.',
  Link: 'Links to the catalogs of this host and to the next page (RFC 8288).',
  'A2A-Version': 'The version of A2A that the document has the form of.',
  'Gate-Warning': 'What the gate would refuse, or has repaired.',
} as const

type HeaderName = keyof typeof headers

/** Returns a response with a body, which is JSON if there is only a schema. */
export const answer = (description: string, body: SchemaName | Content, ...headers: HeaderName[]): Answer => ({
  ...{ description, headers },
  content: typeof body === 'string' ? jsonBody(body) : body,
})

/** The part of the document about one route. */
export type Operation = {
  /** The name by which generated clients call it. */
  id: string
  tag: keyof typeof tags
  summary: string
  description?: string
  /** The credentials: none; a token with `read` shows more; any token; one with a scope; or those of the card. */
  access: 'public' | 'optional' | 'token' | Exclude<Scope, 'call'> | 'card'
  query?: Readonly<Record<string, Parameter>>
  headers?: Readonly<Record<string, Parameter>>
  body?: { content: Content; optional?: true; description?: string }
  answers: Readonly<Record<number, Answer>>
  /** A client that has the document gets 304. */
  validated?: true
  /** The errors besides those that follow from `access` and `body`. */
  problems?: readonly ProblemCode[]
  limits?: readonly (keyof typeof rateLimits)[]
  /** The form of errors, where they are not problem details: over HTTP+JSON the version of A2A. */
  errors?: 'ard' | 'superx' | 'JSONRPC' | '0.3' | '1.0'
}

/** Operations by method and path, as the route table writes both. */
export type Operations = Readonly<Record<`${'GET' | 'PUT' | 'POST' | 'DELETE'} /${string}`, Operation>>

type Common = Pick<Operation, 'tag' | 'access'> & Partial<Operation>

/** Returns what describes operations that have much in common, each by its own part. */
export const group =
  (common: Common) =>
  (id: string, summary: string, own: Partial<Operation> = {}): Operation => ({
    answers: {},
    ...common,
    ...own,
    ...{ id, summary },
  })

/** The parameters of a list with pages. */
export const pageQuery = (max = MAX_PAGE_SIZE): Record<'limit' | 'cursor', Parameter> => ({
  limit: {
    description: 'The most entries of a page.',
    schema: { type: 'integer', minimum: 1, maximum: max, default: max },
  },
  cursor: 'The `cursor` of the page before.',
})

/** The errors of a list with pages. */
export const pageProblems = ['bad-limit', 'bad-cursor', 'unknown-query'] as const

/** The errors of a remote card without a usable copy. */
export const upstreamProblems = ['upstream-unreachable', 'upstream-not-ready', 'upstream-timeout'] as const

/** The errors of an endpoint that accepts any valid token. */
export const tokenProblems = ['no-token', 'bad-token', 'forbidden'] as const

/** The conditions of a write. */
export const writeConditions: Record<'If-Match' | 'If-None-Match', Parameter> = {
  'If-Match': 'Writes only if this is an entity tag of what is registered.',
  'If-None-Match': { description: '`*` writes only if nothing is registered.', schema: { const: '*' } },
}

/** A page for people. */
export const page = { 'text/html': { type: 'string' } } as const

/** A JSON body. */
export const jsonBody = (schema: SchemaName) => ({ 'application/json': schema })
