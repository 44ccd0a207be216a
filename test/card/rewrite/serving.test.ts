import type { AgentCard as V03Card } from 'a2a-sdk-v0.3'
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from 'a2a-sdk-v0.3/client'
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
  '0.2': { ...base, url: upstream, protocolVersion: '0.2.5', preferredTransport: 'JSONRPC' },
}

describe('route: gateway', () => {
  it.each(Object.keys(cards))("hides the agent's URL in every representation of a %s card", dialect => {
    const { documents, report } = compileCard({ card: cards[dialect] as Json, route: 'gateway' })
    expect(Object.keys(documents)).toStrictEqual([...representationNames])
    expect(JSON.stringify(documents)).not.toContain(upstream)
    expect(JSON.stringify(documents)).toContain('https://host.example/agents/weather/a2a')
    expect(JSON.stringify(report.dropped)).not.toContain('Interfaces')
  })

  it("lists each of the agent's bindings and versions once, with the URL of this host", () => {
    const url = 'https://host.example/agents/weather/a2a'
    const { card } = compileCard({ card: cards['1.0'] as Json, route: 'gateway', bridge: 'off' })
    expect(card.supportedInterfaces).toStrictEqual([
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ])
  })

  it.each<[string, string, string[]]>([
    ['1.0', 'all', ['JSONRPC 1.0', 'JSONRPC 0.3', 'HTTP+JSON 1.0', 'HTTP+JSON 0.3']],
    ['1.0', 'versions', ['JSONRPC 1.0', 'JSONRPC 0.3']],
    ['0.3', 'all', ['JSONRPC 0.3', 'HTTP+JSON 0.3', 'JSONRPC 1.0', 'HTTP+JSON 1.0']],
    ['0.3', 'versions', ['JSONRPC 0.3', 'HTTP+JSON 0.3', 'JSONRPC 1.0', 'HTTP+JSON 1.0']],
    ['0.3', 'bindings', ['JSONRPC 0.3', 'HTTP+JSON 0.3']],
    ['gopherhole', 'all', ['JSONRPC 1.0', 'HTTP+JSON 1.0', 'JSONRPC 0.3', 'HTTP+JSON 0.3']],
    ['gopherhole', 'versions', ['JSONRPC 1.0', 'JSONRPC 0.3']],
    ['gopherhole', 'bindings', ['JSONRPC 1.0', 'HTTP+JSON 1.0']],
    ['gopherhole', 'off', ['JSONRPC 1.0']],
    ['0.2', 'all', ['JSONRPC 0.3', 'JSONRPC 1.0', 'HTTP+JSON 1.0', 'HTTP+JSON 0.3']],
    ['0.2', 'off', ['JSONRPC 0.3']],
  ])(
    'lists what a %s card is translated from with `bridge: %s`, after the interfaces of the agent',
    (dialect, bridge, expected) => {
      const { card } = compileCard({ card: cards[dialect] as Json, route: 'gateway', bridge })
      expect(card.supportedInterfaces.map(each => `${each.protocolBinding} ${each.protocolVersion}`)).toEqual(expected)
    },
  )

  it.each<[string, JsonObject]>([
    ['0.2', {}],
    ['telex', { protocolVersion: '0.2.5' }],
    ['telex', { protocol_version: '0.2' }],
  ])('has the same interfaces of 0.3 in the fields of either version: %s with %j', (name, version) => {
    const card = { ...cards[name], ...version }
    const { documents } = compileCard({ card, route: 'gateway' })
    const url = 'https://host.example/agents/weather/a2a'
    const fields = {
      url,
      preferredTransport: 'JSONRPC',
      protocolVersion: '0.3.0',
      additionalInterfaces: [{ url, transport: 'HTTP+JSON' }],
    }
    expect(documents['agent-card.json']).toMatchObject({
      ...fields,
      supportedInterfaces: [
        { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
      ],
    })
    for (const dialect of ['0.3', 'shaman', 'superx', 'telex'] as const)
      expect(documents[dialect]).toMatchObject(fields)
  })

  it.each([
    ['JSON-RPC', new JsonRpcTransportFactory()],
    ['HTTP+JSON', new RestTransportFactory()],
  ])('is found by the official client of 0.3 that has only %s, where the agent has 0.2', async (_, transport) => {
    const { documents } = compileCard({ card: cards['0.2'] as Json, route: 'gateway' })
    const factory = new ClientFactory({ transports: [transport] })
    for (const name of ['agent-card.json', '0.3'] as const)
      await expect(factory.createFromAgentCard(documents[name] as unknown as V03Card)).resolves.toBeDefined()
  })

  it.each(['direct', 'closed'])('does not list what is not translated: `route: %s`', route => {
    const { card } = compileCard({ card: cards.gopherhole as Json, route, bridge: 'all' })
    expect(card.supportedInterfaces.map(({ url }) => url)).toEqual([upstream])
  })

  it.each<[string, JsonObject]>([
    ['MCP', { ...base, protocol: 'mcp', protocolVersion: '2024-11-05', url: `${upstream}/mcp` }],
    ['GRPC', { ...base, url: upstream, preferredTransport: 'GRPC' }],
    ['an unknown version of A2A', { ...base, url: upstream, protocolVersion: '1.1' }],
    ['v0.1', { ...base, url: upstream, protocolVersion: '0.1.0' }],
  ])('is rejected for an agent that supports only %s', (_, card) => {
    expect(getCompileErrors({ card, route: 'gateway' })).toStrictEqual([
      {
        pointer: '/route',
        message:
          'needs an interface that this host can forward to, JSONRPC or HTTP+JSON of A2A 0.2, 0.3 or 1.0: add one, or use `route: direct`',
      },
    ])
  })

  it('lists exactly the bindings and versions that this host can forward', () => {
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
      advertised: card.supportedInterfaces.map(({ protocolBinding, protocolVersion }) => [
        protocolBinding,
        protocolVersion,
      ]),
      targets: profile.targets.map(({ binding, version, url }) => [binding, version, url]),
    }).toStrictEqual({
      advertised: ['JSONRPC', 'HTTP+JSON'].flatMap(binding => ['1.0', '0.3'].map(version => [binding, version])),
      targets: ['JSONRPC', 'HTTP+JSON'].flatMap(binding =>
        ['1.0', '0.3'].map(version => [binding, version, `${upstream}/${version}`]),
      ),
    })
  })

  it('ignores an empty tenant, which servers that use ProtoJSON write', () => {
    const supportedInterfaces = [
      { url: `${upstream}/v1`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
    ]
    const { profile } = compileCard({ card: { ...base, supportedInterfaces } })
    expect(profile.targets).toEqual([{ binding: 'JSONRPC', version: '1.0', url: `${upstream}/v1` }])
  })

  it('hides the tenant of a v1.0 interface, and forwards it', () => {
    const { documents, profile } = compileCard({ card: cards['1.0'] as Json, route: 'gateway' })
    expect([JSON.stringify(documents).includes('north'), profile.targets]).toStrictEqual([
      false,
      [
        { binding: 'JSONRPC', version: '1.0', url: `${upstream}/v1`, tenant: 'north' },
        { binding: 'JSONRPC', version: '0.3', url: `${upstream}/v0` },
      ],
    ])
  })

  it("replaces the URL of SuperX's agentCard by that of the served card", () => {
    const { documents } = compileCard({ card: cards.superx as Json, route: 'gateway', bridge: 'off' })
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
    ['the first host name', {}, ['*', 'a.example', 'b.example'], 'https://a.example'],
    ['the registration request', { publicUrl: '' }, ['*'], 'https://request.example'],
  ])('uses the origin of %s', (_, context, hosts, origin) => {
    const manifest = { card: cards.gopherhole as Json, route: 'gateway', hosts }
    expect(compile(manifest, { id: 'a', requestOrigin: 'https://request.example', ...context })).toMatchObject({
      compiled: { origin, documents: { gopherhole: { url: `${origin}/agents/a/a2a` } } },
    })
  })
})

