import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { findWidenings } from '../../../src/card/diff/widening.ts'
import { isJsonObject, type Json, type JsonObject, jsonEntries } from '../../../src/json/json.ts'
import { compileCard, registration } from '../../support/cards/compile.ts'
import { authoredCard, numRuns } from '../../support/cards/generated.ts'
import { doubled, growthWhenDoubled, isFasterThan } from '../../support/cpu-time.ts'

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
const withSkillSecurity = (security: Json[] | undefined) => ({
  skills: [{ ...base.skills[0], ...(security && { security }) }],
})

const withTenant = (tenant: string) => ({
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant }],
  protocolVersion: undefined,
  url: undefined,
})

const compileDirect = (fields: object) => compileCard({ ...base, ...fields } as JsonObject).direct
const listWidenings = (before: object, after: object): string[] =>
  findWidenings(compileDirect(before), compileDirect(after)).map(({ pointer, message }) => `${pointer} ${message}`)

describe('findWidenings', () => {
  it.each<[string, object, object, string[]]>([
    [
      'a new host for calls',
      {},
      { url: 'https://b.example/a2a' },
      ['/supportedInterfaces/0/url sends calls to a new address: https://b.example/a2a'],
    ],
    [
      'an additional host for calls',
      {},
      { additionalInterfaces: [{ url: 'https://a.example:8443', transport: 'GRPC' }] },
      ['/supportedInterfaces/1/url sends calls to a new address: https://a.example:8443/'],
    ],
    [
      'a change from https to http',
      {},
      { url: 'http://a.example/a2a' },
      ['/supportedInterfaces/0/url sends calls to a new address: http://a.example/a2a'],
    ],
    [
      'another binding at a known address',
      {},
      { additionalInterfaces: [{ url, transport: 'HTTP+JSON' }] },
      ['/supportedInterfaces/1/url sends calls to https://a.example/a2a in a new way: HTTP+JSON 0.3'],
    ],
    [
      'another version at a known address',
      {},
      { supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] },
      ['/supportedInterfaces/0/url sends calls to https://a.example/a2a in a new way: JSONRPC 1.0'],
    ],
    [
      'new capabilities',
      { capabilities: { streaming: false, pushNotifications: false } },
      { capabilities: { streaming: true, pushNotifications: true } },
      [
        '/capabilities/streaming is new: the agent receives calls that were refused',
        '/capabilities/pushNotifications is new: the agent receives calls that were refused',
      ],
    ],
    [
      'an empty list of requirements',
      {},
      { security: [] },
      ['/securityRequirements lets callers in without credentials, which were required'],
    ],
    [
      'an empty alternative',
      {},
      { security: [{ bearer: ['read'], key: [] }, {}] },
      ['/securityRequirements lets callers in without credentials, which were required'],
    ],
    [
      'a requirement with fewer schemes',
      {},
      { security: [{ bearer: ['read'] }] },
      ['/securityRequirements/0 lets callers in with bearer (read), which was not enough'],
    ],
    [
      'a requirement with fewer scopes',
      {},
      { security: [{ bearer: [], key: [] }] },
      ['/securityRequirements/0 lets callers in with bearer and key, which was not enough'],
    ],
    [
      'an alternative with fewer schemes',
      {},
      { security: [{ bearer: ['read'], key: [] }, { key: [] }] },
      ['/securityRequirements/1 lets callers in with key, which was not enough'],
    ],
    [
      'a skill without its former requirement',
      withSkillSecurity([{ bearer: ['admin'], key: [] }]),
      withSkillSecurity(undefined),
      ['/skills/0/securityRequirements/0 lets callers in with bearer (read) and key, which was not enough'],
    ],
    [
      'a skill that requires less than the card',
      withSkillSecurity(undefined),
      withSkillSecurity([{ key: [] }]),
      ['/skills/0/securityRequirements/0 lets callers in with key, which was not enough'],
    ],
    [
      'a new skill without a requirement',
      {},
      { skills: [...base.skills, { id: 'n', name: 'N', security: [{}] }] },
      ['/skills/1/securityRequirements lets callers in without credentials, which were required'],
    ],
    ['a removed scheme', {}, { securitySchemes: { bearer } }, ['/securitySchemes/key is removed']],
    [
      'a weaker scheme',
      {},
      { securitySchemes: { bearer: { type: 'http', scheme: 'basic' }, key: { ...key, in: 'query' } } },
      [
        '/securitySchemes/bearer is another HTTP authentication scheme, which is weaker than before: a bearer token',
        '/securitySchemes/key is an API key in the URL, which is weaker than before: an API key',
      ],
    ],
    [
      'a weaker flow',
      { securitySchemes: { o: { type: 'oauth2', flows: { clientCredentials: flow } } }, security: [] },
      { securitySchemes: { o: { type: 'oauth2', flows: { password: flow } } }, security: [] },
      ['/securitySchemes/o is OAuth with a deprecated flow, which is weaker than before: OAuth'],
    ],
    [
      'another path of a host',
      {},
      { url: 'https://a.example/other?x=1' },
      ['/supportedInterfaces/0/url sends calls to a new address: https://a.example/other?x=1'],
    ],
    [
      'another tenant of an endpoint',
      withTenant('one'),
      withTenant('two'),
      ['/supportedInterfaces/0/url sends calls to a new address: https://a.example/a2a for the tenant "two"'],
    ],
    [
      'an extension that is no longer required',
      { capabilities: { extensions: [{ uri: 'urn:signed', required: true }, { uri: 'urn:x' }] } },
      { capabilities: { extensions: [{ uri: 'urn:signed' }] } },
      ['/capabilities/extensions no longer requires the extension urn:signed'],
    ],
    [
      'an additional API key header, under any name of a scheme',
      {},
      { securitySchemes: { bearer, key, z: { ...key, name: 'X-Session' } } },
      [
        "/securitySchemes/z/apiKeySecurityScheme/name forwards the callers' header X-Session to the agent, which was not forwarded before",
      ],
    ],
    [
      'another issuer on the same host',
      { securitySchemes: { oidc }, security: [] },
      { securitySchemes: { oidc: { ...oidc, openIdConnectUrl: 'https://id.example/evil' } }, security: [] },
      [
        '/securitySchemes/oidc/openIdConnectSecurityScheme/openIdConnectUrl sends credentials to a new address: https://id.example/evil',
      ],
    ],
    [
      'a second issuer on the same host',
      { securitySchemes: { oidc }, security: [] },
      { securitySchemes: { oidc, also: { ...oidc, openIdConnectUrl: 'https://id.example/evil' } }, security: [] },
      [
        '/securitySchemes/also/openIdConnectSecurityScheme/openIdConnectUrl sends credentials to a new address: https://id.example/evil',
      ],
    ],
    [
      'an issuer whose URL was only a token endpoint',
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
      'a new skill that requires less than a removed one',
      withSkillSecurity([{ bearer: ['admin'], key: [] }]),
      { skills: [{ id: 'pay2', name: 'Pay', description: 'D', tags: ['t'] }] },
      ['/skills/0/securityRequirements/0 lets callers in with bearer (read) and key, which was not enough'],
    ],
    [
      'another host for credentials',
      { securitySchemes: { oidc }, security: [] },
      { securitySchemes: { oidc: { ...oidc, openIdConnectUrl: 'https://evil.example/openid' } }, security: [] },
      [
        '/securitySchemes/oidc/openIdConnectSecurityScheme/openIdConnectUrl sends credentials to a new address: https://evil.example/openid',
      ],
    ],
    [
      'a first URL for credentials',
      { security: [] },
      { securitySchemes: { bearer, key, oidc }, security: [] },
      [
        '/securitySchemes/oidc/openIdConnectSecurityScheme/openIdConnectUrl sends credentials to a new address: https://id.example/openid',
      ],
    ],
  ])('reports %s', (_, before, after, expected) => {
    expect(listWidenings(before, after)).toStrictEqual(expected)
  })

  it.each<[string, object, object]>([
    ['a change from http to https', { url: 'http://a.example/a2a' }, {}],
    ['a removed endpoint', { additionalInterfaces: [{ url: 'https://b.example', transport: 'GRPC' }] }, {}],
    ['a requirement with more schemes', { security: [{ key: [] }] }, {}],
    ['a requirement with more scopes', {}, { security: [{ bearer: ['write', 'read'], key: [] }] }],
    ['a first requirement', { security: [] }, {}],
    ['a removed alternative', { security: [{ bearer: ['read'], key: [] }, { key: [] }] }, {}],
    ['a removed or added skill', {}, { skills: [{ id: 'n', name: 'N' }] }],
    ['a skill that requires more', {}, withSkillSecurity([{ bearer: ['read', 'admin'], key: [] }])],
    ['a stronger scheme', {}, { securitySchemes: { bearer: { type: 'mutualTLS' }, key: bearer } }],
    ['an endpoint in another spelling', {}, { url: 'HTTPS://A.example:443/x/../a2a#top' }],
    [
      'a second scheme with the same issuer',
      { securitySchemes: { oidc }, security: [] },
      { securitySchemes: { oidc, login: oidc }, security: [] },
    ],
    ['a header in another case', {}, { securitySchemes: { bearer, key: { ...key, name: 'x-key' } } }],
    ['a required extension', {}, { capabilities: { extensions: [{ uri: 'urn:x', required: true }] } }],
    [
      'a renamed skill with the same requirement',
      withSkillSecurity([{ bearer: ['admin'], key: [] }]),
      { skills: [{ id: 'n', name: 'N', security: [{ bearer: ['admin', 'read'], key: [] }] }] },
    ],
    ['other texts', {}, { name: 'Z', description: 'Z', version: '9', provider: 'Z' }],
  ])('does not report %s', (_, before, after) => {
    expect(listWidenings(before, after)).toStrictEqual([])
  })
})

