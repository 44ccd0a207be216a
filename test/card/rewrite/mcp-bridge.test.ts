import { describe, expect, it } from 'vitest'
import { representationNames } from '../../../src/card/model/constants.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'
import { mcpServerCard, mcpUpstream } from '../../support/cards/mcp.ts'
import { readSeed } from '../../support/cards/seeds.ts'
import { hybridErrors, versionErrors } from '../../support/schemas/index.ts'

const exa = readSeed('superx-exa')
const upstream = mcpUpstream
const ownUrl = 'https://host.example/agents/weather/a2a'

describe('a card from an MCP server', () => {
  it.each(['gateway', 'direct', 'closed'])('is unchanged in the SuperX representation with the route %s', route => {
    expect(compileCard({ upstream, route }, exa).documents.superx).toStrictEqual(exa)
  })

  it("advertises this host's bridge in both versions and bindings of A2A, with its capabilities", () => {
    const { card, manifest } = compileCard({ upstream }, exa)
    expect([manifest.route, card.supportedInterfaces, card.capabilities]).toStrictEqual([
      'gateway',
      [
        { url: ownUrl, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: ownUrl, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        { url: ownUrl, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url: ownUrl, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
      ],
      {
        ...(exa.capabilities as JsonObject),
        streaming: true,
        pushNotifications: false,
        multiTurn: false,
        extendedAgentCard: false,
      },
    ])
  })

  it.each(['direct', 'closed'])('advertises the MCP server itself with the route %s', route => {
    const { card } = compileCard({ upstream, route }, exa)
    expect([card.supportedInterfaces, card.capabilities.streaming]).toStrictEqual([
      [{ url: upstream.mcp, protocolBinding: 'MCP', protocolVersion: '2024-11-05' }],
      false,
    ])
  })

  it('has a skill for each tool', () => {
    const [search, contents] = exa.skills as JsonObject[]
    const outputModes = ['text/plain', 'application/json']
    expect(compileCard({ upstream }, exa).card.skills).toStrictEqual([
      { ...search, tags: ['tool', 'mcp'], inputModes: ['application/json', 'text/plain'], outputModes },
      {
        ...contents,
        id: 'get-contents',
        tags: ['tool', 'mcp'],
        inputModes: ['application/json', 'text/plain'],
        outputModes,
      },
    ])
  })

  it('has the modes of all tools as default modes', () => {
    const compileModes = (...tools: JsonObject[]) => {
      const { defaultInputModes, defaultOutputModes } = compileCard({ upstream }, mcpServerCard(...tools)).card
      return [defaultInputModes, defaultOutputModes]
    }
    expect([compileModes({ name: 'a' }), compileModes({ name: 'a', inputSchema: {} })]).toStrictEqual([
      [
        ['application/json', 'text/plain'],
        ['text/plain', 'application/json'],
      ],
      [
        ['application/json', 'text/plain'],
        ['text/plain', 'application/json'],
      ],
    ])
  })

  it.each<[string, JsonObject, JsonObject]>([
    ['Exa', exa, {}],
    ['Exa, advertised directly', exa, { route: 'direct' }],
    ['Exa, with an extended card', exa, { extended: { description: 'More' } }],
    ['Exa, with an A2A endpoint of its own', exa, { upstream: { ...upstream, url: 'https://a2a.exa.example/rpc' } }],
    ['a server without tools', mcpServerCard(), {}],
    ['a server without metadata', { name: 'a', description: 'a', protocol: 'mcp', skills: [] }, {}],
    [
      'tools with unusual names',
      mcpServerCard({ name: '天気' }, { name: '' }, { name: 'a\nb' }, { name: 'x', inputSchema: null }),
      {},
    ],
  ])('is valid in 1.0 and 0.3: %s', (_, fetched, manifest) => {
    const { documents } = compileCard({ upstream, ...manifest }, fetched)
    expect([Object.keys(documents), versionErrors(documents), hybridErrors(documents)]).toStrictEqual([
      [...representationNames],
      [],
      [],
    ])
  })

  it.each<[title: string, card: JsonObject, output: JsonObject]>([
    ['the owner declares none', {}, { union: [], first: undefined }],
    [
      'the owner declares those of one tool: they are enforced for that tool only',
      { skills: [{ id: 'search', outputModes: ['image/png'] }] },
      { union: [], first: ['image/png'] },
    ],
    [
      'the owner declares those of the agent',
      { defaultOutputModes: ['image/png'] },
      { union: ['image/png', 'text/plain', 'application/json'], first: ['text/plain', 'application/json'] },
    ],
  ])('enforces no output modes that this host has assumed: %s', (_, card, { union, first }) => {
    const { modes } = compileCard({ upstream, card }, exa).profile
    expect([modes.union.output, modes.skills.search?.output, modes.union.input]).toStrictEqual([
      union,
      first,
      ['application/json', 'text/plain'],
    ])
  })

  it('has in its profile what decides over a call: the default tool, the session and the resources', () => {
    const resources = [{ uri: 'memo://a' }, { uri: 'https://a.example/b' }, { uri: 'file-like:c' }]
    const { profile } = compileCard(
      { upstream: { ...upstream, session: 'shared', defaultTool: 'search' } },
      { ...exa, resources },
    )
    expect(profile.mcp).toMatchObject({
      url: upstream.mcp,
      session: 'shared',
      defaultTool: 'search',
      resources: ['memo://a', 'file-like:c'],
    })
    const plain = compileCard({ upstream: { ...upstream, session: 'caller' } }, exa).profile.mcp
    expect(Object.keys(plain ?? {})).toStrictEqual(['url', 'tools'])
  })

  it('has `protocol: a2a` in the hybrid, for clients of SuperX', () => {
    const { documents } = compileCard({ upstream }, exa)
    expect(documents['agent-card.json']).toMatchObject({ protocol: 'a2a', url: ownUrl, protocolVersion: '0.3.0' })
  })
})

describe('a manifest over a card from an MCP server', () => {
  it.each(['get_contents', 'get-contents'])('refers to a tool by its name or by the id of its skill: %s', id => {
    const { card, documents, profile } = compileCard(
      { upstream, card: { skills: [{ id, name: 'Contents', tags: ['web'], outputModes: ['image/png'] }] } },
      exa,
    )
    const [, raw] = exa.skills as JsonObject[]
    expect([card.skills[1], (documents.superx.skills as Json[])[1], profile.mcp?.tools[1]]).toStrictEqual([
      {
        ...raw,
        id: 'get-contents',
        name: 'Contents',
        tags: ['web'],
        inputModes: ['application/json', 'text/plain'],
        outputModes: ['image/png'],
      },
      { ...raw, name: 'Contents', tags: ['web'], outputModes: ['image/png'] },
      { skillId: 'get-contents', name: 'get_contents', inputSchema: raw?.inputSchema },
    ])
  })

  it('adds no skill without a tool, and reports that', () => {
    const skills = [
      { id: 'none', name: 'None' },
      { id: 'search', description: 'Finds' },
    ]
    const { card, report, extended } = compileCard({ upstream, card: { skills }, extended: { skills } }, exa)
    const message = 'left out: the MCP server has no such tool'
    expect([
      card.skills.map(({ id, description }) => [id, description]),
      extended.map(({ documents }) => (documents['1.0'].skills as Json[]).length),
      report.converted.filter(note => note.message === message),
    ]).toStrictEqual([
      [
        ['search', 'Finds'],
        ['get-contents', 'Get full contents of URLs'],
      ],
      [2],
      [
        { pointer: '/extended/skills/0', message },
        { pointer: '/card/skills/0', message },
      ],
    ])
  })

  it('adds no skill where the server has no tools', () => {
    const { documents, extended, profile } = compileCard(
      { upstream, extended: { skills: [{ id: 'x', name: 'X' }] } },
      mcpServerCard(),
    )
    expect([documents.superx.skills, extended[0]?.documents.superx.skills, profile.mcp?.tools]).toStrictEqual([
      [],
      [],
      [],
    ])
  })

  it('can turn off streaming and change the name', () => {
    const { card, profile } = compileCard({ upstream, card: { name: 'Exa', capabilities: { streaming: false } } }, exa)
    expect([card.name, card.capabilities.streaming, profile.streaming]).toStrictEqual(['Exa', false, false])
  })

  it('cannot declare what the bridge does not support', () => {
    const card = { url: 'https://exa.example/mcp', capabilities: { pushNotifications: true } }
    expect(getCompileErrors({ upstream, card }, exa)).toStrictEqual([
      { pointer: '/card/url', message: 'must be left out: this host calls the tools of the MCP server itself' },
      {
        pointer: '/card/capabilities/pushNotifications',
        message: 'must be false: a tool call ends with its result, so there is nothing to notify of later',
      },
    ])
    const warned = compileCard({ upstream, card, route: 'direct' }, exa)
    expect(warned.report.issues.filter(({ rule }) => rule === 'capability-impossible')).toHaveLength(1)
    expect(warned.card.supportedInterfaces[0]?.url).toBe('https://exa.example/mcp')
  })
})

describe('the call profile of an MCP server', () => {
  it.each(['gateway', 'direct'])('has the tools, and a target for each version, with the route %s', route => {
    const { profile } = compileCard({ upstream: { ...upstream, secret: 'EXA' }, route }, exa)
    const [search, contents] = exa.skills as JsonObject[]
    expect([profile.targets, profile.mcp, profile.secret]).toStrictEqual([
      [
        { binding: 'JSONRPC', version: '1.0', url: upstream.mcp },
        { binding: 'JSONRPC', version: '0.3', url: upstream.mcp },
      ],
      {
        url: upstream.mcp,
        tools: [
          { skillId: 'search', name: 'search', inputSchema: search?.inputSchema },
          { skillId: 'get-contents', name: 'get_contents', inputSchema: contents?.inputSchema },
        ],
      },
      'EXA',
    ])
  })

  it('has no tools where the manifest names an A2A endpoint', () => {
    const url = 'https://a2a.exa.example/rpc'
    const { profile, card, manifest } = compileCard({ upstream: { ...upstream, url } }, exa)
    expect([manifest.route, profile.mcp, profile.targets, card.supportedInterfaces]).toStrictEqual([
      'direct',
      undefined,
      [{ binding: 'JSONRPC', version: '1.0', url }],
      [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    ])
  })
})