describe('the origin of an agent with host names', () => {
  const compileAt = (requestOrigin: string, hosts: string[], publicUrl?: string) => {
    const manifest = { card: cards.gopherhole as Json, route: 'gateway', hosts }
    return compile(manifest, { id: 'a', requestOrigin, publicUrl })
  }

  it.each([
    ['http://127.0.0.1:8787', ['127.0.0.1'], 'http://127.0.0.1:8787'],
    ['http://localhost:8787', ['127.0.0.1'], 'http://127.0.0.1:8787'],
    ['http://127.0.0.1:8787', ['localhost'], 'http://localhost:8787'],
    ['http://[::1]:8787', ['*', 'agents.localhost'], 'http://agents.localhost:8787'],
    ['http://192.168.0.7', ['192.168.0.7'], 'http://192.168.0.7'],
    ['https://cards.example:8443', ['cards.example'], 'https://cards.example:8443'],
    ['https://cards.example:8443', ['other.example'], 'https://other.example'],
    ['http://127.0.0.1:8787', ['cards.example'], 'https://cards.example'],
    ['http://cards.example', ['cards.example'], 'https://cards.example'],
  ])('registered through %s with %j is %s', (requestOrigin, hosts, origin) => {
    expect(compileAt(requestOrigin, hosts)).toMatchObject({
      compiled: { origin, documents: { gopherhole: { url: `${origin}/agents/a/a2a` } } },
    })
  })

  it.each(['127.0.0.1', '10.0.0.5', 'localhost', 'agents.localhost'])(
    'is rejected with the reason if it is no public name, and the host is reached by one: %s',
    name => {
      expect(compileAt('https://cards.example', [name, 'cards.example'])).toEqual({
        errors: [
          {
            pointer: '/hosts',
            message: `begins with "${name}", which is no public host name: clients of cards.example could not use the URLs of the card. Begin with a host name of this host, or set PUBLIC_URL`,
          },
        ],
      })
      expect(compileAt('https://cards.example', ['cards.example', name])).toHaveProperty('compiled')
      expect(compileAt('https://cards.example', [name], 'https://cards.example')).toHaveProperty('compiled')
    },
  )
})

