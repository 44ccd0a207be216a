import {
  ANONYMOUS,
  type Authentication,
  assertWriter,
  authenticate,
  clientKey,
  countRequest,
  countWrites,
  forbidden,
  hasPermission,
  type Principal,
  reportRefusal,
  requirePrincipal,
  requireScope,
} from '../../auth/index.ts'
import { type Finding, validate } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import { checkRateLimit } from '../../gateway/gate/index.ts'
import type { Handler, PathParams, Precondition, RequestContext } from '../../http/index.ts'
import {
  CORS_HEADERS,
  HttpError,
  NO_STORE,
  PRIVATE_NO_STORE,
  parsePrecondition,
  problem,
  readBodyText,
  readJson,
  respondWithDocument,
  toHttpError,
  tooManyRequests,
} from '../../http/index.ts'
import { essence } from '../../json/index.ts'
import type { ProblemCode } from '../../problems.ts'
import type { Access, Body, Description, RateLimitName, ResultOf } from './description.ts'
import type { QueryParameter, QueryValues } from './parameters.ts'
import type { Described } from './start.ts'

/** What a handler gets: the request, and what the description says of it, checked and parsed. */
export type Input<D extends Description> = RequestContext & {
  /** The variable segments of the path, percent-encoded as they were sent. */
  params: { [Name in keyof D['params']]: string }
  query: QueryValues<D['query']>
  body: D['body'] extends Body<infer Value> ? Value : undefined
  precondition: Precondition
  /** The caller; undefined where credentials are not checked, or only by the card. */
  caller: CallerOf<D['access']>
}

/** A request and its caller. */
export type CallerContext = RequestContext & { caller: Authentication }

type CallerOf<A extends Access> = A extends 'optional' | 'reader'
  ? Authentication
  : A extends 'public' | 'card'
    ? undefined
    : Principal

/** An endpoint: its handler with its description. */
export type Endpoint<D extends Description = Description> = Handler & Described<keyof D['params'] & string>

/**
 * Describes an endpoint where it is handled. Before the handler is called, the credentials, the rate limits, the query,
 * the conditions and the body are checked as the description says. A refused write is recorded in the audit.
 */
export const endpoint = <const D extends Description, const R extends ResultOf<D>>(
  description: D,
  handler: (input: Input<D>) => Promise<R> | R,
): Endpoint<D> => {
  const handle: Handler = async (request, env, ctx, params) => {
    const context = { request, env, ctx }
    try {
      const input = await readInput(description, context, params)
      const result = await handler(input as unknown as Input<D>)
      if (result instanceof HttpError) throw result
      return result instanceof Response ? result : respond(result, description, context)
    } catch (error) {
      const known = toHttpError(error)
      if (!known) throw error
      const { access, errors: { toResponse } = {} } = description
      const isWrite = !['GET', 'HEAD'].includes(request.method)
      if (isWrite && !OPEN_TO_ALL.includes(access))
        await reportRefusal(known, access === 'admin' ? undefined : params.id, context)
      if (toResponse) return toResponse(known)
      throw known
    }
  }
  return Object.assign(handle, { description })
}

/** What needs no token, so that its refusals are not recorded. */
const OPEN_TO_ALL: readonly Access[] = ['public', 'optional', 'reader', 'card']

/** Describes an endpoint whose handler every start loads. Its handler checks itself what the description says. */
export const describe = <const D extends Description>(description: D): Described<keyof D['params'] & string> => ({
  description,
})

const readInput = async (description: Description, context: RequestContext, params: PathParams) => {
  const { request, env } = context
  const { access, internal, query, openQuery, conditional, body, errors } = description
  const url = new URL(request.url)
  const sentNeeds = query ? [...url.searchParams.keys()].map(name => query[name]?.needs) : []
  // Of several parameters, the strongest requirement counts.
  const needs = (['write', 'token'] as const).find(each => sentNeeds.includes(each))
  const required = internal !== undefined && config(env).role === 'internal' ? internal : (needs ?? access)
  const caller = await authorize(required, context, params.id)
  const limits = errors && !errors.toResponse ? [] : (description.limits ?? [])
  for (const limit of limits) await count(limit, caller, context)
  return {
    ...context,
    params,
    caller,
    query: query && parseQuery(url, query, openQuery),
    precondition: conditional ? parsePrecondition(request.headers) : {},
    body: body && (await readBody(request, body)),
  }
}

/** Returns the caller if it has what an endpoint requires; to write, for the agent `id` if its path names one. */
const authorize = async (access: Access | 'read', context: RequestContext, id: string | undefined) => {
  switch (access) {
    case 'public':
    case 'card':
      return undefined
    case 'optional':
      return authenticate(context.request, context.env, context.ctx)
    case 'reader':
      return context.request.headers.has('Authorization') ? requireScope(context, 'read') : ANONYMOUS
    case 'token':
      return requirePrincipal(context)
    default: {
      const principal = await requireScope(context, access)
      if (id === undefined) return principal
      if (access === 'write') assertWriter(principal, id)
      else if (!hasPermission(principal, access, id)) throw forbidden(principal, access, id)
      return principal
    }
  }
}

