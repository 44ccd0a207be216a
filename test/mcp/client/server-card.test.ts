import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/json/json.ts'
import { type Discovered, toSuperxCard } from '../../../src/mcp/client/server-card.ts'
import exa from '../../fixtures/seeds/superx-exa.json' with { type: 'json' }

/** The results of `initialize` and `tools/list` of the MCP server in SuperX's example. */
const exaServer: Discovered = {
  protocolVersion: '2024-11-05',
  serverInfo: { name: 'Exa MCP Server', version: '1.0.0' },
  capabilities: { tools: { listChanged: true } },
  tools: {
    items: [
      {
        name: 'search',
        description: 'Search the web using Exa AI',
        inputSchema: {
          type: 'object',
          properties: {
            query: { type: 'string', description: 'Search query' },
            numResults: { type: 'integer', default: 10 },
          },
          required: ['query'],
        },
      },
      {
        name: 'get_contents',
        description: 'Get full contents of URLs',
        inputSchema: {
          type: 'object',
          properties: { urls: { type: 'array', items: { type: 'string' } } },
          required: ['urls'],
        },
      },
    ],
  },
}

const emptyServer: Discovered = {
  protocolVersion: '2025-11-25',
  serverInfo: {},
  capabilities: {},
  tools: { items: [] },
}
const cardOf = (more: Partial<Discovered>) => toSuperxCard('agent', { ...emptyServer, ...more })
const skillsOf = (...items: Json[]) => {
  const { card, notes } = cardOf({ tools: { items } })
  return { skills: card.skills, notes }
}
const omits = (message: string) => [{ pointer: '/skills', message: `omits tool ${message}` }]
const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })
const skill = (name: string) => ({ id: name, name, inputSchema: { type: 'object' } })

describe('toSuperxCard', () => {
  it('returns the card of SuperX’s example, with its fields in the same order', () => {
    const { card, notes } = toSuperxCard('exa_search', exaServer)
    expect(JSON.stringify(card, null, 2)).toBe(JSON.stringify(exa, null, 2))
    expect(notes).toEqual([])
  })

  it('names the card of a server without a name after the agent', () => {
    expect(cardOf({}).card).toEqual({
      name: 'agent',
      protocol: 'mcp',
      protocolVersion: '2025-11-25',
      description: 'agent',
      capabilities: { tools: null, resources: null, prompts: null, sampling: null },
      skills: [],
    })
  })

  it('describes the agent as the server describes itself', () => {
    const descriptionOf = (serverInfo: object, instructions?: string) =>
      cardOf({ serverInfo: serverInfo as never, ...(instructions && { instructions }) }).card.description
    const weather = { name: 'srv', title: 'Weather' }
    expect(descriptionOf(weather)).toBe('Weather')
    expect(descriptionOf(weather, 'Ask for a city.')).toBe('Weather\n\nAsk for a city.')
    expect(descriptionOf({ name: 'srv', description: 'Forecasts' })).toBe('srv\n\nForecasts')
    expect(descriptionOf({}, 'Ask.')).toBe('Ask.')
    expect(descriptionOf({}, 'x'.repeat(5_000))).toBe(`${'x'.repeat(4_000)}…`)
    // Values of other types.
    expect(descriptionOf({ title: 7, description: [] })).toBe('agent')
  })

  it('leaves out a text with the host of the server, and notes that', () => {
    const server = { ...emptyServer, serverInfo: { title: 'Docs' }, instructions: 'See https://MCP.example.com/docs.' }
    const { card, notes } = toSuperxCard('agent', server, 'https://mcp.example.com/mcp')
    expect([card.description, notes]).toEqual([
      'Docs',
      [
        {
          pointer: '/description',
          message: "omits a text of the server about itself, because it names the server's own host",
        },
      ],
    ])
  })

  it('omits tools that run as tasks of MCP only, and names them', () => {
    const execution = (taskSupport: string) => ({ execution: { taskSupport } })
    const { skills, notes } = skillsOf(
      { ...tool('a'), ...execution('required') },
      { ...tool('b'), ...execution('optional') },
      { ...tool('c'), ...execution('forbidden') },
    )
    expect([skills, notes]).toEqual([
      [skill('b'), skill('c')],
      omits('1 ("a"): it runs as a task of MCP only (execution.taskSupport), and this host calls tools without'),
    ])
  })

  it('includes the resources and prompts of a server with those capabilities, even empty lists', () => {
    const resource = { uri: 'note:a', name: 'a', title: 'A', mimeType: 'text/plain', size: 3, _meta: { x: 1 } }
    const prompt = { name: 'ask', description: 'Asks', arguments: [{ name: 'what', required: true }], icons: [] }
    const { card } = cardOf({ resources: { items: [resource] }, prompts: { items: [prompt] } })
    expect([card.resources, card.prompts]).toEqual([
      [{ uri: 'note:a', name: 'a', title: 'A', mimeType: 'text/plain', size: 3 }],
      [{ name: 'ask', description: 'Asks', arguments: [{ name: 'what', required: true }] }],
    ])
    expect(Object.keys(card).slice(-2)).toEqual(['resources', 'prompts'])
    expect(cardOf({ resources: { items: [] } }).card.resources).toEqual([])
  })

  it('keeps the fields that describe a tool', () => {
    const described = { title: 'Look', outputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }
    expect(skillsOf({ ...tool('look'), ...described, _meta: {}, execution: {} }).skills).toEqual([
      { ...skill('look'), ...described },
    ])
  })
})