describe.each(['direct', 'closed'])('route: %s', route => {
  it("keeps the agent's URL", () => {
    expect(compileCard({ card: cards.gopherhole as Json, route }).documents['agent-card.json'].url).toBe(upstream)
  })
})

const agent = 'https://weather.agents.example/a2a/one'
const makeManifest = (fields: JsonObject, manifest: JsonObject = {}): JsonObject => ({
  card: { ...base, url: agent, protocolVersion: '0.3.0', ...fields },
  route: 'gateway',
  ...manifest,
})
const makeUrlError = (pointer: string) => ({
  pointer,
  message: "contains the agent's own address, which `route: gateway` hides: remove it",
})
const skill = { id: 's', name: 'S', description: 'Does it', tags: ['t'] }

describe("the agent's URL in a card with `route: gateway`", () => {
  it.each<[string, JsonObject, string]>([
    ['the description', { description: `Ask me at ${agent}.` }, '/card/description'],
    ['a text, as a host name', { description: 'Lives on Weather.Agents.Example, in Oslo' }, '/card/description'],
    ['an example', { skills: [{ ...skill, examples: ['a', agent] }] }, '/card/skills/0/examples/1'],
    ['an unknown field', { endpoint: { rpc: agent } }, '/card/endpoint/rpc'],
    ['a list that is not of interfaces', { interfaces: [{ url: agent }] }, '/card/interfaces/0/url'],
    ['the name of a member', { routes: { [agent]: true } }, '/card/routes/https:~1~1weather.agents.example~1a2a~1one'],
    [
      "an extension's parameters",
      { capabilities: { extensions: [{ uri: 'urn:x', params: { at: [agent] } }] } },
      '/card/capabilities/extensions/0/params/at/0',
    ],
    ['a link', { documentationUrl: agent }, '/card/documentationUrl'],
    ['a link below the endpoint', { documentationUrl: `${agent}/docs` }, '/card/documentationUrl'],
    ['a link with http', { iconUrl: agent.replace('https', 'http') }, '/card/iconUrl'],
    ['the query of a link', { iconUrl: `https://proxy.example/?u=${encodeURIComponent(agent)}` }, '/card/iconUrl'],
    ['a link of a skill', { skills: [{ ...skill, url: 'https://weather.agents.example/s' }] }, '/card/skills/0/url'],
    [
      'one of two spellings of a field',
      { protocol: 'a2a', iconUrl: 'https://cdn.example/i', icon_url: agent },
      '/card/icon_url',
    ],
    ["an agent card's other members", { agentCard: { url: agent, also: agent } }, '/card/agentCard/also'],
    [
      'an issuer below the endpoint',
      { securitySchemes: { oidc: { type: 'openIdConnect', openIdConnectUrl: `${agent}/openid` } } },
      '/card/securitySchemes/oidc/openIdConnectUrl',
    ],
    [
      'the description of a scheme',
      { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: agent } } },
      '/card/securitySchemes/bearer/description',
    ],
  ])('is rejected in %s', (_, fields, pointer) => {
    expect(getCompileErrors(makeManifest(fields))).toStrictEqual([makeUrlError(pointer)])
    expect(compileCard({ ...makeManifest(fields), route: 'direct' })).toHaveProperty('documents')
  })

  it.each<[string, JsonObject]>([
    ['documentation', { documentationUrl: 'https://weather.agents.example/docs' }],
    ['an icon', { iconUrl: 'https://weather.agents.example/a2a/one-icon.png' }],
    ['the provider', { provider: { organization: 'W', url: 'https://weather.agents.example' } }],
    [
      'an issuer',
      { securitySchemes: { o: { type: 'openIdConnect', openIdConnectUrl: 'https://weather.agents.example/openid' } } },
    ],
  ])('is not found in the URL of %s on the same host, which gets a warning', (_, fields) => {
    const { report } = compileCard(makeManifest(fields))
    expect(report.issues.filter(({ rule }) => rule === 'gateway-host')).toHaveLength(1)
    const onOtherHost = JSON.parse(JSON.stringify(fields).replaceAll('weather.agents.example', 'www.example'))
    expect(
      compileCard(makeManifest(onOtherHost)).report.issues.filter(({ rule }) => rule === 'gateway-host'),
    ).toStrictEqual([])
  })

  it.each<[string, JsonObject]>([
    ['a subdomain', { supportUrl: 'https://help.weather.agents.example/' }],
    ['a host name with the same end', { supportUrl: 'https://my-weather.agents.example/' }],
    ['a host name with the same beginning', { supportUrl: 'https://weather.agents.example.org/' }],
    ['the parent domain', { description: 'An agent of agents.example' }],
  ])('is not found in %s', (_, fields) => {
    expect(compileCard(makeManifest(fields))).toHaveProperty('documents')
  })

  it.each<[string, JsonObject]>([
    ['url', { url: 'https://behind.example/a2a' }],
    ['card', { card: 'https://behind.example/card.json' }],
    ['mcp', { mcp: 'https://behind.example/mcp' }],
  ])('is rejected on the host of upstream.%s in any link', (_, upstream) => {
    for (const fields of [
      { documentationUrl: 'https://behind.example/docs' },
      { provider: { organization: 'W', url: 'https://behind.example' } },
    ])
      expect(getCompileErrors(makeManifest(fields as JsonObject, { upstream }))).toHaveLength(1)
  })

  it('is rejected in the overlay that contains it', () => {
    const overlays = {
      extended: { skills: [{ ...skill, id: 'more', examples: [agent] }] },
      tiers: { gold: { internalUrl: agent } },
    }
    expect(getCompileErrors(makeManifest({ skills: [skill] }, overlays))).toStrictEqual([
      makeUrlError('/extended/skills/0/examples/0'),
      makeUrlError('/tiers/gold/internalUrl'),
    ])
  })

  it('is not found in a word that equals a host name without dots', () => {
    const card = { name: 'Echo', description: 'An echo agent', url: 'http://echo/a2a' }
    expect(compileCard({ card, route: 'gateway' })).toHaveProperty('documents')
    expect(getCompileErrors({ card: { ...card, note: 'see http://echo/a2a' }, route: 'gateway' })).toStrictEqual([
      makeUrlError('/card/note'),
    ])
  })

  it.each([
    ['an internationalized name', 'https://bücher.example/a2a', 'ask XN--bcher-kva.example'],
    ['an IPv6 address', 'http://[fd00::5]:8080/a2a', 'at [FD00::5] only'],
  ])('is found as it is sent over the network, in any case: %s', (_, url, note) => {
    expect(getCompileErrors({ card: { ...base, url, note }, route: 'gateway' })).toStrictEqual([
      makeUrlError('/card/note'),
    ])
  })

  it('is found without the trailing dot of the endpoint', () => {
    const card = { ...base, url: 'https://weather.agents.example./a2a/one', note: 'ask weather.agents.example' }
    expect(getCompileErrors({ card, route: 'gateway' })).toStrictEqual([makeUrlError('/card/note')])
  })

  it("is not found in this host's own URL of the agent, which may be below the endpoint", () => {
    const { card } = compileCard({ card: { ...base, url: 'https://host.example/agents' }, route: 'gateway' })
    expect(card.supportedInterfaces[0]?.url).toBe('https://host.example/agents/weather/a2a')
  })

  it('is not found if the agent has the host name of this host, which hides nothing', () => {
    const manifest = makeManifest({ supportUrl: agent }, { hosts: ['weather.agents.example'] })
    expect(compileCard(manifest)).toHaveProperty('documents')
  })
})
