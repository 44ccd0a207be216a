import { describe, expect, it } from 'vitest'
import type { McpAgentProfile, McpTool } from '../../src/card/model/calls.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { resolveToolCall } from '../../src/mcp-bridge/tool-call.ts'

/** Returns a tool with these arguments. The id of its skill is its name in kebab case. */
const toolWith = (name: string, properties: JsonObject, required: string[] = [], more: JsonObject = {}): McpTool => ({
  skillId: name.replaceAll('_', '-'),
  name,
  inputSchema: { type: 'object', properties, ...(required.length > 0 && { required }), ...more },
})

/** A tool that requires one text. */
const search = toolWith(
  'web_search',
  { query: { type: 'string', minLength: 2 }, limit: { type: 'integer', minimum: 1, maximum: 10 } },
  ['query'],
)

/** A tool that requires no arguments. */
const now = toolWith('now', { zone: { type: 'string' } })

const bothTools = [search, now]

/** Returns the tool and the arguments of a message with these parts, or the error. */
const resolve = (parts: Json, tools: McpTool[] = bothTools, skillId?: Json, agent: Partial<McpAgentProfile> = {}) => {
  const message = { messageId: 'm', role: 'ROLE_USER', parts, ...(skillId !== undefined && { metadata: { skillId } }) }
  const call = resolveToolCall({ message }, { tools, ...agent })
  if ('kind' in call || 'resource' in call) return call
  return { tool: call.tool.name, arguments: call.arguments }
}

const violations = (...message: Parameters<typeof resolve>) => {
  const resolved = resolve(...message)
  return 'kind' in resolved && resolved.kind === 'invalid-params'
    ? resolved.violations.map(({ field, description }) => `${field} ${description}`)
    : resolved
}

const queried = { tool: 'web_search', arguments: { query: 'edge' } }