describe('tools that do not follow MCP', () => {
  it('are kept without their invalid members', () => {
    const a = { id: 'a', name: 'a' }
    const kept = (item: Json) => skillsOf(item)
    expect([
      kept({ name: 'a' }),
      kept({ name: 'a', description: null, inputSchema: null }),
      kept({ name: 'a', description: 1, inputSchema: [] }),
    ]).toEqual(Array(3).fill({ skills: [a], notes: [] }))
    // Hidden characters, which the linter finds.
    expect(kept({ name: 'a\u200b' })).toEqual({ skills: [{ id: 'a\u200b', name: 'a\u200b' }], notes: [] })
  })

  it('are omitted, with the reason', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`) as Json
    const prototype = { name: 'a', inputSchema: JSON.parse('{"__proto__": 1}') }
    const notAllowed = '"__proto__" is not allowed as a name (at /inputSchema/__proto__)'
    const tooLong = 'is 16385 characters long; at most 16384 are allowed (at /description)'
    const tooDeep = `nests deeper than 64 levels (at /inputSchema${'/a'.repeat(61)})`
    const rows: [Json, message: string][] = [
      [{ description: 'x' }, '2: it has no name'],
      [{ name: 7 }, '2: it has no name'],
      [{ name: '' }, '2 (""): it has no name'],
      ['look', '2: it has no name'],
      [{ ...tool('first'), description: 'again' }, '2 ("first"): another tool has the same name'],
      [{ name: 'a', description: 'x'.repeat(16_385) }, `2 ("a"): ${tooLong}`],
      [{ name: 'a', inputSchema: deep }, `2 ("a"): ${tooDeep}`],
      [prototype, `2 ("a"): ${notAllowed}`],
    ]
    const skills = [skill('first'), skill('last')]
    for (const [item, message] of rows)
      expect(skillsOf(tool('first'), item, tool('last'))).toEqual({ skills, notes: omits(message) })
  })

  it('are omitted when the list would become too large, unlike smaller ones after them', () => {
    const large = (name: string) => ({
      name,
      inputSchema: { type: 'object', enum: Array.from({ length: 60 }, () => 'x'.repeat(16_000)) },
    })
    const { skills, notes } = skillsOf(large('a'), large('b'), tool('c'))
    expect([(skills as { id: string }[]).map(({ id }) => id), notes]).toEqual([
      ['a', 'c'],
      omits('2 ("b"): the lists would be larger than 1 MiB'),
    ])
  })
})

describe('the limits of a card', () => {
  it('keep the first 500 of 10,000 tools, with a note of how many are omitted', () => {
    const { skills, notes } = skillsOf(...Array.from({ length: 10_000 }, (_, index) => tool(`t${index}`)))
    expect((skills as Json[]).at(-1)).toEqual(skill('t499'))
    expect(notes).toEqual([{ pointer: '/skills', message: 'omits 9500 of 10000 tools: a card lists at most 500' }])
  })

  it('are noted when the list of the server was truncated', () => {
    const truncated = 'this host requests no more than 500'
    expect(cardOf({ tools: { items: [tool('a')], truncated } }).notes).toEqual([
      { pointer: '/skills', message: `may lack tools: ${truncated}` },
    ])
  })

  it('are noted without a name that looks like a secret', () => {
    const name = `sk-proj-${'aB3dE6gH9jK2mN5pQ8sT'}`
    expect(skillsOf(tool(name), tool(name)).notes).toEqual(omits('2: another tool has the same name'))
  })

  it('exclude resources with file URLs', () => {
    const { card, notes } = cardOf({ resources: { items: [{ uri: 'file:///etc/passwd', name: 'x' }] } })
    expect([card.resources, notes]).toEqual([
      [],
      [
        {
          pointer: '/resources',
          message:
            'omits resource 1 ("x"): must be an http or https URL, not one that runs code or reads local data (at /uri)',
        },
      ],
    ])
  })
})
