import { describe, expect, it } from 'vitest'
import { type CallError, invalidParam } from '../../src/a2a/call-error.ts'
import { ERRORS } from '../../src/a2a/error-catalogue.ts'
import { describeError, errorResponse, toJsonRpcError } from '../../src/a2a/error-response.ts'
import { toRestError } from '../support/calls.ts'

const info = (reason: string, domain: string, metadata?: Record<string, string>) => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain,
  ...(metadata && { metadata }),
})

/** Each error with its code, its reason, its status over JSON-RPC and over HTTP+JSON, and the name of the latter. */
const table: readonly (readonly [CallError, string])[] = [
  [{ kind: 'not-json', detail: 'D.' }, '-32700 PARSE_ERROR 400 400 INVALID_ARGUMENT'],
  [{ kind: 'not-a-request', detail: 'D.' }, '-32600 INVALID_REQUEST 200 400 INVALID_ARGUMENT'],
  [{ kind: 'too-large', maxBytes: 4194304 }, '-32600 REQUEST_TOO_LARGE 413 413 INVALID_ARGUMENT'],
  [{ kind: 'content-type', offered: 'text/plain' }, '-32005 CONTENT_TYPE_NOT_SUPPORTED 415 415 INVALID_ARGUMENT'],
  [{ kind: 'content-type', offered: null }, '-32005 CONTENT_TYPE_NOT_SUPPORTED 415 415 INVALID_ARGUMENT'],
  [{ kind: 'unknown-agent', agent: 'nobody' }, '-32602 AGENT_NOT_FOUND 200 404 NOT_FOUND'],
  [{ kind: 'invalid-params', detail: 'D.', violations: [] }, '-32602 INVALID_PARAMS 200 400 INVALID_ARGUMENT'],
  [{ kind: 'method', method: 'x', version: '0.3', currentName: 'y' }, '-32601 METHOD_NOT_FOUND 200 404 NOT_FOUND'],
  [{ kind: 'method', method: 'x', version: '1.0' }, '-32601 METHOD_NOT_FOUND 200 404 NOT_FOUND'],
  [{ kind: 'aborted' }, '-32600 REQUEST_ABORTED 400 400 INVALID_ARGUMENT'],
  [
    { kind: 'http-method', method: 'PUT', path: 'tasks/1', allow: ['GET'] },
    '-32601 METHOD_NOT_FOUND 405 405 UNIMPLEMENTED',
  ],
  [
    { kind: 'version', offered: '9.9', accepted: ['0.3', '1.0'] },
    '-32009 VERSION_NOT_SUPPORTED 200 400 FAILED_PRECONDITION',
  ],
  [{ kind: 'version', offered: '1.0', accepted: [] }, '-32009 VERSION_NOT_SUPPORTED 200 400 FAILED_PRECONDITION'],
  [
    { kind: 'operation-missing', method: 'ListTasks', version: '0.3' },
    '-32004 UNSUPPORTED_OPERATION 200 400 FAILED_PRECONDITION',
  ],
  [{ kind: 'streaming' }, '-32004 UNSUPPORTED_OPERATION 200 400 FAILED_PRECONDITION'],
  [{ kind: 'push-notifications' }, '-32003 PUSH_NOTIFICATION_NOT_SUPPORTED 200 400 FAILED_PRECONDITION'],
  [{ kind: 'extended-card' }, '-32004 UNSUPPORTED_OPERATION 200 400 FAILED_PRECONDITION'],
  [{ kind: 'extended-card-not-configured' }, '-32007 EXTENDED_AGENT_CARD_NOT_CONFIGURED 200 400 FAILED_PRECONDITION'],
  [
    { kind: 'extensions', required: ['urn:a', 'urn:b'], missing: ['urn:b'] },
    '-32008 EXTENSION_SUPPORT_REQUIRED 200 400 FAILED_PRECONDITION',
  ],
  [
    { kind: 'input-modes', offered: ['image/png'], accepted: ['text/plain'] },
    '-32005 CONTENT_TYPE_NOT_SUPPORTED 200 400 INVALID_ARGUMENT',
  ],
  [
    { kind: 'output-modes', offered: ['image/png'], accepted: ['text/plain'] },
    '-32005 CONTENT_TYPE_NOT_SUPPORTED 200 400 INVALID_ARGUMENT',
  ],
  [{ kind: 'task-not-found' }, '-32001 TASK_NOT_FOUND 200 404 NOT_FOUND'],
  [{ kind: 'closed' }, '-32004 UNSUPPORTED_OPERATION 200 400 FAILED_PRECONDITION'],
  [{ kind: 'no-token', scope: 'call' }, '-32000 UNAUTHENTICATED 401 401 UNAUTHENTICATED'],
  [{ kind: 'bad-token' }, '-32000 UNAUTHENTICATED 401 401 UNAUTHENTICATED'],
  [{ kind: 'forbidden', scope: 'call', agent: 'weather' }, '-32000 PERMISSION_DENIED 403 403 PERMISSION_DENIED'],
  [{ kind: 'token-unchecked' }, '-32000 UNAVAILABLE 503 503 UNAVAILABLE'],
  [{ kind: 'unavailable' }, '-32000 UNAVAILABLE 503 503 UNAVAILABLE'],
  [{ kind: 'rate-limit', retryAfter: 60 }, '-32000 RESOURCE_EXHAUSTED 429 429 RESOURCE_EXHAUSTED'],
  [{ kind: 'no-card' }, '-32603 AGENT_CARD_UNAVAILABLE 502 502 UNAVAILABLE'],
  [{ kind: 'unreachable' }, '-32603 AGENT_UNREACHABLE 502 502 UNAVAILABLE'],
  [{ kind: 'timeout', seconds: 30 }, '-32603 AGENT_TIMEOUT 504 504 DEADLINE_EXCEEDED'],
  [{ kind: 'timeout' }, '-32603 AGENT_TIMEOUT 504 504 DEADLINE_EXCEEDED'],
  [{ kind: 'invalid-response', status: 500 }, '-32006 INVALID_AGENT_RESPONSE 502 502 UNAVAILABLE'],
  [{ kind: 'foreign-task', detail: '' }, '-32006 INVALID_AGENT_RESPONSE 502 502 UNAVAILABLE'],
  [{ kind: 'response-too-large', maxBytes: 1 }, '-32006 INVALID_AGENT_RESPONSE 502 502 UNAVAILABLE'],
  [{ kind: 'redirect' }, '-32006 INVALID_AGENT_RESPONSE 502 502 UNAVAILABLE'],
  [{ kind: 'loop' }, '-32603 LOOP_DETECTED 508 508 ABORTED'],
  [{ kind: 'misconfigured', detail: 'no service' }, '-32603 AGENT_MISCONFIGURED 502 502 UNAVAILABLE'],
  [{ kind: 'silent', seconds: 120 }, '-32603 AGENT_SILENT 504 504 DEADLINE_EXCEEDED'],
  [{ kind: 'broken-off' }, '-32603 AGENT_BROKE_OFF 502 502 UNAVAILABLE'],
  [{ kind: 'agent-refused', status: 401 }, '-32603 AGENT_REFUSED 401 401 UNAUTHENTICATED'],
  [{ kind: 'agent-refused', status: 403 }, '-32603 AGENT_REFUSED 403 403 PERMISSION_DENIED'],
  [{ kind: 'agent-refused', status: 413 }, '-32603 AGENT_REFUSED 413 413 INVALID_ARGUMENT'],
  [{ kind: 'agent-refused', status: 429 }, '-32603 AGENT_REFUSED 429 429 RESOURCE_EXHAUSTED'],
]

