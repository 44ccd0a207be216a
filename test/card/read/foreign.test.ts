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
    [{ agents: [{}] }, '/agents', 'is a directory of agents, not the card of one'],
    [{ ...described, entries: [{}] }, '/entries', 'is a directory of agents, not the card of one'],
    [{ agent: {} }, '/agent', 'is a description of an agent, but not an A2A card'],
    [{ endpoints: [] }, '/endpoints', 'is a list of HTTP endpoints, not an A2A card'],
    [{ ...shortCard, workflows: [] }, '/workflows', 'is a list of workflows, not an A2A card'],
    [{ ...described, nodes: [], connections: {} }, '/nodes', 'is a workflow, not an A2A card'],
    [
      { ...described, capabilities: ['streaming', { name: 'search' }] },
      '/capabilities',
      'is a description of an agent, but not an A2A card',
    ],
  ])('is named in the error: %j', (document, pointer, message) => {
    expect(getCompileErrors(document)[0]).toStrictEqual({ pointer, message })
  })

  const remoteServer = 'to serve it as an agent, name its https address as `upstream.mcp`'
  const localServer =
    "it runs on its owner's machine: publish it over https first, and then name its address as `upstream.mcp`"
  it.each<[string, JsonObject, string, string]>([
    ['of type mcp with stdio', { ...shortCard, type: 'mcp', transport: 'stdio' }, '/type', localServer],
    [
      'of type mcp with stdio as an object',
      { ...described, type: 'mcp', transport: { type: 'STDIO' } },
      '/type',
      localServer,
    ],
    ['of type mcp with stdio as protocol', { ...shortCard, type: 'mcp', protocol: 'stdio' }, '/type', localServer],
    [
      'of type mcp with stdio and all of a card',
      { ...shortCard, type: 'mcp', skills: [cleanSkill], capabilities: {}, transports: [{ type: 'stdio' }] },
      '/type',
      localServer,
    ],
    [
      'of type mcp with a command',
      { ...described, type: 'mcp-server', command: 'npx', args: ['server'] },
      '/type',
      localServer,
    ],
    ['of type mcp with an address', { ...shortCard, type: 'MCP' }, '/type', remoteServer],
    [
      "in the registry's form",
      { ...described, $schema: 'https://static.modelcontextprotocol.io/schemas/2025-10-17/server.schema.json' },
      '/$schema',
      remoteServer,
    ],
    ['in the configuration of a client', { mcpServers: { files: { command: 'npx' } } }, '/mcpServers', localServer],
    [
      'with an address in the configuration of a client',
      { mcpServers: { files: { url: 'https://a.example/mcp' } } },
      '/mcpServers',
      remoteServer,
    ],
  ])('is not a card: an MCP server %s', (_, document, pointer, advice) => {
    expect(getCompileErrors(document)[0]).toStrictEqual({
      pointer,
      message: `is a description of an MCP server, not an A2A card: ${advice}`,
    })
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
  ])('says where it links to a card, and how to register that: %j', (document, place) => {
    const [pointer, address] = place.split(', ')
    expect(getCompileErrors(document)[0]?.message.replace(/^.*?: /, '')).toBe(
      `register the card that it links to at ${pointer}, with \`upstream.card: ${address}\``,
    )
  })

  const index = {
    ...shortCard,
    version: '0.2.0',
    workflows: [{ id: 'buy', steps: ['pay', 'fetch'] }],
    payment: { protocols: ['x402'], currencies: ['USDC'] },
    discovery: { a2a_agent_card: 'https://a.example/.well-known/agent-card.json', openapi: 'https://a.example/api' },
  }
  const { workflows: _, ...offer } = index
  const advice =
    'register the card that it links to at /discovery/a2a_agent_card, with `upstream.card: https://a.example/.well-known/agent-card.json`'

  it.each<[string, JsonObject]>([
    ['capabilities of its own', { capabilities: { payments: true } }],
    ['a capability of A2A', { capabilities: { streaming: false, x402: true } }],
    ['no capability', { capabilities: {} }],
    ['names of capabilities', { capabilities: ['streaming'] }],
    ['a version of a protocol', { protocolVersion: '1.0' }],
    ['no skill', { capabilities: {}, skills: [] }],
  ])('is a list of workflows that links to the card, with %s', (_, fields) => {
    expect(getCompileErrors({ ...index, ...fields })[0]).toStrictEqual({
      pointer: '/workflows',
      message: `is a list of workflows, not an A2A card: ${advice}`,
    })
    expect(getCompileErrors({ ...offer, ...fields })[0]).toStrictEqual({
      pointer: '/discovery/a2a_agent_card',
      message: `is a description of an agent, but not an A2A card: ${advice}`,
    })
  })

  it('names the card to which a fetched document links, also relative to its own address', () => {
    const fetched = {
      ...index,
      url: 'https://b.example',
      capabilities: {},
      discovery: { a2a_agent_card: './agent.json' },
    }
    const upstream = { card: 'https://a.example/docs/index.json' }
    expect(getCompileErrors({ upstream }, { ...fetched, discovery: { agent_card: '/a/agent.json' } })[0]?.message).toBe(
      'is a list of workflows, not an A2A card: register the card that it links to at /discovery/agent_card, with `upstream.card: https://a.example/a/agent.json`',
    )
    expect(
      getCompileErrors(
        { upstream },
        { ...fetched, discovery: { agent_card: upstream.card, a2aCard: '/agent.json' } },
      )[0]?.message,
    ).toContain('`upstream.card: https://a.example/agent.json`')
    expect(
      getCompileErrors(
        { upstream: { card: 'https://a.example/agent.json' } },
        { ...fetched, discovery: { agent_card: '/agent.json' } },
      )[0]?.message,
    ).toBe('is a list of workflows, not an A2A card')
  })

  it('says how to register the card to which a document links by a relative address', () => {
    const document = { name: 'A', description: 'Buys', a2a_agent_card: '/.well-known/agent-card.json' }
    expect(getCompileErrors(document)[0]).toStrictEqual({
      pointer: '/a2a_agent_card',
      message:
        'is a description of an agent, but not an A2A card: register the card that it links to at /a2a_agent_card, with its whole URL as `upstream.card`',
    })
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

  it('does not lack skills where it has a name, a description and an endpoint', () => {
    const document = { ...shortCard, agentCard: 'https://a.example/card' }
    expect(getCompileErrors(document).map(({ pointer }) => pointer)).toStrictEqual(['/agentCard'])
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
    [
      'an ERC-8004 registration with interfaces of A2A 1.0',
      { ...described, type: registration, supportedInterfaces: interfaces },
    ],
    [
      'an ERC-8004 registration with interfaces in snake_case',
      { ...described, type: registration, supported_interfaces: interfaces },
    ],
    [
      'an ERC-8004 registration with a transport',
      { ...shortCard, type: registration, preferredTransport: 'JSONRPC', version: '1.0.0' },
    ],
    [
      'an ERC-8004 registration with a protocol version',
      { ...shortCard, type: registration, protocolVersion: '0.3.0', version: '1.0.0' },
    ],
    [
      'an ERC-8004 registration with more interfaces',
      { ...shortCard, type: registration, additionalInterfaces: [{ url: shortCard.url, transport: 'JSONRPC' }] },
    ],
    ['an ERC-8004 registration with capabilities', { ...shortCard, type: registration, capabilities: ['streaming'] }],
    [
      'an ERC-8004 registration with output modes',
      { ...shortCard, type: registration, defaultOutputModes: ['text/plain'] },
    ],
    [
      'an ERC-8004 registration with input modes in snake_case',
      { ...shortCard, type: registration, default_input_modes: ['text/plain'] },
    ],
    [
      'a card with its own address',
      {
        ...shortCard,
        protocolVersion: '0.3.0',
        preferredTransport: 'JSONRPC',
        agentCardUrl: 'https://a.example/.well-known/agent-card.json',
      },
    ],
    [
      'a card with skills, workflows and a link to a card',
      { ...shortCard, skills: [cleanSkill], workflows: [{}], a2a_agent_card: 'https://a.example/agent-card.json' },
    ],
    [
      'a card with modes and a link to a card',
      { ...shortCard, defaultInputModes: ['text/plain'], discovery: { a2a_agent_card: '/agent-card.json' } },
    ],
    [
      'a minimal card with a link to its own address',
      { ...shortCard, capabilities: { streaming: true }, links: { agentCard: 'https://a.example/agent-card.json' } },
    ],
    ['a minimal card with an empty list of agents', { ...shortCard, agents: [] }],
    [
      'a card of A2A 1.0 with a list of agents',
      { ...described, supportedInterfaces: interfaces, agents: [{ name: 'B' }] },
    ],
    [
      'a card of A2A 1.0 with a list of endpoints',
      { ...described, supportedInterfaces: interfaces, endpoints: ['/tasks'] },
    ],
    [
      'an MCP server with a skill about stdio',
      { ...shortCard, type: 'mcp', skills: [{ ...cleanSkill, tags: ['stdio'] }] },
    ],
  ])('is read as a card: %s', (_, document) => {
    const { documents } = compileCard(document)
    expect(documents['1.0']).toMatchObject({ name: 'A', supportedInterfaces: [{ url: shortCard.url }] })
  })

  it('has an error only at its capabilities where these contain objects', () => {
    expect(getCompileErrors({ ...shortCard, capabilities: ['streaming', { name: 'search' }] })).toStrictEqual([
      { pointer: '/capabilities', message: 'must be an object of flags, such as { "streaming": true }' },
    ])
  })

  it.each<JsonObject>([{ capabilities: ['search'] }, { capabilities: [] }, { protocolVersion: '2025-06-18' }])(
    'is none with fields that are not of A2A: %j',
    fields => {
      expect(getCompileErrors({ ...shortCard, type: registration, ...fields })[0]?.pointer).toBe('/type')
    },
  )

  it('keeps the fields of the other format', () => {
    const document = { ...shortCard, type: registration, skills: [cleanSkill], registrations: [{ agentId: 1 }] }
    expect(compileCard(document).documents['agent-card.json']).toMatchObject({
      type: registration,
      registrations: [{ agentId: 1 }],
    })
  })
})
