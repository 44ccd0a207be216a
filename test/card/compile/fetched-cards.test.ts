import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'

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

describe('a fetched card', () => {
  it('is served like a card in the manifest, where the manifest has no card or an empty one', () => {
    const inManifest = compileCard(fetched)
    for (const document of [{ upstream }, { upstream, card: {} }]) {
      const { documents, report, direct } = compileCard(document, fetched)
      expect([documents, report, direct]).toStrictEqual([inManifest.documents, inManifest.report, inManifest.card])
    }
  })

  it('is required where the manifest has a source', () => {
    const message = 'is the source of the card, and no card was fetched from it'
    expect([
      getCompileErrors({ upstream }),
      getCompileErrors({ upstream: { mcp: source }, card: fetched }),
    ]).toStrictEqual([[{ pointer: '/upstream/card', message }], [{ pointer: '/upstream/mcp', message }]])
  })

  it('is ignored where the manifest has no source', () => {
    expect(compileCard(fetched, { name: 'Other' }).card.name).toBe('A')
  })
})

describe('the card of a manifest with a remote card', () => {
  it('overrides, removes and adds fields and skills', () => {
    const rows: [card: JsonObject, expected: JsonObject][] = [
      [
        { name: 'Mine', version: '2' },
        { name: 'Mine', version: '2', description: 'B' },
      ],
      [
        { skills: null, description: 'C' },
        { description: 'C', skills: [{ id: 'main', name: 'A' }] },
      ],
      [{ skills: [{ id: 'talk', tags: ['x'] }] }, { skills: [{ id: 'talk', tags: ['x'], name: 'Talk' }] }],
      [{ skills: [{ id: 'sing', name: 'Sing' }] }, { skills: [{ id: 'talk' }, { id: 'sing' }] }],
      [{ url: 'https://b.example/x' }, { supportedInterfaces: [{ url: 'https://b.example/x' }] }],
      [{ documentation_url: 'https://d.example' }, { documentationUrl: 'https://d.example' }],
      [{ protocol_version: '1.0' }, { supportedInterfaces: [{ protocolVersion: '1.0' }] }],
    ]
    for (const [card, expected] of rows) expect(compileCard({ upstream, card }, fetched).card).toMatchObject(expected)
  })

  it('can be front matter, which does not change the protocol version', () => {
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

  it('has its own errors, apart from those of the fetched card', () => {
    const card = {
      description: 5,
      skills: [
        { id: 'talk', tags: 'x' },
        { id: 'sing', name: 'S', tags: [1] },
      ],
    }
    const invalid = { ...fetched, version: {}, skills: [{ id: 'hum', name: 6 }, ...(fetched.skills as Json[])] }
    const listPointers = (document: JsonObject, remote: JsonObject) =>
      getCompileErrors(document, remote)
        .map(({ pointer }) => pointer)
        .toSorted()
    expect(listPointers({ upstream, card }, invalid)).toStrictEqual(
      ['/card/description', '/card/skills/0/tags', '/card/skills/1/tags/0', '/skills/0/name', '/version'].toSorted(),
    )
  })

  it('has its own notes, apart from those of the fetched card', () => {
    const { report } = compileCard({ upstream, card: { provider: 'Mine' } }, { ...fetched, version: 2 })
    expect(report.converted).toStrictEqual([
      { pointer: '/version', message: 'a number, read as text' },
      { pointer: '/card/provider', message: 'a name, read as the organization' },
    ])
  })
})

describe('the signatures of a fetched card', () => {
  it('are kept where the card is served unchanged', () => {
    const { documents, report } = compileCard({ upstream }, signed)
    expect([documents['1.0'], report.dropped['1.0']]).toStrictEqual([signed, undefined])
  })

  it('are dropped, with a note, where the served card differs', () => {
    for (const fields of [{ card: { description: 'C' } }, { route: 'gateway' }, { extended: { description: 'C' } }]) {
      const { documents, extended, report } = compileCard({ upstream, ...fields }, signed)
      expect(JSON.stringify([documents, extended])).not.toContain('c2ln')
      expect(report.dropped['1.0']).toStrictEqual(['/signatures'])
    }
  })

  it('are kept in an extended card with the same content only where the public card keeps them', () => {
    const declaring: JsonObject = {
      ...signed,
      capabilities: { ...(signed.capabilities as JsonObject), extendedAgentCard: true },
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
    }
    const compileSignatures = (card: JsonObject) =>
      compileCard({ upstream, card, tiers: { gold: {} } }, declaring).extended.map(
        ({ documents }) => documents['1.0'].signatures,
      )
    expect([compileSignatures({}), compileSignatures({ description: 'C' })]).toStrictEqual([
      [signed.signatures, signed.signatures],
      [undefined, undefined],
    ])
  })

  it('are kept where the manifest adds a field that the dialect cannot represent', () => {
    const { documents } = compileCard({ upstream, card: { 'x-note': 'mine' } }, signed)
    expect([documents['1.0'], documents.gopherhole.signatures]).toStrictEqual([signed, undefined])
  })
})

describe('an invalid response of a source', () => {
  it('is rejected with a message', () => {
    const rows: [document: Json, pointer: string, message: RegExp][] = [
      [[], '', /^is not a JSON object/],
      [{ type: 'ERC-8004' }, '/type', /^is an ERC-8004 registration/],
      [JSON.parse('{"name":"A","x":{"__proto__":{"y":1}}}'), '/x/__proto__', /not allowed as a name/],
      [{ ...fetched, description: 'x'.repeat(20_000) }, '/description', /characters long/],
      [{ name: 'A', description: 'B' }, '/url', /^is missing: add the agent's `url`/],
    ]
    for (const [document, pointer, message] of rows)
      expect(getCompileErrors({ upstream }, document as JsonObject)[0]).toStrictEqual({
        pointer,
        message: expect.stringMatching(message),
      })
  })

  it('is rejected where it exceeds a limit only together with the manifest', () => {
    const skills = (from: number) => Array.from({ length: 300 }, (_, n) => ({ id: `s${from + n}`, name: 'S' }))
    expect(
      getCompileErrors({ upstream, card: { skills: skills(300) } }, { ...fetched, skills: skills(0) }),
    ).toMatchObject([{ message: 'has 600 skills; at most 500 are allowed' }])
  })
})

describe('the endpoint of a fetched card', () => {
  const ownUrl = 'https://host.example/agents/weather/a2a'
  const loop = "is this host's own URL of the agent, so calls would loop: use the agent's own URL"
  const otherHost =
    'is on another host than `upstream.card`, so the secret would go to a host that the manifest does not name: set `upstream.url` to allow it'

  it('is rejected on this host, and on another one with a secret', () => {
    const secret = 'KEY'
    const rows: [upstream: JsonObject, card: JsonObject, pointer: string, message: string][] = [
      [{ card: ownUrl.replace('a2a', '.well-known/agent-card.json') }, {}, '/upstream/card', loop],
      [{}, { url: ownUrl }, '/url', loop],
      [{ url: ownUrl }, {}, '/upstream/url', loop],
      // Another host, another port, and without encryption.
      [{ secret }, { url: 'https://b.example/a2a' }, '/url', otherHost],
      [{ secret }, { url: 'http://a.example/a2a' }, '/url', otherHost],
    ]
    for (const [more, fields, pointer, message] of rows)
      expect(getCompileErrors({ upstream: { ...upstream, ...more } }, { ...fetched, ...fields })).toStrictEqual([
        { pointer, message },
      ])
  })

  it('may be anywhere else', () => {
    const [secret, other] = ['KEY', 'https://b.example/a2a']
    const rows: [upstream: JsonObject, fetched: JsonObject, card?: JsonObject][] = [
      // Another agent on this host.
      [{}, { url: ownUrl.replace('weather', 'weather-2') }],
      [{}, { url: other }],
      // A host that the manifest names, and a service binding.
      [{ secret, url: other }, { url: 'https://c.example' }],
      [{ secret }, {}, { url: other }],
      [{ secret, service: 'AGENT' }, { url: other }],
      [{ url: 'https://a.example/a2a' }, { url: ownUrl }],
      // A binding that this host does not forward.
      [{ secret }, { additionalInterfaces: [{ url: 'https://b.example', transport: 'GRPC' }] }],
    ]
    for (const [more, fields, card = {}] of rows) {
      const document = { upstream: { ...upstream, ...more }, card, route: 'gateway' }
      expect(compileCard(document, { ...fetched, ...fields }).profile.targets).toHaveLength(1)
    }
  })
})
