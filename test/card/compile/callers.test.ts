import { describe, expect, it } from 'vitest'
import type { CallProfile } from '../../../src/card/call-profile.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'

const card: JsonObject = {
  name: 'Weather',
  description: 'Forecasts',
  url: 'https://agent.example/a2a',
  version: '1.0.0',
}
const openId = { type: 'openIdConnect', openIdConnectUrl: 'https://login.example/.well-known/openid-configuration' }
const withIssuer: JsonObject = { ...card, securitySchemes: { login: openId } }
const secret = { secret: 'WEATHER_TOKEN' }
const service = { service: 'WEATHER' }
const mcp = { mcp: 'https://mcp.example/mcp' }
const jwt = { audience: 'weather' }

describe('who may call an agent', () => {
  it.each<[title: string, manifest: JsonObject, callers: CallProfile['callers'], fetched?: JsonObject]>([
    ['no credential of the host', { card }, 'anyone'],
    ['an issuer, and no credential of the host', { card: withIssuer, jwt }, 'anyone'],
    ['a secret', { card, upstream: secret }, 'tokens'],
    ['a secret, and an extended card', { card, upstream: secret, extended: { description: 'More' } }, 'tokens'],
    ['a service binding', { card, upstream: service }, 'tokens'],
    ['a secret, and an issuer without an audience', { card: withIssuer, upstream: secret }, 'tokens'],
    ['a secret, and an issuer with an audience', { card: withIssuer, upstream: secret, jwt }, 'issuer'],
    [
      'an MCP server with a secret',
      { upstream: { ...mcp, ...secret } },
      'tokens',
      { name: 'Tools', description: 'Tools' },
    ],
    ['an MCP server without a secret', { upstream: mcp }, 'anyone', { name: 'Tools', description: 'Tools' }],
    ['its own decision', { card, upstream: secret, callers: 'anyone' }, 'anyone'],
    ['its own decision, without a secret', { card, callers: 'tokens' }, 'tokens'],
  ])('of a manifest with %s', (_, manifest, callers, fetched) => {
    expect(compileCard(manifest, fetched).profile.callers).toBe(callers)
  })

  it.each([
    [{ card, upstream: secret }, 'set to tokens: this host adds a credential of its own to each call'],
    [{ card: withIssuer, upstream: secret, jwt }, 'set to issuer: this host adds a credential of its own to each call'],
    [{ card, upstream: secret, callers: 'tokens' }, undefined],
    [{ card }, undefined],
  ])('is noted in the report where it is a default: %j', (manifest, message) => {
    const note = compileCard(manifest).report.filled.find(({ pointer }) => pointer === '/callers')
    expect(note?.message.slice(0, message?.length)).toBe(message)
  })

  it.each<[manifest: JsonObject, message: string]>([
    [{ card: withIssuer, callers: 'issuer' }, 'needs `jwt.audience`'],
    [{ card: withIssuer, callers: 'issuer', jwt: {} }, 'needs `jwt.audience`'],
    [{ card, callers: 'everyone' }, 'must be anyone, tokens or issuer'],
    [
      {
        card: { ...card, securitySchemes: { key: { type: 'http', scheme: 'bearer' } }, security: [{ key: [] }] },
        upstream: secret,
        callers: 'anyone',
      },
      'is "anyone", but the card requires credentials that nobody would check',
    ],
  ])('is rejected: %j', (manifest, message) => {
    expect(getCompileErrors(manifest)).toEqual([{ pointer: '/callers', message: expect.stringContaining(message) }])
  })

  it.each(['direct', 'gateway', 'closed'])('is a warning with `route: direct`, but not with another: %s', route => {
    const { issues } = compileCard({ card, upstream: secret, route }).report
    const found = issues.filter(({ rule }) => rule === 'callers-unchecked')
    expect(found.map(({ severity, pointer }) => [severity, pointer])).toEqual(
      route === 'direct' ? [['warning', '/url']] : [],
    )
  })
})

const bearer = { httpAuthSecurityScheme: { scheme: 'bearer' } }
const hostToken = {
  httpAuthSecurityScheme: { scheme: 'bearer', description: 'A token of this host with the scope call' },
}
const requires = (...names: string[]) => ({
  schemes: Object.fromEntries(names.map(name => [name, { list: [] as string[] }])),
})

