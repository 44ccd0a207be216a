import {
  operations as a2aOperations,
  ERRORS,
  type OperationName,
  operationNames,
  PASSTHROUGH_STATUSES,
  pathOf,
} from '../../a2a/index.ts'
import { agentIdPattern, type WireVersion, wireVersions } from '../../card/model/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { type ProblemCode, problems } from '../../problems.ts'
import { cardRoutes } from './card-routes.ts'
import { hostRoutes } from './host-routes.ts'
import {
  type Content,
  headers,
  isSequence,
  type Operation,
  page,
  rateLimits,
  toContent,
  toParameter,
} from './operation.ts'
import { registryRoutes } from './registry-routes.ts'

/** Every route of this host, by method and path. The route table in src/app.ts can have no others. */
const operations = { ...cardRoutes, ...hostRoutes, ...registryRoutes }

/** A method and path of the route table. */
export type RouteName = keyof typeof operations

/** The operations of a path by method. */
type PathItem = Record<string, JsonObject & { responses: Responses }>

/** The paths of the document, and the responses that several operations have in common. */
type Paths = { paths: Record<string, PathItem>; responses: Responses }

/** Returns the paths: one operation for each route, and for the routes of HTTP+JSON one for each operation of A2A. */
export const createPaths = (): Paths => {
  const paths: Record<string, PathItem> = {}
  for (const [route, operation] of Object.entries<Operation>(operations)) {
    const [method = '', path = ''] = route.split(' ')
    const template = path.replaceAll(/(?<![a-z]):(\w+)/g, '{$1}')
    const expanded = path.endsWith('/:operation+')
      ? expandRestRoute(method, operation)
      : [{ path: template, operation }]
    for (const each of expanded)
      paths[each.path] = { ...paths[each.path], [method.toLowerCase()]: toOperationObject(each.path, each.operation) }
  }
  return shareResponses(paths)
}

/** Replaces responses that several operations have by references: errors would be most of the document. */
const shareResponses = (paths: Record<string, PathItem>): Paths => {
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

const toOperationObject = (path: string, operation: Operation): PathItem[string] => {
  const { id, tag, summary, description, access, body, limits = [] } = operation
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    parameters: listParameters(path, operation),
    ...(body && {
      requestBody: {
        required: body.optional !== true,
        ...(body.description !== undefined && { description: body.description }),
        content: toContent(body.content),
      },
    }),
    responses: mergeResponses(listAnswers(operation), listErrors(path, operation)),
    security: securityOf(access),
    ...(limits.length > 0 && { 'x-rate-limits': limits.map(name => ({ name, ...rateLimits[name] })) }),
  }
}

/** Returns scopes as the roles of the token. A card may admit callers with other credentials, which it names. */
const securityOf = (access: Operation['access']): JsonObject[] => {
  if (access === 'public') return []
  if (access === 'token') return [{ token: [] }]
  if (access === 'card') return [{}, { token: ['call'] }]
  return access === 'optional' ? [{}, { token: ['read'] }] : [{ token: [access] }]
}

// HTTP+JSON

/**
 * Returns the operations of A2A that a route of the HTTP+JSON binding has with a method. Their path is one parameter of
 * the route with slashes in it, which OpenAPI cannot express.
 */
const expandRestRoute = (method: string, route: Operation): { path: string; operation: Operation }[] =>
  wireVersions.flatMap(version =>
    operationNames.flatMap(name => {
      const path = pathOf(name, version)
      if (path === undefined || !a2aOperations[name].http[0].includes(method)) return []
      // `id` is the agent already.
      const renamed = path
        .replace('pushNotificationConfigs/{id}', 'pushNotificationConfigs/{configId}')
        .replace('{id}', '{taskId}')
      return [{ path: `/agents/{id}/a2a/${renamed}`, operation: describeRestCall(method, name, version, route) }]
    }),
  )

