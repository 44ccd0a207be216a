import type { RestRoute } from '../../a2a/index.ts'
import { operations as a2aOperations, ERRORS, PASSTHROUGH_STATUSES, restRoutes } from '../../a2a/index.ts'
import { latestVersion, versions, wireVersions } from '../../card/model/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { MAX_CALL_BYTES } from '../../limits.ts'
import { type ProblemCode, problems } from '../../problems.ts'
import type {
  Access,
  Body,
  Content,
  Description,
  ErrorForm,
  NamedDescription,
  Parameter,
  Route,
} from '../contract/index.ts'
import { anyText, HTML, rateLimits, responseHeaders } from '../contract/index.ts'
import { ArdError, anyObject, JsonRpcResponse, RestErrorV0, RestErrorV1 } from '../schemas/index.ts'
import { refOf, toContent } from './schemas.ts'

type PathItem = Record<string, JsonObject & { responses: Responses }>

/** Returns the paths: one operation for each route, and for the routes of HTTP+JSON one for each operation of A2A. */
export const createPaths = async (routes: readonly Route[]) => {
  const paths: Record<string, PathItem> = {}
  for (const [method, path, { describe }] of routes) {
    const operation = await describe()
    const expanded = path.endsWith('/:operation+')
      ? expandRestRoute(method, operation)
      : [{ path: toTemplate(path), operation }]
    for (const each of expanded)
      paths[each.path] = { ...paths[each.path], [method.toLowerCase()]: toOperationObject(each.path, each.operation) }
  }
  return shareResponses(paths)
}

/** Returns a path of the route table as documents write it: `/agents/{id}`. */
export const toTemplate = (path: string): string => path.replaceAll(/(?<![a-z]):(\w+)\+?/g, '{$1}')

/** Replaces responses that several operations have by references: errors would be most of the document. */
const shareResponses = (paths: Record<string, PathItem>) => {
  const operations = Object.values(paths).flatMap(path => Object.values(path))
  const all = operations.flatMap(({ responses }) => Object.entries(responses))
  const shared = [...Map.groupBy(all, ([, response]) => JSON.stringify(response))].filter(([, same]) => same.length > 1)
  const names = new Map(shared.map(([text, [[status] = ['']]], index) => [text, `status-${status}-${index + 1}`]))
  for (const { responses } of operations)
    for (const [status, response] of Object.entries(responses)) {
      const name = names.get(JSON.stringify(response))
      if (name !== undefined) responses[status] = { $ref: `#/components/responses/${name}` }
    }
  return { paths, responses: Object.fromEntries([...names].map(([text, name]) => [name, JSON.parse(text)])) }
}

const toOperationObject = (path: string, operation: NamedDescription): PathItem[string] => {
  const { id, tag, summary, description, access, body } = operation
  const limits = listLimits(operation)
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    parameters: listParameters(path, operation),
    ...(body && {
      requestBody: {
        required: body.fallback === undefined,
        ...(body.description !== undefined && { description: body.description }),
        content: toContent(body.content),
      },
    }),
    responses: mergeResponses(listAnswers(operation), listErrors(path, operation)),
    security: security[access] ?? [{ token: [access] }],
    ...(limits.length > 0 && { 'x-rate-limits': limits.map(name => ({ name, ...rateLimits[name] })) }),
  }
}

/** Returns the rate limits of an operation: failed attempts count wherever credentials are checked. */
export const listLimits = ({ access, limits = [], page }: NamedDescription): (keyof typeof rateLimits)[] => {
  const all = [...limits, ...(page ? (['PAGE_LIMIT'] as const) : [])]
  return access === 'public' ? all : [...all, 'AUTH_LIMIT']
}

/** Scopes as the roles of the token. A card may admit callers with other credentials, which it names. */
const security: Readonly<Partial<Record<Access, JsonObject[]>>> = {
  ...{ public: [], token: [{ token: [] }], card: [{}, { token: ['call'] }] },
  ...{ optional: [{}, { token: ['read'] }], reader: [{}, { token: ['read'] }] },
}

// HTTP+JSON

/** Returns the operations of a route of HTTP+JSON, whose path OpenAPI cannot express: one parameter with slashes. */
const expandRestRoute = (method: string, route: NamedDescription): { path: string; operation: NamedDescription }[] =>
  restRoutes.flatMap(found => {
    if (!found.methods.includes(method)) return []
    // `id` is the agent already.
    const path = found.path.replace('Configs/{id}', 'Configs/{configId}').replace('{id}', '{taskId}')
    return [{ path: `/agents/{id}/a2a/${path}`, operation: describeRestCall(method, found, route) }]
  })