/** The reasons that A2A defines; every other is this host's own. */
const a2aReasons =
  /^(?:TASK_NOT_FOUND|PUSH_NOTIFICATION_NOT_SUPPORTED|UNSUPPORTED_OPERATION|CONTENT_TYPE_NOT_SUPPORTED|INVALID_AGENT_RESPONSE|EXTENDED_AGENT_CARD_NOT_CONFIGURED|EXTENSION_SUPPORT_REQUIRED|VERSION_NOT_SUPPORTED|INVALID_PARAMS)$/

describe('an error', () => {
  it('has its code, reason and status in each binding and version', () => {
    for (const [callError, expected] of table) {
      const [code, reason = '', rpc, rest, name] = expected.split(' ')
      const domain = a2aReasons.test(reason) ? 'a2a-protocol.org' : 'calling-card'
      const message = expect.stringMatching(/^[^\s].*\.$/)
      const details = expect.arrayContaining([expect.objectContaining({ reason, domain })])
      expect({
        v10: toJsonRpcError(callError, '1.0'),
        v03: toJsonRpcError(callError, '0.3'),
        rest: toRestError(callError, '1.0'),
        status: describeError(callError).status,
      }).toStrictEqual({
        v10: { code: Number(code), message, data: details },
        v03: { code: Number(code), message, data: expect.objectContaining({ reason }) },
        rest: { error: { code: Number(rest), status: name, message, details } },
        status: { JSONRPC: Number(rpc), 'HTTP+JSON': Number(rest) },
      })
      expect(toRestError(callError, '0.3')).toStrictEqual(toJsonRpcError(callError, '0.3'))
      const responses = (['JSONRPC', 'HTTP+JSON'] as const).flatMap(binding =>
        (['0.3', '1.0'] as const).map(version => {
          const id = binding === 'JSONRPC' ? 1 : null
          const { status, headers } = errorResponse(callError, { binding, version, id })
          return `${status} ${headers.get('Content-Type')}`
        }),
      )
      expect(responses).toStrictEqual([
        ...[`${rpc} application/json`, `${rpc} application/json`],
        ...[`${rest} application/json`, `${rest} application/a2a+json`],
      ])
    }
  })

  it('of every kind is in the table', () => {
    expect(new Set(table.map(([callError]) => callError.kind))).toStrictEqual(new Set(Object.keys(ERRORS)))
  })
})

