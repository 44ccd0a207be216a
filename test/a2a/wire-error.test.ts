import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  httpStatus,
  restErrorAnswer,
  rpcErrorAnswer,
  toJsonRpcError,
  toRestError,
} from '../../src/a2a/error-response.ts'
import { type Failure, failures, type Refusal, refusals } from '../../src/a2a/errors.ts'

const info = (reason: string, domain: string, metadata?: Record<string, string>) => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain,
  ...(metadata && { metadata }),
})

/** protocol.md, "Errors": what each problem is, and its code, reason, and status over JSON-RPC and over HTTP+JSON. */
const table: readonly (readonly [
  Refusal | Failure,
  code: number,
  reason: string,
  rpc: number,
  rest: number,
  name: string,
])[] = [
  [{ refused: 'not-json', detail: 'D.' }, -32700, 'PARSE_ERROR', 400, 400, 'INVALID_ARGUMENT'],
  [{ refused: 'not-a-request', detail: 'D.', id: 7 }, -32600, 'INVALID_REQUEST', 400, 400, 'INVALID_ARGUMENT'],
  [{ refused: 'too-large', most: 4194304 }, -32600, 'REQUEST_TOO_LARGE', 413, 413, 'INVALID_ARGUMENT'],
  [
    { refused: 'content-type', offered: 'text/plain' },
    -32005,
    'CONTENT_TYPE_NOT_SUPPORTED',
    415,
    415,
    'INVALID_ARGUMENT',
  ],
  [{ refused: 'content-type', offered: null }, -32005, 'CONTENT_TYPE_NOT_SUPPORTED', 415, 415, 'INVALID_ARGUMENT'],
  [{ refused: 'unknown-agent', agent: 'nobody' }, -32602, 'AGENT_NOT_FOUND', 404, 404, 'NOT_FOUND'],
  [
    { refused: 'invalid-params', detail: 'D.', violations: [{ field: 'f', description: 'd' }] },
    -32602,
    'INVALID_PARAMS',
    200,
    400,
    'INVALID_ARGUMENT',
  ],
  [
    { refused: 'method', method: 'tasks/send', version: '0.3', today: 'message/send' },
    -32601,
    'METHOD_NOT_FOUND',
    200,
    404,
    'NOT_FOUND',
  ],
  [{ refused: 'method', method: 'x', version: '1.0' }, -32601, 'METHOD_NOT_FOUND', 200, 404, 'NOT_FOUND'],
  [
    { refused: 'version', offered: '9.9', accepted: ['0.3', '1.0'] },
    -32009,
    'VERSION_NOT_SUPPORTED',
    200,
    400,
    'FAILED_PRECONDITION',
  ],
  [
    { refused: 'version', offered: '1.0', accepted: [] },
    -32009,
    'VERSION_NOT_SUPPORTED',
    200,
    400,
    'FAILED_PRECONDITION',
  ],
  [{ refused: 'streaming' }, -32004, 'UNSUPPORTED_OPERATION', 200, 400, 'FAILED_PRECONDITION'],
  [{ refused: 'push-notifications' }, -32003, 'PUSH_NOTIFICATION_NOT_SUPPORTED', 200, 400, 'FAILED_PRECONDITION'],
  [{ refused: 'extended-card' }, -32004, 'UNSUPPORTED_OPERATION', 200, 400, 'FAILED_PRECONDITION'],
  [
    { refused: 'extended-card-not-configured' },
    -32007,
    'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
    200,
    400,
    'FAILED_PRECONDITION',
  ],
  [
    { refused: 'extensions', required: ['urn:a', 'urn:b'], missing: ['urn:b'] },
    -32008,
    'EXTENSION_SUPPORT_REQUIRED',
    200,
    400,
    'FAILED_PRECONDITION',
  ],
  [
    { refused: 'input-modes', offered: ['image/png'], accepted: ['text/plain'] },
    -32005,
    'CONTENT_TYPE_NOT_SUPPORTED',
    200,
    400,
    'INVALID_ARGUMENT',
  ],
  [
    { refused: 'output-modes', offered: ['image/png'], accepted: ['text/plain'] },
    -32005,
    'CONTENT_TYPE_NOT_SUPPORTED',
    200,
    400,
    'INVALID_ARGUMENT',
  ],
  [{ refused: 'closed' }, -32004, 'UNSUPPORTED_OPERATION', 200, 400, 'FAILED_PRECONDITION'],
  [{ refused: 'no-token' }, -32000, 'UNAUTHENTICATED', 401, 401, 'UNAUTHENTICATED'],
  [{ refused: 'bad-token' }, -32000, 'UNAUTHENTICATED', 401, 401, 'UNAUTHENTICATED'],
  [{ refused: 'forbidden', missing: 'the scope read' }, -32000, 'PERMISSION_DENIED', 403, 403, 'PERMISSION_DENIED'],
  [{ refused: 'token-unchecked' }, -32000, 'UNAVAILABLE', 503, 503, 'UNAVAILABLE'],
  [{ refused: 'unavailable' }, -32000, 'UNAVAILABLE', 503, 503, 'UNAVAILABLE'],
  [{ refused: 'rate-limit', retryAfter: 60 }, -32000, 'RESOURCE_EXHAUSTED', 429, 429, 'RESOURCE_EXHAUSTED'],
  [{ failed: 'no-card' }, -32603, 'AGENT_CARD_UNAVAILABLE', 502, 502, 'UNAVAILABLE'],
  [{ failed: 'unreachable' }, -32603, 'AGENT_UNREACHABLE', 502, 502, 'UNAVAILABLE'],
  [{ failed: 'timeout', seconds: 30 }, -32603, 'AGENT_TIMEOUT', 504, 504, 'DEADLINE_EXCEEDED'],
  [{ failed: 'timeout' }, -32603, 'AGENT_TIMEOUT', 504, 504, 'DEADLINE_EXCEEDED'],
  [{ failed: 'not-json', status: 500 }, -32006, 'INVALID_AGENT_RESPONSE', 502, 502, 'UNAVAILABLE'],
  [{ failed: 'too-large', most: 1 }, -32006, 'INVALID_AGENT_RESPONSE', 502, 502, 'UNAVAILABLE'],
  [{ failed: 'redirect' }, -32006, 'INVALID_AGENT_RESPONSE', 502, 502, 'UNAVAILABLE'],
  [{ failed: 'loop' }, -32603, 'LOOP_DETECTED', 508, 508, 'ABORTED'],
  [{ failed: 'misconfigured', detail: 'no service WEATHER' }, -32603, 'AGENT_MISCONFIGURED', 502, 502, 'UNAVAILABLE'],
  [{ failed: 'silent', seconds: 120 }, -32603, 'AGENT_SILENT', 504, 504, 'DEADLINE_EXCEEDED'],
  [{ failed: 'broken-off' }, -32603, 'AGENT_BROKE_OFF', 502, 502, 'UNAVAILABLE'],
  [{ failed: 'agent-refused', status: 401 }, -32603, 'AGENT_REFUSED', 401, 401, 'UNAUTHENTICATED'],
  [{ failed: 'agent-refused', status: 403 }, -32603, 'AGENT_REFUSED', 403, 403, 'PERMISSION_DENIED'],
  [{ failed: 'agent-refused', status: 429 }, -32603, 'AGENT_REFUSED', 429, 429, 'RESOURCE_EXHAUSTED'],
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
      statuses: [httpStatus(problem, 'JSONRPC'), httpStatus(problem, 'HTTP+JSON')],
    }).toStrictEqual({
      v10: { code, message, data: details },
      v03: { code, message, data: expect.objectContaining({ reason }) },
      rest: { error: { code: rest, status: name, message, details } },
      statuses: [rpc, rest],
    })
    expect(toRestError(problem, '0.3')).toStrictEqual(toJsonRpcError(problem, '0.3'))
  })

  it('of every kind is in the table', () => {
    const tags = table.map(([problem]) => ('refused' in problem ? problem.refused : `failed ${problem.failed}`))
    const known = [...Object.keys(refusals), ...Object.keys(failures).map(tag => `failed ${tag}`)]
    expect(new Set(tags)).toStrictEqual(new Set(known))
  })
})

