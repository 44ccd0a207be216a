import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { decodeJwt, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { answerCalls } from '../support/answers.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { call, codeOf } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken } from '../support/host.ts'
import { type IssuerServer, makeKey, startIssuer } from '../support/issuer.ts'
import { upstreamPorts } from '../support/shared-hosts.ts'
import type { makeSigningKey } from '../support/signing-key.ts'

const header = 'calling-card-assertion'
/** Names by which a card may ask for a caller's header, and a server may read one. */
const spellings = ['Calling-Card-Assertion', 'calling_card_assertion', 'CALLING-CARD_ASSERTION']
const hostOf = (id: string) => `${id}.example.com`
const issuerOf = (id: string) => `https://${hostOf(id)}`

let called: CalledHost
let issuer: IssuerServer
let signingKey: ReturnType<typeof makeSigningKey>
let token: { id: string; token: string }
beforeAll(async () => {
  issuer = await startIssuer(undefined, upstreamPorts())
  called = await useSharedHost('signing')
  signingKey = JSON.parse(`${(await called.host.env()).SIGNING_KEY}`)
  const keyIn = (name: string) => ({ apiKeySecurityScheme: { location: 'header', name } })
  const securitySchemes = {
    login: { openIdConnectSecurityScheme: { openIdConnectUrl: issuer.discoveryUrl } },
    key: keyIn('X-Weather-Key'),
    ...Object.fromEntries(spellings.map((name, index) => [`key${index}`, keyIn(name)])),
  }
  const card = agentCard(called.agent.origin, { securitySchemes })
  const upstream = { identity: 'header' }
  const tiered = {
    extended: { description: 'Extended' },
    tiers: { partner: { description: 'Of partners' }, staff: {} },
  }
  const jwt = { audience: 'weather-api', tiers: { partner: { scope: 'cards:partner' } } }
  for (const [id, manifest] of Object.entries<JsonObject>({
    'identity-weather': { upstream, ...tiered, jwt },
    'identity-other': { upstream },
    'identity-none': {},
    'identity-internal': { upstream, visibility: 'internal' },
  }))
    await called.register(id, { card, hosts: [hostOf(id)], ...manifest })
  token = await called.issue({ scopes: ['read'], tiers: ['partner'] })
})
afterAll(async () => {
  await called.close()
  await issuer.close()
})
beforeEach(() => called.agent.respond(answerCalls))

/** Calls an agent, and returns the headers of the request that it received. */
const forwardedHeaders = async (headers: Record<string, string> = {}, id = 'identity-weather'): Promise<Headers> => {
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

type Verified = { at?: string; agent?: string; issuer?: string }
/** Loads the JavaScript of docs/guide/owners.md, for an agent with this endpoint, id and issuer. */
const loadSnippet = async ({ at = endpoint(), agent = 'identity-weather', issuer = agent }: Verified = {}) => {
  const [, code = ''] =
    /^```js\n(import \{ createRemoteJWKSet.*?)^```/ms.exec(readFileSync('docs/guide/owners.md', 'utf8')) ?? []
  const replacements = {
    "'jose'": `'${pathToFileURL(createRequire(import.meta.url).resolve('jose'))}'`,
    "'https://cards.example.com/.well-known/jwks.json'": `'${called.host.url}.well-known/jwks.json'`,
    "'https://cards.example.com'": `'${issuerOf(issuer)}'`,
    "'https://tides.example.com/a2a'": `'${at}'`,
    "!== 'tides'": `!== '${agent}'`,
  }
  const source = Object.entries(replacements).reduce((text, [from, to]) => {
    expect(text).toContain(from)
    return text.replaceAll(from, to)
  }, code)
  const snippet = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(source)}`)
  return snippet.verifyCaller as (headers: Headers) => Promise<JWTPayload>
}
const endpoint = (path = 'rpc-1') => `${called.agent.origin}/${path}`

describe('the extended card of a caller', () => {
  const fetchCard = async (headers: Record<string, string>) => {
    const body = call('GetExtendedAgentCard', {})
    const response = await called.send('/agents/identity-weather/a2a', { body, headers })
    return [response.status, (response.body as { result?: JsonObject }).result?.description]
  }
  const sign = (claims: object) => issuer.sign({ aud: 'weather-api', ...claims })

  it('is that of its JWT, also for concurrent callers before any key is cached', async () => {
    const tokens = await Promise.all(Array.from({ length: 12 }, (_, index) => sign({ sub: `caller ${index}` })))
    const cards = await Promise.all(tokens.map(each => fetchCard(bearer(each))))
    expect(cards).toEqual(tokens.map(() => [200, 'Extended']))
    expect(issuer.paths.length).toBeLessThan(5)
    expect(await fetchCard(bearer(await sign({ scope: 'openid cards:partner' })))).toEqual([200, 'Of partners'])
    expect(await fetchCard(bearer(await sign({ exp: 1 })))).toEqual([401, undefined])
  })

  it("is that of its token in the header of the agent's API key, and in no other", async () => {
    const { token: writer } = await called.issue({ scopes: ['write'], tiers: ['partner'] })
    for (const [headers, expected] of [
      [{ 'X-Weather-Key': token.token }, [200, 'Of partners']],
      [{ 'X-Weather-Key': writer }, [403, undefined]],
      [{ 'X-Weather-Key': "the agent's own" }, [401, undefined]],
      [{ 'X-API-Key': token.token }, [401, undefined]],
    ] as [Record<string, string>, unknown[]][])
      expect(await fetchCard(headers)).toEqual(expected)
  })
})

describe('an agent with `upstream.identity`', () => {
  it('verifies who calls as docs/guide/owners.md shows', async () => {
    const verifyCaller = await loadSnippet()
    const claims = { scopes: ['read'], tiers: ['base', 'partner'], sub: `token:${token.id}`, agent: 'identity-weather' }
    const times = { iat: expect.any(Number), exp: expect.any(Number), jti: expect.any(String) }
    expect(await verifyCaller(await forwardedHeaders(bearer(token.token)))).toEqual({
      ...{ iss: 'https://identity-weather.example.com', aud: endpoint(), ...claims, ...times },
    })
  })

  it('learns who the caller is', async () => {
    const signed = async (sub: string) => bearer(await issuer.sign({ aud: 'weather-api', sub }))
    const user = {
      sub: expect.stringMatching(/^jwt:127\.0\.0\.1:[\da-f]{32}$/),
      sub_id: { format: 'iss_sub', iss: issuer.issuer, sub: 'ann@example.com' },
    }
    for (const [headers, expected] of [
      [bearer('theirs'), { scopes: [], tiers: [] }],
      [{ 'X-Weather-Key': token.token }, { sub: `token:${token.id}`, scopes: ['read'], tiers: ['base', 'partner'] }],
      [await signed('ann@example.com'), { ...user, scopes: ['read'], tiers: ['base'] }],
    ] as [Record<string, string>, object][]) {
      const received = await forwardedHeaders(headers)
      const { iss, aud, agent, iat, exp, jti, ...claims } = decodeJwt(assertionOf(received))
      expect(claims).toEqual(expected)
      // What this host has accepted as the caller's credentials is not for the agent.
      expect([null, 'Bearer theirs']).toContain(received.get('Authorization'))
    }
    // Names of people are for the agent only.
    expect(called.host.logged().join()).not.toContain('ann@example.com')
  })
})

describe('a caller that sends an assertion of its own', () => {
  const forge = async (): Promise<string> => {
    const { privateKey } = await makeKey('forged', 'ES256')
    const agent = 'identity-weather'
    const claims = { iss: issuerOf(agent), aud: endpoint(), agent, sub: 'admin', exp: Date.now() }
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'calling-card-assertion+jwt' }).sign(privateKey)
  }

  it('has it dropped, in every spelling', async () => {
    const forged = await forge()
    const verifyCaller = await loadSnippet()
    for (const name of [...spellings, 'calling-card-assertion', 'CALLING-CARD-ASSERTION'])
      for (const sent of [{ [name]: forged }, { [name]: forged, Connection: 'Calling-Card-Assertion' }]) {
        const without = await forwardedHeaders(sent, 'identity-none')
        expect([...without.keys()].filter(key => key.replaceAll('_', '-') === header)).toEqual([])
        const headers = await forwardedHeaders(sent)
        expect(JSON.stringify([...without, ...headers]), name).not.toContain(forged)
        expect(await verifyCaller(headers)).not.toHaveProperty('sub')
      }
  })

  it('is not authenticated by an assertion of this host', async () => {
    const assertion = assertionOf(await forwardedHeaders(bearer(adminToken)))
    for (const headers of [bearer(assertion), { 'X-Weather-Key': assertion }, { [header]: assertion }]) {
      const { body } = await called.send('/agents/identity-internal/a2a', { body: call(), headers })
      expect([codeOf(body), called.agent.requests]).toEqual([-32602, []])
      expect(decodeJwt(assertionOf(await forwardedHeaders(headers)))).not.toHaveProperty('sub')
    }
    expect((await called.send('/tokens', { method: 'GET', token: assertion })).status).toBe(401)
  })
})

describe('an assertion that an agent received', () => {
  it('is invalid at another agent, also at the same endpoint', async () => {
    const verifyElsewhere = await loadSnippet({ at: 'https://another-agent.example.com/a2a' })
    const ofWeather = await forwardedHeaders(bearer(token.token))
    await expect(verifyElsewhere(ofWeather)).rejects.toThrow('unexpected "aud" claim value')
    const ofOther = await forwardedHeaders(bearer(token.token), 'identity-other')
    await expect((await loadSnippet({ issuer: 'identity-other' }))(ofOther)).rejects.toThrow(
      'The assertion is for another agent at the same address.',
    )
    await expect((await loadSnippet({ agent: 'identity-other' }))(ofOther)).resolves.toBeTruthy()
  })
})

it('publishes the public key at /.well-known/jwks.json', async () => {
  const response = await called.host.fetch('/.well-known/jwks.json')
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'cache-control': 'public, max-age=300',
    'content-type': 'application/jwk-set+json',
    etag: expect.stringMatching(/^"[\da-f]{64}"$/),
  })
  const { d, x, y } = signingKey
  const kid = expect.stringMatching(/^[\w-]{43}$/)
  const text = await response.text()
  expect(JSON.parse(text)).toEqual({ keys: [{ kty: 'EC', crv: 'P-256', x, y, alg: 'ES256', use: 'sig', kid }] })
  expect(text).not.toContain(d)
})
