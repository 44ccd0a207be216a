import { describe, expect, it } from 'vitest'
import { readUpstreamResponse, toClientResponse } from '../../src/gateway/upstream/response.ts'

describe('readUpstreamResponse', () => {
  it.each([101, 199, 204, 205, 600])(
    'rejects a body with the status %d, with which no Response can have one',
    async status => {
      const upstream = Response.json({ jsonrpc: '2.0', id: 7, result: {} })
      Object.defineProperties(upstream, { status: { value: status }, ok: { value: status > 199 && status < 300 } })
      const policy = {
        maxBytes: 1000,
        mayBeEmpty: true,
        ownCredentials: false,
        form: { binding: 'JSONRPC', version: '1.0', id: 7 },
        check: () => undefined,
      } as const
      expect(await readUpstreamResponse(upstream, policy)).toEqual({ kind: 'invalid-response', status })
    },
  )
})

describe('toClientResponse', () => {
  it.each([
    [
      'Bearer realm="weather", error="invalid_token", scope="read"',
      'Bearer realm="weather", error="invalid_token", scope="read"',
    ],
    ['Bearer resource_metadata="https://agent.internal.example/meta"', 'Bearer'],
    [
      'Bearer resource_metadata="https://agent.internal.example/meta", error="invalid_token"',
      'Bearer error="invalid_token"',
    ],
    ['Bearer realm="https://agent.internal.example/", scope="read"', 'Bearer scope="read"'],
    ['Bearer error="invalid_token", resource_metadata=https://agent.internal.example', 'Bearer error="invalid_token"'],
    ['Bearer realm="weather.internal.example", scope="read:weather write"', 'Bearer scope="read:weather write"'],
    ['Bearer realm="agent@10.0.0.7:8443"', 'Bearer'],
    ['Bearer error_uri="//weather.internal.example/e", error=invalid_token', 'Bearer error=invalid_token'],
    ['Bearer error_description="see 10.0.0.7:8443/token"', 'Bearer'],
    ['Bearer error="https:\\/\\/agent.internal.example"', 'Bearer'],
    [
      'Digest realm="a", qop="auth, auth-int", algorithm=SHA-256, nonce="7ypf/xlj9X+s=="',
      'Digest realm="a", qop="auth, auth-int", algorithm=SHA-256, nonce="7ypf/xlj9X+s=="',
    ],
    ['a'.repeat(40_000), 'a'.repeat(32)],
    ['Basic realm="weather", charset="UTF-8"', 'Basic realm="weather", charset="UTF-8"'],
  ])('removes every address of the agent from the challenge %s', async (challenge, expected) => {
    const upstream = new Response(null, { status: 401, headers: { 'WWW-Authenticate': challenge } })
    const { headers } = toClientResponse('{}', 'application/json', upstream)
    expect(headers.get('WWW-Authenticate')).toBe(expected)
  })

  it.each([
    [['Bearer realm="a"', 'Basic realm="b", charset="UTF-8"'], 'Bearer realm="a", Basic realm="b", charset="UTF-8"'],
    [
      ['Bearer error="invalid_token", scope="read"', 'DPoP algs="ES256"'],
      'Bearer error="invalid_token", scope="read", DPoP',
    ],
    [['Negotiate', 'Basic realm="b"'], 'Negotiate, Basic realm="b"'],
    [['Negotiate YWJj', 'Basic realm="b"'], 'Negotiate, Basic realm="b"'],
    [['Bearer realm = "a", error = "x_y"'], 'Bearer realm="a", error="x_y"'],
    [['Bearer resource_metadata="https://a.example/, Basic realm=b"', 'Basic realm="b"'], 'Bearer, Basic realm="b"'],
    [['Bearer realm="a', 'Basic realm="b"'], 'Bearer'],
  ])('keeps the challenges %j separate', async (challenges, expected) => {
    const upstream = new Response(null, { status: 401 })
    for (const challenge of challenges) upstream.headers.append('WWW-Authenticate', challenge)
    const { headers } = toClientResponse('{}', 'application/json', upstream)
    expect(headers.get('WWW-Authenticate')).toBe(expected)
  })
})
