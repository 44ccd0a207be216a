import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { findWidenings } from '../../../src/card/diff/widening.ts'
import { isJsonObject, type Json, type JsonObject, jsonEntries } from '../../../src/json/json.ts'
import { compileCard } from '../../support/cards/compile.ts'
import { authoredCard, numRuns } from '../../support/cards/generated.ts'

const url = 'https://a.example/a2a'
const oidc = { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/openid' }
const bearer = { type: 'http', scheme: 'bearer' }
const key = { type: 'apiKey', name: 'X-Key', in: 'header' }
const flow = { tokenUrl: 'https://id.example/token', scopes: {} }
const base = {
  name: 'A',
  description: 'B',
  url,
  protocolVersion: '0.3.0',
  securitySchemes: { bearer, key },
  security: [{ bearer: ['read'], key: [] }],
  skills: [{ id: 's', name: 'S', description: 'D', tags: ['t'] }],
}
const own = (security: Json[] | undefined) => ({ skills: [{ ...base.skills[0], ...(security && { security }) }] })

const tenant = (name: string) => ({
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: name }],
  protocolVersion: undefined,
  url: undefined,
})

const cardOf = (fields: object) => compileCard({ ...base, ...fields } as JsonObject).direct
const widens = (before: object, after: object): string[] =>
  findWidenings(cardOf(before), cardOf(after)).map(({ pointer, message }) => `${pointer} ${message}`)