describe('error details', () => {
  const detailsOf = (callError: CallError) => [
    toJsonRpcError(callError, '0.3').data,
    toJsonRpcError(callError, '1.0').data,
  ]

  it('list what was offered and is accepted', () => {
    const modes = { offered: ['image/png', 'a/b'], accepted: ['text/plain', 'text/*'] }
    const joined = { offered: 'image/png, a/b', accepted: 'text/plain, text/*' }
    for (const kind of ['input-modes', 'output-modes'] as const)
      expect(detailsOf({ kind, ...modes })).toStrictEqual([
        { reason: 'CONTENT_TYPE_NOT_SUPPORTED', ...modes },
        [info('CONTENT_TYPE_NOT_SUPPORTED', 'a2a-protocol.org', joined)],
      ])
    expect(toJsonRpcError({ kind: 'input-modes', ...modes }, '0.3').message).toBe(
      'Unsupported input media type: image/png, a/b. This agent accepts text/plain, text/*.',
    )
    expect(detailsOf({ kind: 'version', offered: '9.9', accepted: ['0.3', '1.0'] })).toStrictEqual([
      { reason: 'VERSION_NOT_SUPPORTED', offered: ['9.9'], accepted: ['0.3', '1.0'] },
      [info('VERSION_NOT_SUPPORTED', 'a2a-protocol.org', { offered: '9.9', accepted: '0.3, 1.0' })],
    ])
    expect(detailsOf({ kind: 'extensions', required: ['urn:a', 'urn:b'], missing: ['urn:b'] })).toStrictEqual([
      { reason: 'EXTENSION_SUPPORT_REQUIRED', required: ['urn:a', 'urn:b'], missing: ['urn:b'] },
      [info('EXTENSION_SUPPORT_REQUIRED', 'a2a-protocol.org', { required: 'urn:a, urn:b', missing: 'urn:b' })],
    ])
  })

  it("give a retired method's current name, and the invalid fields", () => {
    const retired = { method: 'tasks/send', version: '0.3', currentName: 'message/send' } as const
    expect(detailsOf({ kind: 'method', ...retired })).toStrictEqual([
      { reason: 'METHOD_NOT_FOUND', ...retired },
      [info('METHOD_NOT_FOUND', 'calling-card', retired)],
    ])
    const violations = [{ field: 'configuration.acceptedOutputModes[1]', description: 'must be a string' }]
    const badRequest = { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations }
    expect(detailsOf({ kind: 'invalid-params', detail: 'D.', violations })).toStrictEqual([
      { reason: 'INVALID_PARAMS', fieldViolations: violations },
      [info('INVALID_PARAMS', 'a2a-protocol.org'), badRequest],
    ])
  })

  it('are strings in v1.0', () => {
    const isString = (value: unknown) => typeof value === 'string'
    for (const [callError] of table)
      for (const { metadata = {} } of toJsonRpcError(callError, '1.0').data as { metadata?: object }[])
        expect(Object.values(metadata).every(isString)).toBe(true)
  })

  it('never contain what is meant for the log', () => {
    const callError = { kind: 'misconfigured', detail: 'SECRET_NAME' } as const
    expect(JSON.stringify([detailsOf(callError), toRestError(callError, '1.0')])).not.toContain('SECRET_NAME')
  })

  it('are truncated if a caller sends too much', () => {
    const callError: CallError = {
      kind: 'output-modes',
      offered: Array.from({ length: 1000 }, (_, index) => `${'x'.repeat(199)}😀${index}`),
      accepted: ['text/plain'],
    }
    const errors = (['0.3', '1.0'] as const).flatMap(version => [
      toJsonRpcError(callError, version),
      toRestError(callError, version),
    ])
    for (const error of errors) expect(JSON.stringify(error).length).toBeLessThan(25_000)
    expect(JSON.stringify(errors)).not.toMatch(/\\ud[89a-f]/i)
    expect(invalidParam('f'.repeat(200), 'is wrong').detail).toBe(`\`${'f'.repeat(100)}\` is wrong.`)
  })
})

