import { describe, expect, it } from 'vitest'
import { compileDocument } from '../../../src/card/compile/index.ts'
import { representationNames } from '../../../src/card/model/constants.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'

const upstream = 'https://internal.example'
const own = 'https://host.example/agents/weather/a2a'
const base = { name: 'A', description: 'B' }
const bare = { ...base, url: upstream }
const jsonrpc = (url: string, protocolVersion: string) => ({ url, protocolBinding: 'JSONRPC', protocolVersion })
const cards: Record<string, JsonObject> = {
  '1.0': {
    ...base,
    supportedInterfaces: [
      { ...jsonrpc(`${upstream}/v1`, '1.0'), tenant: 'north' },
      { ...jsonrpc(`${upstream}/v1`, '1.0'), tenant: 'south' },
      { url: `${upstream}/grpc`, protocolBinding: 'GRPC', protocolVersion: '1.0' },
      jsonrpc(`${upstream}/v0`, '0.3'),
    ],
  },
  '0.3': {
    ...bare,
    protocolVersion: '0.3.0',
    additionalInterfaces: [{ url: `${upstream}/r`, transport: 'HTTP+JSON' }],
  },
  gopherhole: bare,
  superx: {
    ...bare,
    protocol: 'a2a',
    additional_interfaces: [{ url: `${upstream}/x`, transport: 'GRPC' }],
    agentCard: { url: `${upstream}/.well-known/agent.json` },
  },
  shaman: { ...bare, supportUrl: 'https://help.example', interfaces: [{ url: upstream, transport: 'MCP' }] },
  telex: { ...bare, supportedProtocols: ['a2a-v1'] },
  '0.2': { ...bare, protocolVersion: '0.2.5', preferredTransport: 'JSONRPC' },
}

describe('route: gateway', () => {
  it("hides the agent's URL in every representation of a card of each dialect", () => {
    for (const card of Object.values(cards)) {
      const { documents, report } = compileCard({ card, route: 'gateway' })
      expect(Object.keys(documents)).toStrictEqual([...representationNames])
      expect(JSON.stringify(documents)).not.toContain(upstream)
      expect(JSON.stringify(documents)).toContain(own)
      expect(JSON.stringify(report.dropped)).not.toContain('Interfaces')
    }
  })

  it("lists each of the agent's bindings and versions once, with the URL of this host", () => {
    const { card } = compileCard({ card: cards['1.0'] as Json, route: 'gateway', bridge: 'off' })
    expect(card.supportedInterfaces).toStrictEqual([jsonrpc(own, '1.0'), jsonrpc(own, '0.3')])
  })

  it('lists what calls are translated from, after the interfaces of the agent', () => {
    const rows: [dialect: string, bridge: string, ...interfaces: string[]][] = [
      ['1.0', 'all', 'JSONRPC 1.0', 'JSONRPC 0.3', 'HTTP+JSON 1.0', 'HTTP+JSON 0.3'],
      ['gopherhole', 'all', 'JSONRPC 1.0', 'HTTP+JSON 1.0', 'JSONRPC 0.3', 'HTTP+JSON 0.3'],
      ['gopherhole', 'versions', 'JSONRPC 1.0', 'JSONRPC 0.3'],
      ['gopherhole', 'bindings', 'JSONRPC 1.0', 'HTTP+JSON 1.0'],
      ['gopherhole', 'off', 'JSONRPC 1.0'],
      ['0.2', 'all', 'JSONRPC 0.3', 'JSONRPC 1.0', 'HTTP+JSON 1.0', 'HTTP+JSON 0.3'],
    ]
    const listed = rows.map(([dialect, bridge]) => {
      const { card } = compileCard({ card: cards[dialect] as Json, route: 'gateway', bridge })
      return [
        dialect,
        bridge,
        ...card.supportedInterfaces.map(each => `${each.protocolBinding} ${each.protocolVersion}`),
      ]
    })
    expect(listed).toEqual(rows)
    for (const route of ['direct', 'closed']) {
      const { card } = compileCard({ card: cards.gopherhole as Json, route, bridge: 'all' })
      expect(card.supportedInterfaces.map(({ url }) => url)).toEqual([upstream])
    }
  })

  it('has the same interfaces of 0.3 in the fields of either version', () => {
    const fields = {
      url: own,
      preferredTransport: 'JSONRPC',
      protocolVersion: '0.3.0',
      additionalInterfaces: [{ url: own, transport: 'HTTP+JSON' }],
    }
    const rest = (protocolVersion: string) => ({ url: own, protocolBinding: 'HTTP+JSON', protocolVersion })
    const supportedInterfaces = [jsonrpc(own, '0.3'), jsonrpc(own, '1.0'), rest('1.0'), rest('0.3')]
    for (const card of [cards['0.2'], { ...cards.telex, protocol_version: '0.2' }]) {
      const { documents } = compileCard({ card: card as JsonObject, route: 'gateway' })
      expect(documents['agent-card.json']).toMatchObject({ ...fields, supportedInterfaces })
      for (const dialect of ['0.3', 'shaman', 'superx', 'telex'] as const)
        expect(documents[dialect]).toMatchObject(fields)
    }
  })

  it('is rejected for an agent whose only interface this host cannot forward to', () => {
    const message =
      'needs an interface that this host can forward to, JSONRPC or HTTP+JSON of A2A 0.2, 0.3 or 1.0: add one, or use `route: direct`'
    for (const fields of [{ preferredTransport: 'GRPC' }, { protocolVersion: '1.1' }])
      expect(getCompileErrors({ card: { ...bare, ...fields }, route: 'gateway' })).toStrictEqual([
        { pointer: '/route', message },
      ])
  })

  it('lists exactly the bindings and versions that this host can forward', () => {
    const supportedInterfaces = ['JSONRPC', 'HTTP+JSON', 'GRPC', 'MCP'].flatMap(protocolBinding =>
      ['1.1', '1.0', '0.4', '0.3', '0.2', '0.1', '2.0'].map(protocolVersion => ({
        url: `${upstream}/${protocolVersion}`,
        protocolBinding,
        protocolVersion,
      })),
    )
    const { card } = compileCard({ card: { ...base, supportedInterfaces }, route: 'gateway' })
    expect(card.supportedInterfaces.map(each => `${each.protocolBinding} ${each.protocolVersion}`)).toEqual([
      'JSONRPC 1.0',
      'JSONRPC 0.3',
      'HTTP+JSON 1.0',
      'HTTP+JSON 0.3',
    ])
  })

  it('names the transport of this host in place of that of the agent, under any name', () => {
    for (const word of [{ transport: 'http' }, { preferred_transport: 'http' }]) {
      const { documents } = compileCard({ card: { ...cards.telex, ...word } as JsonObject, route: 'gateway' })
      expect(documents.telex).toMatchObject({ url: own, preferredTransport: 'HTTP+JSON' })
      expect(documents.telex).not.toHaveProperty(Object.keys(word).join())
    }
  })

  it('ignores an empty tenant, which servers that use ProtoJSON write', () => {
    const supportedInterfaces = [{ ...jsonrpc(`${upstream}/v1`, '1.0'), tenant: '' }]
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
      url: own,
      agentCard: { url: 'https://host.example/agents/weather/.well-known/agent-card.json' },
      preferredTransport: 'JSONRPC',
    })
  })
})