/** Returns a copy with the members of every object, and every list of alternatives, in reverse order. */
const reverseOrder = (value: Json, name = ''): Json => {
  const unordered = /^(?:skills|security|securityRequirements)$/.test(name)
  if (Array.isArray(value))
    return unordered ? value.map(item => reverseOrder(item)).toReversed() : value.map(item => reverseOrder(item))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    jsonEntries(value)
      .toReversed()
      .map(([member, inner]) => [member, reverseOrder(inner, member)]),
  )
}

const compileOptional = (card: JsonObject) => {
  const result = compile(card, registration)
  return 'errors' in result ? undefined : result.compiled.direct
}

describe('findWidenings of generated cards', () => {
  it('returns none between a card and itself in another order', () => {
    let compared = 0
    fc.assert(
      fc.property(authoredCard, generated => {
        const authored: JsonObject = JSON.parse(JSON.stringify(generated))
        const [card, other] = [compileOptional(authored), compileOptional(reverseOrder(authored) as JsonObject)]
        if (!card || !other) return
        compared++
        expect([
          findWidenings(card, card),
          findWidenings(card, { ...card, ...(reverseOrder(card as Json) as object) }),
        ]).toStrictEqual([[], []])
      }),
    )
    expect(compared).toBeGreaterThan(numRuns / 6)
  })

  it('returns none if an alternative is removed', () => {
    const names = fc.constantFrom('a', 'b', 'c')
    const scopes = fc.uniqueArray(fc.constantFrom('x', 'y'), { maxLength: 2 })
    const alternative = fc.dictionary(names, scopes, { minKeys: 1 })
    const securitySchemes = { a: bearer, b: bearer, c: bearer }
    fc.assert(
      fc.property(fc.array(alternative, { minLength: 2, maxLength: 4 }), security => {
        expect(
          listWidenings({ securitySchemes, security }, { securitySchemes, security: security.slice(1) }),
        ).toStrictEqual([])
      }),
    )
  })
})

