import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { cleanSkill, shortCard } from '../../support/cards/cards.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'

const registration = 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1'
const interfaces = [{ url: shortCard.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
const described = { name: 'A', description: 'B' }

describe('a document of another format', () => {
  it.each<[JsonObject, string, string]>([
    [{ type: registration }, '/type', 'is an ERC-8004 registration, not an A2A card'],
    [{ type: 'ERC-8004' }, '/type', 'is an ERC-8004 registration, not an A2A card'],
    [{ agents: [] }, '/agents', 'is a directory of agents, not the card of one'],
    [{ ...described, entries: [] }, '/entries', 'is a directory of agents, not the card of one'],
    [{ agent: {} }, '/agent', 'is a description of an agent, but not an A2A card'],
    [{ endpoints: [] }, '/endpoints', 'is a list of HTTP endpoints, not an A2A card'],
    [{ ...shortCard, workflows: [] }, '/workflows', 'is a list of workflows, not an A2A card'],
    [{ ...described, nodes: [], connections: {} }, '/nodes', 'is a workflow, not an A2A card'],
    [
      { ...shortCard, capabilities: [{ name: 'search' }] },
      '/capabilities',
      'is a description of an agent, but not an A2A card',
    ],
  ])('is named in the error: %j', (document, pointer, message) => {
    expect(getCompileErrors(document)[0]).toStrictEqual({ pointer, message })
  })

  const mcp =
    'is a description of an MCP server, not an A2A card: to serve it as an agent, name its https address as `upstream.mcp`'
  it.each<[string, JsonObject, string]>([
    ['of type mcp with stdio', { ...shortCard, type: 'mcp', transport: 'stdio' }, '/type'],
    [
      'of type mcp with stdio and all of a card',
      { ...shortCard, type: 'mcp', skills: [cleanSkill], capabilities: {}, transports: [{ type: 'stdio' }] },
      '/type',
    ],
    ['of type mcp with a command', { ...described, type: 'mcp-server', command: 'npx', args: ['server'] }, '/type'],
    ['of type mcp with an address', { ...shortCard, type: 'MCP' }, '/type'],
    [
      "in the registry's form",
      { ...described, $schema: 'https://static.modelcontextprotocol.io/schemas/2025-10-17/server.schema.json' },
      '/$schema',
    ],
    ['in the configuration of a client', { mcpServers: { files: { command: 'npx' } } }, '/mcpServers'],
  ])('is not a card: an MCP server %s', (_, document, pointer) => {
    expect(getCompileErrors(document)[0]).toStrictEqual({ pointer, message: mcp })
  })

  it.each<[JsonObject, string]>([
    [
      { type: registration, services: [{ name: 'A2A', endpoint: 'https://a.example/.well-known/agent-card.json' }] },
      '/services/0/endpoint, https://a.example/.well-known/agent-card.json',
    ],
    [
      { ...described, url: 'https://a.example', agent_card_endpoint: '/.well-known/agent-card.json' },
      '/agent_card_endpoint, https://a.example/.well-known/agent-card.json',
    ],
    [{ ...shortCard, agentCard: 'https://a.example/card' }, '/agentCard, https://a.example/card'],
    [
      { ...shortCard, links: { agentCardUrl: 'https://a.example/agent-card.json' } },
      '/links/agentCardUrl, https://a.example/agent-card.json',
    ],
    [
      { ...shortCard, skills: [], agents: [{ url: 'https://b.example/.well-known/agent-card.json' }] },
      '/agents/0/url, https://b.example/.well-known/agent-card.json',
    ],
    [
      { ...described, baseUrl: 'https://a.example', workflows: [], endpoints: [{ path: '/.well-known/agent.json' }] },
      '/endpoints/0/path, https://a.example/.well-known/agent.json',
    ],
    [
      { ...described, url: 'https://a.example/.well-known/agent.json', agents: [{ card: 'https://b.example/card' }] },
      '/agents/0/card, https://b.example/card',
    ],
  ])('says where it names a card: %j', (document, place) => {
    expect(getCompileErrors(document)[0]?.message).toMatch(new RegExp(`: it names a card at ${place}$`))
  })

  it.each(['javascript:alert(1)//agent.json', 'https://user:password@a.example/agent.json', 'agent.json'])(
    'does not repeat what is no address of a card: %s',
    address => {
      expect(JSON.stringify(getCompileErrors({ agents: [{ path: address }] }))).not.toContain('agent.json')
    },
  )

  it('lacks no field that it has', () => {
    const document = {
      ...described,
      type: 'mcp',
      transport: 'stdio',
      skills: [cleanSkill],
      supportedInterfaces: interfaces,
    }
    expect(getCompileErrors(document)).toHaveLength(1)
  })

  it('lacks the fields of a card, in the names that most cards have', () => {
    expect(getCompileErrors({ type: registration }).map(({ pointer }) => pointer)).toStrictEqual([
      '/type',
      '/name',
      '/description',
      '/skills',
      '/url',
    ])
  })
})

describe('a card that is also a document of another format', () => {
  it.each<[string, JsonObject]>([
    ['an ERC-8004 registration', { ...shortCard, type: registration, skills: [cleanSkill], endpoints: [] }],
    [
      'an ERC-8004 registration of an agent of A2A 1.0',
      { ...described, type: registration, supportedInterfaces: interfaces, capabilities: {}, registrations: [] },
    ],
    ['a list of workflows', { ...shortCard, skills: [cleanSkill], workflows: [] }],
    ['a description of an MCP server', { ...shortCard, type: 'mcp', skills: [cleanSkill] }],
    ['an agent with an MCP address', { ...shortCard, mcpServers: {}, capabilities: { streaming: true } }],
    [
      "SuperX's card, which has its own address",
      { ...shortCard, agentCard: { url: 'https://a.example/agent-card.json' } },
    ],
    ['a minimal card with a payment card', { ...shortCard, payment: { card: '/visa' } }],
    ["SuperX's card of an MCP server", { ...shortCard, protocol: 'mcp', transport: 'stdio', skills: [] }],
  ])('is read as a card: %s', (_, document) => {
    const { documents } = compileCard(document)
    expect(documents['1.0']).toMatchObject({ name: 'A', supportedInterfaces: [{ url: shortCard.url }] })
  })

  it('keeps the fields of the other format', () => {
    const document = { ...shortCard, type: registration, skills: [cleanSkill], registrations: [{ agentId: 1 }] }
    expect(compileCard(document).documents['agent-card.json']).toMatchObject({
      type: registration,
      registrations: [{ agentId: 1 }],
    })
  })
})
