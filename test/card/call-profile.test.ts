import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { compileCard, getCompileErrors } from '../support/cards/compile.ts'

const openIdConnectUrl = 'https://login.example/.well-known/openid-configuration'
const login = { type: 'openIdConnect', openIdConnectUrl }
const card = { name: 'A', description: 'B', url: 'https://a.example/a2a', securitySchemes: { login } }
const upstream = { card: 'https://a.example/card.json' }

const compileIssuers = (manifest: JsonObject, fetched?: JsonObject) =>
  compileCard(manifest, fetched).profile.openIdConnectUrls

describe('the policy for tasks', () => {
  it.each<[string, string, JsonObject]>([
    ['owner', 'a secret of the host', { upstream: { secret: 'WEATHER_TOKEN' } }],
    ['owner', 'a service binding', { upstream: { service: 'WEATHER' } }],
    ['shared', 'credentials of the callers', {}],
    ['shared', 'gate.tasks: shared', { upstream: { secret: 'WEATHER_TOKEN' }, gate: { tasks: 'shared' } }],
    ['owner', 'gate.tasks: owner', { gate: { tasks: 'owner' } }],
  ])('is %s with %s', (policy, _, manifest) => {
    expect(compileCard({ card, ...manifest }).profile.tasks).toBe(policy)
  })

  it('is shared for the tools of an MCP server, because the bridge separates callers', () => {
    const tools = {
      tools: [{ name: 't', description: 'T', inputSchema: { type: 'object' } }],
      name: 'T',
      description: 'D',
    }
    const manifest = { upstream: { mcp: 'https://mcp.example/mcp', secret: 'MCP_TOKEN' }, gate: { tasks: 'owner' } }
    expect(compileCard(manifest, tools).profile.tasks).toBe('shared')
  })
})

describe('the name of an API key', () => {
  const key = (name: string, place = 'header') => ({
    ...card,
    securitySchemes: { k: { type: 'apiKey', in: place, name } },
  })
  const message = 'is not a name that an HTTP header can have: use letters, digits and hyphens, such as "X-API-Key"'

  it('must be one that a header can have, in each form of the scheme', () => {
    for (const name of ['x y', 'X-Key:', 'X-Schlüssel', '"X-Key"', ' X-Key'])
      expect([name, getCompileErrors({ card: key(name) })]).toEqual([
        name,
        [{ pointer: '/card/securitySchemes/k/name', message }],
      ])
    const wrapped = { k: { apiKeySecurityScheme: { location: 'header', name: 'x y' } } }
    expect(getCompileErrors({ card: { ...card, securitySchemes: wrapped } })).toEqual([
      { pointer: '/card/securitySchemes/k/apiKeySecurityScheme/name', message },
    ])
  })

  it('may be any other token of HTTP, and anything in a query or cookie', () => {
    const headers = ['yo-api', "X_Key.!#$%&'*+^`|~"].map(name => compileCard({ card: key(name) }).profile.apiKeyHeaders)
    expect(headers).toEqual([['yo-api'], ["x_key.!#$%&'*+^`|~"]])
    for (const place of ['query', 'cookie'])
      expect(compileCard({ card: key('api key', place) }).profile.apiKeyHeaders).toEqual([])
  })
})

describe('the level of the bridge', () => {
  it.each<[string, string, JsonObject]>([
    ['all', 'a gateway', { route: 'gateway' }],
    ['versions', 'a gateway with that level', { route: 'gateway', bridge: 'versions' }],
    ['off', 'an agent whose card has its own addresses', { route: 'direct', bridge: 'all' }],
    ['all', 'a closed agent, so that every client reads that it is closed', { route: 'closed' }],
    ['off', 'a closed agent with that level', { route: 'closed', bridge: 'off' }],
  ])('is %s for %s', (level, _, manifest) => {
    expect(compileCard({ card, ...manifest }).profile.bridge).toBe(level)
  })
})

describe('the OpenID Connect issuers whose tokens are accepted', () => {
  it.each<[string, JsonObject, JsonObject | undefined]>([
    ['a card in the manifest', { card }, undefined],
    [
      'a manifest that repeats the scheme of the fetched card',
      { upstream, card: { securitySchemes: { login } } },
      card,
    ],
    [
      'a manifest that repeats only the URL of the fetched card',
      { upstream, card: { securitySchemes: { login: { openIdConnectUrl } } } },
      card,
    ],
    [
      'a manifest that repeats the scheme in the format of A2A 1.0',
      { upstream, card: { securitySchemes: { login: { openIdConnectSecurityScheme: { openIdConnectUrl } } } } },
      card,
    ],
  ])('include the issuer of %s', (_, manifest, fetched) => {
    expect(compileIssuers(manifest, fetched)).toStrictEqual([openIdConnectUrl])
  })

  it.each<[string, JsonObject]>([
    ['without a card in the manifest', {}],
    [
      'where the manifest declares other schemes',
      { card: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'K' } } } },
    ],
    [
      'where the manifest declares only the type of the scheme',
      { card: { securitySchemes: { login: { type: 'openIdConnect' } } } },
    ],
    ['where the manifest has the URL in another field', { card: { documentationUrl: openIdConnectUrl } }],
  ])('exclude the issuer of a fetched card %s', (_, manifest) => {
    expect(compileIssuers({ upstream, ...manifest }, card)).toStrictEqual([])
  })

  it('exclude an issuer that the fetched card puts in place of the one in the manifest', () => {
    const other = { ...card, securitySchemes: { other: { ...login, openIdConnectUrl: 'https://evil.example/x' } } }
    expect(compileIssuers({ upstream, card: { securitySchemes: { login } } }, other)).toStrictEqual([openIdConnectUrl])
  })

  it('are required where the manifest has `jwt`', () => {
    expect(getCompileErrors({ upstream, jwt: { audience: 'a' } }, card)).toStrictEqual([
      {
        pointer: '/jwt',
        message:
          'needs an OpenID Connect issuer that the manifest names: add one to the securitySchemes of `card` (a fetched card cannot)',
      },
    ])
  })
})
