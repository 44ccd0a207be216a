import { EXIT_CODE_MEANINGS } from '../../cli/errors.ts'
import { PASSTHROUGH_STATUSES } from '../../src/a2a/call-error.ts'
import { ERRORS } from '../../src/a2a/error-catalogue.ts'
import { type ProblemCode, problems } from '../../src/problems.ts'
import type { DocumentedEndpoint } from './endpoints.ts'
import { code, linkPages, type Page, readComment, table, wrap } from './page.ts'

/** The page of the errors of A2A calls. */
export const createCallErrors = (): Page => ({
  name: 'call-errors',
  title: 'Errors of calls',
  contents: 'every error of an A2A call, with its code, reason and statuses',
  parts: [
    wrap(
      'An error of a call has the form of the version and binding of the caller. The first column is its name in the ' +
        'log and in `Gate-Warning`; `code` is that of JSON-RPC, and `reason` is in the `data` of a 1.0 error ' +
        '(google.rpc.ErrorInfo). The other columns are the HTTP status in each binding.',
    ),
    wrap(
      '`Gate-Warning` also names `undeclared-output-modes` and `unaccepted-output-modes` ' +
        '(docs/gateway.md#media-types-of-an-answer), `repaired (…)` and `stack-trace` ' +
        '(docs/gateway.md#mistakes-in-a-message, docs/gateway.md#what-is-repaired-in-an-answer), and `lossy (…)` ' +
        '(docs/bridges.md#what-is-lost).',
    ),
    table(
      ['error', 'code', 'reason', 'JSON-RPC', 'HTTP+JSON', 'when'],
      Object.entries(ERRORS).map(([kind, { code: number, reason, httpStatus, jsonRpcStatus }]) => {
        const status = typeof httpStatus === 'number' ? `${httpStatus}` : Object.keys(PASSTHROUGH_STATUSES).join(', ')
        const when = readComment('src/a2a/call-error.ts', kind, `[^\\n]*\\{ kind: '${kind}'`)
        return [code(kind), `${number}`, reason, `${jsonRpcStatus ?? status}`, status, when]
      }),
    ),
  ],
})

/** Where the documentation explains a problem. */
const pages: Partial<Record<ProblemCode, string>> = {
  'foreign-origin': 'docs/auth.md#web-pages-and-npm-start',
  'incompatible-version': 'docs/history.md#versions',
}

/** The endpoints of a code are counted if there are more. */
const MAX_LISTED_ENDPOINTS = 3

const listEndpoints = (having: readonly DocumentedEndpoint[], total: number): string => {
  if (having.length === total) return 'all'
  return having.length > MAX_LISTED_ENDPOINTS
    ? `[${having.length} endpoints](endpoints.md#problems-of-each-endpoint)`
    : having.map(({ method, path }) => code(`${method} ${path}`)).join(', ')
}

/** The page of all other errors. */
export const createProblems = (endpoints: readonly DocumentedEndpoint[]): Page => ({
  name: 'problems',
  title: 'Problems',
  contents: 'every error of all other requests, with its status and its endpoints',
  parts: [
    wrap(
      'Errors of all requests but A2A calls are problem details (RFC 9457, `application/problem+json`): `code`, which ' +
        'is stable, `detail`, and for an invalid document `errors: [{pointer, message}]`. The endpoints of ARD have its ' +
        'errors (docs/catalogs.md#search) instead, and those of SuperX JSON-RPC errors (docs/compat.md#superx). An ' +
        'unexpected error is logged and has an empty response with the status 500.',
    ),
    table(
      ['code', 'status', 'when', 'endpoints'],
      Object.entries(problems).map(([name, [status, when]]) => {
        const page = pages[name as ProblemCode]
        return [
          code(name),
          `${status}`,
          `${when}${page === undefined ? '' : ` (${linkPages(page)})`}`,
          listEndpoints(
            endpoints.filter(({ codes }) => codes.some(own => own === name)),
            endpoints.length,
          ),
        ]
      }),
    ),
  ],
})

/** The page of the exit codes. */
export const createExitCodes = (): Page => ({
  name: 'exit-codes',
  title: 'Exit codes',
  contents: 'the exit codes of `sync-card` and `npm run deploy`',
  parts: [
    'The exit codes of `sync-card` and `npm run deploy`. Where several apply, the highest wins.',
    table(
      ['code', 'meaning'],
      Object.entries(EXIT_CODE_MEANINGS).map(([number, meaning]) => [code(number), meaning]),
    ),
  ],
})
