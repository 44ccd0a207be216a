import { describe, expect, it } from 'vitest'
import { compile } from '../../src/card/compile.ts'
import type { Json, JsonObject } from '../../src/card/json.ts'
import { representationNames } from '../../src/card/representations.ts'
import { compiled, refusal } from './compiling.ts'

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
    const { documents, report } = compiled({ card: cards[dialect] as Json, route: 'gateway' })
    expect(Object.keys(documents)).toStrictEqual([...representationNames])
    expect(JSON.stringify(documents)).not.toContain(upstream)
    expect(JSON.stringify(documents)).toContain('https://host.example/agents/weather/a2a')
    expect(JSON.stringify(report.dropped)).not.toContain('Interfaces')
  })

  it("serves the agent's bindings and versions at this host's address, each once", () => {
    const url = 'https://host.example/agents/weather/a2a'
    expect(compiled({ card: cards['1.0'] as Json, route: 'gateway' }).card.supportedInterfaces).toStrictEqual([
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
    expect(refusal({ card, route: 'gateway' })).toStrictEqual([
      {
        pointer: '/route',
        message:
          'calls pass through this host as JSONRPC or HTTP+JSON of A2A 0.2, 0.3, 1.0 only; the card names none of these',
      },
    ])
  })

  it('names what the host has a target for, and nothing else', () => {
    const versions = ['1.1', '1.0', '0.4', '0.3', '0.2', '0.1', '2.0']
    const { card, profile } = compiled({
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

  it("keeps a v1.0 interface's tenant for the agent alone", () => {
    const { documents, profile } = compiled({ card: cards['1.0'] as Json, route: 'gateway' })
    expect([JSON.stringify(documents).includes('north'), profile.targets]).toStrictEqual([
      false,
      [
        { binding: 'JSONRPC', version: '1.0', url: `${upstream}/v1`, tenant: 'north' },
        { binding: 'JSONRPC', version: '0.3', url: `${upstream}/v0` },
      ],
    ])
  })

  it("points SuperX's agentCard to the card that this host serves", () => {
    const { documents } = compiled({ card: cards.superx as Json, route: 'gateway' })
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
    expect(compiled({ card: cards.gopherhole as Json, route }).documents['agent-card.json'].url).toBe(upstream)
  })
})