/** Counts a request against a rate limit before any work for it. Throws 429 past it. */
const count = async (name: RateLimitName, caller: Authentication | undefined, { request, env }: RequestContext) => {
  if (name === 'WRITE_LIMIT' && caller?.authenticated) return countWrites(caller, env)
  // Other credentials are ignored here, also those of an address with too many failed attempts.
  const counted = caller?.authenticated ? caller : ANONYMOUS
  if (name === 'CALL_LIMIT' && (await checkRateLimit(counted, request, env)))
    throw tooManyRequests('Too many requests.')
  if (name === 'PAGE_LIMIT' || name === 'LINT_LIMIT')
    await countRequest(env[name], clientKey(request), 'Too many requests from your address.')
}

/** Parses the query of a URL. Throws for another parameter and an invalid value, unless it is open: it ignores both. */
export const parseQuery = <Query extends NonNullable<Description['query']>>(url: URL, query: Query, isOpen = false) => {
  const known = Object.keys(query)
  const unknown = isOpen ? [] : [...new Set(url.searchParams.keys())].filter(name => !known.includes(name))
  if (unknown.length > 0) {
    const named = unknown.slice(0, 5).map(name => `"${name.slice(0, 40)}"`)
    const accepted = known.join(', ').replace(/, (?!.*, )/, ' and ') || 'none'
    const detail = `${url.pathname} has no query parameter ${named.join(', ')}. It accepts ${accepted}.`
    throw problem('unknown-query', detail)
  }
  return Object.fromEntries(
    Object.entries(query).map(([name, { parse, fallback, problem: code, expected }]: [string, QueryParameter]) => {
      const sent = url.searchParams.getAll(name)
      if (sent.length === 0) return [name, fallback]
      const value = parse(sent)
      if (value === undefined && !isOpen) throw problem(code, `${name} must be ${expected}.`)
      return [name, value ?? fallback]
    }),
  ) as QueryValues<Query>
}

const readBody = async (request: Request, body: Body) => {
  const { as, content, maxBytes, fallback, problem: code, outcome = '' } = body
  if (as === 'stream') return undefined
  if (as === 'text') {
    const types = Object.keys(content)
    if (!types.includes(essence(request.headers.get('Content-Type'))))
      throw problem('unsupported-media-type', `Send the body with \`Content-Type: ${types[0]}\`.`)
    return readBodyText(request, maxBytes)
  }
  if (fallback !== undefined && (request.body === null || request.headers.get('Content-Length') === '0'))
    return fallback
  const result = validate(as, await readJson(request))
  if ('errors' in result) throw invalidBody(code ?? 'invalid-card', outcome, result.errors)
  return result.output
}

const MAX_ERRORS = 100

/** Returns the error for an invalid body, which names the first mistake after `outcome`. */
export const invalidBody = <Code extends ProblemCode>(code: Code, outcome: string, errors: Finding[]) => {
  const [{ pointer, message } = { pointer: '', message: 'is invalid' }] = errors
  const more = errors.length > 1 ? ` And ${errors.length - 1} more.` : ''
  const detail = `${outcome}${outcome && ' '}${pointer || 'The body'} ${message.replace(/\.?$/, '.')}${more}`
  return problem(code, detail, { errors: errors.slice(0, MAX_ERRORS) })
}

/** Makes a response: for the caller alone where credentials are required, and for everyone where they are not. */
const respond = (
  { status, body, headers = {} }: { status?: number; body?: unknown; headers?: Record<string, string> },
  { access, responses, validated }: Description,
  { request, env }: RequestContext,
): Response | Promise<Response> => {
  const code = status ?? Number(Object.keys(responses)[0])
  const isShared = access === 'public' || access === 'optional' || access === 'reader'
  const [type = '', media] = Object.entries(responses[code]?.content ?? {})[0] ?? []
  const caching = headers['Cache-Control'] ?? (isShared ? config(env).publicCacheControl : PRIVATE_NO_STORE)
  if (validated) return respondWithDocument(body, request.headers, type, caching)
  const isText = media === undefined || 'text' in media || 'each' in media
  return new Response(isText ? ((body ?? null) as BodyInit | null) : JSON.stringify(body), {
    status: code,
    headers: {
      ...CORS_HEADERS,
      'Cache-Control': isShared ? NO_STORE : PRIVATE_NO_STORE,
      ...(media && { 'Content-Type': type }),
      ...headers,
    },
  })
}
