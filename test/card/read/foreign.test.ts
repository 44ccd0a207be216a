import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { cleanSkill, shortCard } from '../../support/cards/cards.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'

const registration = 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1'
const interfaces = [{ url: shortCard.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
const described = { name: 'A', description: 'B' }

describe('a document of another format', () => {
  it('is named in the error', () => {
    const rows: [JsonObject, string, string][] = [
      [{ type: registration }, '/type', 'is an ERC-8004 registration, not an A2A card'],
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
    ]
    for (const [document, pointer, message] of rows)
      expect(getCompileErrors(document)[0]).toStrictEqual({ pointer, message })
  })

  it('is not a card: an MCP server', () => {
    const remote = 'to serve it as an agent, name its https address as `upstream.mcp`'
    const local =
      "it runs on its owner's machine: publish it over https first, and then name its address as `upstream.mcp`"
    const mcp = { ...described, type: 'mcp' }
    const $schema = 'https://static.modelcontextprotocol.io/schemas/2025-10-17/server.schema.json'
    const rows: [JsonObject, string, string][] = [
      [{ ...mcp, transport: { type: 'STDIO' } }, '/type', local],
      [{ ...shortCard, type: 'mcp', protocol: 'stdio' }, '/type', local],
      // With all of a card.
      [{ ...mcp, url: 'x', skills: [cleanSkill], capabilities: {}, transports: [{ type: 'stdio' }] }, '/type', local],
      [{ ...mcp, type: 'mcp-server', command: 'npx', args: ['server'] }, '/type', local],
      [{ ...shortCard, type: 'MCP' }, '/type', remote],
      [{ ...described, $schema }, '/$schema', remote],
      // The configuration of a client.
      [{ mcpServers: { files: { command: 'npx' } } }, '/mcpServers', local],
    ]
    for (const [document, pointer, advice] of rows)
      expect(getCompileErrors(document)[0]).toStrictEqual({
        pointer,
        message: `is a description of an MCP server, not an A2A card: ${advice}`,
      })
  })

  it('says where it links to a card, and how to register that', () => {
    const [a, b] = ['https://a.example', 'https://b.example']
    const wellKnown = '/.well-known/agent-card.json'
    const rows: [JsonObject, pointer: string, address: string][] = [
      [
        { type: registration, services: [{ name: 'A2A', endpoint: a + wellKnown }] },
        '/services/0/endpoint',
        a + wellKnown,
      ],
      [{ ...described, url: a, agent_card_endpoint: wellKnown }, '/agent_card_endpoint', a + wellKnown],
      [{ ...shortCard, agentCard: `${a}/card` }, '/agentCard', `${a}/card`],
      [{ ...shortCard, skills: [], agents: [{ url: b + wellKnown }] }, '/agents/0/url', b + wellKnown],
      [
        { ...described, baseUrl: a, workflows: [], endpoints: [{ path: '/.well-known/agent.json' }] },
        '/endpoints/0/path',
        `${a}/.well-known/agent.json`,
      ],
    ]
    for (const [document, pointer, address] of rows)
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

  it('is a list of workflows that links to the card, whatever else it has', () => {
    const additions: JsonObject[] = [
      { capabilities: { payments: true } },
      { capabilities: ['streaming'] },
      { protocolVersion: '1.0' },
    ]
    for (const fields of additions)
      expect([getCompileErrors({ ...index, ...fields })[0], getCompileErrors({ ...offer, ...fields })[0]]).toEqual([
        { pointer: '/workflows', message: `is a list of workflows, not an A2A card: ${advice}` },
        {
          pointer: '/discovery/a2a_agent_card',
          message: `is a description of an agent, but not an A2A card: ${advice}`,
        },
      ])
  })

  it('names the card to which a fetched document links, also relative to its own address', () => {
    const findMessage = (card: string, discovery: JsonObject) =>
      getCompileErrors({ upstream: { card } }, { ...index, url: 'https://b.example', capabilities: {}, discovery })[0]
        ?.message
    const source = 'https://a.example/docs/index.json'
    expect(findMessage(source, { agent_card: '/a/agent.json' })).toBe(
      'is a list of workflows, not an A2A card: register the card that it links to at /discovery/agent_card, with `upstream.card: https://a.example/a/agent.json`',
    )
    expect(findMessage(source, { agent_card: source, a2aCard: '/agent.json' })).toContain(
      '`upstream.card: https://a.example/agent.json`',
    )
    expect(findMessage('https://a.example/agent.json', { agent_card: '/agent.json' })).toBe(
      'is a list of workflows, not an A2A card',
    )
  })

  it('says how to register the card to which a document links by a relative address', () => {
    const document = { name: 'A', description: 'Buys', a2a_agent_card: '/.well-known/agent-card.json' }
    expect(getCompileErrors(document)[0]).toStrictEqual({
      pointer: '/a2a_agent_card',
      message:
        'is a description of an agent, but not an A2A card: register the card that it links to at /a2a_agent_card, with its whole URL as `upstream.card`',
    })
  })

  it('does not repeat what is no address of a card', () => {
    const addresses = ['javascript:alert(1)//agent.json', 'https://user:password@a.example/agent.json', 'agent.json']
    for (const path of addresses)
      expect(JSON.stringify(getCompileErrors({ agents: [{ path }] }))).not.toContain('agent.json')
  })

  it('lacks no field that it has, and no skills where it has a name, a description and an endpoint', () => {
    const mcp = { ...described, type: 'mcp', transport: 'stdio', skills: [cleanSkill] }
    expect(getCompileErrors({ ...mcp, supportedInterfaces: interfaces })).toHaveLength(1)
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
  it('is read as a card', () => {
    const v1 = { ...described, supportedInterfaces: interfaces }
    const registered = { ...shortCard, type: registration }
    const agentCardUrl = 'https://a.example/agent-card.json'
    const cards: JsonObject[] = [
      // An ERC-8004 registration with a mark of a card.
      { ...registered, skills: [cleanSkill], endpoints: [] },
      { ...described, type: registration, supported_interfaces: interfaces },
      { ...registered, preferredTransport: 'JSONRPC', version: '1.0.0' },
      { ...registered, protocolVersion: '0.3.0', version: '1.0.0' },
      { ...registered, additionalInterfaces: [{ url: shortCard.url, transport: 'JSONRPC' }] },
      { ...registered, capabilities: ['streaming'] },
      { ...registered, defaultOutputModes: ['text/plain'] },
      { ...registered, default_input_modes: ['text/plain'] },
      // A list of workflows, and a description of an MCP server.
      { ...shortCard, skills: [cleanSkill], workflows: [{}], a2a_agent_card: agentCardUrl },
      { ...shortCard, type: 'mcp', skills: [{ ...cleanSkill, tags: ['stdio'] }] },
      { ...shortCard, mcpServers: {}, capabilities: { streaming: true } },
      // Links to its own address, and to other cards.
      { ...shortCard, agentCard: { url: agentCardUrl } },
      { ...shortCard, protocolVersion: '0.3.0', preferredTransport: 'JSONRPC', agentCardUrl },
      { ...shortCard, capabilities: { streaming: true }, links: { agentCard: agentCardUrl } },
      // Lists of agents and of endpoints.
      { ...v1, agents: [{ name: 'B' }] },
      { ...v1, endpoints: ['/tasks'] },
    ]
    for (const document of cards)
      expect([document, compileCard(document).documents['1.0']]).toMatchObject([
        document,
        { name: 'A', supportedInterfaces: [{ url: shortCard.url }] },
      ])
  })

  it('is none with fields that are not of A2A', () => {
    for (const fields of [{ capabilities: ['search'] }, { capabilities: [] }, { protocolVersion: '2025-06-18' }])
      expect(getCompileErrors({ ...shortCard, type: registration, ...fields })[0]?.pointer).toBe('/type')
  })
})