describe('the served card of a gateway whose callers need a token', () => {
  const serve = (card: JsonObject, more: JsonObject = {}) => {
    const { documents } = compileCard({ card, route: 'gateway', upstream: secret, ...more })
    return documents
  }

  it.each<[title: string, members: JsonObject, schemes: Json, requirements: Json, more?: JsonObject]>([
    ['nothing', {}, { bearer: hostToken }, [requires('bearer')]],
    [
      'a bearer scheme that is not required',
      { securitySchemes: { token: { type: 'http', scheme: 'Bearer' } } },
      { token: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
      [requires('token')],
    ],
    [
      'an API key, and access without it',
      { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } }, security: [{}] },
      { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
      [requires('key')],
    ],
    [
      'a scheme that this host cannot check',
      { securitySchemes: { basic: { type: 'http', scheme: 'basic' } }, security: [{ basic: [] }] },
      { basic: { httpAuthSecurityScheme: { scheme: 'basic' } }, bearer: hostToken },
      [requires('basic'), requires('bearer')],
    ],
    [
      'such a scheme with the name "bearer"',
      { securitySchemes: { bearer: openId } },
      { bearer: { openIdConnectSecurityScheme: { openIdConnectUrl: openId.openIdConnectUrl } }, hostToken },
      [requires('hostToken')],
    ],
    [
      'the same in the form of A2A 1.0',
      { protocolVersion: undefined as unknown as Json, securitySchemes: { b: bearer }, securityRequirements: [] },
      { b: bearer },
      [requires('b')],
    ],
    ['a list of names', { authentication: { schemes: ['bearer'] } }, { bearer }, [requires('bearer')]],
    [
      'a scheme that is listed and not read',
      { authentication: { schemes: ['basic'] } },
      { bearer: hostToken },
      [requires('bearer')],
    ],
    [
      'an issuer',
      { securitySchemes: { login: openId } },
      { login: { openIdConnectSecurityScheme: { openIdConnectUrl: openId.openIdConnectUrl } } },
      [requires('login')],
      { jwt },
    ],
    [
      'an extended card',
      {},
      { bearer },
      [requires('bearer')],
      { extended: { skills: [{ id: 'more', name: 'More', description: 'Even more', tags: ['more'] }] } },
    ],
  ])('declares what they need if its author declares %s', (_, members, schemes, requirements, more) => {
    const documents = serve(JSON.parse(JSON.stringify({ ...card, ...members })), more)
    const { securitySchemes, securityRequirements } = documents['1.0']
    expect({ securitySchemes, securityRequirements }).toEqual({
      securitySchemes: schemes,
      securityRequirements: requirements,
    })
    const security = requirements as ReturnType<typeof requires>[]
    for (const name of ['agent-card.json', '0.3', 'gopherhole'] as const)
      expect([name, documents[name].security]).toEqual([
        name,
        security.map(({ schemes }) => Object.fromEntries(Object.keys(schemes).map(scheme => [scheme, []]))),
      ])
  })

  it.each<[string, JsonObject]>([
    ['with `callers: anyone`', { callers: 'anyone' }],
    ['with `route: direct`, where clients call the agent itself', { route: 'direct' }],
    ['with `route: closed`', { route: 'closed' }],
  ])('declares nothing %s', (_, more) => {
    const { securitySchemes, securityRequirements } = serve(card, more)['1.0']
    expect([securitySchemes, securityRequirements]).toEqual([undefined, undefined])
  })

  it('is the card of an MCP server, too', () => {
    const { documents } = compileCard(
      { upstream: { ...mcp, ...secret } },
      {
        name: 'Tools',
        description: 'Tools',
        tools: [{ name: 'search', description: 'Finds documents', inputSchema: { type: 'object' } }],
      },
    )
    expect(documents['1.0'].securityRequirements).toEqual([requires('bearer')])
  })

  it('is reported', () => {
    const { report } = compileCard({ card, route: 'gateway', upstream: secret })
    expect(report.filled.filter(({ pointer }) => pointer.includes('security'))).toEqual([
      { pointer: '/securitySchemes/bearer', message: 'set to a bearer scheme: callers need a token of this host' },
      { pointer: '/securityRequirements', message: 'with {"bearer":[]} added: callers need a token of this host' },
    ])
  })
})