describe('resolveToolCall', () => {
  it.each<[title: string, parts: Json, tools: McpTool[], skillId?: string]>([
    ['the tool that the data names', [{ data: queried }], bothTools],
    ['the tool that the data names in A2A 0.3', [{ kind: 'data', data: queried }], bothTools],
    ['the tool whose skill the data names', [{ data: { ...queried, tool: 'web-search' } }], bothTools],
    ['the tool whose skill the metadata names', [{ data: { query: 'edge' } }], bothTools, 'web-search'],
    ['the tool that the metadata names', [{ data: { query: 'edge' } }], bothTools, 'web_search'],
    ['a tool that both name', [{ data: queried }], bothTools, 'web-search'],
    ['the only tool', [{ data: { query: 'edge' } }], [search]],
    ['the only tool, though the data names it', [{ data: queried }], [search]],
    ['a text as the one required argument', [{ text: 'edge' }], bothTools, 'web-search'],
    ['a text in A2A 0.3 as the one required argument', [{ kind: 'text', text: 'edge' }], bothTools, 'web_search'],
    ['a text for the only tool', [{ text: 'edge' }], [search]],
  ])('resolves %s', (_, parts, tools, skillId) => {
    expect(resolve(parts, tools, skillId)).toEqual(queried)
  })

  const asText = (data: Json) => [{ text: JSON.stringify(data) }]
  const query = { query: 'edge' }

  it.each<[title: string, parts: Json, tools?: McpTool[], skillId?: string]>([
    ['`skill` and `parameters`', [{ data: { skill: 'web-search', parameters: query } }]],
    ['`skill` and `input`', [{ data: { skill: 'web_search', input: query } }]],
    ['`name` and `arguments`', [{ data: { name: 'web_search', arguments: query } }]],
    ['`name` and `parameters`', [{ data: { name: 'web-search', parameters: query } }]],
    ['`tool` and `input`', [{ data: { tool: 'web_search', input: query } }]],
    ['`name` and arguments as JSON text', [{ data: { name: 'web_search', arguments: JSON.stringify(query) } }]],
    ['`skill` and a text for the one required argument', [{ data: { skill: 'web-search', input: 'edge' } }]],
    ['`name` for the only tool', [{ data: { name: 'web_search', arguments: query } }], [search]],
    ['`parameters` for the tool of the metadata', [{ data: { parameters: query } }], bothTools, 'web-search'],
    ['`input` for the only tool', [{ data: { input: query } }], [search]],
    ['data beside texts', [{ text: 'Please search.' }, { data: { skill: 'web-search', input: query } }]],
    ['JSON text with `tool`', asText(queried)],
    ['JSON text with `skill`', asText({ skill: 'web-search', parameters: query })],
    ['JSON text with `name` for the only tool', asText({ name: 'web_search', input: query }), [search]],
    ['JSON text of the arguments', asText(query), bothTools, 'web-search'],
  ])('resolves the names of other protocols: %s', (_, parts, tools, skillId) => {
    expect(resolve(parts, tools, skillId)).toEqual(queried)
  })

  const greet = toolWith('greet', { name: { type: 'string' } }, ['name'])

  it.each<[title: string, parts: Json, tools: McpTool[], expected: Json]>([
    ['an argument of a known tool', [{ data: { name: 'Ada' } }], [greet], { name: 'Ada' }],
    ['an argument with the name of a tool', [{ data: { name: 'greet' } }], [greet], { name: 'greet' }],
    [
      'the tool, where everything else is a call',
      [{ data: { name: 'greet', arguments: { name: 'Ada' } } }],
      [greet],
      { name: 'Ada' },
    ],
  ])('takes `name` for %s', (_, parts, tools, expected) => {
    expect(resolve(parts, tools)).toEqual({ tool: 'greet', arguments: expected })
  })

  it('takes JSON text that is neither a call nor the arguments for the text of the tool', () => {
    const text = '{"find": "this"}'
    expect(resolve([{ text }], [search])).toEqual({ tool: 'web_search', arguments: { query: text } })
  })

  it.each<[title: string, defaultTool: string, parts: Json, expected: Json]>([
    ['text', 'web_search', [{ text: 'edge' }], queried],
    ['data', 'web-search', [{ data: { query: 'edge' } }], queried],
    ['no parts', 'now', [], { tool: 'now', arguments: {} }],
    ['data that names another tool', 'now', [{ data: queried }], queried],
  ])('calls the default tool, unless the message names one: %s', (_, defaultTool, parts, expected) => {
    expect(resolve(parts, bothTools, undefined, { defaultTool })).toEqual(expected)
  })

  it('refuses a text without the name of a tool where the default tool is none', () => {
    expect(resolve([{ text: 'edge' }], bothTools, undefined, { defaultTool: 'gone' })).toMatchObject({
      kind: 'invalid-params',
    })
  })

  it.each<[title: string, part: JsonObject, resources: string[] | undefined, expected: object]>([
    ['that the card lists', { data: { resource: 'memo://a' } }, ['memo://a'], { uri: 'memo://a', isListed: true }],
    ['that it does not list', { data: { resource: 'memo://b', name: 'B' } }, [], { uri: 'memo://b', isListed: false }],
    ['as JSON text', { text: '{"resource": "memo://a"}' }, ['memo://a'], { uri: 'memo://a', isListed: true }],
  ])('reads a resource %s', (_, part, resources, resource) => {
    expect(resolve([part], bothTools, undefined, { ...(resources && { resources }) })).toEqual({ resource })
  })

  it('takes `resource` for an argument of a tool that has one, and of a server without resources', () => {
    const open = toolWith('open', { resource: { type: 'string' } }, ['resource'])
    const data = { resource: 'memo://a' }
    expect([
      resolve([{ data }], [open], undefined, { resources: ['memo://a'] }),
      resolve([{ data }], [toolWith('any', {})]),
    ]).toEqual([
      { tool: 'open', arguments: data },
      { tool: 'any', arguments: data },
    ])
  })

  it.each<[title: string, parts: Json, skillId?: string]>([
    ['data without arguments', [{ data: { tool: 'now' } }]],
    ['data with null arguments', [{ data: { tool: 'now', arguments: null } }]],
    ['empty data', [{ data: {} }], 'now'],
    ['no parts', [], 'now'],
  ])('resolves a tool without required arguments: %s', (_, parts, skillId) => {
    expect(resolve(parts, bothTools, skillId)).toEqual({ tool: 'now', arguments: {} })
  })

  it('prefers a skill to a tool name in metadata, and a tool name to a skill in data', () => {
    const first = { ...toolWith('a', {}), skillId: 'b-2' }
    const second = { ...toolWith('b-2', {}), skillId: 'c' }
    expect([resolve([], [first, second], 'b-2'), resolve([{ data: { tool: 'b-2' } }], [first, second])]).toEqual([
      { tool: 'a', arguments: {} },
      { tool: 'b-2', arguments: {} },
    ])
  })

  it('accepts an argument that is called "tool"', () => {
    const borrow = toolWith('borrow', { tool: { type: 'string' } }, ['tool'])
    expect([
      resolve([{ data: { tool: 'saw' } }], [borrow]),
      resolve([{ data: { tool: 'saw' } }], [borrow, now], 'borrow'),
      resolve([{ data: { tool: 'borrow', arguments: { tool: 'saw' } } }], [borrow, now]),
    ]).toEqual(Array.from({ length: 3 }, () => ({ tool: 'borrow', arguments: { tool: 'saw' } })))
  })

  it('preserves numbers as written', () => {
    const count = toolWith('count', { from: { type: 'number' } }, ['from'])
    const from = JSON.rawJSON('12345678901234567890') as never
    expect(JSON.stringify(resolve([{ data: { from } }], [count]))).toBe(
      '{"tool":"count","arguments":{"from":12345678901234567890}}',
    )
  })
})