describe('the time to compare two cards', () => {
  const issuers = (count: number, host: string) => ({
    securitySchemes: Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `s${index}`,
        { ...oidc, openIdConnectUrl: `https://${host}/${index}` },
      ]),
    ),
    security: [{ s0: [] }],
  })
  const skills = (count: number, id: string) => ({
    skills: Array.from({ length: count }, (_, index) => ({
      ...base.skills[0],
      id: `${id}${index}`,
      security: Array.from({ length: 100 }, (_, scope) => ({ bearer: [`${index}`, `${scope}`] })),
    })),
  })

  it('is linear in the number of URLs', async () => {
    const cards = new Map(
      [400, 800].map(count => {
        const [before, after] = ['a.example', 'b.example'].map(host => compileDirect(issuers(count, host)))
        return [count, () => before && after && findWidenings(before, after)]
      }),
    )
    expect(await growthWhenDoubled(400, 5, count => cards.get(count)?.())).toBeLessThan(doubled)
  })

  it('is limited for skills that may be renamed: what is not compared counts as weaker', () => {
    const [before, after] = [compileDirect(skills(100, 'old')), compileDirect(skills(100, 'new'))]
    let widenings: ReturnType<typeof findWidenings> = []
    const compare = () => {
      widenings = findWidenings(before, after)
    }
    expect(isFasterThan(1000, compare)).toBe(true)
    const places = new Set(widenings.map(({ pointer }) => pointer.split('/').slice(0, 3).join('/')))
    const unnoticed = after.skills.filter((_, index) => !places.has(`/skills/${index}`))
    expect(unnoticed).toStrictEqual([])
  })
})