const describeRestCall = (method: string, found: RestRoute, route: NamedDescription): NamedDescription => {
  const { operation, versions: having, methods } = found
  const { streams, sends, names } = a2aOperations[operation]
  const [version = latestVersion] = having
  const suffix = methods[0] === method ? '' : `_${method.toLowerCase()}`
  return {
    ...route,
    id: `${operation}_${version.replace('.', '_')}${suffix}`,
    summary: `Call ${names[version]} of A2A ${having.join(' or ')} over HTTP+JSON`,
    ...(method === 'POST' && {
      body: {
        ...{ content: OBJECT, as: 'stream', maxBytes: MAX_CALL_BYTES },
        description: `The parameters of ${names[version]}, as A2A ${having.join(' or ')} defines them.`,
        ...(!sends && { fallback: {} }),
      },
    }),
    responses: {
      200: {
        description: streams ? 'A stream of results.' : `The result of ${names[version]}.`,
        content: streams ? { 'text/event-stream': { each: anyObject('A result.') } } : OBJECT,
        headers: ['A2A-Version', 'Gate-Warning'],
      },
      ...(method === 'DELETE' && { 204: { description: 'The agent has deleted it.' } }),
    },
    errors: { form: version },
  }
}

const OBJECT: Content = Object.fromEntries(
  wireVersions.map(version => [versions[version].restType, { text: { type: 'object' } }]),
)

// Parameters

const a2aParameters: Readonly<Record<string, Parameter>> = {
  taskId: anyText('The id of the task.'),
  configId: anyText('The id of the push configuration.'),
}

const listParameters = (path: string, operation: Description): JsonObject[] => {
  const { params = {}, query = {}, headers = {}, conditional, validated } = operation
  const allHeaders = {
    ...(conditional && {
      'If-Match': anyText('Writes only if this is an entity tag of what is registered.'),
      'If-None-Match': { description: '`*` writes only if nothing is registered.', schema: { const: '*' } },
    }),
    ...headers,
    ...(validated && { 'If-None-Match': anyText('The entity tags of what the client has.') }),
  }
  const toObject =
    (place: string) =>
    ([name, { description, schema }]: [string, Parameter]): JsonObject => ({ name, in: place, description, schema })
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
      const parameter = params[name] ?? a2aParameters[name] ?? anyText(name)
      return { name, in: 'path', required: true, description: parameter.description, schema: parameter.schema }
    }),
    ...Object.entries(query).map(toObject('query')),
    ...Object.entries(allHeaders).map(toObject('header')),
  ]
}

// Responses

const toHeader = (description: string): JsonObject => ({ ...anyText(description) })

const listAnswers = ({ responses, validated, page }: NamedDescription): Responses => {
  const all: Description['responses'] = validated ? { 304: NOT_MODIFIED, ...responses } : responses
  const listed = Object.entries(all).map(([status, { description, content, headers = [] }]): [string, JsonObject] => {
    const names = [...(validated ? (['ETag'] as const) : []), ...headers]
    const described = Object.fromEntries(names.map(name => [name, toHeader(responseHeaders[name])]))
    const media = page && status === '200' ? { ...content, ...HTML } : content
    return [
      status,
      { description, ...(names.length > 0 && { headers: described }), ...(media && { content: toContent(media) }) },
    ]
  })
  return Object.fromEntries(listed)
}

const NOT_MODIFIED = { description: 'The client has it already.' }

type Responses = Record<string, JsonObject>

const listErrors = (path: string, operation: NamedDescription): Responses => {
  const { errors, responses, page, problems = [] } = operation
  const own = listProblems(path, operation)
  const isPage = page || responses[200]?.content?.['text/html'] !== undefined
  const listed = errors
    ? mergeResponses(
        foreignErrors(errors.form, own),
        problemResponses([...hostProblems, ...(errors.form === 'MCP' ? problems : [])]),
      )
    : problemResponses([...hostProblems, ...own], isPage ? HTML : {})
  return { ...listed, 500: { description: 'An unexpected error, which the host has logged. The body is empty.' } }
}

/** Returns the errors that an endpoint answers in another form than that of this host. */
const foreignErrors = (form: ErrorForm, problems: readonly ProblemCode[]): Responses => {
  if (form === 'ard') return errorResponses(describeProblems(problems), { 'application/json': ArdError })
  if (form === 'JSONRPC') return errorResponses(callErrors(true), { 'application/json': JsonRpcResponse })
  if (form === 'MCP')
    return errorResponses([...callErrors(false), NOT_ACCEPTABLE], { 'application/json': JsonRpcResponse })
  if (form === 'superx') return errorResponses(SUPERX_ERRORS, { 'application/json': JsonRpcResponse })
  const { restType, errors } = versions[form]
  return errorResponses(callErrors(false), { [restType]: errors === 'details' ? RestErrorV1 : RestErrorV0 })
}

const NOT_ACCEPTABLE = { status: 406, text: '- `Accept` lacks `application/json` or `text/event-stream`' }

const SUPERX_ERRORS = [400, 401, 403, 413, 415, 429, 502, 503, 504].map(status => ({
  ...{ status, text: 'A JSON-RPC error.' },
}))

