import { describe, expect, it } from 'vitest'
import { compile } from '../../src/card/compile.ts'
import type { Json } from '../../src/card/json.ts'
import { readManifest } from '../../src/card/manifest.ts'
import { compiled, refusal } from './compiling.ts'

const card = { name: 'A', description: 'B', url: 'https://a.example/a2a' }
const idForm = 'must be 1 to 63 lower-case letters, digits and hyphens, the first no hyphen'

describe('a manifest', () => {
  it('has its defaults: public, direct, no hosts', () => {
    expect(readManifest({ card })).toMatchObject({
      manifest: { card, visibility: 'public', route: 'direct', hosts: [], upstream: {}, gate: {} },
      cardAt: '/card',
    })
  })

  it('may be a bare card, which keeps every field', () => {
    const bare = { ...card, x: 'y', card: 'of mine' }
    expect(readManifest(bare)).toMatchObject({ manifest: { card: bare, hosts: [] }, cardAt: '' })
  })

  it.each<[string, Json, string, string]>([
    ['an unknown field', { card, visibilty: 'public' }, '/visibilty', '"visibilty" is not a field of a manifest'],
    [
      'one of upstream',
      { card, upstream: { uri: 'x' } },
      '/upstream/uri',
      `"uri" is not a field of a manifest's upstream`,
    ],
    ['no card', { upstream: { url: card.url } }, '/card', 'is missing'],
    ['a list for a card', { card: [] }, '/card', 'must be a JSON object'],
    ['a list for an overlay', { card, extended: [] }, '/extended', 'must be a JSON object'],
    ['a tier of a wrong type', { card, tiers: { gold: 5 } }, '/tiers/gold', 'must be a JSON object'],
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
      'must hold at most 20 host names',
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
      'must be a name, such as WEATHER_TOKEN; never the secret itself',
    ],
    [
      'an upstream with a password',
      { card, upstream: { mcp: 'https://a:b@c.example' } },
      '/upstream/mcp',
      'must not hold a user name or password',
    ],
    ['a bad id', { card, id: 'Bad Id' }, '/id', idForm],
    ['another id', { card, id: 'other' }, '/id', 'is "other", but the card is being registered as "weather"'],
    ['a wrong card', { card: { ...card, name: 5 } }, '/card/name', 'must be a string'],
  ])('%s is refused', (_, manifest, pointer, message) => {
    expect(refusal(manifest)).toStrictEqual([{ pointer, message }])
  })

  it.each(['', '-a', 'A', 'a_b', 'a/b', 'a'.repeat(64)])('is not registered under the id %j', id => {
    expect(compile(card, { id, requestOrigin: 'https://h.example' })).toStrictEqual({
      errors: [{ pointer: '/id', message: `"${id}" ${idForm}` }],
    })
  })
})

describe('a bare card with what belongs beside it', () => {
  const marks = ['visibility', 'extended', 'tiers', 'hosts', 'upstream', 'gate', 'route']
  const errors = (names: string[]) =>
    names.map(name => ({
      pointer: `/${name}`,
      message: `\`${name}\` belongs to a manifest: put the card under \`card\`, and this beside it`,
    }))

  it.each(marks)('%s is refused', name => {
    expect(refusal({ ...card, [name]: { skills: [] } })).toStrictEqual(errors([name]))
  })

  it('all of it is refused at once, in front matter too', () => {
    const document = { ...card, exposed: true, ...Object.fromEntries(marks.map(name => [name, 1])) }
    expect(
      refusal(document).toSorted((a, b) => marks.indexOf(a.pointer.slice(1)) - marks.indexOf(b.pointer.slice(1))),
    ).toStrictEqual(errors(marks))
  })
})

describe('an endpoint from the manifest', () => {
  const bare = { name: 'A', description: 'B' }
  it.each([
    ['upstream.url', { url: 'https://u.example/a2a' }, 'JSONRPC', '1.0'],
    ['upstream.mcp', { mcp: 'https://m.example/mcp' }, 'MCP', '0.3'],
  ])('%s, where the card has none', (_, upstream, protocolBinding, protocolVersion) => {
    expect(compiled({ card: bare, upstream }).card.supportedInterfaces).toStrictEqual([
      { url: Object.values(upstream)[0], protocolBinding, protocolVersion },
    ])
  })

  it("never takes the place of the card's own", () => {
    const { card: served } = compiled({
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
      const { documents, report } = compiled({ card: authored, ...more })
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
