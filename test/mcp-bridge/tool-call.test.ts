import { describe, expect, it } from 'vitest'
import type { McpTool } from '../../src/card/model/calls.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { resolveToolCall } from '../../src/mcp-bridge/tool-call.ts'
import { rejectInvalidArguments } from '../../src/mcp-bridge/validate-arguments.ts'

/** A tool whose arguments are these, `required` or not; its skill's id is its name in kebab case. */
const toolWith = (name: string, properties: JsonObject, required: string[] = [], more: JsonObject = {}): McpTool => ({
  skillId: name.replaceAll('_', '-'),
  name,
  inputSchema: { type: 'object', properties, ...(required.length > 0 && { required }), ...more },
})

/** A search: one text is all that it needs. */
const search = toolWith(
  'web_search',
  { query: { type: 'string', minLength: 2 }, most: { type: 'integer', minimum: 1, maximum: 10 } },
  ['query'],
)

/** What needs no arguments. */
const now = toolWith('now', { zone: { type: 'string' } })

const both = [search, now]

/** The tool and the arguments of a message with these parts, or why it is refused. */
const called = (parts: Json, tools: readonly McpTool[] = both, skillId?: Json) => {
  const message = { messageId: 'm', role: 'ROLE_USER', parts, ...(skillId !== undefined && { metadata: { skillId } }) }
  const call = resolveToolCall({ message }, tools)
  if ('kind' in call) return call
  const { name, inputSchema } = call.tool
  const tool = { name, inputSchema, arguments: JSON.stringify(call.arguments), field: call.field }
  return rejectInvalidArguments('agent', tool) ?? { tool: name, arguments: call.arguments }
}

const violations = (...asking: Parameters<typeof called>) => {
  const came = called(...asking)
  return 'kind' in came && came.kind === 'invalid-params'
    ? came.violations.map(({ field, description }) => `${field} ${description}`)
    : came
}

const queried = { tool: 'web_search', arguments: { query: 'edge' } }

describe('the tool that a message calls', () => {
  it.each<[title: string, parts: Json, tools: readonly McpTool[], skillId?: string]>([
    ['is the one that its data names', [{ data: queried }], both],
    ['is the one that its data names, in v0.3', [{ kind: 'data', data: queried }], both],
    ['is the one whose skill its data names', [{ data: { ...queried, tool: 'web-search' } }], both],
    ['is the one that its metadata names by the skill', [{ data: { query: 'edge' } }], both, 'web-search'],
    ['is the one that its metadata names by its own name', [{ data: { query: 'edge' } }], both, 'web_search'],
    ['may be named twice', [{ data: queried }], both, 'web-search'],
    ['is the only one', [{ data: { query: 'edge' } }], [search]],
    ['may be named though it is the only one', [{ data: queried }], [search]],
    ['takes a text as the one argument that it needs', [{ text: 'edge' }], both, 'web-search'],
    ['takes a text of v0.3', [{ kind: 'text', text: 'edge' }], both, 'web_search'],
    ['takes a text where it is the only one', [{ text: 'edge' }], [search]],
  ])('%s', (_, parts, tools, skillId) => {
    expect(called(parts, tools, skillId)).toEqual(queried)
  })

  it.each<[title: string, parts: Json, skillId?: string]>([
    ['data without arguments', [{ data: { tool: 'now' } }]],
    ['data with null for them', [{ data: { tool: 'now', arguments: null } }]],
    ['empty data', [{ data: {} }], 'now'],
    ['no part at all', [], 'now'],
  ])('needs no arguments where it requires none: %s', (_, parts, skillId) => {
    expect(called(parts, both, skillId)).toEqual({ tool: 'now', arguments: {} })
  })

  it('counts a skill before a name in metadata, and a name before a skill in data', () => {
    const first = { ...toolWith('a', {}), skillId: 'b-2' }
    const second = { ...toolWith('b-2', {}), skillId: 'c' }
    expect([called([], [first, second], 'b-2'), called([{ data: { tool: 'b-2' } }], [first, second])]).toEqual([
      { tool: 'a', arguments: {} },
      { tool: 'b-2', arguments: {} },
    ])
  })

  it('may have an argument that is called tool', () => {
    const borrow = toolWith('borrow', { tool: { type: 'string' } }, ['tool'])
    expect([
      called([{ data: { tool: 'saw' } }], [borrow]),
      called([{ data: { tool: 'saw' } }], [borrow, now], 'borrow'),
      called([{ data: { tool: 'borrow', arguments: { tool: 'saw' } } }], [borrow, now]),
    ]).toEqual(Array.from({ length: 3 }, () => ({ tool: 'borrow', arguments: { tool: 'saw' } })))
  })

  it('keeps numbers as they were written', () => {
    const count = toolWith('count', { from: { type: 'number' } }, ['from'])
    const from = JSON.rawJSON('12345678901234567890') as never
    expect(JSON.stringify(called([{ data: { from } }], [count]))).toBe(
      '{"tool":"count","arguments":{"from":12345678901234567890}}',
    )
  })
})

