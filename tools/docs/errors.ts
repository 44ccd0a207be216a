import { EXIT_CODE_MEANINGS } from '../../cli/errors.ts'
import { PASSTHROUGH_STATUSES } from '../../src/a2a/call-error.ts'
import { ERRORS } from '../../src/a2a/error-catalogue.ts'
import { type ProblemCode, problems } from '../../src/problems.ts'
import { code, linkPages, type Page, readComment, table, wrap } from './page.ts'

/** The page of the errors of A2A calls. */
export const createCallErrors = (): Page => ({
  name: 'call-errors',
  title: 'Errors of calls',
  contents: 'every error of an A2A call, with its code, reason and statuses',
  parts: [
    wrap(
      'An error of a call has the form of the version and binding of the caller. The first column is its name in the ' +
        'log and in `Gate-Warning`, `code` is that of JSON-RPC, and `reason` is in the `data` of an error of A2A 1.0 ' +
        '(google.rpc.ErrorInfo). The next two columns have the HTTP status in each binding.',
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
        '[Endpoints](endpoints.md) lists the problems of each. ARD has ' +
        '[errors of its own](docs/guide/clients.md#catalogs), and [SuperX](docs/guide/clients.md#shaman-and-superx) ' +
        'those of JSON-RPC. An unexpected error is logged, and its response is an empty 500.',
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
