import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { calculateJwkThumbprint, decodeJwt, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { answerCalls } from '../support/answers.ts'
import { type CalledHost, startCalledHost } from '../support/called-host.ts'
import { call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken, startHost } from '../support/host.ts'
import { type IssuerServer, makeKey, startIssuer } from '../support/issuer.ts'
import { makeSigningKey } from '../support/signing-key.ts'
import { reply, stream } from '../support/upstream.ts'

const publicUrl = 'https://cards.example.com'
const header = 'calling-card-assertion'
const signingKey = makeSigningKey()
const oldKey = makeSigningKey()
/** Names by which a card may ask for a caller's header, and a server may read one. */
const spellings = ['Calling-Card-Assertion', 'calling_card_assertion', 'CALLING-CARD_ASSERTION']

let called: CalledHost
let issuer: IssuerServer
let token: { id: string; token: string }
beforeAll(async () => {
  issuer = await startIssuer()
  called = await startCalledHost(
    {
      SIGNING_KEY: JSON.stringify({ ...signingKey, nbf: 1 }),
      SIGNING_KEY_2: JSON.stringify(oldKey),
      PUBLIC_URL: publicUrl,
    },
    vars => startHost({ ...vars, ALLOWED_ORIGINS: `${vars.ALLOWED_ORIGINS} ${issuer.origin}` }),
  )
  const keys = spellings.map((name, index): [string, JsonObject] => [
    `key${index}`,
    { apiKeySecurityScheme: { location: 'header', name } },
  ])
  const securitySchemes = {
    login: { openIdConnectSecurityScheme: { openIdConnectUrl: issuer.discoveryUrl } },
    key: { apiKeySecurityScheme: { location: 'header', name: 'X-Weather-Key' } },
    ...Object.fromEntries(keys),
  }
  const card = agentCard(called.agent.origin, { securitySchemes })
  const upstream = { identity: 'header' }
  const extended = { extended: { description: 'Extended' }, tiers: { partner: {}, staff: {} } }
  await called.register('weather', { card, upstream, ...extended, jwt: { audience: 'weather-api' } })
  await called.register('same-endpoint', { card, upstream })
  await called.register('without-identity', { card })
  await called.register('internal', { card, upstream, visibility: 'internal' })
  token = await called.issue({ scopes: ['read'], tiers: ['partner'] })
})
afterAll(async () => {
  await called.close()
  await issuer.close()
})
beforeEach(() => called.agent.respond(answerCalls))

/** Calls an agent, and returns the headers of the request that it received. */
const forwardedHeaders = async (headers: Record<string, string> = {}, id = 'weather'): Promise<Headers> => {
  const { status, text } = await called.send(`/agents/${id}/a2a`, { body: call(), headers })
  expect([status, called.agent.requests.length], text).toEqual([200, 1])
  return receivedHeaders()
}
const receivedHeaders = (): Headers => {
  const [request] = called.agent.requests.splice(0)
  return new Headers(
    Object.entries(request?.headers ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
  )
}
const assertionOf = (headers: Headers): string => headers.get(header) ?? ''
const bearer = (text: string) => ({ Authorization: `Bearer ${text}` })

/** Loads the JavaScript of docs/identity.md, for an agent with this endpoint and id. */
const loadSnippet = async (endpoint: string, agent = 'weather'): Promise<(headers: Headers) => Promise<JWTPayload>> => {
  const [, code = ''] = /^```js\n(.*?)^```/ms.exec(readFileSync('docs/identity.md', 'utf8')) ?? []
  const replacements = {
    "'jose'": `'${pathToFileURL(createRequire(import.meta.url).resolve('jose'))}'`,
    "'https://cards.example.com/.well-known/jwks.json'": `'${called.host.url}.well-known/jwks.json'`,
    "'https://weather.example.com/a2a'": `'${endpoint}'`,
    "!== 'weather'": `!== '${agent}'`,
  }
  const source = Object.entries(replacements).reduce((text, [from, to]) => {
    expect(text).toContain(from)
    return text.replaceAll(from, to)
  }, code)
  return (await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(source)}`)).verifyCaller
}
const endpoint = (path = 'rpc-1') => `${called.agent.origin}/${path}`

describe('an agent with `upstream.identity`', () => {
  it('verifies who calls as docs/identity.md shows', async () => {
    const verifyCaller = await loadSnippet(endpoint())
    expect(await verifyCaller(await forwardedHeaders(bearer(token.token)))).toEqual({
      iss: publicUrl,
      aud: endpoint(),
      sub: `token:${token.id}`,
      agent: 'weather',
      scopes: ['read'],
      tiers: ['base', 'partner'],
      iat: expect.any(Number),
      exp: expect.any(Number),
      jti: expect.any(String),
    })
  })

  it.each<[string, () => Promise<Record<string, string>>, () => object]>([
    ['anonymous', async () => ({}), () => ({ scopes: [], tiers: [] })],
    ["with the agent's own credentials", async () => bearer('theirs'), () => ({ scopes: [], tiers: [] })],
    [
      'with a token in an API key header',
      async () => ({ 'X-Weather-Key': token.token }),
      () => ({ sub: `token:${token.id}`, scopes: ['read'], tiers: ['base', 'partner'] }),
    ],
    [
      'the administrator',
      async () => bearer(adminToken),
      () => ({ sub: 'admin', scopes: ['admin'], tiers: ['base', 'partner', 'staff'] }),
    ],
    [
      'a user of an issuer',
      async () => bearer(await issuer.sign({ aud: 'weather-api', sub: 'ann@example.com' })),
      () => ({
        sub: expect.stringMatching(/^jwt:127\.0\.0\.1:[\da-f]{32}$/),
        sub_id: { format: 'iss_sub', iss: issuer.issuer, sub: 'ann@example.com' },
        scopes: ['read'],
        tiers: ['base'],
      }),
    ],
    [
      'a client of an issuer that names no user',
      async () => bearer(await issuer.sign({ aud: 'weather-api', sub: undefined })),
      () => ({ scopes: ['read'], tiers: ['base'] }),
    ],
  ])('learns that the caller is %s', async (_, headers, expected) => {
    const received = await forwardedHeaders(await headers())
    const { iss, aud, agent, iat, exp, jti, ...claims } = decodeJwt(assertionOf(received))
    expect(claims).toEqual(expected())
    // What this host has accepted as the caller's credentials is not for the agent.
    expect([null, 'Bearer theirs']).toContain(received.get('Authorization'))
    // Names of people are for the agent only.
    expect(called.host.logged().join()).not.toContain('ann@example.com')
  })

  it.each([
    ['JSON-RPC 1.0', '/agents/weather/a2a', call(), '1.0', 'rpc-1'],
    ['JSON-RPC 0.3', '/agents/weather/a2a', call('message/send', messageV03()), '0.3', 'rpc-0'],
    ['HTTP+JSON 1.0', '/agents/weather/a2a/message:send', message(), '1.0', 'rest-1'],
    ['HTTP+JSON 0.3', '/agents/weather/a2a/v1/message:send', messageV03(), '0.3', 'rest-0'],
  ])('is the audience by its endpoint of %s', async (_, path, body, version, expected) => {
    await called.send(path, { body, headers: { 'A2A-Version': version } })
    const headers = receivedHeaders()
    const verifyCaller = await loadSnippet(endpoint(expected))
    expect(await verifyCaller(headers)).toMatchObject({ aud: endpoint(expected) })
  })

  it('gets the assertion with a streaming call', async () => {
    called.agent.respond(reply(200, stream, 'data: {"jsonrpc":"2.0","id":7,"result":{}}\n\n'))
    await called.send('/agents/weather/a2a', { body: call('SendStreamingMessage'), headers: bearer(token.token) })
    const verifyCaller = await loadSnippet(endpoint())
    expect(await verifyCaller(receivedHeaders())).toMatchObject({ sub: `token:${token.id}` })
  })

  it('gets one assertion for several calls of a caller, and another for another caller', async () => {
    const other = await called.issue({ scopes: ['read'] })
    const assertions: string[] = []
    for (const text of [token.token, token.token, other.token, token.token])
      assertions.push(assertionOf(await forwardedHeaders(bearer(text))))
    expect(new Set(assertions).size).toBe(2)
    expect(assertions[3]).toBe(assertions[0])
  })
})

describe('a caller that sends an assertion of its own', () => {
  const forge = async (): Promise<string> => {
    const { privateKey } = await makeKey('forged', 'ES256')
    const claims = { iss: publicUrl, aud: endpoint(), agent: 'weather', sub: 'admin', exp: Date.now() }
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'calling-card-assertion+jwt' }).sign(privateKey)
  }
  const names = [...spellings, 'calling-card-assertion', 'CALLING-CARD-ASSERTION']

  it.each(names)('has it dropped: %s', async name => {
    const forged = await forge()
    for (const sent of [{ [name]: forged }, { [name]: forged, Connection: 'Calling-Card-Assertion' }]) {
      const without = await forwardedHeaders(sent, 'without-identity')
      expect([...without.keys()].filter(key => key.replaceAll('_', '-') === header)).toEqual([])
      const headers = await forwardedHeaders(sent)
      expect(JSON.stringify([...without, ...headers])).not.toContain(forged)
      const verifyCaller = await loadSnippet(endpoint())
      expect(await verifyCaller(headers)).not.toHaveProperty('sub')
    }
  })

  it('has every one of several dropped', async () => {
    const forged = await forge()
    const body = JSON.stringify(call())
    await called.sendLines('/agents/weather/a2a', { 'Calling-Card-Assertion': [forged, forged] }, body)
    const headers = receivedHeaders()
    expect(assertionOf(headers)).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    expect(JSON.stringify([...headers])).not.toContain(forged)
  })

  it('is not authenticated by an assertion of this host', async () => {
    const assertion = assertionOf(await forwardedHeaders(bearer(adminToken)))
    for (const headers of [bearer(assertion), { 'X-Weather-Key': assertion }, { [header]: assertion }]) {
      const { body } = await called.send('/agents/internal/a2a', { body: call(), headers })
      expect([codeOf(body), called.agent.requests]).toEqual([-32602, []])
      expect(decodeJwt(assertionOf(await forwardedHeaders(headers)))).not.toHaveProperty('sub')
    }
    expect((await called.send('/tokens', { method: 'GET', token: assertion })).status).toBe(401)
  })
})

describe('an assertion that an agent received', () => {
  it('is invalid at another agent', async () => {
    const headers = await forwardedHeaders(bearer(token.token))
    const verifyCaller = await loadSnippet('https://another-agent.example.com/a2a')
    await expect(verifyCaller(headers)).rejects.toThrow('unexpected "aud" claim value')
  })

  it('is invalid for another agent at the same endpoint', async () => {
    const headers = await forwardedHeaders(bearer(token.token), 'same-endpoint')
    const verifyCaller = await loadSnippet(endpoint())
    await expect(verifyCaller(headers)).rejects.toThrow('The assertion is for the agent same-endpoint.')
    await expect((await loadSnippet(endpoint(), 'same-endpoint'))(headers)).resolves.toBeTruthy()
  })

  it.each<[string, (assertion: string) => string]>([
    ['it is missing', () => ''],
    ['a claim is changed', assertion => assertion.replace(/\.\w/, '.f')],
    ['its signature is removed', assertion => assertion.replace(/[^.]+$/, '')],
    ['it is there twice', assertion => `${assertion}, ${assertion}`],
  ])('is invalid if %s', async (_, change) => {
    const assertion = change(assertionOf(await forwardedHeaders(bearer(token.token))))
    const verifyCaller = await loadSnippet(endpoint())
    await expect(verifyCaller(new Headers({ [header]: assertion }))).rejects.toThrow()
  })

  it('is invalid if the same key signed it as something else', async () => {
    const claims = decodeJwt(assertionOf(await forwardedHeaders()))
    const verifyCaller = await loadSnippet(endpoint())
    const kid = await calculateJwkThumbprint(signingKey)
    const sign = (typ: string) =>
      new SignJWT({ ...claims, sub: 'admin' }).setProtectedHeader({ alg: 'ES256', kid, typ }).sign(signingKey)
    const verify = async (typ: string) => verifyCaller(new Headers({ [header]: await sign(typ) }))
    await expect(verify('JOSE')).rejects.toThrow('unexpected "typ" JWT header value')
    await expect(verify('calling-card-assertion+jwt')).resolves.toBeTruthy()
  })
})

describe('GET /.well-known/jwks.json', () => {
  const path = '/.well-known/jwks.json'

  it('returns the public keys, the one that signs first', async () => {
    const response = await called.host.fetch(path)
    expect([response.status, Object.fromEntries(response.headers)]).toEqual([
      200,
      expect.objectContaining({
        'access-control-allow-origin': '*',
        'cache-control': 'public, max-age=300',
        'content-type': 'application/jwk-set+json',
        etag: expect.stringMatching(/^"[\da-f]{64}"$/),
        'x-content-type-options': 'nosniff',
      }),
    ])
    const publicOf = ({ x, y }: { x: string; y: string }) => ({
      ...{ kty: 'EC', crv: 'P-256', x, y, alg: 'ES256', use: 'sig' },
      kid: expect.stringMatching(/^[\w-]{43}$/),
    })
    const text = await response.text()
    expect(JSON.parse(text)).toEqual({ keys: [publicOf(signingKey), publicOf(oldKey)] })
    for (const { d } of [signingKey, oldKey]) expect(text).not.toContain(d)
  })

  it('answers conditional requests, HEAD and preflights', async () => {
    const { headers } = await called.host.fetch(path)
    const etag = headers.get('ETag') ?? ''
    const conditional = await called.host.fetch(path, { headers: { 'If-None-Match': etag } })
    expect([conditional.status, await conditional.text(), conditional.headers.get('ETag')]).toEqual([304, '', etag])
    const head = await called.host.fetch(path, { method: 'HEAD' })
    expect([head.status, await head.text(), head.headers.get('ETag')]).toEqual([200, '', etag])
    expect((await called.host.fetch(path, { method: 'OPTIONS' })).headers.get('Allow')).toBe('GET, HEAD, OPTIONS')
    expect((await called.host.fetch(path, { method: 'POST' })).status).toBe(405)
  })
})
