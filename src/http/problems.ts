import { jsonResponse } from './handler.ts'
import { CORS_HEADERS, NO_STORE } from './headers.ts'
import { HttpError, log, logUnexpected, problem, serviceUnavailable, stackOf } from './http-error.ts'

/** The errors of all endpoints but A2A calls, by their stable codes: the status, and when the error occurs. */
export const problems = {
  'admin-token-missing': [
    503,
    'a write to a host without a valid `ADMIN_TOKEN`, and without a token that it issued before',
  ],
  'agent-not-found': [404, 'no agent with this id or name exists, or the caller may not see it'],
  'bad-agent-id': [400, 'the id in the path is not a valid agent id'],
  'bad-condition': [400, 'a write has an `If-None-Match` other than `*`, or a malformed `If-Match`'],
  'bad-cursor': [400, '`cursor` is not one from the page before'],
  'bad-event-id': [400, '`Last-Event-ID` is not the id of an event of this host'],
  'bad-filter': [400, 'a filter of `GET /audit` has another form'],
  'bad-line': [422, 'a line of a batch has another form, or the id of an earlier line'],
  'bad-limit': [400, '`limit` is not a number from 1 to 100; in a catalog, from 1 to 500'],
  'bad-page': [400, '`page` is not the number of a page of the sitemap'],
  'bad-query': [400, 'a search has no words, an empty filter, an unknown facet, or more of them than its limits allow'],
  'bad-revision': [400, '`from` is not the number of a revision'],
  'bad-set': [400, '`set` is not the name of a set'],
  'bad-token': [401, 'the token is unknown, expired, revoked or malformed, or there are two'],
  'batch-refused': [424, 'a line of a batch with `atomic=true` is not registered because another one was refused'],
  'card-unavailable': [502, 'the card to verify cannot be fetched from its address, or is no JSON object'],
  'check-running': [409, 'another check of the agent is running'],
  'duplicate-name': [422, 'an object of the body has a name twice; `errors` has its pointer'],
  'empty-batch': [400, 'a batch has no lines'],
  'events-expired': [410, 'the changes after `Last-Event-ID` are no longer stored'],
  'export-too-new': [422, 'the export has a newer format than this host reads'],
  'foreign-origin': [403, 'under `npm start`: a web page of another origin writes, calls an agent, or sends a token'],
  forbidden: [403, 'the token lacks the scope, or does not cover the agent'],
  'host-not-empty': [409, 'an import needs a host without agents, tokens and history'],
  'host-taken': [409, 'another agent has this host name'],
  'incompatible-version': [
    409,
    '`compatibility: enforce`, and the version does not announce what changes; `detail` has the one to use',
  ],
  'import-interrupted': [409, 'another import has begun, or the host was restarted; nothing was imported'],
  'incomplete-body': [400, 'the request ended before its body was complete'],
  'invalid-card': [422, 'the card or manifest is invalid'],
  'invalid-check': [422, 'the body of a check is invalid'],
  'invalid-import': [422, 'the file is incomplete, was changed, or is not an export; nothing was imported'],
  'invalid-refresh': [422, 'the body of a refresh is invalid'],
  'invalid-rollback': [422, 'the body of a rollback is not `{"seq": …}` with the number of a revision'],
  'invalid-token-request': [422, 'the request for a token is invalid'],
  'invalid-verify-request': [422, 'the body of `POST /verify` has another form'],
  'invalid-url': [400, 'the request has no valid URL, because of its `Host` or its target'],
  'method-not-allowed': [405, 'the path does not support the method; `Allow` lists those that it does'],
  'no-receipt': [404, 'the agent was never checked'],
  'no-root-agent': [404, 'no agent is configured for this host name'],
  'no-signing-key': [404, 'the host has no signing key, or one that is not valid; the log and `GET /keys` say which'],
  'no-source': [409, "the agent's card is in its manifest, so there is nothing to refresh"],
  'no-token': [401, 'a token is needed and the request has none'],
  'not-found': [404, 'no such endpoint'],
  'not-restorable': [422, 'the revision of a rollback is a removal'],
  'not-pending': [412, 'no card with the accepted entity tag waits for approval'],
  'not-json': [400, 'the body is not JSON in UTF-8; `detail` has the line and column of the mistake, and a correction'],
  conflict: [
    409,
    'the agent was changed concurrently, or what is stored of a removed one with the id is being deleted',
  ],
  'precondition-failed': [412, '`If-Match` or `If-None-Match` does not match'],
  'revision-not-found': [404, 'the agent has no such revision, or none before it to compare with'],
  'revision-without-card': [404, 'a revision to compare is a removal, or its remote card had not been fetched yet'],
  'secret-in-card': [422, 'what looks like a key, token or password is at a place that `allowSecrets` does not name'],
  'storage-full': [507, 'the storage of the host has no room for what is written; agents can be removed'],
  'token-not-found': [404, 'no token with this id exists'],
  'too-deep': [422, 'the JSON is nested too deeply'],
  'too-large': [413, 'the body is too large'],
  'too-many-attempts': [429, 'too many failed authentication attempts from this address'],
  'too-many-replays': [410, 'the token or the address has resumed too many event streams in a minute'],
  'too-many-requests': [429, 'a rate limit is exceeded'],
  'too-many-streams': [429, 'the token or the address has too many event streams open'],
  'too-many-tokens': [409, 'the host stores no more tokens'],
  unavailable: [503, 'KV, the registry or the issuer of the token does not respond'],
  'unknown-dialect': [400, '`?dialect=` is unknown'],
  'unknown-host': [404, 'the host name of a DID is neither that of `PUBLIC_URL`, nor in `hosts` of an agent'],
  'unknown-query': [400, 'the endpoint has no such query parameter, or the parameter no such value'],
  'unsupported-encoding': [415, 'an import has another `Content-Encoding` than `gzip`'],
  'unsupported-media-type': [415, 'the body is not sent as JSON'],
  'upstream-invalid-card': [502, 'a refresh fetched something that is not a valid card'],
  'upstream-not-ready': [503, 'the MCP server, or the binding, of a remote card is not ready'],
  'upstream-timeout': [504, 'the upstream of a remote card does not respond in time'],
  'upstream-unverified': [502, 'no signature of a remote card is valid, and `upstream.verify` requires one'],
  'upstream-unreachable': [
    502,
    'the upstream of a remote card is unreachable or, for readers, returned an invalid card',
  ],
} as const satisfies Record<string, readonly [status: number, when: string]>

