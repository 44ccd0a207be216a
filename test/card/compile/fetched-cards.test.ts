import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'
import { readSeed } from '../../support/cards/seeds.ts'

const source = 'https://a.example/.well-known/agent-card.json'
const upstream = { card: source }
const fetched: JsonObject = {
  name: 'A',
  description: 'B',
  url: 'https://a.example/a2a',
  protocolVersion: '0.3.0',
  skills: [{ id: 'talk', name: 'Talk', description: 'Talks', tags: ['t'] }],
}
const { protocolVersion: _, url, ...rest } = fetched
const signed: JsonObject = {
  ...rest,
  version: '1',
  supportedInterfaces: [{ url: url as string, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  signatures: [{ protected: 'eyJhbGciOiJFUzI1NiJ9', signature: 'c2ln' }],
}

describe('a card that was fetched', () => {
  it.each([
    ['superx-my-agent', 'superx'],
    ['shaman-individual', 'shaman'],
    ['gopherhole-complete', 'gopherhole'],
    ['telex-etymo', 'telex'],
    ['guide-code-review', '0.3'],
  ] as const)('is read in whatever dialect it is, and served in it: %s', (name, dialect) => {
    const { report, documents } = compileCard({ upstream }, readSeed(name))
    expect([report.dialect, documents[dialect]]).toMatchObject([dialect, { name: readSeed(name).name }])
    expect(documents).toStrictEqual(compileCard(readSeed(name)).documents)
  })

  it('is served as one that was written by hand: the manifest says no card, or an empty one', () => {
    const byHand = compileCard(fetched)
    for (const document of [{ upstream }, { upstream, card: {} }]) {
      const { documents, report, direct } = compileCard(document, fetched)
      expect([documents, report, direct]).toStrictEqual([byHand.documents, byHand.report, byHand.card])
    }
  })

  it('has not been fetched: then nothing is compiled in its place', () => {
    const message = 'is the source of the card, and no card was fetched from it'
    expect([
      getCompileErrors({ upstream }),
      getCompileErrors({ upstream: { mcp: source }, card: fetched }),
    ]).toStrictEqual([[{ pointer: '/upstream/card', message }], [{ pointer: '/upstream/mcp', message }]])
  })

  it('is looked at only where the manifest says that it comes from elsewhere', () => {
    expect(compileCard(fetched, { name: 'Other' }).card.name).toBe('A')
  })
})

describe("the manifest's own card", () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['overrides', { name: 'Mine', version: '2' }, { name: 'Mine', version: '2', description: 'B' }],
    ['takes away', { skills: null, description: 'C' }, { description: 'C', skills: [{ id: 'main', name: 'A' }] }],
    [
      'changes a skill by its id',
      { skills: [{ id: 'talk', tags: ['x'] }] },
      { skills: [{ id: 'talk', tags: ['x'], name: 'Talk' }] },
    ],
    ['adds a skill', { skills: [{ id: 'sing', name: 'Sing' }] }, { skills: [{ id: 'talk' }, { id: 'sing' }] }],
    ['says where calls go', { url: 'https://b.example/x' }, { supportedInterfaces: [{ url: 'https://b.example/x' }] }],
    ['in another spelling', { documentation_url: 'https://d.example' }, { documentationUrl: 'https://d.example' }],
    [
      'in another spelling than what it overrides',
      { protocol_version: '1.0' },
      { supportedInterfaces: [{ protocolVersion: '1.0' }] },
    ],
  ])('%s', (_, card, expected) => {
    expect(compileCard({ upstream, card }, fetched).card).toMatchObject(expected)
  })

  it('can be front matter, which says nothing of the version that it is not', () => {
    const card = { exposed: true, agentcard: { skills: [{ id: 'sing', name: 'Sing' }] } }
    const fetched = { name: 'A', description: 'B', url: 'https://a.example/a2a' }
    const { report, manifest, card: served } = compileCard({ upstream, card }, fetched)
    expect([report.dialect, manifest.visibility, served.supportedInterfaces[0]?.protocolVersion]).toStrictEqual([
      'gopherhole',
      'public',
      '1.0',
    ])
    expect(
      getCompileErrors({ upstream, card: { exposed: true, agentcard: { skills: [{ name: 5 }] } } }, fetched),
    ).toMatchObject([{ pointer: '/card/agentcard/skills/0/name' }])
  })

  it('is where an error of its own is told, and what was fetched where it is wrong itself', () => {
    const card = {
      description: 5,
      skills: [
        { id: 'talk', tags: 'x' },
        { id: 'sing', name: 'S', tags: [1] },
      ],
    }
    const wrong = { ...fetched, version: {}, skills: [{ id: 'hum', name: 6 }, ...(fetched.skills as Json[])] }
    const places = (document: JsonObject, of: JsonObject) =>
      getCompileErrors(document, of)
        .map(({ pointer }) => pointer)
        .toSorted()
    expect(places({ upstream, card }, wrong)).toStrictEqual(
      ['/card/description', '/card/skills/0/tags', '/card/skills/1/tags/0', '/skills/0/name', '/version'].toSorted(),
    )
  })

  it('is where a note of its own is told', () => {
    const { report } = compileCard({ upstream, card: { provider: 'Mine' } }, { ...fetched, version: 2 })
    expect(report.converted).toStrictEqual([
      { pointer: '/version', message: 'a number, read as text' },
      { pointer: '/card/provider', message: 'a name, read as the organization' },
    ])
  })
})

