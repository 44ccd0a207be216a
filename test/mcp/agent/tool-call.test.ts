import { describe, expect, it } from 'vitest'
import type { McpAgentProfile } from '../../../src/card/call-profile.ts'
import type { McpTool } from '../../../src/card/model/calls.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { resolveToolCall } from '../../../src/mcp/agent/tool-call.ts'

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
  it('resolves the tool that the message names, with its arguments', () => {
    const data = { query: 'edge' }
    const rows: [title: string, parts: Json, tools?: McpTool[], skillId?: string][] = [
      ['the tool that the data names', [{ data: queried }]],
      ['the tool that the data names by its own name', [{ data: { ...queried, skillId: 'web_search' } }]],
      ['the tool that `skill` names', [{ data: { skill: 'web-search', arguments: data } }]],
      ['the tool of the data beside texts', [{ text: 'Please search.' }, { data: queried }]],
      ['the tool that JSON text names', [{ text: JSON.stringify(queried) }]],
      ['JSON text as the arguments', [{ text: '{"query":"edge"}' }], bothTools, 'web-search'],
      ['the tool whose skill the metadata names', [{ data }], bothTools, 'web-search'],
      ['a tool that both name', [{ data: queried }], bothTools, 'web-search'],
      ['the only tool', [{ data }], [search]],
      ['a text as the one required argument', [{ text: 'edge' }], bothTools, 'web-search'],
    ]
    for (const [title, ...message] of rows) expect(resolve(...message), title).toEqual(searched)
  })

  it('resolves a tool without required arguments', () => {
    const rows: [title: string, parts: Json, skillId?: string][] = [
      ['data without arguments', [{ data: { skillId: 'now' } }]],
      ['data with null arguments', [{ data: { skillId: 'now', arguments: null } }]],
      ['no parts', [], 'now'],
    ]
    for (const [title, parts, skillId] of rows)
      expect(resolve(parts, bothTools, skillId), title).toEqual({ tool: 'now', arguments: {} })
  })

  it('takes JSON text that is neither a call nor the arguments for the text of the tool', () => {
    const text = '{"find": "this"}'
    expect(resolve([{ text }], [search])).toEqual({ tool: 'web_search', arguments: { query: text } })
  })

  it('calls the default tool, unless the message names one', () => {
    const rows: [title: string, defaultTool: string, parts: Json, expected: Json][] = [
      ['text', 'web_search', [{ text: 'edge' }], searched],
      ['no parts', 'now', [], { tool: 'now', arguments: {} }],
      ['data that names another tool', 'now', [{ data: queried }], searched],
    ]
    for (const [title, defaultTool, parts, expected] of rows)
      expect(resolve(parts, bothTools, undefined, { defaultTool }), title).toEqual(expected)
    const unknown = resolve([{ text: 'edge' }], bothTools, undefined, { defaultTool: 'gone' })
    expect(unknown).toMatchObject({ kind: 'invalid-params' })
  })

  it('reads a resource that the message names', () => {
    const read = (part: JsonObject, resources?: string[]) =>
      resolve([part], bothTools, undefined, { ...(resources && { resources }) })
    expect([
      read({ data: { resource: 'memo://a' } }, ['memo://a']),
      read({ data: { resource: 'memo://b', name: 'B' } }, []),
      read({ text: '{"resource": "memo://a"}' }, ['memo://a']),
    ]).toEqual([
      { resource: { uri: 'memo://a', isListed: true } },
      { resource: { uri: 'memo://b', isListed: false } },
      { resource: { uri: 'memo://a', isListed: true } },
    ])
  })

  it('takes `resource` for an argument of the tool that the metadata names, and of a server without resources', () => {
    const open = toolWith('open', { resource: { type: 'string' } }, ['resource'])
    const data = { resource: 'memo://a' }
    const opened = { tool: 'open', arguments: data }
    expect([
      resolve([{ data }], [open], 'open', { resources: ['memo://a'] }),
      resolve([{ text: JSON.stringify(data) }], [open], 'open', { resources: ['memo://a'] }),
      resolve([{ data }], [open]),
    ]).toEqual([opened, opened, opened])
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
    ]).toMatchObject([{ tool: 'a' }, { tool: 'a' }, { tool: 'b-2' }])
  })

  it('accepts an argument that is called "skill" of a tool that is named by the metadata, or by the data', () => {
    const hire = toolWith('hire', { skill: { type: 'string' } }, ['skill'])
    expect([
      resolve([{ data: { skill: 'law' } }], [hire, now], 'hire'),
      resolve([{ text: '{"skill":"law"}' }], [hire, now], 'hire'),
      resolve([{ data: { skill: 'hire', arguments: { skill: 'law' } } }], [hire, now]),
      resolve([{ data: { skillId: 'hire', arguments: { skill: 'law' } } }], [hire, now], 'hire'),
    ]).toEqual(Array(4).fill({ tool: 'hire', arguments: { skill: 'law' } }))
    const unknown = 'message.parts[0].data.skill is not a tool of this agent. Its tools are hire'
    expect(violations([{ data: { skill: 'law' } }], [hire])).toEqual([unknown])
  })

  it('takes data with other names for the arguments of a tool that needs no name', () => {
    const data = { name: 'web_search', input: { query: 'edge' } }
    expect(resolve([{ data }], [search])).toEqual({ tool: 'web_search', arguments: data })
  })

  it('preserves numbers as written', () => {
    const count = toolWith('count', { from: { type: 'number' } }, ['from'])
    const from = JSON.rawJSON('12345678901234567890') as never
    const text = '{"tool":"count","arguments":{"from":12345678901234567890}}'
    expect(JSON.stringify(resolve([{ data: { from } }], [count]))).toBe(text)
  })
})

