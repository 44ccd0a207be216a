import { ERRORS, PASSTHROUGH_STATUSES } from '../../a2a/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { isSequence, toContent } from './content.ts'
import { type Content, type Operation, page, type SchemaName } from './operation.ts'
import { type ProblemCode, problems } from './problems.ts'

/** Returns the responses of an operation for its errors, by status. */
export const listErrors = (path: string, operation: Operation): Record<string, JsonObject> => ({
  ...listOwnErrors(path, operation),
  500: { description: 'An unexpected error, which the host has logged. The body is empty.' },
})

const listOwnErrors = (path: string, operation: Operation): Record<string, JsonObject> => {
  const { errors = 'problem', answers } = operation
  const isPage = answers[200]?.content?.['text/html'] !== undefined
  switch (errors) {
    case 'problem':
      return groupByStatus(problemsOf(path, operation), isPage ? page : {})
    case 'ard':
      return withHostProblems(
        mapValues(groupByStatus(problemsOf(path, operation)), ({ description, headers }) => ({
          ...{ description, headers },
          content: toContent({ 'application/json': 'ArdError' }),
        })),
      )
    case 'superx':
      return withHostProblems(
        Object.fromEntries(SUPERX_STATUSES.map(status => [status, errorOf(JSON_RPC, 'A JSON-RPC error.', status)])),
      )
    case 'JSONRPC':
      return withHostProblems(callErrors('JSONRPC', JSON_RPC))
    default:
      return withHostProblems(
        callErrors('HTTP+JSON', {
          [errors === '1.0' ? 'application/a2a+json' : 'application/json']: REST_ERRORS[errors],
        }),
      )
  }
}

const JSON_RPC: Content = { 'application/json': 'JsonRpcResponse' }

const REST_ERRORS: Record<'0.3' | '1.0', SchemaName> = { '0.3': 'RestErrorV0', '1.0': 'RestErrorV1' }

const SUPERX_STATUSES = [400, 401, 403, 413, 415, 429, 502, 503, 504]

const mapValues = (object: Record<string, JsonObject>, map: (value: JsonObject) => JsonObject) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]))

/** The errors of requests that reach no endpoint, which have the form of this host. */
const hostProblems: readonly ProblemCode[] = ['invalid-url', 'foreign-origin']

const withHostProblems = (errors: Record<string, JsonObject>): Record<string, JsonObject> => ({
  ...errors,
  ...Object.fromEntries(
    Object.entries(groupByStatus(hostProblems)).map(([status, problem]) => {
      const { description, content } = errors[status] ?? { description: '', content: {} }
      return [
        status,
        {
          ...problem,
          description: `${description}\n${problem.description}`.trim(),
          content: { ...(content as JsonObject), ...(problem.content as JsonObject) },
        },
      ]
    }),
  ),
})

// Problem details

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

/** In a sequence of documents, these are the problem of one of them. */
const documentProblems: readonly ProblemCode[] = ['too-deep', 'duplicate-name']

const bodyProblems = (content: Content): readonly ProblemCode[] =>
  Object.values(content).some(isSequence) ? textProblems : [...textProblems, ...documentProblems]

const problemsOf = (path: string, operation: Operation): ProblemCode[] => {
  const { access, body, limits = [], problems: own = [] } = operation
  const isWriteOfAgent = access === 'write' && path.startsWith('/agents/{id}')
  const isCounted = limits.some(name => name !== 'AUTH_LIMIT')
  const all: ProblemCode[] = [
    ...hostProblems,
    'unavailable',
    ...accessProblems[access],
    ...(isWriteOfAgent ? (['bad-agent-id'] as const) : []),
    ...(isCounted ? (['too-many-requests'] as const) : []),
    ...(limits.includes('WRITE_LIMIT') ? (['storage-full'] as const) : []),
    ...(body ? bodyProblems(body.content) : []),
    ...own,
  ]
  return [...new Set(all)]
}

/** `others` are further forms of the errors. */
const groupByStatus = (codes: readonly ProblemCode[], others: Content = {}): Record<string, JsonObject> =>
  Object.fromEntries(
    [...Map.groupBy(codes, code => problems[code][0])].map(([status, codes]) => [
      status,
      problemResponse(status, codes, others),
    ]),
  )

const problemResponse = (status: number, codes: readonly ProblemCode[], others: Content): JsonObject => ({
  ...errorOf({}, codes.map(code => `- \`${code}\`: ${problems[code][1]}`).join('\n'), status),
  content: {
    ...toContent(others),
    'application/problem+json': {
      schema: {
        allOf: [
          { $ref: '#/components/schemas/Problem' },
          { properties: { status: { const: status }, code: { enum: [...codes] } } },
        ],
      },
    },
  },
})

// A2A calls

const callErrors = (binding: 'JSONRPC' | 'HTTP+JSON', content: Content): Record<string, JsonObject> => {
  const statuses = Object.entries(ERRORS).flatMap(([kind, { httpStatus, jsonRpcStatus }]) => {
    const own = typeof httpStatus === 'number' ? [httpStatus] : Object.keys(PASSTHROUGH_STATUSES).map(Number)
    return (binding === 'JSONRPC' && jsonRpcStatus !== undefined ? [jsonRpcStatus] : own).map(status => ({
      status,
      kind,
    }))
  })
  return Object.fromEntries(
    [...Map.groupBy(statuses, ({ status }) => status)].map(([status, errors]) => [
      status,
      errorOf(content, errors.map(({ kind }) => `- \`${kind}\`: ${ERRORS_BY_KIND[kind]}`).join('\n'), status),
    ]),
  )
}

const ERRORS_BY_KIND: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ERRORS).map(([kind, { code, reason }]) => [kind, `${reason}, ${code}`]),
)

const retryAfter = { 'Retry-After': 'Seconds after which the request may succeed.' }

/** Headers that a response with a status can have. */
const RESPONSE_HEADERS: Readonly<Record<number, Record<string, string>>> = {
  401: { 'WWW-Authenticate': 'How to authenticate (RFC 6750).' },
  403: { 'WWW-Authenticate': 'The scope that the token lacks (RFC 6750).' },
  409: retryAfter,
  429: retryAfter,
  502: retryAfter,
  503: retryAfter,
  504: retryAfter,
}

const errorOf = (content: Content, description: string, status = 0): JsonObject => {
  const headers = RESPONSE_HEADERS[status]
  return {
    description,
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
      ),
    }),
    content: toContent(content),
  }
}
