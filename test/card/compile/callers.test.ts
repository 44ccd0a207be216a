import { describe, expect, it } from 'vitest'
import type { CallProfile } from '../../../src/card/call-profile.ts'
import type { JsonObject } from '../../../src/json/json.ts'
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
  it('depends on the credentials of the host, and on the issuer', () => {
    const tools = { name: 'Tools', description: 'Tools' }
    const rows: [manifest: JsonObject, callers: CallProfile['callers'], fetched?: JsonObject][] = [
      [{ card }, 'anyone'],
      [{ card: withIssuer, jwt }, 'anyone'],
      [{ card, upstream: secret }, 'tokens'],
      [{ card, upstream: service }, 'tokens'],
      // An issuer without an audience, and with one.
      [{ card: withIssuer, upstream: secret }, 'tokens'],
      [{ card: withIssuer, upstream: secret, jwt }, 'issuer'],
      [{ upstream: { ...mcp, ...secret } }, 'tokens', tools],
      [{ upstream: mcp }, 'anyone', tools],
      // The decision of its owner.
      [{ card, upstream: secret, callers: 'anyone' }, 'anyone'],
      [{ card, callers: 'tokens' }, 'tokens'],
    ]
    for (const [manifest, callers, fetched] of rows)
      expect([manifest, compileCard(manifest, fetched).profile.callers]).toEqual([manifest, callers])
  })

  it('is noted in the report where it is a default', () => {
    const findNote = (manifest: JsonObject) =>
      compileCard(manifest).report.filled.find(({ pointer }) => pointer === '/callers')?.message
    const reason = 'this host adds a credential of its own to each call'
    expect(findNote({ card, upstream: secret })).toMatch(`set to tokens: ${reason}`)
    expect(findNote({ card: withIssuer, upstream: secret, jwt })).toMatch(`set to issuer: ${reason}`)
    expect([findNote({ card, upstream: secret, callers: 'tokens' }), findNote({ card })]).toEqual([
      undefined,
      undefined,
    ])
  })

  it('is rejected where it would admit every account of an issuer, or contradicts the card', () => {
    const required = { ...card, securitySchemes: { key: { type: 'http', scheme: 'bearer' } }, security: [{ key: [] }] }
    const rows: [manifest: JsonObject, message: string][] = [
      [{ card: withIssuer, callers: 'issuer', jwt: {} }, 'needs `jwt.audience`'],
      [{ card, callers: 'everyone' }, 'must be anyone, tokens or issuer'],
      [
        { card: required, upstream: secret, callers: 'anyone' },
        'is "anyone", but the card requires credentials that nobody would check',
      ],
    ]
    for (const [manifest, message] of rows)
      expect(getCompileErrors(manifest)).toEqual([{ pointer: '/callers', message: expect.stringContaining(message) }])
  })

  it('is a warning with `route: direct`, but not with another', () => {
    const found = ['direct', 'gateway', 'closed'].map(route =>
      compileCard({ card, upstream: secret, route }).report.issues.filter(({ rule }) => rule === 'callers-unchecked'),
    )
    expect(found).toMatchObject([[{ severity: 'warning', pointer: '/url' }], [], []])
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

  it('declares what they need, beside what its author declares', () => {
    const openIdScheme = { openIdConnectSecurityScheme: { openIdConnectUrl: openId.openIdConnectUrl } }
    const basic = { httpAuthSecurityScheme: { scheme: 'basic' } }
    const key = { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } }
    const skill = { id: 'more', name: 'More', description: 'Even more', tags: ['more'] }
    const v1 = { securitySchemes: { b: bearer }, securityRequirements: [] }
    const rows: [members: JsonObject, schemes: JsonObject, required: string[], more?: JsonObject][] = [
      [{}, { bearer: hostToken }, ['bearer']],
      [
        { securitySchemes: { token: { type: 'http', scheme: 'Bearer' } } },
        { token: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
        ['token'],
      ],
      [{ securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } }, security: [{}] }, { key }, ['key']],
      // A scheme that this host cannot check, also with the name of its own.
      [
        { securitySchemes: { basic: { type: 'http', scheme: 'basic' } }, security: [{ basic: [] }] },
        { basic, bearer: hostToken },
        ['basic', 'bearer'],
      ],
      [{ securitySchemes: { bearer: openId } }, { bearer: openIdScheme, hostToken }, ['hostToken']],
      [v1, { b: bearer }, ['b']],
      [{ authentication: { schemes: ['bearer'] } }, { bearer }, ['bearer']],
      [{ authentication: { schemes: ['basic'] } }, { bearer: hostToken }, ['bearer']],
      [{ securitySchemes: { login: openId } }, { login: openIdScheme }, ['login'], { jwt }],
      [{}, { bearer }, ['bearer'], { extended: { skills: [skill] } }],
    ]
    for (const [members, securitySchemes, required, more] of rows) {
      const documents = serve({ ...card, ...members }, more)
      const securityRequirements = required.map(name => requires(name))
      expect(documents['1.0']).toMatchObject({ securitySchemes, securityRequirements })
      expect(Object.keys(documents['1.0'].securitySchemes as JsonObject)).toEqual(Object.keys(securitySchemes))
      for (const name of ['agent-card.json', '0.3', 'gopherhole'] as const)
        expect([name, documents[name].security]).toEqual([name, required.map(scheme => ({ [scheme]: [] }))])
    }
  })

  it('declares nothing where they need none, or do not call this host', () => {
    for (const more of [{ callers: 'anyone' }, { route: 'direct' }, { route: 'closed' }]) {
      const { securitySchemes, securityRequirements } = serve(card, more)['1.0']
      expect([securitySchemes, securityRequirements]).toEqual([undefined, undefined])
    }
  })

  it('is reported', () => {
    const { report } = compileCard({ card, route: 'gateway', upstream: secret })
    expect(report.filled.filter(({ pointer }) => pointer.includes('security'))).toEqual([
      { pointer: '/securitySchemes/bearer', message: 'set to a bearer scheme: callers need a token of this host' },
      { pointer: '/securityRequirements', message: 'with {"bearer":[]} added: callers need a token of this host' },
    ])
  })
})
