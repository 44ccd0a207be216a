import { describe, expect, it } from 'vitest'
import { representationNames } from '../../../src/card/model/constants.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'
import { readSeed } from '../../support/cards/seeds.ts'
import { hybridErrors, versionErrors } from '../../support/schemas/index.ts'

const mcp = 'https://mcp.exa.example/mcp'
const exa = readSeed('superx-exa')
const upstream = { mcp }
const here = 'https://host.example/agents/weather/a2a'
const text = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }

/** A document as it is made of an MCP server with these tools. */
const server = (...tools: JsonObject[]): JsonObject => ({
  ...exa,
  skills: tools.map(tool => ({ id: tool.name ?? null, name: null, description: null, inputSchema: text, ...tool })),
})
const skillsOf = (...tools: JsonObject[]) => compileCard({ upstream }, server(...tools)).card.skills

describe('a card that was made of an MCP server', () => {
  it.each(['gateway', 'direct', 'closed'])('is in SuperX as it was made, field for field: route %s', route => {
    expect(compileCard({ upstream, route }, exa).documents.superx).toStrictEqual(exa)
  })

  it('advertises the bridge of this host, in both versions of A2A, and what that does', () => {
    const { card, manifest } = compileCard({ upstream }, exa)
    expect([manifest.route, card.supportedInterfaces, card.capabilities]).toStrictEqual([
      'gateway',
      [
        { url: here, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: here, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
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

  it.each(['direct', 'closed'])('advertises the MCP server itself, where the route is %s', route => {
    const { card } = compileCard({ upstream, route }, exa)
    expect([card.supportedInterfaces, card.capabilities.streaming]).toStrictEqual([
      [{ url: mcp, protocolBinding: 'MCP', protocolVersion: '2024-11-05' }],
      false,
    ])
  })

  it('has a skill for each tool that readers of A2A can use', () => {
    const [search, contents] = exa.skills as JsonObject[]
    const outputModes = ['text/plain', 'application/json']
    expect(compileCard({ upstream }, exa).card.skills).toStrictEqual([
      { ...search, tags: ['tool', 'mcp'], inputModes: ['application/json', 'text/plain'], outputModes },
      { ...contents, id: 'get-contents', tags: ['tool', 'mcp'], inputModes: ['application/json'], outputModes },
    ])
  })

  it('says as its defaults what all tools together take and give', () => {
    const modesOf = (...tools: JsonObject[]) => {
      const { defaultInputModes, defaultOutputModes } = compileCard({ upstream }, server(...tools)).card
      return [defaultInputModes, defaultOutputModes]
    }
    expect([modesOf({ name: 'a' }), modesOf({ name: 'a', inputSchema: {} })]).toStrictEqual([
      [
        ['application/json', 'text/plain'],
        ['text/plain', 'application/json'],
      ],
      [['application/json'], ['text/plain', 'application/json']],
    ])
  })

  it.each<[string, JsonObject, JsonObject]>([
    ['Exa', exa, {}],
    ['Exa, advertised directly', exa, { route: 'direct' }],
    ['Exa, with an extended card', exa, { extended: { description: 'More' } }],
    ['Exa, with an A2A endpoint of its own', exa, { upstream: { mcp, url: 'https://a2a.exa.example/rpc' } }],
    ['a server without tools', server(), {}],
    ['a server that says nothing of itself', { name: 'a', description: 'a', protocol: 'mcp', skills: [] }, {}],
    ['odd tools', server({ name: '天気' }, { name: '' }, { name: 'a\nb' }, { name: 'x', inputSchema: null }), {}],
  ])('is valid in 1.0 and 0.3: %s', (_, document, manifest) => {
    const { documents } = compileCard({ upstream, ...manifest }, document)
    expect([Object.keys(documents), versionErrors(documents), hybridErrors(documents)]).toStrictEqual([
      [...representationNames],
      [],
      [],
    ])
  })

  it("tells SuperX's readers of the hybrid that its address speaks A2A", () => {
    const { documents } = compileCard({ upstream }, exa)
    expect(documents['agent-card.json']).toMatchObject({ protocol: 'a2a', url: here, protocolVersion: '0.3.0' })
  })
})

describe('the skill that a tool is', () => {
  it('has an id in kebab-case that no other has, whatever the tool is called', () => {
    const names = ['get_contents', 'getContents', 'get-contents', 'Wetter für morgen', '天気', '???', '__']
    expect(skillsOf(...names.map(name => ({ name }))).map(({ id, name }) => [id, name])).toStrictEqual([
      ['get-contents', 'get_contents'],
      ['get-contents-2', 'getContents'],
      ['get-contents-3', 'get-contents'],
      ['wetter-fur-morgen', 'Wetter für morgen'],
      ['tool', '天気'],
      ['tool-2', '???'],
      ['tool-3', '__'],
    ])
  })

  it('has an id of its own where two tools have one name', () => {
    const { profile } = compileCard({ upstream }, server({ name: 'x' }, { name: 'x' }))
    expect(profile.mcp?.tools.map(({ skillId, name }) => [skillId, name])).toStrictEqual([
      ['x', 'x'],
      ['x-2', 'x'],
    ])
  })

  it.each<[string, JsonObject, string]>([
    ['its own', { description: 'Searches' }, 'Searches'],
    ['its arguments, where it has none', { description: null }, 'Calls the tool find with query.'],
    ['its arguments, where it is blank', { description: ' ' }, 'Calls the tool find with query.'],
    [
      'its name, where it takes nothing',
      { description: null, inputSchema: { type: 'object' } },
      'Calls the tool find.',
    ],
  ])('has a description: %s', (_, tool, description) => {
    expect(skillsOf({ name: 'find', ...tool })[0]?.description).toBe(description)
  })

  it.each<[JsonObject | undefined, string[]]>([
    [undefined, []],
    [{ readOnlyHint: true, openWorldHint: true }, ['read-only', 'open-world']],
    [{ destructiveHint: true, idempotentHint: true }, ['destructive', 'idempotent']],
    [{ readOnlyHint: false, title: 'T' }, []],
  ])('has tags of what the server hints at: %j', (annotations, tags) => {
    expect(skillsOf({ name: 'a', ...(annotations && { annotations }) })[0]?.tags).toStrictEqual([
      'tool',
      'mcp',
      ...tags,
    ])
  })

  it.each<[string, Json, boolean]>([
    ['one required string', text, true],
    ['one required string among others', { ...text, properties: { query: { type: 'string' }, n: {} } }, true],
    ['a number', { ...text, properties: { query: { type: 'number' } } }, false],
    ['two required strings', { ...text, required: ['query', 'more'] }, false],
    ['a string that is not required', { ...text, required: [] }, false],
    ['a required argument that is not described', { ...text, properties: {} }, false],
    ['one that only every object has', { required: ['toString'], properties: {} }, false],
    ['nothing', null, false],
  ])('takes plain text where that can only be one argument: %s', (_, inputSchema, takesText) => {
    expect(skillsOf({ name: 'a', inputSchema })[0]?.inputModes).toStrictEqual([
      'application/json',
      ...(takesText ? ['text/plain'] : []),
    ])
  })

  it('answers data first where the server declares what its output is', () => {
    const modes = ['application/json', 'text/plain']
    expect(skillsOf({ name: 'a', outputSchema: { type: 'object' } })[0]?.outputModes).toStrictEqual(modes)
  })

  it('is told of in the report', () => {
    const { filled, converted } = compileCard({ upstream }, server({ name: 'get_x' })).report
    expect([
      filled.map(({ pointer }) => pointer).filter(place => place.startsWith('/skills')),
      converted,
    ]).toStrictEqual([
      ['/skills/0/description', '/skills/0/tags', '/skills/0/inputModes', '/skills/0/outputModes'],
      [{ pointer: '/skills/0/id', message: 'read as "get-x"' }],
    ])
  })
})

describe('what an owner lays over a card of an MCP server', () => {
  it.each(['get_contents', 'get-contents'])('names a tool by its name or by its skill: %s', id => {
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
        inputModes: ['application/json'],
        outputModes: ['image/png'],
      },
      { ...raw, name: 'Contents', tags: ['web'], outputModes: ['image/png'] },
      { skillId: 'get-contents', name: 'get_contents', inputSchema: raw?.inputSchema },
    ])
  })

  it('adds no skill that is no tool, and the report says so', () => {
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

  it('adds none where the server has no tools', () => {
    const { documents, extended, profile } = compileCard(
      { upstream, extended: { skills: [{ id: 'x', name: 'X' }] } },
      server(),
    )
    expect([documents.superx.skills, extended[0]?.documents.superx.skills, profile.mcp?.tools]).toStrictEqual([
      [],
      [],
      [],
    ])
  })

  it('can say that nothing streams, and name the card', () => {
    const { card, profile } = compileCard({ upstream, card: { name: 'Exa', capabilities: { streaming: false } } }, exa)
    expect([card.name, card.capabilities.streaming, profile.streaming]).toStrictEqual(['Exa', false, false])
  })

  it('cannot promise what the bridge does not do', () => {
    const card = { url: 'https://exa.example/mcp', capabilities: { pushNotifications: true } }
    expect(getCompileErrors({ upstream, card }, exa)).toStrictEqual([
      {
        pointer: '/card/url',
        message: 'must be left out: this host calls the tools of the MCP server itself',
      },
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

describe('the call profile of an agent that is an MCP server', () => {
  it.each(['gateway', 'direct'])('has the tools, and a target for either version: route %s', route => {
    const { profile } = compileCard({ upstream: { ...upstream, secret: 'EXA' }, route }, exa)
    const [search, contents] = exa.skills as JsonObject[]
    expect([profile.targets, profile.mcp, profile.secret]).toStrictEqual([
      [
        { binding: 'JSONRPC', version: '1.0', url: mcp },
        { binding: 'JSONRPC', version: '0.3', url: mcp },
      ],
      {
        url: mcp,
        tools: [
          { skillId: 'search', name: 'search', inputSchema: search?.inputSchema },
          { skillId: 'get-contents', name: 'get_contents', inputSchema: contents?.inputSchema },
        ],
      },
      'EXA',
    ])
  })

  it('has none where the owner names an A2A endpoint in front of the server', () => {
    const url = 'https://a2a.exa.example/rpc'
    const { profile, card, manifest } = compileCard({ upstream: { mcp, url } }, exa)
    expect([manifest.route, profile.mcp, profile.targets, card.supportedInterfaces]).toStrictEqual([
      'direct',
      undefined,
      [{ binding: 'JSONRPC', version: '1.0', url }],
      [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    ])
  })
})