describe('resolveToolCall of an invalid message', () => {
  const toolNames = 'Its tools are web_search, now'
  const example = '{"data": {"skillId": "…", "arguments": {…}}}'

  it('rejects it with the field and the reason', () => {
    const name = `names no tool: set \`message.metadata.skillId\` or send ${example}. ${toolNames}`
    const part = `must be a data part, such as ${example}, or a text part`
    const onePart = 'message.parts must have one part: the data or the text that calls the tool'
    const unknown = `is not a tool of this agent. ${toolNames}`
    const noText = `cannot call this tool, which does not take one text: send its arguments, as ${example}`
    const nested = (member: string) => `is not allowed next to \`${member}\`: put arguments into \`arguments\``
    const data = (members: JsonObject): Json => [{ data: members }]
    const rows: [message: Parameters<typeof resolve>, violation: string][] = [
      [[null], 'message.parts must be a list of parts'],
      [[[{ text: 'a' }, { text: 'b' }]], onePart],
      [[[{ data: queried }, { data: queried }]], onePart],
      [[[{ url: 'https://a.example/b' }]], `message.parts[0] ${part}`],
      [[[7]], `message.parts[0] ${part}`],
      [[[{ text: 'a', data: {} }]], `message.parts[0] ${part}`],
      [[[{ data: [1] }]], `message.parts[0] ${part}`],
      [[[{ text: 'edge' }]], `message.parts[0].text ${name}`],
      [[data({ query: 'edge' })], `message.parts[0].data.skillId ${name}`],
      [[[]], `message ${name}`],
      [[data({ skillId: 'x' })], `message.parts[0].data.skillId ${unknown}`],
      [[[{ text: '{"skillId": "x"}' }]], `message.parts[0].text.skillId ${unknown}`],
      [[[{ text: 'a' }], bothTools, 'x'], `message.metadata.skillId ${unknown}`],
      [[data({ skillId: 7 })], `message.parts[0].data.skillId must be the name of a tool. ${toolNames}`],
      [[[{ data: queried }], []], 'message.parts[0].data.skillId is not a tool of this agent. This agent has no tools'],
      [
        [[{ data: queried }], bothTools, 'now'],
        'message.parts[0].data.skillId names a tool other than `message.metadata.skillId`',
      ],
      [[[{ text: 'edge' }], bothTools, 'now'], `message.parts[0].text ${noText}`],
      [[data({ skillId: 'web_search', query: 'edge' })], `message.parts[0].data.query ${nested('skillId')}`],
      [[data({ skillId: 'web_search', arguments: ['edge'] })], 'message.parts[0].data.arguments must be an object'],
    ]
    for (const [message, violation] of rows)
      expect(violations(...message), JSON.stringify(message)).toEqual([violation])
  })

  it('lists at most twenty tools in the message', () => {
    const tools = Array.from({ length: 30 }, (_, index) => toolWith(`t${index}`, {}))
    const [violation = ''] = violations([{ data: { skillId: 'x' } }], tools) as string[]
    expect(violation).toMatch(
      /^message\.parts\[0\]\.data\.skillId is not a tool of this agent\. Its tools are t0, t1, /,
    )
    expect(violation).toMatch(/, t19, …$/)
  })
})
