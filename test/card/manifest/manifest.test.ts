import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { readManifest } from '../../../src/card/manifest/manifest.ts'
import type { Json } from '../../../src/json/json.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'

const card = { name: 'A', description: 'B', url: 'https://a.example/a2a' }
const idForm = 'must be 1 to 63 lower-case letters, digits and hyphens, beginning with a letter or digit'

describe('a manifest', () => {
  it('has its defaults: public, direct, no hosts', () => {
    expect(readManifest({ card })).toMatchObject({
      manifest: { card, visibility: 'public', route: 'direct', hosts: [], upstream: {}, gate: {} },
      cardPointer: '/card',
    })
  })

  it('may be a bare card, which keeps every field', () => {
    const bare = { ...card, x: 'y', card: 'of mine' }
    expect(readManifest(bare)).toMatchObject({ manifest: { card: bare, hosts: [] }, cardPointer: '' })
  })

  it.each<[string, Json, string, string]>([
    [
      'an unknown field',
      { card, visibilty: 'public' },
      '/visibilty',
      'is not a known field here. Known fields: id, card, extended, tiers, visibility, hosts, route, upstream, gate, jwt. Fields of the card go under `card`',
    ],
    [
      'one of upstream',
      { card, upstream: { uri: 'x' } },
      '/upstream/uri',
      'is not a known field here. Known fields: url, card, mcp, service, secret, agentName, ttl, staleIfError, pin, mayShow',
    ],
    [
      'no card',
      { upstream: { url: card.url } },
      '/card',
      'is missing: add the Agent Card, or its source as `upstream.card` or `upstream.mcp`',
    ],
    ['a list for a card', { card: [] }, '/card', 'must be a JSON object'],
    ['a list for an overlay', { card, extended: [] }, '/extended', 'must be a JSON object'],
    ['a tier of a wrong type', { card, tiers: { gold: 5 } }, '/tiers/gold', 'must be a JSON object'],
    ...['Gold', '1st', 'a b', '', 'x'.repeat(33)].map((name): [string, Json, string, string] => [
      `a tier named ${JSON.stringify(name)}`,
      { card, tiers: { [name]: {} } },
      `/tiers/${name}`,
      'is not a tier name: use 1 to 32 lower-case letters, digits and hyphens, beginning with a letter',
    ]),
    [
      'a tier with the name of the first',
      { card, tiers: { base: {} } },
      '/tiers/base',
      'is the name of the tier that `extended` makes: choose another',
    ],
    [
      '17 tiers',
      { card, tiers: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`t${n}`, {}])) },
      '/tiers',
      'must have at most 16 tiers',
    ],
    [
      'a list for a gate',
      { card, gate: [] },
      '/gate',
      'must be an object that sets its checks to off, warn or enforce',
    ],
    ['a visibility of its own', { card, visibility: 'secret' }, '/visibility', 'must be public or internal'],
    ['a route of its own', { card, route: 'proxy' }, '/route', 'must be direct, gateway or closed'],
    ['a gate level of its own', { card, gate: { modes: 'on' } }, '/gate/modes', 'must be off, warn or enforce'],
    [
      'a host with a port',
      { card, hosts: ['a.example:80'] },
      '/hosts/0',
      'must be a host name in lower case, without scheme, port or path; or "*"',
    ],
    [
      '21 hosts',
      { card, hosts: Array.from({ length: 21 }, (_, n) => `h${n}.example`) },
      '/hosts',
      'must have at most 20 host names',
    ],
    [
      'a relative upstream',
      { card, upstream: { url: '/a2a' } },
      '/upstream/url',
      'is relative: it must be absolute, such as https://agent.example.com/a2a',
    ],
    [
      'a secret with a password in it',
      { card, upstream: { secret: 'my token!' } },
      '/upstream/secret',
      'must be the name of a Worker secret, such as WEATHER_TOKEN, never its value',
    ],
    [
      "the host's own key for a secret",
      { card, upstream: { secret: 'ADMIN_TOKEN' } },
      '/upstream/secret',
      'must not be ADMIN_TOKEN: the upstream would receive the key to every agent of this host',
    ],
    [
      'an upstream with a password',
      { card, upstream: { mcp: 'https://a:b@c.example' } },
      '/upstream/mcp',
      'must not contain a user name or password',
    ],
    ['a bad id', { card, id: 'Bad Id' }, '/id', idForm],
    ['another id', { card, id: 'other' }, '/id', 'is "other", but the agent is registered as "weather": use one id'],
    ['a wrong card', { card: { ...card, name: 5 } }, '/card/name', 'must be a string'],
  ])('%s is refused', (_, manifest, pointer, message) => {
    expect(getCompileErrors(manifest)).toStrictEqual([{ pointer, message }])
  })

  it.each(['', '-a', 'A', 'a_b', 'a/b', 'a'.repeat(64)])('is not registered under the id %j', id => {
    expect(compile(card, { id, requestOrigin: 'https://h.example' })).toStrictEqual({
      errors: [{ pointer: '/id', message: `"${id}" ${idForm}` }],
    })
  })
})

