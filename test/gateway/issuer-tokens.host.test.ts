import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { nextAddress } from '../support/called-host.ts'
import { sharedHost } from '../support/host.ts'
import { type IssuerServer, makeKey, startIssuer } from '../support/issuer.ts'
import { upstreamPorts } from '../support/shared-hosts.ts'

/** An agent whose callers authenticate with a token of an issuer, or with a key in a header. */
const manifest = (openIdConnectUrl: string) => ({
  card: {
    name: 'Weather',
    description: 'Tells the weather of any place',
    url: 'https://weather.example.com/a2a',
    version: '1.0.0',
    capabilities: { streaming: false, extendedAgentCard: true },
    securitySchemes: {
      login: { type: 'openIdConnect', openIdConnectUrl },
      key: { type: 'apiKey', in: 'header', name: 'X-Weather-Key' },
    },
    skills: [{ id: 'now', name: 'Now', description: 'The weather now', tags: ['weather'] }],
  },
  extended: { description: 'Only for authenticated callers' },
  tiers: { partner: { description: 'Only for partners' } },
  jwt: { audience: 'weather-api', tiers: { partner: { scope: 'cards:partner' } } },
})

const host = sharedHost()
let issuer: IssuerServer
beforeAll(async () => {
  issuer = await startIssuer(undefined, upstreamPorts())
  expect((await host.put('issuer-tokens', manifest(issuer.discoveryUrl))).status).toBe(201)
})
afterAll(() => issuer.close())

const fetchExtendedCard = async (headers: Record<string, string>) => {
  const response = await host.fetch('/agents/issuer-tokens/a2a', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'CF-Connecting-IP': nextAddress(),
      'A2A-Version': '1.0',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetExtendedAgentCard' }),
  })
  const { result, error } = (await response.json()) as { result?: { description: string }; error?: object }
  return [response.status, result?.description ?? error]
}
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const sign = (claims: object = {}, ...options: [] | [object, Awaited<ReturnType<typeof makeKey>>]) =>
  issuer.sign({ aud: 'weather-api', ...claims }, ...options)
const issue = async (request: JsonObject): Promise<string> => (await host.issue(request)).token

describe("a JWT of the issuer that an agent's card names", () => {
  it('reads the extended card for concurrent callers before any key is cached', async () => {
    const tokens = await Promise.all(Array.from({ length: 12 }, (_, index) => sign({ sub: `caller ${index}` })))
    const cards = await Promise.all(tokens.map(token => fetchExtendedCard(bearer(token))))
    expect(cards).toEqual(tokens.map(() => [200, 'Only for authenticated callers']))
    expect(issuer.paths.length).toBeLessThan(5)
  })

  it('reads the tier of its scope', async () => {
    const token = await sign({ scope: 'openid cards:partner' })
    expect(await fetchExtendedCard(bearer(token))).toEqual([200, 'Only for partners'])
  })

  it('returns 401 if it has expired, or is of another audience, issuer or key', async () => {
    const anotherKey = await makeKey('first', 'ES256')
    for (const token of [
      ...[{ exp: 1 }, { aud: 'another-api' }, { iss: 'https://login.example.com' }].map(claims => sign(claims)),
      sign({}, {}, anotherKey),
    ])
      expect(await fetchExtendedCard(bearer(await token))).toEqual([401, expect.anything()])
  })
})

describe("a token in the header of an agent's API key", () => {
  it('is accepted as in `Authorization`', async () => {
    const refused = [403, expect.anything()]
    for (const [request, expected] of [
      [{ scopes: ['read'], agents: ['*'], tiers: [] }, [200, 'Only for authenticated callers']],
      [{ scopes: ['read'], agents: ['issuer-tokens'], tiers: ['partner'] }, [200, 'Only for partners']],
      [{ scopes: ['admin'] }, [200, 'Only for partners']],
      [{ scopes: ['read'], agents: ['other'], tiers: ['partner'] }, refused],
      [{ scopes: ['write'], agents: ['*'], tiers: ['partner'] }, refused],
    ] as const) {
      const token = await issue(request as never)
      for (const headers of [{ 'X-Weather-Key': token }, bearer(token)])
        expect(await fetchExtendedCard(headers as never), JSON.stringify(request)).toEqual(expected)
    }
  })

  it('returns 401 if it is unknown or missing, or in another header', async () => {
    for (const headers of [
      ...[`cc_${'a'.repeat(12)}_${'a'.repeat(32)}`, "the agent's own"].map(key => ({ 'X-Weather-Key': key })),
      {},
      { 'X-API-Key': await issue({ scopes: ['read'] }) },
    ])
      expect(await fetchExtendedCard(headers as never)).toEqual([401, expect.anything()])
  })
})