const describeRestCall = (method: string, name: OperationName, version: WireVersion, route: Operation): Operation => {
  const { streams, sends, http, ...names } = a2aOperations[name]
  const isPreferred = http[0][0] === method
  return {
    ...route,
    id: `${name}_${version.replace('.', '_')}${isPreferred ? '' : `_${method.toLowerCase()}`}`,
    summary: `Call ${names[version]} of A2A ${version} over HTTP+JSON`,
    ...(method === 'POST' && {
      body: {
        content: OBJECT,
        description: `The parameters of ${names[version]}, as A2A ${version} defines them.`,
        ...(!sends && { optional: true }),
      },
    }),
    answers: {
      200: {
        description: streams ? 'A stream of results.' : `The result of ${names[version]}.`,
        content: streams ? { 'text/event-stream': { each: { type: 'object' } } } : OBJECT,
        headers: ['A2A-Version', 'Gate-Warning'],
      },
      ...(method === 'DELETE' && { 204: { description: 'The agent has deleted it.' } }),
    },
    errors: version,
  }
}

const OBJECT: Content = { 'application/json': { type: 'object' }, 'application/a2a+json': { type: 'object' } }

// Parameters

const pathParameters: Readonly<Record<string, JsonObject>> = {
  id: { description: 'The id of the agent.', schema: { type: 'string', pattern: agentIdPattern.source } },
  seq: { description: 'The number of the revision.', schema: { type: 'integer', minimum: 1 } },
  name: toParameter('The name or id of the agent, in any case.'),
  file: toParameter('The name of a well-known document.'),
  identifier: { description: 'The identifier of the entry.', schema: { type: 'string', pattern: '^urn:air:' } },
  taskId: toParameter('The id of the task.'),
  configId: toParameter('The id of the push configuration.'),
}

const tokenId = toParameter('The id of the token.')

const listParameters = (path: string, { query = {}, headers = {}, validated }: Operation): JsonObject[] => {
  const allHeaders = validated ? { ...headers, 'If-None-Match': 'The entity tags of what the client has.' } : headers
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
      ...{ name, in: 'path', required: true },
      ...(path === '/tokens/{id}' ? tokenId : pathParameters[name]),
    })),
    ...Object.entries(query).map(([name, parameter]) => ({ name, in: 'query', ...toParameter(parameter) })),
    ...Object.entries(allHeaders).map(([name, parameter]) => ({ name, in: 'header', ...toParameter(parameter) })),
  ]
}

// Responses

const listAnswers = ({ answers, validated }: Operation): Responses => {
  const notModified = { description: 'The client has it already.', headers: { ETag: toParameter(headers.ETag) } }
  const listed = Object.entries(answers).map(([status, answer]): [string, JsonObject] => {
    const names = [...(validated ? (['ETag'] as const) : []), ...(answer.headers ?? [])]
    const described = names.length > 0 && {
      headers: Object.fromEntries(names.map(name => [name, toParameter(headers[name])])),
    }
    const content = answer.content && { content: toContent(answer.content) }
    return [status, { description: answer.description, ...described, ...content }]
  })
  return { ...Object.fromEntries(listed), ...(validated && { 304: notModified }) }
}

/** Responses by their status. */
export type Responses = Record<string, JsonObject>

/** Returns the responses of an operation for its errors, by status. */
const listErrors = (path: string, operation: Operation): Responses => ({
  ...listOwnErrors(path, operation),
  500: { description: 'An unexpected error, which the host has logged. The body is empty.' },
})

const listOwnErrors = (path: string, operation: Operation): Responses => {
  const { errors, answers } = operation
  const problems = listProblems(path, operation)
  const isPage = answers[200]?.content?.['text/html'] !== undefined
  return errors === undefined
    ? problemResponses([...hostProblems, ...problems], isPage ? page : {})
    : mergeResponses(foreignErrors(errors, problems), problemResponses(hostProblems))
}