describe('which tokens of an OpenID Connect issuer may read more', () => {
  const openIdConnectUrl = 'https://id.example/.well-known/openid-configuration'
  const issued = { ...card, securitySchemes: { oidc: { type: 'openIdConnect', openIdConnectUrl } } }
  const tiers = { silver: {}, gold: {} }
  const jwtOf = (manifest: Json) => compileCard(manifest).profile.jwt

  it.each<[string, Json, Json | undefined]>([
    ['those for this agent, where nothing is said', undefined as never, undefined],
    ['those for one audience', { audience: 'weather' }, { audience: ['weather'] }],
    ['those for several', { audience: ['a', 'b'] }, { audience: ['a', 'b'] }],
    ['those with a scope', { scope: 'a2a:read' }, { scope: 'a2a:read' }],
    [
      'each tier by a scope or a claim',
      { tiers: { silver: { scope: 'silver' }, gold: { claim: 'plan', equals: 'gold' } } },
      { tiers: { silver: { scope: 'silver' }, gold: { claim: 'plan', equals: 'gold' } } },
    ],
  ])('%s', (_, jwt, expected) => {
    expect(jwtOf({ card: issued, tiers, ...(jwt && { jwt }) })).toStrictEqual({
      audience: ['https://host.example/agents/weather'],
      tiers: {},
      ...(expected as object),
    })
  })

  it('none, where the card names no issuer', () => {
    expect(jwtOf({ card })).toBeUndefined()
    expect(getCompileErrors({ card, jwt: {} })).toStrictEqual([
      { pointer: '/jwt', message: expect.stringContaining('the securitySchemes of the card name none') },
    ])
  })

  const rule = 'must be { scope } or { claim, equals }: which access tokens may read this tier'
  it.each<[string, Json, string, string]>([
    ['a list', [], '', 'must be an object with audience, scope or tiers'],
    ['an unknown field', { issuer: 'x' }, '/issuer', 'is not a known field here. Known fields: audience, scope, tiers'],
    ['a number for an audience', { audience: 5 }, '/audience', 'must be an audience, or a list of them'],
    ['no audience', { audience: [] }, '/audience', 'must have 1 to 16 audiences'],
    ['several scopes', { scope: 'a b' }, '/scope', 'must be one scope, without spaces or quotes'],
    [
      'a tier that is not there',
      { tiers: { platinum: { scope: 'p' } } },
      '/tiers/platinum',
      'is not a tier of this manifest: use silver, gold, or add it to `tiers`',
    ],
    ['no rule', { tiers: { gold: {} } }, '/tiers/gold', rule],
    ['two rules', { tiers: { gold: { scope: 'a', claim: 'b', equals: 'c' } } }, '/tiers/gold', rule],
    ['a claim without its value', { tiers: { gold: { claim: 'plan' } } }, '/tiers/gold/equals', 'is missing'],
    [
      'a claim of a list',
      { tiers: { gold: { claim: 'plan', equals: ['gold'] } } },
      '/tiers/gold/equals',
      "must be the claim's value: a string, a number, true or false",
    ],
  ])('%s is refused', (_, jwt, place, message) => {
    expect(getCompileErrors({ card: issued, tiers, jwt })).toStrictEqual([{ pointer: `/jwt${place}`, message }])
  })
})