describe('the facts of a problem', () => {
  const of = (problem: Refusal | Failure) => [toJsonRpcError(problem, '0.3').data, toJsonRpcError(problem, '1.0').data]

  it.each([
    ['input-modes', 'The message has parts of image/png, a/b; what goes in is text/plain, text/*.'],
    [
      'output-modes',
      'The call accepts only image/png, a/b (acceptedOutputModes); what comes out is text/plain, text/*.',
    ],
  ] as const)('are what was offered and what is accepted: %s', (refused, message) => {
    const modes = { offered: ['image/png', 'a/b'], accepted: ['text/plain', 'text/*'] }
    const metadata = { offered: 'image/png, a/b', accepted: 'text/plain, text/*' }
    expect([toJsonRpcError({ refused, ...modes }, '0.3').message, ...of({ refused, ...modes })]).toStrictEqual([
      message,
      { reason: 'CONTENT_TYPE_NOT_SUPPORTED', ...modes },
      [info('CONTENT_TYPE_NOT_SUPPORTED', 'a2a-protocol.org', metadata)],
    ])
  })

  it('are the versions', () => {
    expect(of({ refused: 'version', offered: '9.9', accepted: ['0.3', '1.0'] })).toStrictEqual([
      { reason: 'VERSION_NOT_SUPPORTED', offered: ['9.9'], accepted: ['0.3', '1.0'] },
      [info('VERSION_NOT_SUPPORTED', 'a2a-protocol.org', { offered: '9.9', accepted: '0.3, 1.0' })],
    ])
  })

  it('are the extensions', () => {
    expect(of({ refused: 'extensions', required: ['urn:a', 'urn:b'], missing: ['urn:b'] })).toStrictEqual([
      { reason: 'EXTENSION_SUPPORT_REQUIRED', required: ['urn:a', 'urn:b'], missing: ['urn:b'] },
      [info('EXTENSION_SUPPORT_REQUIRED', 'a2a-protocol.org', { required: 'urn:a, urn:b', missing: 'urn:b' })],
    ])
  })

  it("are a retired method's name of today", () => {
    expect(of({ refused: 'method', method: 'tasks/send', version: '0.3', today: 'message/send' })).toStrictEqual([
      { reason: 'METHOD_NOT_FOUND', method: 'tasks/send', version: '0.3', today: 'message/send' },
      [info('METHOD_NOT_FOUND', 'calling-card', { method: 'tasks/send', version: '0.3', today: 'message/send' })],
    ])
  })

  it('are the fields that are wrong', () => {
    const violations = [{ field: 'configuration.acceptedOutputModes[1]', description: 'must be a string' }]
    expect(of({ refused: 'invalid-params', detail: 'D.', violations })).toStrictEqual([
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
    const problem = { failed: 'misconfigured', detail: 'SECRET_NAME' } as const
    expect(JSON.stringify([of(problem), toRestError(problem, '1.0')])).not.toContain('SECRET_NAME')
  })

  it('are cut where a caller sent more than an error is for', () => {
    const problem: Refusal = {
      refused: 'output-modes',
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
  const error = (version: '0.3' | '1.0') => toJsonRpcError({ refused: 'streaming' }, version)

  it.each([0, 1, -1.5, '', 'a', null, JSON.rawJSON('12345678901234567890')])('has its id: %j', id => {
    const { body } = rpcErrorAnswer({ refused: 'streaming' }, { id, version: '1.0', operation: 'stream' })
    expect(body).toBe(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${JSON.stringify(error('1.0'))}}`)
  })

  it.each([
    ['0.3', 'stream', 'text/event-stream'],
    ['0.3', 'resubscribe', 'text/event-stream'],
    ['0.3', 'send', 'application/json'],
    ['0.3', undefined, 'application/json'],
    ['1.0', 'stream', 'application/json'],
    ['1.0', 'resubscribe', 'application/json'],
    ['1.0', 'send', 'application/json'],
  ] as const)('in %s to %s is %s', (version, operation, type) => {
    const answer = rpcErrorAnswer({ refused: 'streaming' }, { id: 'i', version, operation })
    const json = JSON.stringify({ jsonrpc: '2.0', id: 'i', error: error(version) })
    expect(answer).toStrictEqual({
      status: 200,
      headers: { 'Content-Type': type },
      body: type === 'text/event-stream' ? `data: ${json}\n\n` : json,
    })
  })

  it.each([
    [{ refused: 'no-token' }, 401],
    [{ refused: 'rate-limit', retryAfter: 60 }, 429],
    [{ failed: 'timeout', seconds: 1 }, 504],
  ] as const)('is JSON where its status says that no stream comes: %j', (problem, status) => {
    expect(rpcErrorAnswer(problem, { id: 1, version: '0.3', operation: 'stream' })).toMatchObject({
      status,
      headers: { 'Content-Type': 'application/json' },
    })
  })
})

describe('the answer over either binding', () => {
  it.each([
    [{ refused: 'no-token' }, { 'WWW-Authenticate': 'Bearer realm="a2a"' }],
    [{ refused: 'bad-token' }, { 'WWW-Authenticate': 'Bearer realm="a2a", error="invalid_token"' }],
    [
      { refused: 'forbidden', missing: 'x' },
      { 'WWW-Authenticate': 'Bearer realm="a2a", error="insufficient_scope", scope="read"' },
    ],
    [{ refused: 'rate-limit', retryAfter: 10 }, { 'Retry-After': '10' }],
    [{ refused: 'streaming' }, {}],
  ] as const)('to %j says in its headers what to do', (problem, headers) => {
    expect([
      rpcErrorAnswer(problem, { id: 1, version: '1.0' }).headers,
      restErrorAnswer(problem, '1.0').headers,
    ]).toStrictEqual(Array(2).fill({ 'Content-Type': 'application/json', ...headers }))
  })

  it('is JSON text of the error', () => {
    expect(restErrorAnswer({ refused: 'closed' }, '0.3')).toStrictEqual({
      status: 400,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(toJsonRpcError({ refused: 'closed' }, '0.3')),
    })
  })
})

it('says any text that a caller may send', () => {
  const text = fc.string({ unit: 'binary', maxLength: 400 })
  const problem: fc.Arbitrary<Refusal> = fc.oneof(
    fc.record({ refused: fc.constant('method' as const), method: text, version: fc.constant('1.0' as const) }),
    fc.record({ refused: fc.constant('version' as const), offered: text, accepted: fc.array(text) }),
    fc.record({ refused: fc.constant('unknown-agent' as const), agent: text }),
    fc.record({ refused: fc.constant('input-modes' as const), offered: fc.array(text), accepted: fc.array(text) }),
  )
  fc.assert(
    fc.property(problem, fc.jsonValue(), fc.constantFrom('0.3' as const, '1.0' as const), (refusal, id, version) => {
      const { body } = rpcErrorAnswer(refusal, { id: JSON.parse(JSON.stringify(id)), version, operation: 'stream' })
      expect(body.replace(/^data: /, '').trimEnd()).not.toMatch(/[\r\n]/)
      expect(JSON.parse(body.replace(/^data: /, ''))).toHaveProperty('error.message')
    }),
  )
})
