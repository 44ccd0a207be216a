import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { representationNames } from '../../../src/card/model/constants.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'

const upstream = 'https://internal.example'
const base = { name: 'A', description: 'B' }
const cards: Record<string, JsonObject> = {
  '1.0': {
    ...base,
    supportedInterfaces: [
      { url: `${upstream}/v1`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'north' },
      { url: `${upstream}/v1`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'south' },
      { url: `${upstream}/grpc`, protocolBinding: 'GRPC', protocolVersion: '1.0' },
      { url: `${upstream}/v0`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ],
  },
  '0.3': {
    ...base,
    url: upstream,
    protocolVersion: '0.3.0',
    additionalInterfaces: [{ url: `${upstream}/r`, transport: 'HTTP+JSON' }],
  },
  gopherhole: { ...base, url: upstream },
  superx: {
    ...base,
    protocol: 'a2a',
    url: upstream,
    additional_interfaces: [{ url: `${upstream}/x`, transport: 'GRPC' }],
    agentCard: { url: `${upstream}/.well-known/agent.json` },
  },
  shaman: {
    ...base,
    url: upstream,
    supportUrl: 'https://help.example',
    interfaces: [{ url: upstream, transport: 'MCP' }],
  },
  telex: { ...base, url: upstream, supportedProtocols: ['a2a-v1'] },
}

describe('route: gateway', () => {
  it.each(Object.keys(cards))("a %s card never shows the agent's own address, in any representation", dialect => {
    const { documents, report } = compileCard({ card: cards[dialect] as Json, route: 'gateway' })
    expect(Object.keys(documents)).toStrictEqual([...representationNames])
    expect(JSON.stringify(documents)).not.toContain(upstream)
    expect(JSON.stringify(documents)).toContain('https://host.example/agents/weather/a2a')
    expect(JSON.stringify(report.dropped)).not.toContain('Interfaces')
  })

  it("serves the agent's bindings and versions at this host's address, each once", () => {
    const url = 'https://host.example/agents/weather/a2a'
    expect(compileCard({ card: cards['1.0'] as Json, route: 'gateway' }).card.supportedInterfaces).toStrictEqual([
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ])
  })

  it.each<[string, JsonObject]>([
    ['MCP', { ...base, protocol: 'mcp', protocolVersion: '2024-11-05', url: `${upstream}/mcp` }],
    ['GRPC', { ...base, url: upstream, preferredTransport: 'GRPC' }],
    ['a version that this host does not', { ...base, url: upstream, protocolVersion: '1.1' }],
    ['v0.1', { ...base, url: upstream, protocolVersion: '0.1.0' }],
  ])('is refused to an agent that speaks %s only', (_, card) => {
    expect(getCompileErrors({ card, route: 'gateway' })).toStrictEqual([
      {
        pointer: '/route',
        message: 'needs an interface that this host can forward to: JSONRPC or HTTP+JSON of A2A 0.2, 0.3, 1.0',
      },
    ])
  })

  it('names what the host has a target for, and nothing else', () => {
    const versions = ['1.1', '1.0', '0.4', '0.3', '0.2', '0.1', '2.0']
    const { card, profile } = compileCard({
      card: {
        ...base,
        supportedInterfaces: ['JSONRPC', 'HTTP+JSON', 'GRPC', 'MCP'].flatMap(protocolBinding =>
          versions.map(protocolVersion => ({
            url: `${upstream}/${protocolVersion}`,
            protocolBinding,
            protocolVersion,
          })),
        ),
      },
      route: 'gateway',
    })
    expect({
      named: card.supportedInterfaces.map(({ protocolBinding, protocolVersion }) => [protocolBinding, protocolVersion]),
      targets: profile.targets.map(({ binding, version, url }) => [binding, version, url]),
    }).toStrictEqual({
      named: ['JSONRPC', 'HTTP+JSON'].flatMap(binding => ['1.0', '0.3', '0.2'].map(version => [binding, version])),
      targets: ['JSONRPC', 'HTTP+JSON'].flatMap(binding =>
        ['1.0', '0.3'].map(version => [binding, version, `${upstream}/${version}`]),
      ),
    })
  })

  it('takes an empty tenant, as servers made with ProtoJSON write it, for none', () => {
    const supportedInterfaces = [
      { url: `${upstream}/v1`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
    ]
    const { profile } = compileCard({ card: { ...base, supportedInterfaces } })
    expect(profile.targets).toEqual([{ binding: 'JSONRPC', version: '1.0', url: `${upstream}/v1` }])
  })

  it("keeps a v1.0 interface's tenant for the agent alone", () => {
    const { documents, profile } = compileCard({ card: cards['1.0'] as Json, route: 'gateway' })
    expect([JSON.stringify(documents).includes('north'), profile.targets]).toStrictEqual([
      false,
      [
        { binding: 'JSONRPC', version: '1.0', url: `${upstream}/v1`, tenant: 'north' },
        { binding: 'JSONRPC', version: '0.3', url: `${upstream}/v0` },
      ],
    ])
  })

  it("points SuperX's agentCard to the card that this host serves", () => {
    const { documents } = compileCard({ card: cards.superx as Json, route: 'gateway' })
    expect(documents.superx).toStrictEqual({
      ...base,
      protocol: 'a2a',
      url: 'https://host.example/agents/weather/a2a',
      agentCard: { url: 'https://host.example/agents/weather/.well-known/agent-card.json' },
      preferredTransport: 'JSONRPC',
    })
  })

  it.each([
    ['PUBLIC_URL', { publicUrl: 'https://cards.example/' }, ['a.example'], 'https://cards.example'],
    ['the first of hosts', {}, ['*', 'a.example', 'b.example'], 'https://a.example'],
    ['where it was registered', { publicUrl: '' }, ['*'], 'https://request.example'],
  ])('has the origin of %s', (_, publicUrl, hosts, origin) => {
    const manifest = { card: cards.gopherhole as Json, route: 'gateway', hosts }
    expect(compile(manifest, { id: 'a', requestOrigin: 'https://request.example', ...publicUrl })).toMatchObject({
      compiled: { origin, documents: { gopherhole: { url: `${origin}/agents/a/a2a` } } },
    })
  })
})

describe.each(['direct', 'closed'])('route: %s', route => {
  it("shows the agent's own address", () => {
    expect(compileCard({ card: cards.gopherhole as Json, route }).documents['agent-card.json'].url).toBe(upstream)
  })
})

const agent = 'https://weather.agents.example/a2a/one'
const reach = (fields: JsonObject, manifest: JsonObject = {}): JsonObject => ({
  card: { ...base, url: agent, protocolVersion: '0.3.0', ...fields },
  route: 'gateway',
  ...manifest,
})
const says = (pointer: string) => ({
  pointer,
  message: "contains the agent's own address, which `route: gateway` hides: remove it",
})
const skill = { id: 's', name: 'S', description: 'Does it', tags: ['t'] }

describe("the agent's address in a gateway's card", () => {
  it.each<[string, JsonObject, string]>([
    ['the description', { description: `Ask me at ${agent}.` }, '/card/description'],
    ['a name in a text', { description: 'Lives on Weather.Agents.Example, in Oslo' }, '/card/description'],
    ['an example', { skills: [{ ...skill, examples: ['a', agent] }] }, '/card/skills/0/examples/1'],
    ['an unknown field', { endpoint: { rpc: agent } }, '/card/endpoint/rpc'],
    ['a list that is none of interfaces', { interfaces: [{ url: agent }] }, '/card/interfaces/0/url'],
    ['the name of a member', { routes: { [agent]: true } }, '/card/routes/https:~1~1weather.agents.example~1a2a~1one'],
    [
      "an extension's parameters",
      { capabilities: { extensions: [{ uri: 'urn:x', params: { at: [agent] } }] } },
      '/card/capabilities/extensions/0/params/at/0',
    ],
    ['a link to it', { documentationUrl: agent }, '/card/documentationUrl'],
    ['a link below it', { documentationUrl: `${agent}/docs` }, '/card/documentationUrl'],
    ['a link to it by http', { iconUrl: agent.replace('https', 'http') }, '/card/iconUrl'],
    ['a link that carries it', { iconUrl: `https://proxy.example/?u=${encodeURIComponent(agent)}` }, '/card/iconUrl'],
    ['a link of a skill', { skills: [{ ...skill, url: 'https://weather.agents.example/s' }] }, '/card/skills/0/url'],
    [
      'a name in two spellings',
      { protocol: 'a2a', iconUrl: 'https://cdn.example/i', icon_url: agent },
      '/card/icon_url',
    ],
    ["an agent card's other members", { agentCard: { url: agent, also: agent } }, '/card/agentCard/also'],
    [
      'a token endpoint that is the agent itself',
      { securitySchemes: { oidc: { type: 'openIdConnect', openIdConnectUrl: `${agent}/openid` } } },
      '/card/securitySchemes/oidc/openIdConnectUrl',
    ],
    [
      'the text of a scheme',
      { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: agent } } },
      '/card/securitySchemes/bearer/description',
    ],
  ])('is refused in %s', (_, fields, pointer) => {
    expect(getCompileErrors(reach(fields))).toStrictEqual([says(pointer)])
    expect(compileCard({ ...reach(fields), route: 'direct' })).toHaveProperty('documents')
  })

  it.each<[string, JsonObject]>([
    ['documentation', { documentationUrl: 'https://weather.agents.example/docs' }],
    ['an icon', { iconUrl: 'https://weather.agents.example/a2a/one-icon.png' }],
    ['the provider', { provider: { organization: 'W', url: 'https://weather.agents.example' } }],
    [
      'an issuer',
      { securitySchemes: { o: { type: 'openIdConnect', openIdConnectUrl: 'https://weather.agents.example/openid' } } },
    ],
  ])('is not that of %s on the same host, of which the report warns', (_, fields) => {
    const { report } = compileCard(reach(fields))
    expect(report.issues.filter(({ rule }) => rule === 'gateway-host')).toHaveLength(1)
    const elsewhere = JSON.parse(JSON.stringify(fields).replaceAll('weather.agents.example', 'www.example'))
    expect(compileCard(reach(elsewhere)).report.issues.filter(({ rule }) => rule === 'gateway-host')).toStrictEqual([])
  })

  it.each<[string, JsonObject]>([
    ['a host below it', { supportUrl: 'https://help.weather.agents.example/' }],
    ['a host that ends like it', { supportUrl: 'https://my-weather.agents.example/' }],
    ['a host that begins like it', { supportUrl: 'https://weather.agents.example.org/' }],
    ['the host above it', { description: 'An agent of agents.example' }],
  ])('is not %s', (_, fields) => {
    expect(compileCard(reach(fields))).toHaveProperty('documents')
  })

  it.each<[string, JsonObject]>([
    ['url', { url: 'https://behind.example/a2a' }],
    ['card', { card: 'https://behind.example/card.json' }],
    ['mcp', { mcp: 'https://behind.example/mcp' }],
  ])('may be on no host of upstream.%s, in any link', (_, upstream) => {
    for (const fields of [
      { documentationUrl: 'https://behind.example/docs' },
      { provider: { organization: 'W', url: 'https://behind.example' } },
    ])
      expect(getCompileErrors(reach(fields as JsonObject, { upstream }))).toHaveLength(1)
  })

  it('is refused in overlays, where they say it', () => {
    const overlays = {
      extended: { skills: [{ ...skill, id: 'more', examples: [agent] }] },
      tiers: { gold: { internalUrl: agent } },
    }
    expect(getCompileErrors(reach({ skills: [skill] }, overlays))).toStrictEqual([
      says('/extended/skills/0/examples/0'),
      says('/tiers/gold/internalUrl'),
    ])
  })

  it('is no word that is the name of a host without points', () => {
    const card = { name: 'Echo', description: 'An echo agent', url: 'http://echo/a2a' }
    expect(compileCard({ card, route: 'gateway' })).toHaveProperty('documents')
    expect(getCompileErrors({ card: { ...card, note: 'see http://echo/a2a' }, route: 'gateway' })).toStrictEqual([
      says('/card/note'),
    ])
  })

  it('is found in Unicode and in punycode, in any case, whichever the endpoint uses', () => {
    const card = { ...base, url: 'https://bücher.example/a2a' }
    for (const url of [card.url, 'https://xn--bcher-kva.example/a2a'])
      for (const note of ['ask Bücher.example', 'ask XN--bcher-kva.example'])
        expect(getCompileErrors({ card: { ...card, url, note }, route: 'gateway' })).toStrictEqual([says('/card/note')])
    const note = '问bücher.example或者'
    expect(getCompileErrors({ card: { ...card, note }, route: 'gateway' })).toStrictEqual([says('/card/note')])
  })

  it('is found without the dot that ends the name in the endpoint', () => {
    const card = { ...base, url: 'https://weather.agents.example./a2a/one', note: 'ask weather.agents.example' }
    expect(getCompileErrors({ card, route: 'gateway' })).toStrictEqual([says('/card/note')])
  })

  it("is not this host's own URL of the agent, which may be below the endpoint", () => {
    const { card } = compileCard({ card: { ...base, url: 'https://host.example/agents' }, route: 'gateway' })
    expect(card.supportedInterfaces[0]?.url).toBe('https://host.example/agents/weather/a2a')
  })

  it('is, where the host is this host too, the endpoint alone', () => {
    const hosts = ['weather.agents.example']
    expect(compileCard(reach({ supportUrl: 'https://weather.agents.example/help' }, { hosts }))).toHaveProperty(
      'documents',
    )
    expect(getCompileErrors(reach({ supportUrl: agent }, { hosts }))).toStrictEqual([says('/card/supportUrl')])
  })
})