describe('a bare card with what belongs beside it', () => {
  const marks = ['visibility', 'extended', 'tiers', 'hosts', 'upstream', 'gate', 'route', 'jwt']
  const errors = (names: string[]) =>
    names.map(name => ({
      pointer: `/${name}`,
      message: `is a field of the manifest, not of the card: move the card under \`card\`, and keep \`${name}\` next to it`,
    }))

  it.each(marks)('%s is refused', name => {
    expect(getCompileErrors({ ...card, [name]: { skills: [] } })).toStrictEqual(errors([name]))
  })

  it('all of it is refused at once, in front matter too', () => {
    const document = { ...card, exposed: true, ...Object.fromEntries(marks.map(name => [name, 1])) }
    expect(
      getCompileErrors(document).toSorted(
        (a, b) => marks.indexOf(a.pointer.slice(1)) - marks.indexOf(b.pointer.slice(1)),
      ),
    ).toStrictEqual(errors(marks))
  })
})

describe('an endpoint from the manifest', () => {
  const bare = { name: 'A', description: 'B' }
  it('upstream.url, where the card has none', () => {
    expect(
      compileCard({ card: bare, upstream: { url: 'https://u.example/a2a' } }).card.supportedInterfaces,
    ).toStrictEqual([{ url: 'https://u.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }])
  })

  it("never takes the place of the card's own", () => {
    const { card: served } = compileCard({
      card: { ...bare, supported_interfaces: [{ url: card.url }] },
      upstream: { url: 'https://u.example' },
    })
    expect(served.supportedInterfaces.map(item => item.url)).toStrictEqual([card.url])
  })
})

describe('a manifest with an extended card makes capabilities.extendedAgentCard true, in every representation', () => {
  it.each<[string, Json]>([
    ['no capabilities', card],
    ['false', { ...card, capabilities: { extendedAgentCard: false } }],
    ['a list of names', { ...card, capabilities: ['streaming'] }],
    ['false in v0.3', { ...card, protocolVersion: '0.3.0', supportsAuthenticatedExtendedCard: false }],
    [
      'false in Telex',
      { ...card, supportedProtocols: ['a2a-v1'], capabilities: {}, supportsAuthenticatedExtendedCard: false },
    ],
    ['false in SuperX', { ...card, protocol: 'a2a', capabilities: { extendedAgentCard: false } }],
  ])('authored as %s', (_, authored) => {
    for (const more of [{ extended: { skills: [] } }, { tiers: { gold: {} } }]) {
      const { documents, report } = compileCard({ card: authored, ...more })
      const said = Object.values(documents).flatMap(({ capabilities, supportsAuthenticatedExtendedCard: flag }) => [
        (capabilities as { extendedAgentCard?: boolean }).extendedAgentCard ?? flag,
        flag ?? true,
      ])
      expect([new Set(said), report.filled.map(note => note.pointer)]).toStrictEqual([
        new Set([true]),
        expect.arrayContaining(['/capabilities/extendedAgentCard']),
      ])
    }
  })
})

describe('what is about a card that comes from elsewhere', () => {
  it.each([
    ['ttl', 60],
    ['staleIfError', 60],
    ['pin', true],
  ])('is refused where no card does: %s', (name, value) => {
    const document = {
      card: { name: 'A', description: 'B', url: 'https://a.example/a2a' },
      upstream: { [name]: value },
    }
    expect(readManifest(document)).toEqual({
      errors: [
        {
          pointer: '/upstream',
          message: expect.stringContaining('but no source: add `card` or `mcp`, or remove them'),
        },
      ],
    })
  })
})