describe('a card widens access', () => {
  it.each<[string, object, object, string[]]>([
    [
      'by a new host for calls',
      {},
      { url: 'https://b.example/a2a' },
      ['/supportedInterfaces/0/url sends calls to a new address: https://b.example/a2a'],
    ],
    [
      'by another host besides',
      {},
      { additionalInterfaces: [{ url: 'https://a.example:8443', transport: 'GRPC' }] },
      ['/supportedInterfaces/1/url sends calls to a new address: https://a.example:8443/'],
    ],
    [
      'by giving up encryption',
      {},
      { url: 'http://a.example/a2a' },
      ['/supportedInterfaces/0/url sends calls to a new address: http://a.example/a2a'],
    ],
    [
      'by asking for nothing',
      {},
      { security: [] },
      ['/securityRequirements lets callers in without credentials, which were required'],
    ],
    [
      'by an alternative that is empty',
      {},
      { security: [{ bearer: ['read'], key: [] }, {}] },
      ['/securityRequirements lets callers in without credentials, which were required'],
    ],
    [
      'by asking for fewer schemes',
      {},
      { security: [{ bearer: ['read'] }] },
      ['/securityRequirements/0 lets callers in with bearer (read), which was not enough'],
    ],
    [
      'by asking for fewer scopes',
      {},
      { security: [{ bearer: [], key: [] }] },
      ['/securityRequirements/0 lets callers in with bearer and key, which was not enough'],
    ],
    [
      'by an alternative of another kind',
      {},
      { security: [{ bearer: ['read'], key: [] }, { key: [] }] },
      ['/securityRequirements/1 lets callers in with key, which was not enough'],
    ],
    [
      'by a skill that asked for more and asks no longer',
      own([{ bearer: ['admin'], key: [] }]),
      own(undefined),
      ['/skills/0/securityRequirements/0 lets callers in with bearer (read) and key, which was not enough'],
    ],
    [
      'by a skill that asks for less than its card',
      own(undefined),
      own([{ key: [] }]),
      ['/skills/0/securityRequirements/0 lets callers in with key, which was not enough'],
    ],
    [
      'by a new skill that asks for nothing',
      {},
      { skills: [...base.skills, { id: 'n', name: 'N', security: [{}] }] },
      ['/skills/1/securityRequirements lets callers in without credentials, which were required'],
    ],
    ['by a scheme that is gone', {}, { securitySchemes: { bearer } }, ['/securitySchemes/key is removed']],
    [
      'by a weaker scheme',
      {},
      { securitySchemes: { bearer: { type: 'http', scheme: 'basic' }, key: { ...key, in: 'query' } } },
      [
        '/securitySchemes/bearer is another HTTP authentication scheme, which is weaker than before: a bearer token',
        '/securitySchemes/key is an API key in the URL, which is weaker than before: an API key',
      ],
    ],
    [
      'by a weaker flow',
      { securitySchemes: { o: { type: 'oauth2', flows: { clientCredentials: flow } } }, security: [] },
      { securitySchemes: { o: { type: 'oauth2', flows: { password: flow } } }, security: [] },
      ['/securitySchemes/o is OAuth with a deprecated flow, which is weaker than before: OAuth'],
    ],
    [
      'by another path of a host',
      {},
      { url: 'https://a.example/other?x=1' },
      ['/supportedInterfaces/0/url sends calls to a new address: https://a.example/other?x=1'],
    ],
    [
      'by another tenant of an endpoint',
      tenant('one'),
      tenant('two'),
      ['/supportedInterfaces/0/url sends calls to a new address: https://a.example/a2a for the tenant "two"'],
    ],
    [
      'by an extension that callers need no longer name',
      { capabilities: { extensions: [{ uri: 'urn:signed', required: true }, { uri: 'urn:x' }] } },
      { capabilities: { extensions: [{ uri: 'urn:signed' }] } },
      ['/capabilities/extensions no longer requires the extension urn:signed'],
    ],
    [
      "by a header more that is taken of callers, whatever the scheme's name",
      {},
      { securitySchemes: { bearer, key, z: { ...key, name: 'X-Session' } } },
      [
        "/securitySchemes/z/apiKeySecurityScheme/name forwards the callers' header X-Session to the agent, which was not forwarded before",
      ],
    ],
    [
      'by another issuer on the same host',
      { securitySchemes: { oidc }, security: [] },
      { securitySchemes: { oidc: { ...oidc, openIdConnectUrl: 'https://id.example/evil' } }, security: [] },
      [
        '/securitySchemes/oidc/openIdConnectSecurityScheme/openIdConnectUrl sends credentials to a new address: https://id.example/evil',
      ],
    ],
    [
      'by a second issuer on the same host',
      { securitySchemes: { oidc }, security: [] },
      { securitySchemes: { oidc, also: { ...oidc, openIdConnectUrl: 'https://id.example/evil' } }, security: [] },
      [
        '/securitySchemes/also/openIdConnectSecurityScheme/openIdConnectUrl sends credentials to a new address: https://id.example/evil',
      ],
    ],
    [
      'by an issuer that was the place of a token only',
      { securitySchemes: { o: { type: 'oauth2', flows: { clientCredentials: flow } } }, security: [] },
      {
        securitySchemes: {
          o: { type: 'oauth2', flows: { clientCredentials: flow } },
          oidc: { ...oidc, openIdConnectUrl: flow.tokenUrl },
        },
        security: [],
      },
      [
        '/securitySchemes/oidc/openIdConnectSecurityScheme/openIdConnectUrl sends credentials to a new address: https://id.example/token',
      ],
    ],
    [
      'by a new skill that asks for less than one that is gone',
      own([{ bearer: ['admin'], key: [] }]),
      { skills: [{ id: 'pay2', name: 'Pay', description: 'D', tags: ['t'] }] },
      ['/skills/0/securityRequirements/0 lets callers in with bearer (read) and key, which was not enough'],
    ],
    [
      'by another place for credentials',
      { securitySchemes: { oidc }, security: [] },
      { securitySchemes: { oidc: { ...oidc, openIdConnectUrl: 'https://evil.example/openid' } }, security: [] },
      [
        '/securitySchemes/oidc/openIdConnectSecurityScheme/openIdConnectUrl sends credentials to a new address: https://evil.example/openid',
      ],
    ],
    [
      'by a place for credentials where there was none',
      { security: [] },
      { securitySchemes: { bearer, key, oidc }, security: [] },
      [
        '/securitySchemes/oidc/openIdConnectSecurityScheme/openIdConnectUrl sends credentials to a new address: https://id.example/openid',
      ],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(widens(before, after)).toStrictEqual(expected)
  })

  it.each<[string, object, object]>([
    ['encryption', { url: 'http://a.example/a2a' }, {}],
    ['an endpoint less', { additionalInterfaces: [{ url: 'https://b.example', transport: 'GRPC' }] }, {}],
    ['more schemes', { security: [{ key: [] }] }, {}],
    ['more scopes', {}, { security: [{ bearer: ['write', 'read'], key: [] }] }],
    ['security where there was none', { security: [] }, {}],
    ['an alternative less', { security: [{ bearer: ['read'], key: [] }, { key: [] }] }, {}],
    ['a skill less, or more', {}, { skills: [{ id: 'n', name: 'N' }] }],
    ['a skill that asks for more', {}, own([{ bearer: ['read', 'admin'], key: [] }])],
    ['a stronger scheme', {}, { securitySchemes: { bearer: { type: 'mutualTLS' }, key: bearer } }],
    ['an endpoint in another spelling', {}, { url: 'HTTPS://A.example:443/x/../a2a#top' }],
    [
      'an issuer under another name besides',
      { securitySchemes: { oidc }, security: [] },
      { securitySchemes: { oidc, login: oidc }, security: [] },
    ],
    ['a header in other letters', {}, { securitySchemes: { bearer, key: { ...key, name: 'x-key' } } }],
    ['an extension that callers must name', {}, { capabilities: { extensions: [{ uri: 'urn:x', required: true }] } }],
    [
      'a skill under another name that asks for as much',
      own([{ bearer: ['admin'], key: [] }]),
      { skills: [{ id: 'n', name: 'N', security: [{ bearer: ['admin', 'read'], key: [] }] }] },
    ],
    ['other words', {}, { name: 'Z', description: 'Z', version: '9', provider: 'Z' }],
  ])('not by %s', (_, before, after) => {
    expect(widens(before, after)).toStrictEqual([])
  })
})

/** A copy with the members of every object in the opposite order, and every list that is a set of alternatives too. */
const reversed = (value: Json, name = ''): Json => {
  const unordered = /^(?:skills|security|securityRequirements)$/.test(name)
  if (Array.isArray(value))
    return unordered ? value.map(item => reversed(item)).toReversed() : value.map(item => reversed(item))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    jsonEntries(value)
      .toReversed()
      .map(([member, inner]) => [member, reversed(inner, member)]),
  )
}