/** The stable code of an error. */
export type ProblemCode = keyof typeof problems

const titles: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  424: 'Failed Dependency',
  429: 'Too Many Requests',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  507: 'Insufficient Storage',
}

/** Returns the status of an error. */
export const statusOf = ({ code }: HttpError): number => problems[code][0]

/** Returns the problem details of an error (RFC 9457). */
export const toProblem = (error: HttpError) => ({
  type: 'about:blank' as const,
  title: titles[statusOf(error)] ?? '',
  status: statusOf(error),
  code: error.code,
  detail: error.message,
  ...(error.errors.length > 0 && { errors: error.errors }),
})

/** Returns the response to an error: problem details; for one that no client may see, which is logged, a blank 500. */
export const toErrorResponse = (error: unknown): Response => {
  const known = toHttpError(error)
  if (known)
    return jsonResponse(toProblem(known), statusOf(known), {
      'Content-Type': 'application/problem+json',
      ...known.headers,
    })
  logUnexpected(error)
  return new Response(null, { status: 500, headers: { ...CORS_HEADERS, 'Cache-Control': NO_STORE } })
}

/**
 * Returns an error that a client may see: an HttpError, a 503 while a Durable Object is unavailable, or a 507 for a
 * write for which SQLite has no room. Undefined for any other.
 */
export const toHttpError = (error: unknown): HttpError | undefined => {
  if (error instanceof HttpError) return error
  if (!(error instanceof Error)) return undefined
  if (error.message.includes('database or disk is full')) return problem('storage-full', STORAGE_FULL)
  // The object cannot be reached, is overloaded, or was reset by the platform.
  if (!['retryable', 'overloaded', 'durableObjectReset'].some(name => Reflect.get(error, name) === true))
    return undefined
  log('error', 'storage-unavailable', { 'exception.stacktrace': stackOf(error) })
  return serviceUnavailable('The storage of this host does not respond right now.')
}

const STORAGE_FULL =
  'Nothing was written: the storage of this host is full. Cards and calls still work. Remove agents to make room.'