describe('a message that calls no tool', () => {
  const there = 'Its tools are web_search, now'
  const example = '{"data": {"tool": "…", "arguments": {…}}}'
  const name = `names no tool: set \`message.metadata.skillId\` or send ${example}. ${there}`
  const part = `must be a data part, such as ${example}, or a text part`

  it.each<[title: string, said: Parameters<typeof called>, told: string]>([
    ['no parts', [null], 'message.parts must be a list of parts'],
    ['parts that are none', ['edge'], 'message.parts must be a list of parts'],
    [
      'two parts',
      [[{ text: 'a' }, { text: 'b' }]],
      'message.parts must have one part: the data or the text that calls the tool',
    ],
    ['a file', [[{ url: 'https://a.example/b' }]], `message.parts[0] ${part}`],
    ['a part that is none', [[7]], `message.parts[0] ${part}`],
    ['text and data in one', [[{ text: 'a', data: {} }]], `message.parts[0] ${part}`],
    ['data that is no object', [[{ data: [1] }]], `message.parts[0] ${part}`],
    ['a text without a name', [[{ text: 'edge' }]], `message.parts[0].text ${name}`],
    ['data without a name', [[{ data: { query: 'edge' } }]], `message.parts[0].data.tool ${name}`],
    ['nothing without a name', [[]], `message ${name}`],
    [
      'a tool that is not there',
      [[{ data: { tool: 'x' } }]],
      `message.parts[0].data.tool is not a tool of this agent. ${there}`,
    ],
    [
      'a tool that is no name',
      [[{ data: { tool: 7 } }]],
      `message.parts[0].data.tool must be the name of a tool. ${there}`,
    ],
    [
      'a skill that is not there',
      [[{ text: 'a' }], both, 'x'],
      `message.metadata.skillId is not a tool of this agent. ${there}`,
    ],
    [
      'a skill that is no name',
      [[{ text: 'a' }], both, 7],
      `message.metadata.skillId must be the name of a tool. ${there}`,
    ],
    [
      'no tools',
      [[{ data: queried }], []],
      'message.parts[0].data.tool is not a tool of this agent. This agent has no tools',
    ],
    [
      'two names',
      [[{ data: queried }], both, 'now'],
      'message.parts[0].data.tool names a tool other than `message.metadata.skillId`',
    ],
    [
      'a text for a tool that takes none',
      [[{ text: 'edge' }], both, 'now'],
      `message.parts[0].text cannot call this tool, which does not take one text: send its arguments, as ${example}`,
    ],
    [
      'arguments beside the name',
      [[{ data: { tool: 'web_search', query: 'edge' } }]],
      'message.parts[0].data.query is not allowed next to `tool`: put arguments into `arguments`',
    ],
    [
      'arguments that are no object',
      [[{ data: { tool: 'web_search', arguments: ['edge'] } }]],
      'message.parts[0].data.arguments must be an object',
    ],
  ])('%s', (_, said, told) => {
    expect(violations(...said)).toEqual([told])
  })

  it('is told of twenty tools, and that there are more', () => {
    const tools = Array.from({ length: 30 }, (_, index) => toolWith(`t${index}`, {}))
    expect(violations([{ data: { tool: 'x' } }], tools)).toEqual([
      `message.parts[0].data.tool is not a tool of this agent. Its tools are ${tools
        .slice(0, 20)
        .map(tool => tool.name)
        .join(', ')}, …`,
    ])
  })
})

describe('arguments that a tool does not take', () => {
  it.each<[given: JsonObject, told: string[]]>([
    [{}, ['message.parts[0].data.arguments.query is required']],
    [{ query: 7 }, ['message.parts[0].data.arguments.query must be of type string']],
    [
      { query: 'x', most: 99 },
      [
        'message.parts[0].data.arguments.query must be at least 2 characters long',
        'message.parts[0].data.arguments.most must be at most 10',
      ],
    ],
  ])('%j', (given, told) => {
    expect(violations([{ data: { tool: 'web_search', arguments: given } }])).toEqual(told)
  })

  it('are told where they stand, as data alone, as nothing, and as a text', () => {
    expect([
      violations([{ data: { most: 1.5, query: 'edge' } }], both, 'web-search'),
      violations([], both, 'web-search'),
      violations([{ text: 'x' }], both, 'web-search'),
    ]).toEqual([
      ['message.parts[0].data.most must be of type integer'],
      ['message.parts.query is required'],
      ['message.parts[0].text must be at least 2 characters long'],
    ])
  })

  it('say the first in words, and how many there are more', () => {
    expect(called([{ data: { query: 'x', most: 99 } }], both, 'web-search')).toMatchObject({
      detail: '`message.parts[0].data.query` must be at least 2 characters long (and 1 more).',
    })
  })
})
