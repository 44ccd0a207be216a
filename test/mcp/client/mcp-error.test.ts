import { describe, expect, it } from 'vitest'
import { describeFailure, NetworkError, toMcpError } from '../../../src/mcp/client/mcp-error.ts'

describe('toMcpError', () => {
  it('returns a network error as unreachable, with the reason for the log', () => {
    expect(toMcpError(new NetworkError(new TypeError('connection refused')))).toMatchObject({
      code: 'unreachable',
      message: expect.not.stringContaining('refused'),
      why: 'connection refused',
    })
  })

  it.each([new TypeError('x is not a function'), new Error('an error of this host')])(
    'rethrows any other error of this host: %s',
    error => {
      expect(() => toMcpError(error)).toThrow(error)
    },
  )

  it('returns an error of the server as such, even if its data looks like an error of this host', () => {
    const error = Object.assign(new Error('No'), {
      name: 'ProtocolError',
      code: -32000,
      data: { error: { code: 'timeout' } },
    })
    expect(toMcpError(error)).toEqual({ code: 'refused', message: 'The MCP server answered with error -32000: No' })
  })

  const httpError = (status: number, text: string | null) =>
    Object.assign(new Error('HTTP'), { name: 'SdkHttpError', data: { status, text } })

  it('quotes what the server wrote with a status, but neither a page nor nothing', () => {
    const noSession = { code: -32000, message: 'Bad Request: No valid session ID provided' }
    const refused = { code: 'refused', message: expect.stringContaining('-32600: No') }
    const rows: [status: number, text: string | null, expected: object][] = [
      [404, null, { code: 'session-lost', status: 404 }],
      [400, 'Session not found', { code: 'session-lost', status: 400, quote: 'Session not found' }],
      [400, JSON.stringify({ error: noSession }), { code: 'session-lost', quote: noSession.message }],
      [400, '{"error":{"code":-32600,"message":"No"}}', refused],
      [400, 'Bad JSON', { code: 'not-ready', quote: 'Bad JSON' }],
      [500, '{"error":"database is away"}', { code: 'not-ready', quote: 'database is away' }],
      [503, '{"message":"warming up"}', { code: 'not-ready', quote: 'warming up' }],
      [502, 'one\n\ttwo ', { code: 'not-ready', quote: 'one two' }],
      [500, 'x'.repeat(1_000), { code: 'not-ready', quote: 'x'.repeat(1_000) }],
      [500, 'x'.repeat(1_300), { code: 'not-ready', quote: `${'x'.repeat(1_000)}…` }],
    ]
    for (const [status, text, expected] of rows)
      expect(toMcpError(httpError(status, text)), `${status} ${text}`).toMatchObject(expected)
    const message = 'The MCP server answered with HTTP 500.'
    for (const text of [' <html><h1>Session</h1>', '', null])
      expect(toMcpError(httpError(500, text))).toEqual({ code: 'not-ready', message })
  })
})

describe('describeFailure', () => {
  it('adds what the server wrote to the message', () => {
    expect([
      describeFailure({ code: 'not-ready', message: 'It failed.', quote: 'no disk' }),
      describeFailure({ code: 'not-ready', message: 'It failed.' }),
    ]).toEqual(['It failed. It wrote: no disk', 'It failed.'])
  })
})
