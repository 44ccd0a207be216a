import { describe, expect, it } from 'vitest'
import { readUpstreamResponse, toClientResponse } from '../../src/gateway/upstream/response.ts'

it('rejects a body with a status with which no Response can have one', async () => {
  for (const status of [101, 199, 204, 205, 600]) {
    const upstream = Response.json({ jsonrpc: '2.0', id: 7, result: {} })
    Object.defineProperties(upstream, { status: { value: status }, ok: { value: status > 199 && status < 300 } })
    const policy = {
      ...{ maxBytes: 1000, mayBeEmpty: true, ownCredentials: false, check: () => undefined },
      form: { binding: 'JSONRPC', version: '1.0', id: 7 },
    } as const
    expect(await readUpstreamResponse(upstream, policy)).toEqual({ kind: 'invalid-response', status })
  }
})

describe('the challenges of an agent', () => {
  const passedOn = (challenges: string[]) => {
    const upstream = new Response(null, { status: 401 })
    for (const challenge of challenges) upstream.headers.append('WWW-Authenticate', challenge)
    return toClientResponse('{}', 'application/json', upstream).headers.get('WWW-Authenticate')
  }

  it('lose every address', () => {
    const host = 'agent.internal.example'
    for (const [challenge, expected = challenge] of [
      ['Bearer realm="weather", error="invalid_token", scope="read"'],
      [`Bearer resource_metadata="https://${host}/meta", error="invalid_token"`, 'Bearer error="invalid_token"'],
      [`Bearer realm="https://${host}/", scope="read"`, 'Bearer scope="read"'],
      [`Bearer error="invalid_token", resource_metadata=https://${host}`, 'Bearer error="invalid_token"'],
      [`Bearer realm="${host}", scope="read:weather write"`, 'Bearer scope="read:weather write"'],
      ['Bearer realm="agent@10.0.0.7:8443"', 'Bearer'],
      [`Bearer error_uri="//${host}/e", error=invalid_token`, 'Bearer error=invalid_token'],
      ['Bearer error_description="see 10.0.0.7:8443/token"', 'Bearer'],
      [`Bearer error="https:\\/\\/${host}"`, 'Bearer'],
      ['Digest realm="a", qop="auth, auth-int", algorithm=SHA-256, nonce="7ypf/xlj9X+s=="'],
      ['a'.repeat(40_000), 'a'.repeat(32)],
    ] as [string, string?][])
      expect(passedOn([challenge]), challenge).toBe(expected)
  })

  it('stay separate', () => {
    for (const [first, second, expected] of [
      ['Bearer realm="a"', 'Basic realm="b", charset="UTF-8"', 'Bearer realm="a", Basic realm="b", charset="UTF-8"'],
      ['Bearer error="x_y", scope="read"', 'DPoP algs="ES256"', 'Bearer error="x_y", scope="read", DPoP'],
      ['Negotiate YWJj', 'Basic realm="b"', 'Negotiate, Basic realm="b"'],
      ['Bearer realm = "a", error = "x_y"', undefined, 'Bearer realm="a", error="x_y"'],
      ['Bearer resource_metadata="https://a.example/, Basic realm=b"', 'Basic realm="b"', 'Bearer, Basic realm="b"'],
      ['Bearer realm="a', 'Basic realm="b"', 'Bearer'],
    ])
      expect(passedOn([first, second].filter(each => each !== undefined)), first).toBe(expected)
  })
})
