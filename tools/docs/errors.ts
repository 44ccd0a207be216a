import { PASSTHROUGH_STATUSES } from '../../src/a2a/call-error.ts'
import { ERRORS } from '../../src/a2a/error-catalogue.ts'
import { ArdError } from '../../src/api/schemas/index.ts'
import { type ProblemCode, problems } from '../../src/problems.ts'
import { code, linkPages, type Page, readComment, table, wrap } from './page.ts'

/** The page of the errors of A2A calls. */
export const createCallErrors = (): Page => ({
  name: 'call-errors',
  title: 'Errors of calls',
  contents: 'every error of an A2A call, with its code, reason and statuses',
  parts: [
    wrap(
      "An error has the form of the caller's version and binding. The first column is its name in the log and in " +
        '`Gate-Warning`, `code` is the JSON-RPC code, and `reason` is in the `data` of an A2A 1.0 error ' +
        '(google.rpc.ErrorInfo). The next two columns are its HTTP status in each binding.',
    ),
    wrap(
      '`Gate-Warning` also names `undeclared-output-modes`, `unaccepted-output-modes` ' +
        '(docs/design/calls.md#what-is-returned), `repaired (…)`, `stack-trace` ' +
        '(docs/design/calls.md#what-is-repaired) and `lossy (…)` (docs/design/calls.md#what-is-lost).',
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
  'foreign-origin': 'docs/design/security.md',
  'incompatible-version': 'docs/guide/owners.md#change-history-and-rollback',
}

/** The page of all other errors. */
export const createProblems = (): Page => ({
  name: 'problems',
  title: 'Problems',
  contents: 'every error of all other requests, with its status',
  parts: [
    wrap(
      'Errors of all requests except A2A calls are problem details (RFC 9457, `application/problem+json`): `code`, ' +
        'which is stable, `detail`, and for an invalid document `errors: [{pointer, message}]`. ' +
        '[Endpoints](endpoints.md) lists the problems of each. ARD returns `{errorCode, message}` ' +
        `(${ArdError.entries.errorCode.options.map(code).join(', ')}), and ` +
        '[SuperX](docs/guide/clients.md#shaman-and-superx) the errors of JSON-RPC. An unexpected error is logged, ' +
        'and its response is an empty 500.',
    ),
    table(
      ['code', 'status', 'when'],
      Object.entries(problems).map(([name, [status, when]]) => {
        const page = pages[name as ProblemCode]
        return [code(name), `${status}`, `${when}${page === undefined ? '' : ` (${linkPages(page)})`}`]
      }),
    ),
  ],
})
