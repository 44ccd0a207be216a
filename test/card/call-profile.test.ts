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
  it('is `owner` where the host has a credential, unless the manifest decides', () => {
    const rows: [manifest: JsonObject, tasks: string][] = [
      [{ upstream: { secret: 'WEATHER_TOKEN' } }, 'owner'],
      [{ upstream: { service: 'WEATHER' } }, 'owner'],
      [{}, 'shared'],
      [{ upstream: { secret: 'WEATHER_TOKEN' }, gate: { tasks: 'shared' } }, 'shared'],
      [{ gate: { tasks: 'owner' } }, 'owner'],
    ]
    expect(rows.map(([manifest]) => [manifest, compileCard({ card, ...manifest }).profile.tasks])).toEqual(rows)
  })

  it('is shared for the tools of an MCP server, because the bridge separates callers', () => {
    const tool = { name: 't', description: 'T', inputSchema: { type: 'object' } }
    const tools = { tools: [tool], name: 'T', description: 'D' }
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
    for (const name of ['x y', 'X-Schlüssel'])
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

it('the level of the bridge depends on the route and on `bridge`', () => {
  const rows: [manifest: JsonObject, level: string][] = [
    [{ route: 'gateway' }, 'all'],
    [{ route: 'gateway', bridge: 'versions' }, 'versions'],
    [{ route: 'direct', bridge: 'all' }, 'off'],
    // Every client reads that the agent is closed.
    [{ route: 'closed' }, 'all'],
    [{ route: 'closed', bridge: 'off' }, 'off'],
  ]
  expect(rows.map(([manifest]) => [manifest, compileCard({ card, ...manifest }).profile.bridge])).toEqual(rows)
})

describe('the OpenID Connect issuers whose tokens are accepted', () => {
  it('are those that the manifest names, also where it repeats those of a fetched card', () => {
    expect(compileIssuers({ card })).toStrictEqual([openIdConnectUrl])
    for (const scheme of [login, { openIdConnectUrl }, { openIdConnectSecurityScheme: { openIdConnectUrl } }])
      expect(compileIssuers({ upstream, card: { securitySchemes: { login: scheme } } }, card)).toEqual([
        openIdConnectUrl,
      ])
  })

  it('exclude the issuer of a fetched card that the manifest does not name as one', () => {
    const manifests: JsonObject[] = [
      {},
      { card: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'K' } } } },
      { card: { securitySchemes: { login: { type: 'openIdConnect' } } } },
      { card: { documentationUrl: openIdConnectUrl } },
    ]
    for (const manifest of manifests) expect(compileIssuers({ upstream, ...manifest }, card)).toStrictEqual([])
  })

  it('exclude an issuer that the fetched card puts in place of the one in the manifest', () => {
    const other = { ...card, securitySchemes: { other: { ...login, openIdConnectUrl: 'https://evil.example/x' } } }
    expect(compileIssuers({ upstream, card: { securitySchemes: { login } } }, other)).toStrictEqual([openIdConnectUrl])
  })

  it('are required where the manifest has `jwt`', () => {
    expect(getCompileErrors({ upstream, jwt: { audience: 'a' } }, card)).toStrictEqual([
      {
        pointer: '/jwt',
        message: 'needs an OpenID Connect issuer that the manifest names: add one to the securitySchemes of `card`',
      },
    ])
  })
})