describe('an error response to a JSON-RPC call', () => {
  const form = { binding: 'JSONRPC', id: 'i', version: '1.0' } as const
  const error = (version: '0.3' | '1.0') => toJsonRpcError({ kind: 'streaming' }, version)

  it('has the id of the call', async () => {
    for (const id of [0, '', null, JSON.rawJSON('12345678901234567890')]) {
      const text = await errorResponse({ kind: 'streaming' }, { ...form, id, operation: 'stream' }).text()
      expect(text).toBe(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${JSON.stringify(error('1.0'))}}`)
    }
  })

  it('is an event in place of a stream of 0.3, unless its status is not 200', async () => {
    const rows = [
      ['0.3', 'stream', 'text/event-stream'],
      ['0.3', 'send', 'application/json'],
      ['0.3', undefined, 'application/json'],
      ['1.0', 'stream', 'application/json'],
    ] as const
    for (const [version, operation, type] of rows) {
      const response = errorResponse({ kind: 'streaming' }, { ...form, version, ...(operation && { operation }) })
      const json = JSON.stringify({ jsonrpc: '2.0', id: 'i', error: error(version) })
      expect([response.status, response.headers.get('Content-Type'), await response.text()]).toStrictEqual([
        ...[200, type, type === 'text/event-stream' ? `data: ${json}\n\n` : json],
      ])
    }
    const refused = errorResponse({ kind: 'bad-token' }, { ...form, version: '0.3', operation: 'stream' })
    expect([refused.status, refused.headers.get('Content-Type')]).toStrictEqual([401, 'application/json'])
  })
})

describe('an error response over either binding', () => {
  const rest = { binding: 'HTTP+JSON', id: null, version: '1.0' } as const
  const headersOf = (response: Response) =>
    Object.fromEntries(
      ['Content-Type', 'WWW-Authenticate', 'Retry-After', 'Allow'].flatMap(name => {
        const value = response.headers.get(name)
        return value === null ? [] : [[name, value]]
      }),
    )

  it('has the headers of the error', () => {
    const rows: [CallError, Record<string, string>][] = [
      [{ kind: 'no-token', scope: 'call' }, { 'WWW-Authenticate': 'Bearer realm="a2a"' }],
      [{ kind: 'bad-token' }, { 'WWW-Authenticate': 'Bearer realm="a2a", error="invalid_token"' }],
      [
        { kind: 'forbidden', scope: 'read', agent: 'weather' },
        { 'WWW-Authenticate': 'Bearer realm="a2a", error="insufficient_scope", scope="read"' },
      ],
      [{ kind: 'rate-limit', retryAfter: 10 }, { 'Retry-After': '10' }],
      [{ kind: 'unavailable' }, { 'Retry-After': '10' }],
      [{ kind: 'http-method', method: 'PUT', path: 'tasks', allow: ['GET', 'POST'] }, { Allow: 'GET, POST' }],
      [{ kind: 'streaming' }, {}],
    ]
    for (const [callError, headers] of rows)
      expect([
        headersOf(errorResponse(callError, { binding: 'JSONRPC', id: 1, version: '1.0' })),
        headersOf(errorResponse(callError, rest)),
      ]).toStrictEqual([
        { 'Content-Type': 'application/json', ...headers },
        { 'Content-Type': 'application/a2a+json', ...headers },
      ])
  })
})

it('says what an agent that refuses a call requires', () => {
  const messages = [401, 403, 413, 429].map(status => describeError({ kind: 'agent-refused', status }).message)
  expect(messages).toEqual([
    expect.stringContaining('requires credentials'),
    expect.stringContaining('does not permit this with these credentials'),
    expect.stringContaining('does not accept a call of this size'),
    expect.stringContaining('is receiving too many calls'),
  ])
})
