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

const queried = { skillId: 'web-search', arguments: { query: 'edge' } }
const searched = { tool: 'web_search', arguments: { query: 'edge' } }

describe('resolveToolCall', () => {
  it.each<[title: string, parts: Json, tools: McpTool[], skillId?: string]>([
    ['the tool that the data names', [{ data: queried }], bothTools],
    ['the tool that the data names in A2A 0.3', [{ kind: 'data', data: queried }], bothTools],
    ['the tool that the data names by its own name', [{ data: { ...queried, skillId: 'web_search' } }], bothTools],
    ['the tool that `skill` names', [{ data: { skill: 'web-search', arguments: { query: 'edge' } } }], bothTools],
    ['the tool of the data beside texts', [{ text: 'Please search.' }, { data: queried }], bothTools],
    ['the tool that JSON text names', [{ text: JSON.stringify(queried) }], bothTools],
    ['JSON text as the arguments', [{ text: '{"query":"edge"}' }], bothTools, 'web-search'],
    ['the tool whose skill the metadata names', [{ data: { query: 'edge' } }], bothTools, 'web-search'],
    ['the tool that the metadata names', [{ data: { query: 'edge' } }], bothTools, 'web_search'],
    ['a tool that both name', [{ data: queried }], bothTools, 'web-search'],
    ['the only tool', [{ data: { query: 'edge' } }], [search]],
    ['the only tool, though the data names it', [{ data: queried }], [search]],
    ['a text as the one required argument', [{ text: 'edge' }], bothTools, 'web-search'],
    ['a text in A2A 0.3 as the one required argument', [{ kind: 'text', text: 'edge' }], bothTools, 'web_search'],
    ['a text for the only tool', [{ text: 'edge' }], [search]],
  ])('resolves %s', (_, parts, tools, skillId) => {
    expect(resolve(parts, tools, skillId)).toEqual(searched)
  })

  it('takes JSON text that is neither a call nor the arguments for the text of the tool', () => {
    const text = '{"find": "this"}'
    expect(resolve([{ text }], [search])).toEqual({ tool: 'web_search', arguments: { query: text } })
  })

  it.each<[title: string, defaultTool: string, parts: Json, expected: Json]>([
    ['text', 'web_search', [{ text: 'edge' }], searched],
    ['data', 'web-search', [{ data: { query: 'edge' } }], searched],
    ['no parts', 'now', [], { tool: 'now', arguments: {} }],
    ['data that names another tool', 'now', [{ data: queried }], searched],
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
    ['data without arguments', [{ data: { skillId: 'now' } }]],
    ['data with null arguments', [{ data: { skillId: 'now', arguments: null } }]],
    ['empty data', [{ data: {} }], 'now'],
    ['no parts', [], 'now'],
  ])('resolves a tool without required arguments: %s', (_, parts, skillId) => {
    expect(resolve(parts, bothTools, skillId)).toEqual({ tool: 'now', arguments: {} })
  })

  it('prefers the id of a skill to the name of a tool, but for the default tool', () => {
    const tools = [
      { ...toolWith('a', {}), skillId: 'b-2' },
      { ...toolWith('b-2', {}), skillId: 'c' },
    ]
    expect([
      resolve([], tools, 'b-2'),
      resolve([{ data: { skillId: 'b-2' } }], tools),
      resolve([], tools, undefined, { defaultTool: 'b-2' }),
    ]).toEqual([
      { tool: 'a', arguments: {} },
      { tool: 'a', arguments: {} },
      { tool: 'b-2', arguments: {} },
    ])
  })

  it('accepts an argument that is called "skill"', () => {
    const hire = toolWith('hire', { skill: { type: 'string' } }, ['skill'])
    expect([
      resolve([{ data: { skill: 'law' } }], [hire]),
      resolve([{ data: { skill: 'law' } }], [hire, now], 'hire'),
      resolve([{ data: { skill: 'hire', arguments: { skill: 'law' } } }], [hire]),
      resolve([{ data: { skillId: 'hire', arguments: { skill: 'law' } } }], [hire, now]),
    ]).toEqual(Array.from({ length: 4 }, () => ({ tool: 'hire', arguments: { skill: 'law' } })))
  })

  it('takes other names than `skillId`, `skill` and `arguments` for arguments of a known tool', () => {
    const data = { name: 'web_search', input: { query: 'edge' } }
    expect(resolve([{ data }], [search])).toEqual({ tool: 'web_search', arguments: data })
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
  const example = '{"data": {"skillId": "…", "arguments": {…}}}'
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
    ['data without the name of a tool', [[{ data: { query: 'edge' } }]], `message.parts[0].data.skillId ${name}`],
    ['neither parts nor the name of a tool', [[]], `message ${name}`],
    [
      'an unknown tool',
      [[{ data: { skillId: 'x' } }]],
      `message.parts[0].data.skillId is not a tool of this agent. ${toolNames}`,
    ],
    [
      'a tool name that is not a string',
      [[{ data: { skillId: 7 } }]],
      `message.parts[0].data.skillId must be the name of a tool. ${toolNames}`,
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
      'message.parts[0].data.skillId is not a tool of this agent. This agent has no tools',
    ],
    [
      'two different tools',
      [[{ data: queried }], bothTools, 'now'],
      'message.parts[0].data.skillId names a tool other than `message.metadata.skillId`',
    ],
    [
      'a text for a tool that does not take one text',
      [[{ text: 'edge' }], bothTools, 'now'],
      `message.parts[0].text cannot call this tool, which does not take one text: send its arguments, as ${example}`,
    ],
    [
      'arguments next to the name of the tool',
      [[{ data: { skillId: 'web_search', query: 'edge' } }]],
      'message.parts[0].data.query is not allowed next to `skillId`: put arguments into `arguments`',
    ],
    [
      'arguments next to the skill',
      [[{ data: { skill: 'web-search', query: 'edge' } }]],
      'message.parts[0].data.query is not allowed next to `skill`: put arguments into `arguments`',
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
      'arguments that are not an object',
      [[{ data: { skillId: 'web_search', arguments: ['edge'] } }]],
      'message.parts[0].data.arguments must be an object',
    ],
  ])('rejects %s', (_, message, violation) => {
    expect(violations(...message)).toEqual([violation])
  })

  it('lists at most twenty tools in the message', () => {
    const tools = Array.from({ length: 30 }, (_, index) => toolWith(`t${index}`, {}))
    expect(violations([{ data: { skillId: 'x' } }], tools)).toEqual([
      `message.parts[0].data.skillId is not a tool of this agent. Its tools are ${tools
        .slice(0, 20)
        .map(tool => tool.name)
        .join(', ')}, …`,
    ])
  })
})
