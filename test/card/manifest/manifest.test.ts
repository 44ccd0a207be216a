import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { readManifest } from '../../../src/card/manifest/manifest.ts'
import type { Json } from '../../../src/json/json.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'

const idForm = 'must be 1 to 63 lower-case letters, digits and hyphens, beginning with a letter or digit'

describe('a manifest', () => {
  it('is public by default, with a direct route and no hosts', () => {
    const read = readManifest({ card })
    expect(read).toMatchObject({
      manifest: { card, visibility: 'public', route: 'direct', hosts: [], upstream: {}, gate: {} },
    })
    expect('manifest' in read && read.errorPointer('/name')).toBe('/card/name')
  })

  it('may be a card without a manifest, which keeps every field', () => {
    const bare = { ...card, x: 'y', card: 'of mine' }
    const read = readManifest(bare)
    expect(read).toMatchObject({ manifest: { card: bare, hosts: [] } })
    expect('manifest' in read && read.errorPointer('/name')).toBe('/name')
  })

  it.each<[string, Json]>([
    ['a manifest', { $schema: 'https://host.example/schema', card }],
    ['the card of a manifest', { card: { $schema: 'https://host.example/schema', ...card } }],
    ['a bare card', { $schema: 'https://host.example/schema', ...card }],
    ['an overlay', { card, extended: { $schema: 'x' }, tiers: { gold: { $schema: 'x' } } }],
    ["Shaman's front matter", { $schema: 'x', exposed: true, agentcard: { $schema: 'x' }, ...card }],
  ])('leaves $schema out of %s', (_, document) => {
    expect(JSON.stringify(readManifest(document))).not.toContain('$schema')
    const { documents, extended, report } = compileCard(document)
    expect(JSON.stringify([documents, extended, report])).not.toContain('schema"')
  })

  it('leaves $schema out of a fetched card, unless that is signed', () => {
    const source = { upstream: { card: 'https://agent.example.com/card.json' } }
    const fetched = { ...card, $schema: 'https://agent.example.com/schema' }
    expect(JSON.stringify(compileCard(source, fetched).documents)).not.toContain('$schema')
    const signed = { ...fetched, signatures: [{ protected: 'a', signature: 'b' }] }
    expect(JSON.stringify(compileCard(source, signed).documents)).toContain('$schema')
  })

  it('may be in a set, and name values that only look like secrets', () => {
    const document = { card, set: 'my-cards', allowSecrets: ['/card/description', '/tiers/gold/x~1y~0z/0'] }
    expect(readManifest(document)).toMatchObject({ manifest: document })
  })

  it.each<[string, Json, string, string]>([
    [
      'an unknown field',
      { card, visibilty: 'public' },
      '/visibilty',
      'is not a known field here. Known fields: id, card, extended, tiers, visibility, hosts, route, upstream, gate, callers, bridge, compatibility, signatures, jwt, set, allowSecrets. Fields of the card go under `card`',
    ],
    [
      'an unknown field of upstream',
      { card, upstream: { uri: 'x' } },
      '/upstream/uri',
      'is not a known field here. Known fields: url, card, mcp, service, secret, identity, agentName, ttl, staleIfError, pin, keys, verify, mayShow, session, defaultTool',
    ],
    [
      'no card',
      { upstream: { url: card.url } },
      '/card',
      'is missing: add the Agent Card, or its source as `upstream.card` or `upstream.mcp`',
    ],
    ...['jwks.json', 1].map((keys): [string, Json, string, string] => [
      `the key source ${JSON.stringify(keys)}`,
      { upstream: { card: card.url, keys } },
      '/upstream/keys',
      'must be a public JWK, the URL of a JWK Set, a DID of the method web, or first-use',
    ]),
    [
      'first-use in a list',
      { upstream: { card: card.url, keys: ['first-use'] } },
      '/upstream/keys/0',
      'must be the only one: first-use is no part of a list',
    ],
    ['a list as the card', { card: [] }, '/card', 'must be a JSON object'],
    ['a list as an overlay', { card, extended: [] }, '/extended', 'must be a JSON object'],
    ['a tier of a wrong type', { card, tiers: { gold: 5 } }, '/tiers/gold', 'must be a JSON object'],
    ...['Gold', '1st', 'a b', '', 'x'.repeat(33)].map((name): [string, Json, string, string] => [
      `a tier named ${JSON.stringify(name)}`,
      { card, tiers: { [name]: {} } },
      `/tiers/${name}`,
      'is not a tier name: use 1 to 32 lower-case letters, digits and hyphens, beginning with a letter',
    ]),
    [
      'a tier with the reserved name',
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
      'a list as the gate',
      { card, gate: [] },
      '/gate',
      'must be an object that sets its checks to off, warn or enforce, and `tasks` to owner or shared',
    ],
    ['an unknown visibility', { card, visibility: 'secret' }, '/visibility', 'must be public or internal'],
    ['an unknown route', { card, route: 'proxy' }, '/route', 'must be direct, gateway or closed'],
    ['an unknown gate level', { card, gate: { modes: 'on' } }, '/gate/modes', 'must be off, warn or enforce'],
    [
      'a host with a port',
      { card, hosts: ['a.example:80'] },
      '/hosts/0',
      'must be a host name in lower case, without scheme, port or path; or "*"',
    ],
    ...['other.example1.0', '256.1.1.1', '0x7f.1'].map((host): [string, Json, string, string] => [
      `the host ${host}, which no URL can have`,
      { card, hosts: [host] },
      '/hosts/0',
      'must be a host name in lower case, without scheme, port or path; or "*"',
    ]),
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
      'the value of a secret instead of its name',
      { card, upstream: { secret: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a' } },
      '/upstream/secret',
      'must be the name of a Worker secret, in capital letters such as WEATHER_TOKEN, never its value',
    ],
    [
      "the host's own admin token as the secret",
      { card, upstream: { secret: 'ADMIN_TOKEN' } },
      '/upstream/secret',
      'must not be ADMIN_TOKEN, which belongs to the host itself: name a secret for this agent, such as WEATHER_TOKEN',
    ],
    [
      'a plain variable of the host as the secret',
      { card, upstream: { secret: 'PUBLIC_URL' } },
      '/upstream/secret',
      'must not be PUBLIC_URL, which belongs to the host itself: name a secret for this agent, such as WEATHER_TOKEN',
    ],
    [
      'an upstream with a password',
      { card, upstream: { mcp: 'https://a:b@c.example' } },
      '/upstream/mcp',
      'must not contain a user name or password',
    ],
    ['an invalid id', { card, id: 'Bad Id' }, '/id', idForm],
    [
      'an id other than that of the registration',
      { card, id: 'other' },
      '/id',
      'is "other", but the agent is registered as "weather": use one id',
    ],
    ['an unknown bridge', { card, bridge: true }, '/bridge', 'must be off, versions, bindings or all'],
    ['an invalid card', { card: { ...card, name: 5 } }, '/card/name', 'must be a string'],
  ])('is rejected with %s', (_, manifest, pointer, message) => {
    expect(getCompileErrors(manifest)).toStrictEqual([{ pointer, message }])
  })

  it.each(['', '-a', 'A', 'a_b', 'a/b', 'a'.repeat(64)])('is rejected where the agent is registered as %j', id => {
    expect(compile(card, { id, requestOrigin: 'https://h.example' })).toStrictEqual({
      errors: [{ pointer: '/id', message: `"${id}" ${idForm}` }],
    })
  })
})

describe('a card with fields of a manifest', () => {
  const manifestFields = ['visibility', 'extended', 'tiers', 'hosts', 'upstream', 'gate', 'route', 'jwt']
  const makeErrors = (names: string[]) =>
    names.map(name => ({
      pointer: `/${name}`,
      message: `is a field of the manifest, not of the card: move the card under \`card\`, and keep \`${name}\` next to it`,
    }))

  it.each(manifestFields)('is rejected with %s', name => {
    expect(getCompileErrors({ ...card, [name]: { skills: [] } })).toStrictEqual(makeErrors([name]))
  })

  it('is rejected with one error for each of them, as front matter too', () => {
    const document = { ...card, exposed: true, ...Object.fromEntries(manifestFields.map(name => [name, 1])) }
    expect(
      getCompileErrors(document).toSorted(
        (a, b) => manifestFields.indexOf(a.pointer.slice(1)) - manifestFields.indexOf(b.pointer.slice(1)),
      ),
    ).toStrictEqual(makeErrors(manifestFields))
  })
})

describe('`upstream.url` of a manifest', () => {
  const bare = { name: 'A', description: 'B' }
  it('is the endpoint of a card without one', () => {
    expect(
      compileCard({ card: bare, upstream: { url: 'https://u.example/a2a' } }).card.supportedInterfaces,
    ).toStrictEqual([{ url: 'https://u.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }])
  })

  it("does not replace the card's own endpoint", () => {
    const { card: served } = compileCard({
      card: { ...bare, supported_interfaces: [{ url: card.url }] },
      upstream: { url: 'https://u.example' },
    })
    expect(served.supportedInterfaces.map(item => item.url)).toStrictEqual([card.url])
  })
})

describe('capabilities.extendedAgentCard', () => {
  it.each<[string, Json]>([
    ['a card without capabilities', card],
    ['a card with false', { ...card, capabilities: { extendedAgentCard: false } }],
    ['a card with a list of names', { ...card, capabilities: ['streaming'] }],
    ['a v0.3 card with false', { ...card, protocolVersion: '0.3.0', supportsAuthenticatedExtendedCard: false }],
    [
      'a Telex card with false',
      { ...card, supportedProtocols: ['a2a-v1'], capabilities: {}, supportsAuthenticatedExtendedCard: false },
    ],
    ['a SuperX card with false', { ...card, protocol: 'a2a', capabilities: { extendedAgentCard: false } }],
  ])('is true in every representation of %s whose manifest has an extended card', (_, authored) => {
    for (const overlays of [{ extended: { skills: [] } }, { tiers: { gold: {} } }]) {
      const { documents, report } = compileCard({ card: authored, ...overlays })
      const flags = Object.values(documents).flatMap(({ capabilities, supportsAuthenticatedExtendedCard: flag }) => [
        (capabilities as { extendedAgentCard?: boolean }).extendedAgentCard ?? flag,
        flag ?? true,
      ])
      expect([new Set(flags), report.filled.map(note => note.pointer)]).toStrictEqual([
        new Set([true]),
        expect.arrayContaining(['/capabilities/extendedAgentCard']),
      ])
    }
  })
})

describe('an option for remote cards', () => {
  it.each([
    ['ttl', 60],
    ['staleIfError', 60],
    ['pin', true],
  ])('is rejected in a manifest without a remote card: %s', (name, value) => {
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

describe('an option for the tools of an MCP server', () => {
  const mcp = 'https://mcp.example/mcp'

  it.each([
    ['session', 'shared'],
    ['defaultTool', 'search'],
  ])('is rejected where this host does not call them: %s', (name, value) => {
    const others = [{ card: 'https://a.example/card.json' }, { mcp, url: 'https://a.example/a2a' }]
    for (const upstream of others)
      expect(readManifest({ upstream: { ...upstream, [name]: value } })).toEqual({
        errors: [{ pointer: '/upstream', message: expect.stringContaining('add `mcp` without `url`, or remove them') }],
      })
    expect(readManifest({ upstream: { mcp, [name]: value } })).not.toHaveProperty('errors')
  })

  it('is one of two words for the session', () => {
    expect(readManifest({ upstream: { mcp, session: 'mine' } })).toEqual({
      errors: [{ pointer: '/upstream/session', message: 'must be shared or caller' }],
    })
  })
})
