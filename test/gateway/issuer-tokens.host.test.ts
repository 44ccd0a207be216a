import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { nextAddress } from '../support/called-host.ts'
import { sharedHost } from '../support/host.ts'
import { type IssuerServer, startIssuer } from '../support/issuer.ts'
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
const sign = (claims: object = {}) => issuer.sign({ aud: 'weather-api', ...claims })
const issue = async (request: JsonObject): Promise<string> => (await host.issue(request)).token

describe("a JWT of the issuer that an agent's card names", () => {
  it('reads the extended card for concurrent callers before any key is cached', async () => {
    const tokens = await Promise.all(Array.from({ length: 12 }, (_, index) => sign({ sub: `caller ${index}` })))
    const cards = await Promise.all(tokens.map(token => fetchExtendedCard(bearer(token))))
    expect(cards).toEqual(tokens.map(() => [200, 'Only for authenticated callers']))
    expect(issuer.paths.length).toBeLessThan(5)
  })

  it('reads the tier of its scope, and returns 401 if it has expired', async () => {
    const token = await sign({ scope: 'openid cards:partner' })
    expect(await fetchExtendedCard(bearer(token))).toEqual([200, 'Only for partners'])
    expect(await fetchExtendedCard(bearer(await sign({ exp: 1 })))).toEqual([401, expect.anything()])
  })
})

it("accepts a token in the header of an agent's API key, and no other", async () => {
  const [unknown, missing] = [{ 'X-Weather-Key': "the agent's own" }, {}]
  for (const [headers, expected] of [
    [{ 'X-Weather-Key': await issue({ scopes: ['read'], tiers: ['partner'] }) }, [200, 'Only for partners']],
    [{ 'X-Weather-Key': await issue({ scopes: ['write'], tiers: ['partner'] }) }, [403, expect.anything()]],
    ...[unknown, missing].map(headers => [headers, [401, expect.anything()]] as const),
  ] as const)
    expect(await fetchExtendedCard(headers as never)).toEqual(expected)
})