describe('resolveToolCall of an invalid message', () => {
  const toolNames = 'Its tools are web_search, now'
  const example = '{"data": {"tool": "…", "arguments": {…}}}'
  const name = `names no tool: set \`message.metadata.skillId\` or send ${example}. ${toolNames}`
  const part = `must be a data part, such as ${example}, or a text part`

  it.each<[title: string, message: Parameters<typeof resolve>, violation: string]>([
    ['no parts', [null], 'message.parts must be a list of parts'],
    ['parts that are not objects', ['edge'], 'message.parts must be a list of parts'],
    [
      'two parts',
      [[{ text: 'a' }, { text: 'b' }]],
      'message.parts must have one part: the data or the text that calls the tool',
    ],
    ['a file', [[{ url: 'https://a.example/b' }]], `message.parts[0] ${part}`],
    ['a part that is not an object', [[7]], `message.parts[0] ${part}`],
    ['text and data in one', [[{ text: 'a', data: {} }]], `message.parts[0] ${part}`],
    ['data that is not an object', [[{ data: [1] }]], `message.parts[0] ${part}`],
    ['a text without the name of a tool', [[{ text: 'edge' }]], `message.parts[0].text ${name}`],
    ['data without the name of a tool', [[{ data: { query: 'edge' } }]], `message.parts[0].data.tool ${name}`],
    ['neither parts nor the name of a tool', [[]], `message ${name}`],
    [
      'an unknown tool',
      [[{ data: { tool: 'x' } }]],
      `message.parts[0].data.tool is not a tool of this agent. ${toolNames}`,
    ],
    [
      'a tool name that is not a string',
      [[{ data: { tool: 7 } }]],
      `message.parts[0].data.tool must be the name of a tool. ${toolNames}`,
    ],
    [
      'an unknown skill',
      [[{ text: 'a' }], bothTools, 'x'],
      `message.metadata.skillId is not a tool of this agent. ${toolNames}`,
    ],
    [
      'a skill id that is not a string',
      [[{ text: 'a' }], bothTools, 7],
      `message.metadata.skillId must be the name of a tool. ${toolNames}`,
    ],
    [
      'a tool of an agent without tools',
      [[{ data: queried }], []],
      'message.parts[0].data.tool is not a tool of this agent. This agent has no tools',
    ],
    [
      'two different tools',
      [[{ data: queried }], bothTools, 'now'],
      'message.parts[0].data.tool names a tool other than `message.metadata.skillId`',
    ],
    [
      'a text for a tool that does not take one text',
      [[{ text: 'edge' }], bothTools, 'now'],
      `message.parts[0].text cannot call this tool, which does not take one text: send its arguments, as ${example}`,
    ],
    [
      'arguments next to the name of the tool',
      [[{ data: { tool: 'web_search', query: 'edge' } }]],
      'message.parts[0].data.query is not allowed next to `tool`: put arguments into `arguments`',
    ],
    [
      'arguments next to the skill',
      [[{ data: { skill: 'web-search', query: 'edge' } }]],
      'message.parts[0].data.query is not allowed next to `skill`: put arguments into `arguments`',
    ],
    [
      'two kinds of arguments',
      [[{ data: { name: 'web_search', input: {}, parameters: {} } }]],
      'message.parts[0].data.input is not allowed next to `name`: put arguments into `parameters`',
    ],
    [
      'an unknown skill in the data',
      [[{ data: { skill: 'x' } }]],
      `message.parts[0].data.skill is not a tool of this agent. ${toolNames}`,
    ],
    [
      'two parts with data',
      [[{ data: queried }, { data: queried }]],
      'message.parts must have one part: the data or the text that calls the tool',
    ],
    [
      'text as the arguments of a tool that does not take one text',
      [[{ data: { tool: 'now', arguments: 'Rome' } }]],
      'message.parts[0].data.arguments must be an object',
    ],
    [
      'arguments that are not an object',
      [[{ data: { tool: 'web_search', arguments: ['edge'] } }]],
      'message.parts[0].data.arguments must be an object',
    ],
  ])('rejects %s', (_, message, violation) => {
    expect(violations(...message)).toEqual([violation])
  })

  it('lists at most twenty tools in the message', () => {
    const tools = Array.from({ length: 30 }, (_, index) => toolWith(`t${index}`, {}))
    expect(violations([{ data: { tool: 'x' } }], tools)).toEqual([
      `message.parts[0].data.tool is not a tool of this agent. Its tools are ${tools
        .slice(0, 20)
        .map(tool => tool.name)
        .join(', ')}, …`,
    ])
  })
})
