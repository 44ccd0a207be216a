import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeError, errorResponse, toJsonRpcError, toRestError } from '../../src/a2a/error-response.ts'
import { type CallError, ERRORS } from '../../src/a2a/errors.ts'
import { anyCharacter } from '../support/cards/generated.ts'

const info = (reason: string, domain: string, metadata?: Record<string, string>) => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain,
  ...(metadata && { metadata }),
})

/** protocol.md, "Errors": what each problem is, and its code, reason, and status over JSON-RPC and over HTTP+JSON. */
const table: readonly (readonly [CallError, code: number, reason: string, rpc: number, rest: number, name: string])[] =
  [
    [{ kind: 'not-json', detail: 'D.' }, -32700, 'PARSE_ERROR', 400, 400, 'INVALID_ARGUMENT'],
    [{ kind: 'not-a-request', detail: 'D.' }, -32600, 'INVALID_REQUEST', 400, 400, 'INVALID_ARGUMENT'],
    [{ kind: 'too-large', maxBytes: 4194304 }, -32600, 'REQUEST_TOO_LARGE', 413, 413, 'INVALID_ARGUMENT'],
    [
      { kind: 'content-type', offered: 'text/plain' },
      -32005,
      'CONTENT_TYPE_NOT_SUPPORTED',
      415,
      415,
      'INVALID_ARGUMENT',
    ],
    [{ kind: 'content-type', offered: null }, -32005, 'CONTENT_TYPE_NOT_SUPPORTED', 415, 415, 'INVALID_ARGUMENT'],
    [{ kind: 'unknown-agent', agent: 'nobody' }, -32602, 'AGENT_NOT_FOUND', 404, 404, 'NOT_FOUND'],
    [
      { kind: 'invalid-params', detail: 'D.', violations: [{ field: 'f', description: 'd' }] },
      -32602,
      'INVALID_PARAMS',
      200,
      400,
      'INVALID_ARGUMENT',
    ],
    [
      { kind: 'method', method: 'tasks/send', version: '0.3', currentName: 'message/send' },
      -32601,
      'METHOD_NOT_FOUND',
      200,
      404,
      'NOT_FOUND',
    ],
    [{ kind: 'method', method: 'x', version: '1.0' }, -32601, 'METHOD_NOT_FOUND', 200, 404, 'NOT_FOUND'],
    [{ kind: 'aborted' }, -32600, 'REQUEST_ABORTED', 400, 400, 'INVALID_ARGUMENT'],
    [
      { kind: 'http-method', method: 'PUT', path: 'tasks/1', allow: ['GET'] },
      -32601,
      'METHOD_NOT_FOUND',
      405,
      405,
      'UNIMPLEMENTED',
    ],
    [
      { kind: 'version', offered: '9.9', accepted: ['0.3', '1.0'] },
      -32009,
      'VERSION_NOT_SUPPORTED',
      200,
      400,
      'FAILED_PRECONDITION',
    ],
    [
      { kind: 'version', offered: '1.0', accepted: [] },
      -32009,
      'VERSION_NOT_SUPPORTED',
      200,
      400,
      'FAILED_PRECONDITION',
    ],
    [{ kind: 'streaming' }, -32004, 'UNSUPPORTED_OPERATION', 200, 400, 'FAILED_PRECONDITION'],
    [{ kind: 'push-notifications' }, -32003, 'PUSH_NOTIFICATION_NOT_SUPPORTED', 200, 400, 'FAILED_PRECONDITION'],
    [{ kind: 'extended-card' }, -32004, 'UNSUPPORTED_OPERATION', 200, 400, 'FAILED_PRECONDITION'],
    [
      { kind: 'extended-card-not-configured' },
      -32007,
      'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
      200,
      400,
      'FAILED_PRECONDITION',
    ],
    [
      { kind: 'extensions', required: ['urn:a', 'urn:b'], missing: ['urn:b'] },
      -32008,
      'EXTENSION_SUPPORT_REQUIRED',
      200,
      400,
      'FAILED_PRECONDITION',
    ],
    [
      { kind: 'input-modes', offered: ['image/png'], accepted: ['text/plain'] },
      -32005,
      'CONTENT_TYPE_NOT_SUPPORTED',
      200,
      400,
      'INVALID_ARGUMENT',
    ],
    [
      { kind: 'output-modes', offered: ['image/png'], accepted: ['text/plain'] },
      -32005,
      'CONTENT_TYPE_NOT_SUPPORTED',
      200,
      400,
      'INVALID_ARGUMENT',
    ],
    [{ kind: 'closed' }, -32004, 'UNSUPPORTED_OPERATION', 200, 400, 'FAILED_PRECONDITION'],
    [{ kind: 'no-token' }, -32000, 'UNAUTHENTICATED', 401, 401, 'UNAUTHENTICATED'],
    [{ kind: 'bad-token' }, -32000, 'UNAUTHENTICATED', 401, 401, 'UNAUTHENTICATED'],
    [{ kind: 'forbidden', missing: 'the scope read' }, -32000, 'PERMISSION_DENIED', 403, 403, 'PERMISSION_DENIED'],
    [{ kind: 'token-unchecked' }, -32000, 'UNAVAILABLE', 503, 503, 'UNAVAILABLE'],
    [{ kind: 'unavailable' }, -32000, 'UNAVAILABLE', 503, 503, 'UNAVAILABLE'],
    [{ kind: 'rate-limit', retryAfter: 60 }, -32000, 'RESOURCE_EXHAUSTED', 429, 429, 'RESOURCE_EXHAUSTED'],
    [{ kind: 'no-card' }, -32603, 'AGENT_CARD_UNAVAILABLE', 502, 502, 'UNAVAILABLE'],
    [{ kind: 'unreachable' }, -32603, 'AGENT_UNREACHABLE', 502, 502, 'UNAVAILABLE'],
    [{ kind: 'timeout', seconds: 30 }, -32603, 'AGENT_TIMEOUT', 504, 504, 'DEADLINE_EXCEEDED'],
    [{ kind: 'timeout' }, -32603, 'AGENT_TIMEOUT', 504, 504, 'DEADLINE_EXCEEDED'],
    [{ kind: 'invalid-response', status: 500 }, -32006, 'INVALID_AGENT_RESPONSE', 502, 502, 'UNAVAILABLE'],
    [{ kind: 'response-too-large', maxBytes: 1 }, -32006, 'INVALID_AGENT_RESPONSE', 502, 502, 'UNAVAILABLE'],
    [{ kind: 'redirect' }, -32006, 'INVALID_AGENT_RESPONSE', 502, 502, 'UNAVAILABLE'],
    [{ kind: 'loop' }, -32603, 'LOOP_DETECTED', 508, 508, 'ABORTED'],
    [{ kind: 'misconfigured', detail: 'no service WEATHER' }, -32603, 'AGENT_MISCONFIGURED', 502, 502, 'UNAVAILABLE'],
    [{ kind: 'silent', seconds: 120 }, -32603, 'AGENT_SILENT', 504, 504, 'DEADLINE_EXCEEDED'],
    [{ kind: 'broken-off' }, -32603, 'AGENT_BROKE_OFF', 502, 502, 'UNAVAILABLE'],
    [{ kind: 'agent-refused', status: 401 }, -32603, 'AGENT_REFUSED', 401, 401, 'UNAUTHENTICATED'],
    [{ kind: 'agent-refused', status: 403 }, -32603, 'AGENT_REFUSED', 403, 403, 'PERMISSION_DENIED'],
    [{ kind: 'agent-refused', status: 429 }, -32603, 'AGENT_REFUSED', 429, 429, 'RESOURCE_EXHAUSTED'],
  ]