describe('the signatures of a card that was fetched', () => {
  const dropped = (document: JsonObject) => compileCard(document, signed).report.dropped['1.0']

  it('stay where the card says what it said', () => {
    const { documents, report } = compileCard({ upstream }, signed)
    expect([documents['1.0'], report.dropped['1.0']]).toStrictEqual([signed, undefined])
  })

  it.each<[string, JsonObject]>([
    ['the owner says something else', { card: { description: 'C' } }],
    ['its calls go through this host', { route: 'gateway' }],
    ['there is an extended card to tell of', { extended: { description: 'C' } }],
  ])('go, and the report says so, where %s', (_, more) => {
    const { documents, extended } = compileCard({ upstream, ...more }, signed)
    expect(JSON.stringify([documents, extended])).not.toContain('c2ln')
    expect(dropped({ upstream, ...more })).toStrictEqual(['/signatures'])
  })

  it('are in an extended card that says nothing more only where they still hold', () => {
    const knows: JsonObject = {
      ...signed,
      capabilities: { ...(signed.capabilities as JsonObject), extendedAgentCard: true },
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
    }
    const signaturesOf = (card: JsonObject) =>
      compileCard({ upstream, card, tiers: { gold: {} } }, knows).extended.map(
        ({ documents }) => documents['1.0'].signatures,
      )
    expect([signaturesOf({}), signaturesOf({ description: 'C' })]).toStrictEqual([
      [signed.signatures, signed.signatures],
      [undefined, undefined],
    ])
  })

  it('stay where the owner adds what the dialect has no place for', () => {
    const { documents } = compileCard({ upstream, card: { 'x-note': 'mine' } }, signed)
    expect([documents['1.0'], documents.gopherhole.signatures]).toStrictEqual([signed, undefined])
  })

  it("are the owner's where the owner brings them", () => {
    const signatures = [{ protected: 'eyJhbGciOiJFUzI1NiJ9', signature: 'bWluZQ' }]
    const { documents } = compileCard({ upstream, card: { description: 'C', signatures } }, signed)
    expect(documents['1.0']).toStrictEqual({ ...signed, description: 'C', signatures })
  })
})

