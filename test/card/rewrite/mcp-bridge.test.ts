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
  it('is unchanged in the SuperX representation with any route', () => {
    for (const route of ['gateway', 'direct', 'closed'])
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

  it('advertises the MCP server itself with another route than the gateway', () => {
    const supportedInterfaces = [{ url: upstream.mcp, protocolBinding: 'MCP', protocolVersion: '2024-11-05' }]
    for (const route of ['direct', 'closed'])
      expect(compileCard({ upstream, route }, exa).card).toMatchObject({
        supportedInterfaces,
        capabilities: { streaming: false },
      })
  })

  it('has a skill for each tool, and the modes of all tools as default modes', () => {
    const [search, contents] = exa.skills as JsonObject[]
    const [inputModes, outputModes] = [
      ['application/json', 'text/plain'],
      ['text/plain', 'application/json'],
    ]
    const { card } = compileCard({ upstream }, exa)
    expect(card.skills).toStrictEqual([
      { ...search, tags: ['tool', 'mcp'], inputModes, outputModes },
      { ...contents, id: 'get-contents', tags: ['tool', 'mcp'], inputModes, outputModes },
    ])
    for (const tool of [{ name: 'a' }, { name: 'a', inputSchema: {} }])
      expect(compileCard({ upstream }, mcpServerCard(tool)).card).toMatchObject({
        defaultInputModes: inputModes,
        defaultOutputModes: outputModes,
      })
  })

  it('is valid in 1.0 and 0.3', () => {
    const odd = mcpServerCard({ name: '天気' }, { name: '' }, { name: 'a\nb' }, { name: 'x', inputSchema: null })
    for (const fetched of [exa, mcpServerCard(), odd]) {
      const { documents } = compileCard({ upstream }, fetched)
      expect(Object.keys(documents)).toStrictEqual([...representationNames])
      expect([...versionErrors(documents), ...hybridErrors(documents)]).toStrictEqual([])
    }
  })

  it('enforces no output modes that this host has assumed', () => {
    const rows: [card: JsonObject, union: string[], search: string[] | undefined][] = [
      [{}, [], undefined],
      // Those of one tool are enforced for that tool only.
      [{ skills: [{ id: 'search', outputModes: ['image/png'] }] }, [], ['image/png']],
      [
        { defaultOutputModes: ['image/png'] },
        ['image/png', 'text/plain', 'application/json'],
        ['text/plain', 'application/json'],
      ],
    ]
    for (const [card, union, search] of rows) {
      const { modes } = compileCard({ upstream, card }, exa).profile
      expect([card, modes.union.output, modes.skills.search?.output]).toStrictEqual([card, union, search])
      expect(modes.union.input).toEqual(['application/json', 'text/plain'])
    }
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
  it('refers to a tool by its name or by the id of its skill', () => {
    const [, raw] = exa.skills as JsonObject[]
    const changes = { name: 'Contents', tags: ['web'], outputModes: ['image/png'] }
    for (const id of ['get_contents', 'get-contents']) {
      const { card, documents, profile } = compileCard({ upstream, card: { skills: [{ id, ...changes }] } }, exa)
      const inputModes = ['application/json', 'text/plain']
      expect([card.skills[1], (documents.superx.skills as Json[])[1], profile.mcp?.tools[1]]).toStrictEqual([
        { ...raw, ...changes, id: 'get-contents', inputModes },
        { ...raw, ...changes },
        { skillId: 'get-contents', name: 'get_contents', inputSchema: raw?.inputSchema },
      ])
    }
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
  it('has the tools, and a target for each version', () => {
    const [search, contents] = exa.skills as JsonObject[]
    const tools = [
      { skillId: 'search', name: 'search', inputSchema: search?.inputSchema },
      { skillId: 'get-contents', name: 'get_contents', inputSchema: contents?.inputSchema },
    ]
    const targets = ['1.0', '0.3'].map(version => ({ binding: 'JSONRPC', version, url: upstream.mcp }))
    const { profile } = compileCard({ upstream: { ...upstream, secret: 'EXA' } }, exa)
    expect([profile.targets, profile.mcp, profile.secret]).toStrictEqual([targets, { url: upstream.mcp, tools }, 'EXA'])
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
