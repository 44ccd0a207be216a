import { describe, expect, it } from 'vitest'
import { NetworkError, toMcpError } from '../../src/mcp/errors.ts'

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
})