/** The reasons that the specification has; every other is this host's own. */
const ofA2a =
  /^(?:PUSH_NOTIFICATION_NOT_SUPPORTED|UNSUPPORTED_OPERATION|CONTENT_TYPE_NOT_SUPPORTED|INVALID_AGENT_RESPONSE|EXTENDED_AGENT_CARD_NOT_CONFIGURED|EXTENSION_SUPPORT_REQUIRED|VERSION_NOT_SUPPORTED|INVALID_PARAMS)$/

describe('a problem', () => {
  it.each(table)('%j is %i', (problem, code, reason, rpc, rest, name) => {
    const domain = ofA2a.test(reason) ? 'a2a-protocol.org' : 'calling-card'
    const message = expect.stringMatching(/^[^\s].*\.$/)
    const details = expect.arrayContaining([expect.objectContaining({ reason, domain })])
    expect({
      v10: toJsonRpcError(problem, '1.0'),
      v03: toJsonRpcError(problem, '0.3'),
      rest: toRestError(problem, '1.0'),
      status: describeError(problem).status,
    }).toStrictEqual({
      v10: { code, message, data: details },
      v03: { code, message, data: expect.objectContaining({ reason }) },
      rest: { error: { code: rest, status: name, message, details } },
      status: { JSONRPC: rpc, 'HTTP+JSON': rest },
    })
    expect(toRestError(problem, '0.3')).toStrictEqual(toJsonRpcError(problem, '0.3'))
  })

  it('of every kind is in the table', () => {
    expect(new Set(table.map(([problem]) => problem.kind))).toStrictEqual(new Set(Object.keys(ERRORS)))
  })
})