describe('the origin of the URLs of a card', () => {
  const compileAt = (requestOrigin: string, hosts: string[], publicOrigin?: string) => {
    const manifest = { card: cards.gopherhole as Json, route: 'gateway', hosts }
    return compileDocument(manifest, { id: 'a', requestOrigin, publicOrigin })
  }

  it('is PUBLIC_URL, a host name of the agent, or that of the registration', () => {
    const rows: [requestOrigin: string, hosts: string[], origin: string, publicOrigin?: string][] = [
      ['https://request.example', ['a.example'], 'https://cards.example', 'https://cards.example'],
      ['https://request.example', ['*', 'a.example', 'b.example'], 'https://a.example'],
      ['https://request.example', ['*'], 'https://request.example'],
      // On this machine.
      ['http://127.0.0.1:8787', ['127.0.0.1'], 'http://127.0.0.1:8787'],
      ['http://127.0.0.1:8787', ['localhost'], 'http://localhost:8787'],
      ['http://[::1]:8787', ['*', 'agents.localhost'], 'http://agents.localhost:8787'],
      ['https://cards.example:8443', ['cards.example'], 'https://cards.example:8443'],
      ['http://cards.example', ['cards.example'], 'https://cards.example'],
    ]
    for (const [requestOrigin, hosts, origin, publicOrigin] of rows)
      expect(compileAt(requestOrigin, hosts, publicOrigin)).toMatchObject({
        compiled: { origin, documents: { gopherhole: { url: `${origin}/agents/a/a2a` } } },
      })
  })

  it('is rejected with the reason if it is no public name, and the host is reached by one', () => {
    for (const name of ['10.0.0.5', 'localhost']) {
      const message = `begins with "${name}", which is no public host name: clients of cards.example could not use the URLs of the card. Begin with a host name of this host, or set PUBLIC_URL`
      expect(compileAt('https://cards.example', [name, 'cards.example'])).toEqual({
        errors: [{ pointer: '/hosts', message }],
      })
      expect(compileAt('https://cards.example', ['cards.example', name])).toHaveProperty('compiled')
      expect(compileAt('https://cards.example', [name], 'https://cards.example')).toHaveProperty('compiled')
    }
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
  it('is rejected in each field', () => {
    const params = { at: [agent] }
    const oidc = { type: 'openIdConnect', openIdConnectUrl: `${agent}/openid` }
    const bearer = { type: 'http', scheme: 'bearer', description: agent }
    const rows: [fields: JsonObject, pointer: string][] = [
      [{ description: 'Lives on Weather.Agents.Example, in Oslo' }, '/card/description'],
      // A list that is not of interfaces.
      [{ interfaces: [{ url: agent }] }, '/card/interfaces/0/url'],
      [{ routes: { [agent]: true } }, '/card/routes/https:~1~1weather.agents.example~1a2a~1one'],
      [{ capabilities: { extensions: [{ uri: 'urn:x', params }] } }, '/card/capabilities/extensions/0/params/at/0'],
      // Links.
      [{ documentationUrl: `${agent}/docs` }, '/card/documentationUrl'],
      [{ iconUrl: agent.replace('https', 'http') }, '/card/iconUrl'],
      [{ iconUrl: `https://proxy.example/?u=${agent}` }, '/card/iconUrl'],
      [{ url: `${agent}/`, documentationUrl: `${agent}/docs` }, '/card/documentationUrl'],
      [{ skills: [{ ...skill, url: 'https://weather.agents.example/s' }] }, '/card/skills/0/url'],
      [{ protocol: 'a2a', iconUrl: 'https://cdn.example/i', icon_url: agent }, '/card/icon_url'],
      [{ securitySchemes: { oidc } }, '/card/securitySchemes/oidc/openIdConnectUrl'],
      [{ securitySchemes: { bearer } }, '/card/securitySchemes/bearer/description'],
    ]
    for (const [fields, pointer] of rows) {
      expect(getCompileErrors(makeManifest(fields))).toStrictEqual([makeUrlError(pointer)])
      expect(compileCard({ ...makeManifest(fields), route: 'direct' })).toHaveProperty('documents')
    }
  })

  it('is not found in a link to something else on the same host, which gets a warning', () => {
    const host = 'https://weather.agents.example'
    for (const fields of [
      { documentationUrl: `${host}/docs` },
      { iconUrl: `${host}/a2a/one-icon.png` },
      { provider: { organization: 'W', url: host } },
      { securitySchemes: { o: { type: 'openIdConnect', openIdConnectUrl: `${host}/openid` } } },
    ]) {
      const findWarnings = (card: JsonObject) =>
        compileCard(makeManifest(card)).report.issues.filter(({ rule }) => rule === 'gateway-host')
      expect(findWarnings(fields)).toHaveLength(1)
      expect(findWarnings(JSON.parse(JSON.stringify(fields).replaceAll(host, 'https://www.example')))).toEqual([])
    }
  })

  it('is not found in another host name', () => {
    for (const fields of [
      { supportUrl: 'https://help.weather.agents.example/' },
      { supportUrl: 'https://weather.agents.example.org/' },
    ])
      expect(compileCard(makeManifest(fields))).toHaveProperty('documents')
  })

  it('is rejected on the host of the upstream in any link', () => {
    const host = 'https://behind.example'
    for (const upstream of [{ url: `${host}/a2a` }, { card: `${host}/card.json` }, { mcp: `${host}/mcp` }])
      for (const fields of [
        { documentationUrl: `${host}/docs` },
        { documentationUrl: 'https://weather.agents.example/docs?of=behind.example' },
        { provider: { organization: 'W', url: host } },
      ])
        expect(getCompileErrors(makeManifest(fields, { upstream }))).toHaveLength(1)
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

  it('is not found where its host name has no dot, which is a word like any other', () => {
    const card = { name: 'Echo', description: 'An echo agent', url: 'http://echo/a2a' }
    expect(compileCard({ card, route: 'gateway' })).toHaveProperty('documents')
  })

  it('is found as it is sent over the network, in any case, without the trailing dot of the endpoint', () => {
    const notes = {
      'https://bücher.example/a2a': 'ask XN--bcher-kva.example',
      'http://10.0.0.5:8080/a2a': 'at 10.0.0.5:8080 only',
      'https://weather.agents.example./a2a/one': 'ask weather.agents.example',
    }
    for (const [url, note] of Object.entries(notes))
      expect(getCompileErrors({ card: { ...base, url, note }, route: 'gateway' })).toEqual([makeUrlError('/card/note')])
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