const directOf = (card: JsonObject) => {
  const result = compile(card, { id: 'a', requestOrigin: 'https://h.example' })
  return 'errors' in result ? undefined : result.compiled.direct
}

describe('whatever the card', () => {
  it('it widens nothing beside itself, in whatever order', () => {
    let compared = 0
    fc.assert(
      fc.property(authoredCard, generated => {
        const authored: JsonObject = JSON.parse(JSON.stringify(generated))
        const [card, other] = [directOf(authored), directOf(reversed(authored) as JsonObject)]
        if (!card || !other) return
        compared++
        expect([
          findWidenings(card, card),
          findWidenings(card, { ...card, ...(reversed(card as Json) as object) }),
        ]).toStrictEqual([[], []])
      }),
    )
    expect(compared).toBeGreaterThan(numRuns / 6)
  })

  it('what a card asks for is never less than what it asks for with an alternative less', () => {
    const names = fc.constantFrom('a', 'b', 'c')
    const scopes = fc.uniqueArray(fc.constantFrom('x', 'y'), { maxLength: 2 })
    const alternative = fc.dictionary(names, scopes, { minKeys: 1 })
    const securitySchemes = { a: bearer, b: bearer, c: bearer }
    fc.assert(
      fc.property(fc.array(alternative, { minLength: 2, maxLength: 4 }), security => {
        expect(widens({ securitySchemes, security }, { securitySchemes, security: security.slice(1) })).toStrictEqual(
          [],
        )
      }),
    )
  })
})