describe('the facts of a problem', () => {
  const of = (problem: CallError) => [toJsonRpcError(problem, '0.3').data, toJsonRpcError(problem, '1.0').data]

  it.each([
    ['input-modes', 'Unsupported input media type: image/png, a/b. This agent accepts text/plain, text/*.'],
    [
      'output-modes',
      'This agent cannot produce any of acceptedOutputModes (image/png, a/b). It produces text/plain, text/*.',
    ],
  ] as const)('are what was offered and what is accepted: %s', (kind, message) => {
    const modes = { offered: ['image/png', 'a/b'], accepted: ['text/plain', 'text/*'] }
    const metadata = { offered: 'image/png, a/b', accepted: 'text/plain, text/*' }
    expect([toJsonRpcError({ kind, ...modes }, '0.3').message, ...of({ kind, ...modes })]).toStrictEqual([
      message,
      { reason: 'CONTENT_TYPE_NOT_SUPPORTED', ...modes },
      [info('CONTENT_TYPE_NOT_SUPPORTED', 'a2a-protocol.org', metadata)],
    ])
  })

  it('are the versions', () => {
    expect(of({ kind: 'version', offered: '9.9', accepted: ['0.3', '1.0'] })).toStrictEqual([
      { reason: 'VERSION_NOT_SUPPORTED', offered: ['9.9'], accepted: ['0.3', '1.0'] },
      [info('VERSION_NOT_SUPPORTED', 'a2a-protocol.org', { offered: '9.9', accepted: '0.3, 1.0' })],
    ])
  })

  it('are the extensions', () => {
    expect(of({ kind: 'extensions', required: ['urn:a', 'urn:b'], missing: ['urn:b'] })).toStrictEqual([
      { reason: 'EXTENSION_SUPPORT_REQUIRED', required: ['urn:a', 'urn:b'], missing: ['urn:b'] },
      [info('EXTENSION_SUPPORT_REQUIRED', 'a2a-protocol.org', { required: 'urn:a, urn:b', missing: 'urn:b' })],
    ])
  })

  it("are a retired method's current name", () => {
    expect(of({ kind: 'method', method: 'tasks/send', version: '0.3', currentName: 'message/send' })).toStrictEqual([
      { reason: 'METHOD_NOT_FOUND', method: 'tasks/send', version: '0.3', currentName: 'message/send' },
      [info('METHOD_NOT_FOUND', 'calling-card', { method: 'tasks/send', version: '0.3', currentName: 'message/send' })],
    ])
  })

  it('are the fields that are wrong', () => {
    const violations = [{ field: 'configuration.acceptedOutputModes[1]', description: 'must be a string' }]
    expect(of({ kind: 'invalid-params', detail: 'D.', violations })).toStrictEqual([
      { reason: 'INVALID_PARAMS', fieldViolations: violations },
      [
        info('INVALID_PARAMS', 'a2a-protocol.org'),
        { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations },
      ],
    ])
  })

  it('are text in v1.0, whatever they are', () => {
    const isText = (value: unknown) => typeof value === 'string'
    for (const [problem] of table)
      for (const { metadata = {} } of toJsonRpcError(problem, '1.0').data as { metadata?: object }[])
        expect(Object.values(metadata).every(isText)).toBe(true)
  })

  it('never tell what is for the log', () => {
    const problem = { kind: 'misconfigured', detail: 'SECRET_NAME' } as const
    expect(JSON.stringify([of(problem), toRestError(problem, '1.0')])).not.toContain('SECRET_NAME')
  })

  it('are cut where a caller sent more than an error is for', () => {
    const problem: CallError = {
      kind: 'output-modes',
      offered: Array.from({ length: 1000 }, (_, index) => `${'x'.repeat(199)}😀${index}`),
      accepted: ['text/plain'],
    }
    const texts = (['0.3', '1.0'] as const).flatMap(version => [
      toJsonRpcError(problem, version),
      toRestError(problem, version),
    ])
    for (const text of texts) expect(JSON.stringify(text).length).toBeLessThan(25_000)
    expect(JSON.stringify(texts)).not.toMatch(/\\ud[89a-f]/i)
  })
})

