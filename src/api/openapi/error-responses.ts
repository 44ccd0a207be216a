import { ERRORS, PASSTHROUGH_STATUSES } from '../../a2a/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { type Content, isSequence, type Operation, page, toContent, toParameter } from './operation.ts'
import { type ProblemCode, problems } from './problems.ts'

/** Responses by their status. */
export type Responses = Record<string, JsonObject>

/** Returns the responses of an operation for its errors, by status. */
export const listErrors = (path: string, operation: Operation): Responses => ({
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
export const mergeResponses = (responses: Responses, others: Responses): Responses => {
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