describe('what is fetched that is no card', () => {
  it.each<[string, Json, string, RegExp]>([
    ['a list', [], '', /^is not a JSON object/],
    ['null', null, '', /^is not a JSON object/],
    ['text', '<html>', '', /^is not a JSON object/],
    ['nothing', {}, '/url', /^is missing/],
    ['an ERC-8004 registration', { type: 'ERC-8004' }, '/type', /^is an ERC-8004 registration/],
    ['a directory', { agents: [] }, '/agents', /^is a directory of agents/],
    ['a forbidden name', JSON.parse('{"name":"A","x":{"__proto__":{"y":1}}}'), '/x/__proto__', /not allowed as a name/],
    ['a number that is none', { name: Number.NaN }, '/name', /is too large for a number in JSON/],
    ['too long a text', { ...fetched, description: 'x'.repeat(20_000) }, '/description', /characters long/],
    ['too many skills', { ...fetched, skills: Array(501).fill('x') }, '/skills', /has 501 skills/],
    ['no endpoint', { name: 'A', description: 'B' }, '/url', /^is missing: add the agent's `url`/],
    ['a link that runs', { ...fetched, iconUrl: 'javascript:x' }, '/iconUrl', /must be an http or https URL/],
  ])('is told by name: %s', (_, document, pointer, message) => {
    expect(getCompileErrors({ upstream }, document as JsonObject)[0]).toStrictEqual({
      pointer,
      message: expect.stringMatching(message),
    })
  })

  it('nests too deep', () => {
    const deep = JSON.parse(`${'{"x":'.repeat(3000)}1${'}'.repeat(3000)}`)
    expect(getCompileErrors({ upstream }, { ...fetched, deep })[0]?.message).toBe('nests deeper than 64 levels')
  })

  it('is too much only with what is laid over it', () => {
    const skills = (from: number) => Array.from({ length: 300 }, (_, n) => ({ id: `s${from + n}`, name: 'S' }))
    expect(
      getCompileErrors({ upstream, card: { skills: skills(300) } }, { ...fetched, skills: skills(0) }),
    ).toMatchObject([{ message: 'has 600 skills; at most 500 are allowed' }])
  })
})

describe('where the calls of a fetched card go', () => {
  const here = 'https://host.example/agents/weather/a2a'
  const loop = "is this host's own URL of the agent, so calls would loop: use the agent's own URL"
  const elsewhere =
    'is on another host than `upstream.card`, so the secret would go to a host that the manifest does not name: set `upstream.url` to allow it'

  it.each<[string, JsonObject, JsonObject, { pointer: string; message: string }]>([
    [
      'a card of this host',
      { card: here.replace('a2a', '.well-known/agent-card.json') },
      {},
      { pointer: '/upstream/card', message: loop },
    ],
    ['an endpoint of this host', {}, { url: here }, { pointer: '/url', message: loop }],
    ['an upstream of this host', { url: here }, {}, { pointer: '/upstream/url', message: loop }],
    [
      'another host, with a secret',
      { secret: 'KEY' },
      { url: 'https://b.example/a2a' },
      { pointer: '/url', message: elsewhere },
    ],
    [
      'another port, with a secret',
      { secret: 'KEY' },
      { url: 'https://a.example:8443/a2a' },
      { pointer: '/url', message: elsewhere },
    ],
    [
      'no encryption, with a secret',
      { secret: 'KEY' },
      { url: 'http://a.example/a2a' },
      { pointer: '/url', message: elsewhere },
    ],
  ])('is refused: %s', (_, more, fields, error) => {
    for (const route of ['direct', 'gateway'])
      expect(getCompileErrors({ upstream: { ...upstream, ...more }, route }, { ...fetched, ...fields })).toStrictEqual([
        error,
      ])
  })

  it.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['another agent of this host', {}, { url: here.replace('weather', 'weather-2') }, {}],
    ['the same host, with a secret', { secret: 'KEY' }, {}, {}],
    ['another host, without a secret', {}, { url: 'https://b.example/a2a' }, {}],
    [
      'another host, which the manifest says',
      { secret: 'KEY', url: 'https://b.example/a2a' },
      { url: 'https://c.example' },
      {},
    ],
    ['another host, which the owner says', { secret: 'KEY' }, {}, { url: 'https://b.example/a2a' }],
    ['a binding to a Worker', { secret: 'KEY', service: 'AGENT' }, { url: 'https://b.example/a2a' }, {}],
    ['here by its own card, and on by the manifest', { url: 'https://a.example/a2a' }, { url: here }, {}],
    [
      'another host, by a binding that does not pass through here',
      { secret: 'KEY' },
      { additionalInterfaces: [{ url: 'https://b.example', transport: 'GRPC' }] },
      {},
    ],
  ])('is allowed: %s', (_, more, fields, card) => {
    const made = compileCard({ upstream: { ...upstream, ...more }, card, route: 'gateway' }, { ...fetched, ...fields })
    expect(made.profile.targets).toHaveLength(1)
  })

  it('is told of as it was fetched, beside the card that is served', () => {
    const { card, direct } = compileCard({ upstream, route: 'gateway' }, fetched)
    expect([card, direct].map(each => each.supportedInterfaces[0]?.url)).toStrictEqual([here, fetched.url])
  })
})