describe('the answer to a JSON-RPC call', () => {
  const form = { binding: 'JSONRPC', id: 'i', version: '1.0' } as const
  const error = (version: '0.3' | '1.0') => toJsonRpcError({ kind: 'streaming' }, version)

  it.each([0, 1, -1.5, '', 'a', null, JSON.rawJSON('12345678901234567890')])('has its id: %j', async id => {
    const response = errorResponse({ kind: 'streaming' }, { ...form, id, operation: 'stream' })
    expect(await response.text()).toBe(
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${JSON.stringify(error('1.0'))}}`,
    )
  })

  it.each([
    ['0.3', 'stream', 'text/event-stream'],
    ['0.3', 'resubscribe', 'text/event-stream'],
    ['0.3', 'send', 'application/json'],
    ['0.3', undefined, 'application/json'],
    ['1.0', 'stream', 'application/json'],
    ['1.0', 'resubscribe', 'application/json'],
    ['1.0', 'send', 'application/json'],
  ] as const)('in %s to %s is %s', async (version, operation, type) => {
    const response = errorResponse({ kind: 'streaming' }, { ...form, version, ...(operation && { operation }) })
    const json = JSON.stringify({ jsonrpc: '2.0', id: 'i', error: error(version) })
    expect([response.status, response.headers.get('Content-Type'), await response.text()]).toStrictEqual([
      200,
      type,
      type === 'text/event-stream' ? `data: ${json}\n\n` : json,
    ])
  })

  it.each([
    [{ kind: 'no-token' }, 401],
    [{ kind: 'rate-limit', retryAfter: 60 }, 429],
    [{ kind: 'timeout', seconds: 1 }, 504],
  ] as const)('is JSON where its status says that no stream comes: %j', (problem, status) => {
    const response = errorResponse(problem, { ...form, version: '0.3', operation: 'stream' })
    expect([response.status, response.headers.get('Content-Type')]).toStrictEqual([status, 'application/json'])
  })
})

describe('the answer over either binding', () => {
  const rest = { binding: 'HTTP+JSON', id: null, version: '1.0' } as const
  const headersOf = (response: Response) =>
    Object.fromEntries(
      ['Content-Type', 'WWW-Authenticate', 'Retry-After', 'Allow'].flatMap(name => {
        const value = response.headers.get(name)
        return value === null ? [] : [[name, value]]
      }),
    )

  it.each([
    [{ kind: 'no-token' }, { 'WWW-Authenticate': 'Bearer realm="a2a"' }],
    [{ kind: 'bad-token' }, { 'WWW-Authenticate': 'Bearer realm="a2a", error="invalid_token"' }],
    [
      { kind: 'forbidden', missing: 'x' },
      { 'WWW-Authenticate': 'Bearer realm="a2a", error="insufficient_scope", scope="read"' },
    ],
    [{ kind: 'rate-limit', retryAfter: 10 }, { 'Retry-After': '10' }],
    [{ kind: 'unavailable' }, { 'Retry-After': '10' }],
    [{ kind: 'token-unchecked' }, { 'Retry-After': '10' }],
    [{ kind: 'http-method', method: 'PUT', path: 'tasks', allow: ['GET', 'POST'] }, { Allow: 'GET, POST' }],
    [{ kind: 'streaming' }, {}],
  ] as const)('to %j says in its headers what to do', (problem, headers) => {
    expect([
      headersOf(errorResponse(problem, { binding: 'JSONRPC', id: 1, version: '1.0' })),
      headersOf(errorResponse(problem, rest)),
    ]).toStrictEqual(Array(2).fill({ 'Content-Type': 'application/json', ...headers }))
  })

  it('is JSON text of the error', async () => {
    const response = errorResponse({ kind: 'closed' }, { ...rest, version: '0.3' })
    expect([response.status, response.headers.get('Content-Type'), await response.text()]).toStrictEqual([
      400,
      'application/json',
      JSON.stringify(toJsonRpcError({ kind: 'closed' }, '0.3')),
    ])
  })
})

it('says any text that a caller may send', async () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 400 })
  const problem: fc.Arbitrary<CallError> = fc.oneof(
    fc.record({ kind: fc.constant('method' as const), method: text, version: fc.constant('1.0' as const) }),
    fc.record({ kind: fc.constant('version' as const), offered: text, accepted: fc.array(text) }),
    fc.record({ kind: fc.constant('unknown-agent' as const), agent: text }),
    fc.record({ kind: fc.constant('input-modes' as const), offered: fc.array(text), accepted: fc.array(text) }),
  )
  await fc.assert(
    fc.asyncProperty(
      problem,
      fc.jsonValue(),
      fc.constantFrom('0.3' as const, '1.0' as const),
      async (refusal, id, version) => {
        const form = { binding: 'JSONRPC', id: JSON.parse(JSON.stringify(id)), version, operation: 'stream' } as const
        const body = await errorResponse(refusal, form).text()
        expect(body.replace(/^data: /, '').trimEnd()).not.toMatch(/[\r\n]/)
        expect(JSON.parse(body.replace(/^data: /, ''))).toHaveProperty('error.message')
      },
    ),
  )
})
