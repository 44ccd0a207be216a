import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/json/json.ts'
import type { Discovered } from '../../src/mcp/discover.ts'
import { toSuperxCard } from '../../src/mcp/server-card.ts'
import exa from '../fixtures/seeds/superx-exa.json' with { type: 'json' }

/** What the MCP server of SuperX's example answers to `initialize` and `tools/list`. */
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

const bare: Discovered = { protocolVersion: '2025-11-25', serverInfo: {}, capabilities: {}, tools: { items: [] } }
const documentOf = (more: Partial<Discovered>) => toSuperxCard('agent', { ...bare, ...more })
const ofTools = (...items: Json[]) => {
  const { card, notes } = documentOf({ tools: { items } })
  return { skills: card.skills, notes }
}
const leaves = (message: string) => [{ pointer: '/skills', message: `omits tool ${message}` }]
const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })
const skill = (name: string) => ({ id: name, name, inputSchema: { type: 'object' } })

describe('the card of an MCP server in SuperX’s dialect', () => {
  it('is that of SuperX’s example, field for field and in its order', () => {
    const { card, notes } = toSuperxCard('exa_search', exaServer)
    expect(JSON.stringify(card, null, 2)).toBe(JSON.stringify(exa, null, 2))
    expect(notes).toEqual([])
  })

  it('says of a server that says nothing of itself what the agent is called', () => {
    expect(documentOf({}).card).toEqual({
      name: 'agent',
      protocol: 'mcp',
      protocolVersion: '2025-11-25',
      description: 'agent',
      capabilities: { tools: null, resources: null, prompts: null, sampling: null },
      skills: [],
    })
  })

  it('has resources and prompts where the server has, though none at the moment', () => {
    const resource = { uri: 'note:a', name: 'a', title: 'A', mimeType: 'text/plain', size: 3, _meta: { x: 1 } }
    const prompt = { name: 'ask', description: 'Asks', arguments: [{ name: 'what', required: true }], icons: [] }
    const { card } = documentOf({ resources: { items: [resource] }, prompts: { items: [prompt] } })
    expect([card.resources, card.prompts]).toEqual([
      [{ uri: 'note:a', name: 'a', title: 'A', mimeType: 'text/plain', size: 3 }],
      [{ name: 'ask', description: 'Asks', arguments: [{ name: 'what', required: true }] }],
    ])
    expect(Object.keys(card).slice(-2)).toEqual(['resources', 'prompts'])
    expect(documentOf({ resources: { items: [] } }).card.resources).toEqual([])
  })

  it('keeps of a tool what describes it', () => {
    const described = { title: 'Look', outputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }
    expect(ofTools({ ...tool('look'), ...described, _meta: {}, execution: {} }).skills).toEqual([
      { ...skill('look'), ...described },
    ])
  })
})

describe('tools that are not as MCP has them', () => {
  it.each<[string, Json, Json]>([
    ['no description and no schema', { name: 'a' }, { id: 'a', name: 'a' }],
    ['null for both', { name: 'a', description: null, inputSchema: null }, { id: 'a', name: 'a' }],
    ['other types', { name: 'a', description: 1, inputSchema: [] }, { id: 'a', name: 'a' }],
    ['hidden characters, which the linter finds', { name: 'a\u200b' }, { id: 'a\u200b', name: 'a\u200b' }],
  ])('are kept: %s', (_, item, kept) => {
    expect(ofTools(item)).toEqual({ skills: [kept], notes: [] })
  })

  const deep = JSON.parse(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`) as Json
  it.each<[string, Json, string]>([
    ['no name', { description: 'x' }, '2: it has no name'],
    ['a number for a name', { name: 7 }, '2: it has no name'],
    ['an empty name', { name: '' }, '2 (""): it has no name'],
    ['not an object', 'look', '2: it has no name'],
    ['the name of another', { ...tool('first'), description: 'again' }, '2 ("first"): another tool has the same name'],
    [
      'too long a text',
      { name: 'a', description: 'x'.repeat(16_385) },
      '2 ("a"): is 16385 characters long; at most 16384 are allowed (at /description)',
    ],
    [
      'a schema without end',
      { name: 'a', inputSchema: deep },
      `2 ("a"): nests deeper than 64 levels (at /inputSchema${'/a'.repeat(61)})`,
    ],
    [
      'a name that reaches a prototype',
      { name: 'a', inputSchema: JSON.parse('{"__proto__": 1}') },
      '2 ("a"): "__proto__" is not allowed as a name (at /inputSchema/__proto__)',
    ],
  ])('are left out: %s', (_, item, message) => {
    expect(ofTools(tool('first'), item, tool('last'))).toEqual({
      skills: [skill('first'), skill('last')],
      notes: leaves(message),
    })
  })

  it('is left out where the whole would be too large, and one that has room is not', () => {
    const large = (name: string) => ({
      name,
      inputSchema: { type: 'object', enum: Array.from({ length: 60 }, () => 'x'.repeat(16_000)) },
    })
    const { skills, notes } = ofTools(large('a'), large('b'), tool('c'))
    expect([(skills as { id: string }[]).map(({ id }) => id), notes]).toEqual([
      ['a', 'c'],
      leaves('2 ("b"): the lists would be larger than 1 MiB'),
    ])
  })
})

describe('more than a card can hold', () => {
  it('is 10,000 tools: the first 500 are kept, and how many are not is said', () => {
    const { skills, notes } = ofTools(...Array.from({ length: 10_000 }, (_, index) => tool(`t${index}`)))
    expect((skills as Json[]).at(-1)).toEqual(skill('t499'))
    expect(notes).toEqual([{ pointer: '/skills', message: 'omits 9500 of 10000 tools: a card lists at most 500' }])
  })

  it('is told, where it was not even asked for', () => {
    const truncated = 'this host requests no more than 500'
    expect(documentOf({ tools: { items: [tool('a')], truncated } }).notes).toEqual([
      { pointer: '/skills', message: `may lack tools: ${truncated}` },
    ])
  })

  it('is said in a hundred notes, however much is bad', () => {
    const { notes } = ofTools(...Array.from({ length: 400 }, () => 1))
    expect([notes.length, notes.at(-1)]).toEqual([
      101,
      { pointer: '/skills', message: 'omits tool 101: it has no name (one of 300 more)' },
    ])
  })

  it('is a resource of this machine: cards name no files', () => {
    const { card, notes } = documentOf({ resources: { items: [{ uri: 'file:///etc/passwd', name: 'x' }] } })
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