/** Returns the errors that an endpoint answers in another form than that of this host. */
const foreignErrors = (form: NonNullable<Operation['errors']>, problems: readonly ProblemCode[]): Responses => {
  switch (form) {
    case 'ard':
      return errorResponses(describeProblems(problems), { 'application/json': 'ArdError' })
    case 'superx':
      return errorResponses(SUPERX_ERRORS, JSON_RPC)
    case 'JSONRPC':
      return errorResponses(callErrors(true), JSON_RPC)
    case '0.3':
      return errorResponses(callErrors(false), { 'application/json': 'RestErrorV0' })
    default:
      return errorResponses(callErrors(false), { 'application/a2a+json': 'RestErrorV1' })
  }
}

const JSON_RPC: Content = { 'application/json': 'JsonRpcResponse' }

const SUPERX_ERRORS = [400, 401, 403, 413, 415, 429, 502, 503, 504].map(status => ({
  ...{ status, text: 'A JSON-RPC error.' },
}))

/** Merges responses, because a status can stand for several, whose bodies have different media types. */
const mergeResponses = (responses: Responses, others: Responses): Responses => {
  const merged = { ...responses }
  for (const [status, other] of Object.entries(others)) {
    const response = merged[status]
    merged[status] = response
      ? {
          ...response,
          description: `${response.description}\n\n${other.description}`,
          content: { ...(response.content as JsonObject), ...(other.content as JsonObject) },
        }
      : other
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

const retryAfter = { 'Retry-After': toParameter('Seconds after which the request may succeed.') }

/** Headers that a response with a status can have. */
const RESPONSE_HEADERS: Readonly<Record<number, JsonObject>> = {
  401: { 'WWW-Authenticate': toParameter('How to authenticate (RFC 6750).') },
  403: { 'WWW-Authenticate': toParameter('The scope that the token lacks (RFC 6750).') },
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

const accessProblems: Readonly<Record<Operation['access'], readonly ProblemCode[]>> = {
  public: [],
  card: [],
  optional: ['too-many-attempts'],
  token: authentication,
  read: [...authentication, 'forbidden'],
  write: [...authentication, 'forbidden', 'admin-token-missing'],
  admin: [...authentication, 'forbidden', 'admin-token-missing'],
}

const textProblems: readonly ProblemCode[] = ['not-json', 'incomplete-body', 'too-large', 'unsupported-media-type']

const bodyProblems = (content: Content): readonly ProblemCode[] =>
  // In a sequence of documents, those two are problems of one document.
  Object.values(content).some(isSequence) ? textProblems : [...textProblems, 'too-deep', 'duplicate-name']

const listProblems = (path: string, { access, body, limits = [], problems = [] }: Operation): ProblemCode[] => {
  const isWriteOfAgent = access === 'write' && path.startsWith('/agents/{id}')
  const isCounted = limits.some(name => name !== 'AUTH_LIMIT')
  const all: ProblemCode[] = [
    'unavailable',
    ...accessProblems[access],
    ...(isWriteOfAgent ? (['bad-agent-id'] as const) : []),
    ...(isCounted ? (['too-many-requests'] as const) : []),
    ...(limits.includes('WRITE_LIMIT') ? (['storage-full'] as const) : []),
    ...(body ? bodyProblems(body.content) : []),
    ...problems,
  ]
  return [...new Set(all)]
}

const describeProblems = (codes: readonly ProblemCode[]): ErrorText[] =>
  codes.map(code => ({ status: problems[code][0], text: `- \`${code}\`: ${problems[code][1]}` }))

/** Returns the problem details of errors by status. `others` are further forms of the errors. */
const problemResponses = (codes: readonly ProblemCode[], others: Content = {}): Responses =>
  Object.assign(
    {},
    ...[...Map.groupBy(codes, code => problems[code][0])].map(([status, codes]) => {
      const properties = { status: { const: status }, code: { enum: codes } }
      const schema = { allOf: [{ $ref: '#/components/schemas/Problem' }, { properties }] }
      return errorResponses(describeProblems(codes), { ...others, 'application/problem+json': schema })
    }),
  )
