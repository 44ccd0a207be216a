import { describe, expect, it } from 'vitest'
import { compileDocument } from '../../../src/card/compile/index.ts'
import { readManifest } from '../../../src/card/manifest/manifest.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'

const idForm = 'must be 1 to 63 lowercase letters, digits and hyphens, beginning with a letter or digit'

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

  it('leaves $schema out of everything', () => {
    const $schema = 'https://host.example/schema'
    for (const document of [
      { $schema, card },
      { card: { $schema, ...card } },
      { $schema, ...card },
      { card, extended: { $schema }, tiers: { gold: { $schema } } },
      { $schema, exposed: true, agentcard: { $schema }, ...card },
    ]) {
      const read = readManifest(document)
      expect(read).toHaveProperty('manifest')
      expect(JSON.stringify({ ...read, document: undefined })).not.toContain('$schema')
      const { documents, extended, report } = compileCard(document)
      expect(JSON.stringify([documents, extended, report])).not.toContain('schema"')
    }
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

  it('is rejected with fields and values that it must not have', () => {
    const keySource = 'must be a public JWK, the URL of a JWK Set, a DID of the method web, or first-use'
    const tierName = 'is not a tier name: use 1 to 32 lowercase letters, digits and hyphens, beginning with a letter'
    const hostName = 'must be a host name in lower case, without scheme, port or path; or "*"'
    const hostOwn = (name: string) =>
      `must not be ${name}, which belongs to the host itself: name a secret for this agent, such as WEATHER_TOKEN`
    const many = <Value>(length: number, prefix: string, value: Value) =>
      Object.fromEntries(Array.from({ length }, (_, index) => [`${prefix}${index}`, value]))
    const rows: [fields: JsonObject, pointer: string, message: string][] = [
      [
        { visibilty: 'public' },
        '/visibilty',
        'is not a known field here. Known fields: id, card, extended, tiers, visibility, hosts, route, upstream, gate, callers, mcp, bridge, compatibility, signatures, jwt, set, allowSecrets. Fields of the card go under `card`',
      ],
      [
        { upstream: { uri: 'x' } },
        '/upstream/uri',
        'is not a known field here. Known fields: url, card, mcp, service, secret, identity, agentName, ttl, staleIfError, pin, keys, verify, mayShow, session, defaultTool',
      ],
      ...['jwks.json', 1].map((keys): [JsonObject, string, string] => [
        { upstream: { card: card.url, keys } },
        '/upstream/keys',
        keySource,
      ]),
      [
        { upstream: { card: card.url, keys: ['first-use'] } },
        '/upstream/keys/0',
        'must be the only one: first-use is no part of a list',
      ],
      [{ card: [] }, '/card', 'must be a JSON object'],
      [{ extended: [] }, '/extended', 'must be a JSON object'],
      [{ tiers: { gold: 5 } }, '/tiers/gold', 'must be a JSON object'],
      ...['Gold', '1st', 'x'.repeat(33)].map((name): [JsonObject, string, string] => [
        { tiers: { [name]: {} } },
        `/tiers/${name}`,
        tierName,
      ]),
      [{ tiers: { base: {} } }, '/tiers/base', 'is the name of the tier that `extended` makes: choose another'],
      [{ tiers: many(17, 't', {}) }, '/tiers', 'must have at most 16 tiers'],
      [
        { gate: [] },
        '/gate',
        'must be an object that sets its checks to off, warn or enforce, and `tasks` to owner or shared',
      ],
      [{ visibility: 'secret' }, '/visibility', 'must be public or internal'],
      [{ route: 'proxy' }, '/route', 'must be direct, gateway or closed'],
      [{ gate: { modes: 'on' } }, '/gate/modes', 'must be off, warn or enforce'],
      // No URL can have the last three.
      ...['a.example:80', 'other.example1.0', '256.1.1.1', '0x7f.1'].map((host): [JsonObject, string, string] => [
        { hosts: [host] },
        '/hosts/0',
        hostName,
      ]),
      [{ hosts: Object.keys(many(21, 'h', '')) }, '/hosts', 'must have at most 20 host names'],
      [
        { upstream: { url: '/a2a' } },
        '/upstream/url',
        'is relative: it must be absolute, such as https://agent.example.com/a2a',
      ],
      [
        { upstream: { secret: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a' } },
        '/upstream/secret',
        'must be the name of a Worker secret, in capital letters such as WEATHER_TOKEN, never its value',
      ],
      ...['ADMIN_TOKEN', 'PUBLIC_URL'].map((secret): [JsonObject, string, string] => [
        { upstream: { secret } },
        '/upstream/secret',
        hostOwn(secret),
      ]),
      [{ upstream: { mcp: 'https://a:b@c.example' } }, '/upstream/mcp', 'must not contain a user name or password'],
      [{ id: 'Bad Id' }, '/id', idForm],
      [{ id: 'other' }, '/id', 'is "other", but the agent is registered as "weather": use one id'],
      [{ bridge: true }, '/bridge', 'must be off, versions, bindings or all'],
      [{ card: { ...card, name: 5 } }, '/card/name', 'must be a string'],
    ]
    for (const [fields, pointer, message] of rows)
      expect(getCompileErrors({ card, ...fields })).toStrictEqual([{ pointer, message }])
    expect(getCompileErrors({ upstream: { url: card.url } })).toStrictEqual([
      {
        pointer: '/card',
        message: 'is missing: add the Agent Card, or its source as `upstream.card` or `upstream.mcp`',
      },
    ])
  })

  it('is rejected where the agent is registered under an invalid id', () => {
    for (const id of ['-a', 'A', 'a'.repeat(64)])
      expect(compileDocument(card, { id, requestOrigin: 'https://h.example' })).toStrictEqual({
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

  it('is rejected with one error for each of them, as front matter too', () => {
    for (const name of manifestFields)
      expect(getCompileErrors({ ...card, [name]: { skills: [] } })).toStrictEqual(makeErrors([name]))
    const document = { ...card, exposed: true, ...Object.fromEntries(manifestFields.map(name => [name, 1])) }
    const errors = getCompileErrors(document)
    expect(errors).toHaveLength(manifestFields.length)
    expect(errors).toEqual(expect.arrayContaining(makeErrors(manifestFields)))
  })

  it('is rejected in a manifest too, where it is indented by mistake: the agent would be public', () => {
    const message = 'is a field of the manifest, not of the card: move it next to `card`'
    const [indented] = getCompileErrors({ card: { ...card, visibility: 'internal' }, route: 'gateway' })
    expect(indented).toStrictEqual({ pointer: '/card/visibility', message })
    const overlay = { card: { visibility: 'internal' }, upstream: { card: 'https://u.example/card.json' } }
    expect(getCompileErrors(overlay)).toStrictEqual([{ pointer: '/card/visibility', message }])
  })
})

it('an empty `card` above fields of a card is rejected: they are not indented', () => {
  const message = 'has an empty `card`: indent the fields of the card below it'
  expect(getCompileErrors({ card: null, ...card })).toStrictEqual([{ pointer: '', message }])
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

it('capabilities.extendedAgentCard is true in every representation of a card whose manifest has an extended card', () => {
  const isFalse = { extendedAgentCard: false }
  const atTop = { supportsAuthenticatedExtendedCard: false }
  const cards: JsonObject[] = [
    card,
    { ...card, capabilities: isFalse },
    { ...card, protocolVersion: '0.3.0', ...atTop },
    { ...card, supportedProtocols: ['a2a-v1'], capabilities: {}, ...atTop },
  ]
  for (const authored of cards)
    for (const overlays of [{ extended: { skills: [] } }, { tiers: { gold: {} } }]) {
      const { documents, report } = compileCard({ card: authored, ...overlays })
      const flags = Object.values(documents).flatMap(({ capabilities, supportsAuthenticatedExtendedCard: flag }) => [
        (capabilities as { extendedAgentCard?: boolean }).extendedAgentCard ?? flag,
        flag ?? true,
      ])
      expect([authored, ...new Set(flags)]).toStrictEqual([authored, true])
      expect(report.filled.map(note => note.pointer)).toContain('/capabilities/extendedAgentCard')
    }
})

it('an option for remote cards is rejected in a manifest without one', () => {
  const message = expect.stringContaining('but no source: add `card` or `mcp`, or remove them')
  for (const upstream of [{ ttl: 60 }, { staleIfError: 60 }, { pin: true }])
    expect(readManifest({ card, upstream })).toEqual({ errors: [{ pointer: '/upstream', message }] })
})

describe('an option for the tools of an MCP server', () => {
  const mcp = 'https://mcp.example/mcp'

  it('is rejected where this host does not call them', () => {
    const message = expect.stringContaining('add `mcp` without `url`, or remove them')
    for (const option of [{ session: 'shared' }, { defaultTool: 'search' }]) {
      for (const upstream of [{ card: 'https://a.example/card.json' }, { mcp, url: 'https://a.example/a2a' }])
        expect(readManifest({ upstream: { ...upstream, ...option } })).toEqual({
          errors: [{ pointer: '/upstream', message }],
        })
      expect(readManifest({ upstream: { mcp, ...option } })).not.toHaveProperty('errors')
    }
  })
})