/** Merges responses, because a status can stand for several, whose bodies have different media types. */
const mergeResponses = (responses: Responses, others: Responses): Responses => {
  const merged = { ...responses, ...others }
  for (const [status, other] of Object.entries(others)) {
    const response = responses[status]
    if (!response) continue
    const content = { ...(response.content as JsonObject), ...(other.content as JsonObject) }
    merged[status] = { ...response, description: `${response.description}\n\n${other.description}`, content }
  }
  return merged
}

type ErrorText = { status: number; text: string }

const errorResponses = (errors: readonly ErrorText[], content: Content): Responses =>
  Object.fromEntries(
    [...Map.groupBy(errors, ({ status }) => status)].map(([status, errors]) => {
      const headers = RESPONSE_HEADERS[status]
      const description = errors.map(({ text }) => text).join('\n')
      return [status, { description, ...(headers && { headers }), content: toContent(content) }]
    }),
  )

const retryAfter = { 'Retry-After': toHeader('Seconds after which the request may succeed.') }

const RESPONSE_HEADERS: Readonly<Record<number, JsonObject>> = {
  401: { 'WWW-Authenticate': toHeader('How to authenticate (RFC 6750).') },
  403: { 'WWW-Authenticate': toHeader('The scope that the token lacks (RFC 6750).') },
  ...Object.fromEntries([409, 429, 502, 503, 504].map(status => [status, retryAfter])),
}

// A2A calls

const callErrors = (isJsonRpc: boolean): ErrorText[] =>
  Object.entries(ERRORS).flatMap(([kind, { code, reason, httpStatus, jsonRpcStatus }]) => {
    const own = typeof httpStatus === 'number' ? [httpStatus] : Object.keys(PASSTHROUGH_STATUSES).map(Number)
    const statuses = isJsonRpc && jsonRpcStatus !== undefined ? [jsonRpcStatus] : own
    return statuses.map(status => ({ status, text: `- \`${kind}\`: ${reason}, ${code}` }))
  })

// Problem details

/** The errors of requests that reach no endpoint, which have the form of this host. */
const hostProblems: readonly ProblemCode[] = ['invalid-url', 'foreign-origin']

const authentication: readonly ProblemCode[] = ['no-token', 'bad-token', 'too-many-attempts']

const accessProblems = (access: Access | 'read'): readonly ProblemCode[] => {
  if (access === 'public' || access === 'card') return []
  if (access === 'optional') return ['too-many-attempts']
  if (access === 'token') return authentication
  const isRead = access === 'read' || access === 'reader'
  return [...authentication, 'forbidden', ...(isRead ? [] : (['admin-token-missing'] as const))]
}

const bodyProblems = ({ content, problem }: Body): readonly ProblemCode[] => [
  ...(['not-json', 'incomplete-body', 'too-large', 'unsupported-media-type'] as const),
  // Each document of a sequence has errors of its own.
  ...(Object.values(content).some(media => 'each' in media) ? [] : (['too-deep', 'duplicate-name'] as const)),
  ...(problem ? [problem] : []),
]

/** Lists the errors of an operation: those that it names, and those that follow from the rest of its description. */
export const listProblems = (path: string, operation: NamedDescription): ProblemCode[] => {
  const { access, body, query, openQuery, conditional, limits = [], problems = [], internal } = operation
  const isWriteOfAgent = access === 'write' && path.startsWith('/agents/{id}')
  const isCounted = listLimits(operation).some(name => name !== 'AUTH_LIMIT')
  const parameters = Object.values(query ?? {})
  const needs = parameters.flatMap(({ needs }) => needs ?? [])
  return [
    ...new Set<ProblemCode>([
      'unavailable',
      ...accessProblems(access),
      ...needs.flatMap(accessProblems),
      ...(internal ? accessProblems(internal) : []),
      ...(isWriteOfAgent ? (['bad-agent-id'] as const) : []),
      ...(isCounted ? (['too-many-requests'] as const) : []),
      ...(limits.includes('WRITE_LIMIT') ? (['storage-full'] as const) : []),
      ...(conditional ? (['bad-condition', 'precondition-failed'] as const) : []),
      ...(query && !openQuery ? (['unknown-query', ...parameters.map(({ problem }) => problem)] as const) : []),
      ...(body ? bodyProblems(body) : []),
      ...problems,
    ]),
  ]
}

const describeProblems = (codes: readonly ProblemCode[]): ErrorText[] =>
  codes.map(code => ({ status: problems[code][0], text: `- \`${code}\`: ${problems[code][1]}` }))

/** Returns the problem details of errors by status. `others` are further forms of the errors. */
const problemResponses = (codes: readonly ProblemCode[], others: Content = {}): Responses =>
  Object.assign(
    {},
    ...[...Map.groupBy(codes, code => problems[code][0])].map(([status, codes]) => {
      const properties = { status: { const: status }, code: { enum: codes } }
      const schema = { allOf: [{ $ref: refOf('Problem') }, { properties }] }
      return errorResponses(describeProblems(codes), { ...others, 'application/problem+json': { text: schema } })
    }),
  )
