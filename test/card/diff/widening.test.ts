import { describe, expect, it } from 'vitest'
import { findWidenings } from '../../../src/card/diff/widening.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { compileCard } from '../../support/cards/compile.ts'
import { isFasterThan } from '../../support/cpu-time.ts'

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

type Row = [before: object, after: object, ...widenings: string[]]
const secured = (security: Json[]) => ({ security })
const open = (securitySchemes: object) => ({ securitySchemes, security: [] })
const oauth = (flows: object) => ({ type: 'oauth2', flows })
const issuer = (openIdConnectUrl: string) => ({ ...oidc, openIdConnectUrl })
const credentialsTo = (name: string, address: string) =>
  `/securitySchemes/${name}/openIdConnectSecurityScheme/openIdConnectUrl sends credentials to a new address: ${address}`

describe('findWidenings', () => {
  it('reports new addresses for calls, and new calls', () => {
    const inclusive = (fields: object) => ({ additionalInterfaces: [fields] })
    const received = 'is new: the agent receives calls that were refused'
    const [evil, old] = ['https://b.example/a2a', 'http://a.example/a2a']
    const rows: Row[] = [
      [{}, { url: evil }, `/supportedInterfaces/0/url sends calls to a new address: ${evil}`],
      [{}, { url: old }, `/supportedInterfaces/0/url sends calls to a new address: ${old}`],
      [
        {},
        { url: 'https://a.example/other?x=1' },
        '/supportedInterfaces/0/url sends calls to a new address: https://a.example/other?x=1',
      ],
      [
        withTenant('one'),
        withTenant('two'),
        `/supportedInterfaces/0/url sends calls to a new address: ${url} for the tenant "two"`,
      ],
      // Another binding or version at a known address.
      [
        {},
        inclusive({ url, transport: 'HTTP+JSON' }),
        `/supportedInterfaces/1/url sends calls to ${url} in a new way: HTTP+JSON 0.3`,
      ],
      [
        { capabilities: { streaming: false, pushNotifications: false } },
        { capabilities: { streaming: true, pushNotifications: true } },
        `/capabilities/streaming ${received}`,
        `/capabilities/pushNotifications ${received}`,
      ],
      [
        { capabilities: { extensions: [{ uri: 'urn:signed', required: true }, { uri: 'urn:x' }] } },
        { capabilities: { extensions: [{ uri: 'urn:signed' }] } },
        '/capabilities/extensions no longer requires the extension urn:signed',
      ],
    ]
    for (const [before, after, ...widenings] of rows) expect(listWidenings(before, after)).toStrictEqual(widenings)
  })

  it('reports callers that are let in with less', () => {
    const without = 'lets callers in without credentials, which were required'
    const bearerAndKey = 'lets callers in with bearer (read) and key, which was not enough'
    const admin = withSkillSecurity([{ bearer: ['admin'], key: [] }])
    const rows: Row[] = [
      [{}, secured([]), `/securityRequirements ${without}`],
      [
        {},
        secured([{ bearer: ['read'] }]),
        '/securityRequirements/0 lets callers in with bearer (read), which was not enough',
      ],
      [
        {},
        secured([{ bearer: ['read'], key: [] }, { key: [] }]),
        '/securityRequirements/1 lets callers in with key, which was not enough',
      ],
      // Skills: without the former requirement, with less than the card, new ones, and one in place of another.
      [admin, withSkillSecurity(undefined), `/skills/0/securityRequirements/0 ${bearerAndKey}`],
      [
        withSkillSecurity(undefined),
        withSkillSecurity([{ key: [] }]),
        '/skills/0/securityRequirements/0 lets callers in with key, which was not enough',
      ],
      [
        {},
        { skills: [...base.skills, { id: 'n', name: 'N', security: [{}] }] },
        `/skills/1/securityRequirements ${without}`,
      ],
      [
        admin,
        { skills: [{ id: 'pay2', name: 'Pay', description: 'D', tags: ['t'] }] },
        `/skills/0/securityRequirements/0 ${bearerAndKey}`,
      ],
    ]
    for (const [before, after, ...widenings] of rows) expect(listWidenings(before, after)).toStrictEqual(widenings)
  })

  it('reports weaker schemes, and new addresses for credentials', () => {
    const evil = 'https://id.example/evil'
    const client = oauth({ clientCredentials: flow })
    const rows: Row[] = [
      [{}, { securitySchemes: { bearer } }, '/securitySchemes/key is removed'],
      [
        {},
        { securitySchemes: { bearer: { type: 'http', scheme: 'basic' }, key: { ...key, in: 'query' } } },
        '/securitySchemes/bearer is another HTTP authentication scheme, which is weaker than before: a bearer token',
        '/securitySchemes/key is an API key in the URL, which is weaker than before: an API key',
      ],
      [
        open({ o: client }),
        open({ o: oauth({ password: flow }) }),
        '/securitySchemes/o is OAuth with a deprecated flow, which is weaker than before: OAuth',
      ],
      // Under any name of a scheme.
      [
        {},
        { securitySchemes: { bearer, key, z: { ...key, name: 'X-Session' } } },
        "/securitySchemes/z/apiKeySecurityScheme/name forwards the callers' header X-Session to the agent, which was not forwarded before",
      ],
      // A second issuer on the same host, one whose URL was only a token endpoint, and a first one.
      [open({ oidc }), open({ oidc, also: issuer(evil) }), credentialsTo('also', evil)],
      [open({ o: client }), open({ o: client, oidc: issuer(flow.tokenUrl) }), credentialsTo('oidc', flow.tokenUrl)],
      [secured([]), open({ bearer, key, oidc }), credentialsTo('oidc', 'https://id.example/openid')],
    ]
    for (const [before, after, ...widenings] of rows) expect(listWidenings(before, after)).toStrictEqual(widenings)
  })

  it('does not report what narrows access, or is written in another way', () => {
    const rows: [before: object, after: object][] = [
      [{ url: 'http://a.example/a2a' }, {}],
      [{}, secured([{ bearer: ['write', 'read'], key: [] }])],
      [secured([]), {}],
      [{}, { securitySchemes: { bearer: { type: 'mutualTLS' }, key: bearer } }],
      [{}, { url: 'HTTPS://A.example:443/x/../a2a#top' }],
      [open({ oidc }), open({ oidc, login: oidc })],
      [{}, { securitySchemes: { bearer, key: { ...key, name: 'x-key' } } }],
      // A renamed skill.
      [
        withSkillSecurity([{ bearer: ['admin'], key: [] }]),
        { skills: [{ id: 'n', name: 'N', security: [{ bearer: ['admin', 'read'], key: [] }] }] },
      ],
      [{}, { name: 'Z', description: 'Z', version: '9', provider: 'Z' }],
    ]
    for (const [before, after] of rows) expect([after, ...listWidenings(before, after)]).toStrictEqual([after])
  })
})

it('has limited time for skills that may be renamed: what is not compared counts as weaker', () => {
  const list = <Item>(length: number, make: (index: number) => Item) => Array.from({ length }, (_, id) => make(id))
  const [before, after] = ['old', 'new'].map(id =>
    compileDirect({
      skills: list(100, index => ({
        ...base.skills[0],
        id: `${id}${index}`,
        security: list(100, scope => ({ bearer: [`${index}`, `${scope}`] })),
      })),
    }),
  )
  let widenings: ReturnType<typeof findWidenings> = []
  const compare = () => {
    widenings = before && after ? findWidenings(before, after) : []
  }
  expect(isFasterThan(1000, compare)).toBe(true)
  const places = new Set(widenings.map(({ pointer }) => pointer.split('/').slice(0, 3).join('/')))
  expect(after?.skills.filter((_, index) => !places.has(`/skills/${index}`))).toStrictEqual([])
})
