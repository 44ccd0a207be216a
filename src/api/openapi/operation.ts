import type { Scope } from '../../card/model/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { MAX_PAGE_SIZE } from '../../limits.ts'
import type * as requests from '../requests.ts'
import type { ProblemCode } from './problems.ts'
import type { schemas } from './schemas/index.ts'

/** The name of a schema in the document. */
export type SchemaName = keyof typeof schemas | keyof typeof requests | 'AgentCard' | 'CardFields' | 'Manifest'

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

/** A parameter in the query or a header. */
type Parameter = { description: string; schema: JsonObject; required?: true }

/** The name of a schema, or a schema. */
export type ItemSchema = SchemaName | JsonObject

/** The media types of a body, each with its schema; or with that of `each` document in a sequence: of a line, or the data of an event. */
export type Content = Readonly<Record<string, SchemaName | JsonObject | { each: ItemSchema }>>

/** A response without an error. */
export type Answer = { description: string; content?: Content; headers?: readonly HeaderName[] }

/** Headers of responses. */
export const headers = {
  ETag: 'The entity tag.',
  'Last-Modified': 'When the document last changed.',
  Link: 'Links to the catalogs of this host and to the next page (RFC 8288).',
  'A2A-Version': 'The version of A2A that the document has the form of.',
  'Gate-Warning': 'What the gate would refuse, or has repaired.',
} as const

type HeaderName = keyof typeof headers

/** What the document has of one route. */
export type Operation = {
  /** The name by which generated clients call it. */
  id: string
  tag: keyof typeof tags
  summary: string
  description?: string
  /**
   * Who may call it: anyone; anyone, with more for a token that has `read`; any token; a token with a scope; or whom the card of the
   * agent admits.
   */
  access: 'public' | 'optional' | 'token' | Exclude<Scope, 'call'> | 'card'
  query?: Readonly<Record<string, Parameter>>
  headers?: Readonly<Record<string, Parameter>>
  body?: { content: Content; optional?: true; description?: string }
  answers: Readonly<Record<number, Answer>>
  /** Whether a client that has the document gets 304. */
  validated?: true
  /** The errors besides those that follow from `access` and `body`. */
  problems?: readonly ProblemCode[]
  limits?: readonly (keyof typeof rateLimits)[]
  /** How errors are written, where they are not problem details: over HTTP+JSON by the version of A2A. */
  errors?: 'ard' | 'superx' | 'JSONRPC' | '0.3' | '1.0'
}

/** Operations by method and path, as the route table writes both. */
export type Operations = Readonly<Record<`${'GET' | 'PUT' | 'POST' | 'DELETE'} /${string}`, Operation>>

const limit = (max: number): Parameter => ({
  description: 'The most entries of a page.',
  schema: { type: 'integer', minimum: 1, maximum: max, default: max },
})

/** The parameters of a list with pages. */
export const pageQuery = (max = MAX_PAGE_SIZE): Record<'limit' | 'cursor', Parameter> => ({
  limit: limit(max),
  cursor: { description: 'The `cursor` of the page before.', schema: { type: 'string' } },
})

/** The errors of a list with pages. */
export const pageProblems = ['bad-limit', 'bad-cursor', 'unknown-query'] as const

/** The conditions of a write. */
export const writeConditions: Record<'If-Match' | 'If-None-Match', Parameter> = {
  'If-Match': {
    description: 'Writes only if this is an entity tag of what is registered.',
    schema: { type: 'string' },
  },
  'If-None-Match': { description: '`*` writes only if nothing is registered.', schema: { const: '*' } },
}

/** A page for people. */
export const page = { 'text/html': { type: 'string' } } as const

/** A JSON body. */
export const jsonBody = (schema: SchemaName) => ({ 'application/json': schema })
