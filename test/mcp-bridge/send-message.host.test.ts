import { ProtocolError } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { token } from '../support/host.ts'
import { type BridgedAgent, calls, message, message0, startBridgedAgent, type Task } from './bridged-agent.ts'

const pixel = 'iVBORw0KGgo='

const annotations = { audience: ['user'], priority: 0.5 }
const described = { title: 'A', description: 'All of it', size: 7 }

/** One of each kind of content that a tool may return. */
const content = [
  { type: 'text', text: 'first', annotations },
  { type: 'image', data: pixel, mimeType: 'image/png' },
  { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
  {
    type: 'resource_link',
    uri: 'https://files.example/a.pdf',
    name: 'a.pdf',
    mimeType: 'application/pdf',
    ...described,
  },
  { type: 'resource_link', uri: 'memo://b', name: 'b', ...described },
  { type: 'resource', resource: { uri: 'memo://c', text: '# c', mimeType: 'text/markdown' } },
  { type: 'resource', resource: { uri: 'memo://d', text: 'd' } },
  { type: 'resource', resource: { uri: 'memo://e', blob: pixel } },
  { type: 'text', text: 'last' },
]

/** What servers of the official library's first version write with error -32602. */
const complaint = `Input validation error: Invalid arguments for tool complains: [
  { "expected": "number", "code": "invalid_type", "path": ["a"], "message": "Invalid input: expected number, received string" },
  { "expected": "number", "code": "invalid_type", "path": ["b"], "message": "Invalid input: expected number, received undefined" }
]`

let agent: BridgedAgent

beforeAll(async () => {
  agent = await startBridgedAgent(
    {
      say_it: {
        inputSchema: { properties: { text: { type: 'string', minLength: 2 } }, required: ['text'] },
        run: ({ text = '' }) => ({ content: [{ type: 'text', text: `You said ${text}.` }] }),
      },
      add: {
        inputSchema: { properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
        run: ({ a, b }) => ({ content: [], structuredContent: { sum: Number(a) + Number(b) } }),
      },
      everything: { run: () => ({ content }) },
      nothing: { run: () => ({ content: [] }) },
      fails: { run: () => ({ isError: true, content: [{ type: 'text', text: 'No such place.' }] }) },
      fails_silently: { run: () => ({ isError: true, content: [] }) },
      refuses: {
        run: () => {
          throw new ProtocolError(-32050, 'Nobody is at home')
        },
      },
      complains: {
        run: () => {
          throw new ProtocolError(-32602, complaint)
        },
      },
      huge: { run: () => ({ content: [{ type: 'text', text: 'x'.repeat(1.5 * 1024 * 1024) }] }) },
      silent: { run: () => new Promise(() => undefined) },
      ask: {
        run: async (_, { mcpReq }) => {
          const requestedSchema = { type: 'object' as const, properties: { city: { type: 'string' as const } } }
          const answer = await mcpReq.elicitInput({ message: 'Where to?', requestedSchema })
          return { content: [{ type: 'text', text: JSON.stringify(answer) }] }
        },
      },
      link: { run: () => ({ content: [{ type: 'resource_link', uri: 'memo://hidden', name: 'hidden' }] }) },
    },
    // In seconds. Only the silent tool takes that long.
    { vars: { UPSTREAM_TIMEOUT: '1' }, resources: { 'memo://listed': '# Listed', 'memo://hidden': '# Hidden' } },
  )
})
afterAll(() => agent.close())
beforeEach(() => {
  agent.server.takeCalls()
  agent.server.takeRequests()
})

/** Calls a tool, and returns the state, the artifacts and the status message of its task. */
const callTool = async (parts: Json, more?: JsonObject) => {
  const { status, artifacts } = await agent.send(parts, more)
  return {
    state: status.state.replace('TASK_STATE_', ''),
    ...(artifacts && { artifacts: artifacts.map(({ name, parts }) => ({ name, parts })) }),
    ...(status.message && { message: status.message.parts, reason: status.message.metadata?.reason }),
  }
}

describe('SendMessage to an agent that is an MCP server', () => {
  const completed = {
    state: 'COMPLETED',
    artifacts: [{ name: 'say_it', parts: [{ text: 'You said edge.', mediaType: 'text/plain' }] }],
  }

  it.each<[title: string, parts: Json, more?: JsonObject]>([
    ['data that names the tool', calls('say_it', { text: 'edge' })],
    ['data that names the skill', calls('say-it', { text: 'edge' })],
    [
      'data, with the id of the skill in the metadata',
      [{ data: { text: 'edge' } }],
      { metadata: { skillId: 'say-it' } },
    ],
    ["data, with the tool's name in the metadata", [{ data: { text: 'edge' } }], { metadata: { skillId: 'say_it' } }],
    ['text, with the id of the skill in the metadata', [{ text: 'edge' }], { metadata: { skillId: 'say-it' } }],
    ["text, with the tool's name in the metadata", [{ text: 'edge' }], { metadata: { skillId: 'say_it' } }],
  ])('calls the tool of a message with %s', async (_, parts, more) => {
    expect(await callTool(parts, more)).toEqual(completed)
    expect(agent.server.takeCalls()).toEqual([['say_it', { text: 'edge' }]])
  })

  it.each<[JsonObject, RegExp]>([
    [{}, /^completed$/],
    [{ acceptedOutputModes: ['text/plain'] }, /^completed$/],
    [{ blocking: false }, /^(?:submitted|working)$/],
  ])('waits for the tool of a message of A2A 0.3 unless `blocking` is false: %j', async (configuration, state) => {
    const params = message0([{ kind: 'data', data: { skillId: 'say_it', arguments: { text: 'edge' } } }], {
      configuration,
    })
    const { result } = await agent.call('message/send', params, { version: '0.3' })
    expect(result).toMatchObject({ status: { state: expect.stringMatching(state) } })
  })

  it.each<[title: string, part: JsonObject, more?: JsonObject]>([
    ['data', { kind: 'data', data: { skillId: 'say_it', arguments: { text: 'edge' } } }],
    ['text', { kind: 'text', text: 'edge' }, { metadata: { skillId: 'say-it' } }],
  ])('calls the tool of a message of A2A 0.3 with %s', async (_, part, more) => {
    const { result } = await agent.call('message/send', message0([part], more), { version: '0.3' })
    expect(result).toMatchObject({
      kind: 'task',
      status: { state: 'completed' },
      artifacts: [{ name: 'say_it', parts: [{ kind: 'text', text: 'You said edge.' }] }],
      history: [{ kind: 'message', role: 'user', parts: [part] }],
    })
  })

  it('uses one session for concurrent calls of a context', async () => {
    const context = { contextId: 'sums' }
    await callTool(calls('nothing'), context)
    agent.server.takeRequests()
    const sums = await Promise.all(
      Array.from({ length: 4 }, (_, a) =>
        callTool(calls('add', { a, b: 1 }), context).then(({ artifacts }) => artifacts?.[0]?.parts),
      ),
    )
    expect(sums).toEqual(Array.from({ length: 4 }, (_, a) => [{ data: { sum: a + 1 }, mediaType: 'application/json' }]))
    expect(agent.server.takeRequests().methods).toEqual(Array(4).fill('tools/call'))
  })

  it('preserves numbers in arguments and the id of the call as written', async () => {
    const body =
      '{"jsonrpc":"2.0","id":12345678901234567890,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER",' +
      '"parts":[{"data":{"skillId":"add","arguments":{"a":1e2,"b":0.50}}}]}}}'
    const response = await agent.host.fetch('/agents/tools', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
      body,
    })
    expect(await response.text()).toMatch(
      /^\{"jsonrpc":"2.0",.*"sum":100\.5.*"id":12345678901234567890\}$|^\{"jsonrpc":"2.0","id":12345678901234567890,.*"sum":100\.5/,
    )
  })
})

describe('the result of a tool', () => {
  const parts = [
    { text: 'first', mediaType: 'text/plain', metadata: { annotations } },
    { raw: pixel, mediaType: 'image/png' },
    { raw: 'UklGRg==', mediaType: 'audio/wav' },
    { url: 'https://files.example/a.pdf', filename: 'a.pdf', mediaType: 'application/pdf', metadata: described },
    { data: { resource: 'memo://b', name: 'b', ...described }, mediaType: 'application/json' },
    { text: '# c', mediaType: 'text/markdown', filename: 'c', metadata: { uri: 'memo://c' } },
    { text: 'd', mediaType: 'text/plain', filename: 'd', metadata: { uri: 'memo://d' } },
    { raw: pixel, mediaType: 'application/octet-stream', filename: 'e', metadata: { uri: 'memo://e' } },
    { text: 'last', mediaType: 'text/plain' },
  ]

  it('becomes one artifact with its parts in order', async () => {
    expect(await callTool(calls('everything'))).toEqual({
      state: 'COMPLETED',
      artifacts: [{ name: 'everything', parts }],
    })
  })

  it('becomes one artifact in A2A 0.3', async () => {
    const { result } = await agent.call('message/send', message0([{ kind: 'data', data: { skillId: 'everything' } }]), {
      version: '0.3',
    })
    expect(result).toMatchObject({
      artifacts: [
        {
          parts: [
            { kind: 'text', text: 'first' },
            { kind: 'file', file: { bytes: pixel, mimeType: 'image/png' } },
            { kind: 'file', file: { bytes: 'UklGRg==', mimeType: 'audio/wav' } },
            { kind: 'file', file: { uri: 'https://files.example/a.pdf', name: 'a.pdf', mimeType: 'application/pdf' } },
            { kind: 'data', data: { resource: 'memo://b', name: 'b', ...described } },
            { kind: 'text', text: '# c', metadata: { uri: 'memo://c' } },
            { kind: 'text', text: 'd', metadata: { uri: 'memo://d' } },
            { kind: 'file', file: { bytes: pixel, mimeType: 'application/octet-stream' } },
            { kind: 'text', text: 'last' },
          ],
        },
      ],
    })
  })

  it.each<[tool: string, args: JsonObject | undefined, expected: object]>([
    [
      'add',
      { a: 1, b: 2 },
      {
        state: 'COMPLETED',
        artifacts: [{ name: 'add', parts: [{ data: { sum: 3 }, mediaType: 'application/json' }] }],
      },
    ],
    ['nothing', undefined, { state: 'COMPLETED' }],
    [
      'fails',
      undefined,
      { state: 'FAILED', message: [{ text: 'No such place.', mediaType: 'text/plain' }], reason: 'TOOL_FAILED' },
    ],
    [
      'fails_silently',
      undefined,
      {
        state: 'FAILED',
        message: [{ text: 'The tool failed without a message.', mediaType: 'text/plain' }],
        reason: 'TOOL_FAILED',
      },
    ],
    [
      'refuses',
      undefined,
      {
        state: 'FAILED',
        message: [{ text: 'The MCP server answered with error -32050: Nobody is at home', mediaType: 'text/plain' }],
        reason: 'MCP_SERVER_REFUSED',
      },
    ],
    [
      'complains',
      undefined,
      {
        state: 'FAILED',
        message: [{ text: `The MCP server answered with error -32602: ${complaint}`, mediaType: 'text/plain' }],
        reason: 'MCP_SERVER_REFUSED',
      },
    ],
    [
      'huge',
      undefined,
      {
        state: 'FAILED',
        message: [
          {
            text: "The agent's response is larger than 1048576 bytes, the limit of this host.",
            mediaType: 'text/plain',
          },
        ],
        reason: 'INVALID_AGENT_RESPONSE',
      },
    ],
    [
      'silent',
      undefined,
      {
        state: 'FAILED',
        message: [{ text: 'The agent did not respond within 1 seconds.', mediaType: 'text/plain' }],
        reason: 'AGENT_TIMEOUT',
      },
    ],
  ])('becomes the outcome of the task: %s', async (tool, args, expected) => {
    expect(await callTool(calls(tool, args))).toEqual(expected)
    // The host tells the server that it no longer waits for the result.
    if (tool === 'silent')
      await vi.waitFor(() => expect(agent.server.takeRequests().methods).toContain('notifications/cancelled'))
  })
})

describe('SendMessage with an invalid tool call', () => {
  it.each<[title: string, parts: Json, more: JsonObject, field: string]>([
    ['an unknown tool', calls('x'), {}, 'message.parts[0].data.skillId'],
    ['a list as arguments', [{ data: { skillId: 'add', arguments: [1, 2] } }], {}, 'message.parts[0].data.arguments'],
    ['a text that names no tool', [{ text: 'edge' }], {}, 'message.parts[0].text'],
    ['an unknown skill', [{ text: 'edge' }], { metadata: { skillId: 'x' } }, 'message.metadata.skillId'],
  ])('is rejected without a request to the server: %s', async (_, parts, more, field) => {
    const { error } = await agent.call('SendMessage', message(parts, more))
    expect(error).toMatchObject({
      code: -32602,
      data: [{ reason: 'INVALID_PARAMS' }, { fieldViolations: [{ field }] }],
    })
    expect(agent.server.takeRequests().methods).toEqual([])
  })

  it('is rejected in the format of A2A 0.3, for streaming calls too', async () => {
    const params = message0([{ kind: 'data', data: { skillId: 'x' } }])
    const error = { code: -32602, data: { reason: 'INVALID_PARAMS', fieldViolations: [{}] } }
    expect((await agent.call('message/send', params, { version: '0.3' })).error).toMatchObject(error)
    await expect(agent.stream('message/stream', params, { version: '0.3' }).next()).rejects.toThrow('-32602')
  })
})

describe('arguments that the server rejects', () => {
  beforeAll(async () => {
    const upstream = { mcp: `${agent.server.origin}/tool-box` }
    expect((await agent.host.put('tool-box', { callers: 'anyone', upstream })).status).toBe(201)
  })

  const invalid = 'Input validation error: Invalid arguments for tool divide:'

  it.each<[title: string, args: JsonObject, text: string]>([
    ['a missing one', { dividend: 1 }, `${invalid} data must have required property 'divisor'`],
    ['one of the wrong type', { dividend: 1, divisor: 'two' }, `${invalid} data/divisor must be number`],
    ['what only the server can check', { dividend: 1, divisor: 0 }, 'Cannot divide by 0.'],
  ])('fail the task with what the server wrote: %s', async (_, args, text) => {
    const { status } = await agent.send(calls('divide', args), {}, { agent: 'tool-box' })
    expect(status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { parts: [{ text, mediaType: 'text/plain' }], metadata: { reason: 'TOOL_FAILED' } },
    })
  })

  it('never reach it beyond the size of a call', async () => {
    const { error } = await agent.call('SendMessage', message(calls('say_it', { text: 'x'.repeat(4 * 1024 * 1024) })))
    expect(error).toMatchObject({ code: -32600, data: [{ reason: 'REQUEST_TOO_LARGE' }] })
    expect(agent.server.takeRequests().methods).toEqual([])
  })
})

describe('an agent for whose server the host has a secret', () => {
  it('calls no tool for a caller without a token', async () => {
    const upstream = { mcp: agent.server.url, secret: 'SECRET' }
    expect((await agent.host.put('locked', { upstream })).status).toBe(201)
    agent.server.takeRequests()
    const { error } = await agent.call('SendMessage', message(calls('say_it', { text: 'hello' })), { agent: 'locked' })
    expect(error).toMatchObject({ code: -32000, data: [{ reason: 'UNAUTHENTICATED' }] })
    expect(agent.server.takeRequests().methods).toEqual([])
  })
})

describe('an agent with a default tool', () => {
  beforeAll(async () => {
    const upstream = { mcp: agent.server.url, secret: 'SECRET', defaultTool: 'say-it' }
    expect((await agent.host.put('chat', { callers: 'anyone', upstream })).status).toBe(201)
  })

  it.each<[title: string, part: JsonObject, artifact: Json]>([
    ['text', { text: 'edge' }, [{ text: 'You said edge.', mediaType: 'text/plain' }]],
    [
      'JSON as text that names another tool',
      { text: '{"skill": "add", "arguments": {"a": 1, "b": 2}}' },
      [{ data: { sum: 3 }, mediaType: 'application/json' }],
    ],
  ])('answers a message that only has %s', async (_, part, parts) => {
    const { artifacts } = await agent.send([part], {}, { agent: 'chat' })
    expect(artifacts).toMatchObject([{ parts }])
  })

  it('answers with whatever media types its tools return: MCP declares none', async () => {
    const configuration = { acceptedOutputModes: ['image/png'] }
    const { status } = await agent.send(calls('everything'), { configuration }, { agent: 'chat' })
    expect(status.state).toBe('TASK_STATE_COMPLETED')
  })
})

describe('a question of a tool', () => {
  it.each<[title: string, part: JsonObject]>([
    ['data', { data: { city: 'Rome' } }],
    ['text, although it is a tool that a text cannot call', { text: 'Rome' }],
  ])('is answered by the next message of the task: %s', async (_, part) => {
    const task = await agent.send(calls('ask'))
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: 'Where to?' }, { data: { requestedSchema: {} } }] },
    })
    const done = await agent.send([part], { taskId: task.id })
    expect([done.id, done.status.state, done.artifacts?.[0]?.parts]).toEqual([
      task.id,
      'TASK_STATE_COMPLETED',
      [{ text: '{"action":"accept","content":{"city":"Rome"}}', mediaType: 'text/plain' }],
    ])
  })
})

describe('a question of a tool over HTTP+JSON', () => {
  const send = async (parts: Json, more: JsonObject = {}): Promise<Task> => {
    const response = await agent.host.fetch('/agents/tools/a2a/message:send', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
      body: JSON.stringify(message(parts, more)),
    })
    return ((await response.json()) as { task: Task }).task
  }

  it('is answered by the next message, too', async () => {
    const { id, status } = await send(calls('ask'))
    const done = await send([{ text: 'Rome' }], { taskId: id })
    expect([status.state, done.status.state, done.artifacts?.[0]?.parts[0]?.text]).toEqual([
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_COMPLETED',
      expect.stringContaining('Rome'),
    ])
  })
})

describe('a resource of the server', () => {
  const read = (uri: string) => callTool([{ data: { resource: uri } }])
  const contents = (uri: string, text: string) => ({
    state: 'COMPLETED',
    artifacts: [
      {
        name: 'resource',
        parts: [{ text, mediaType: 'text/markdown', filename: uri.slice('memo://'.length), metadata: { uri } }],
      },
    ],
  })

  it('is read through the agent if the card lists it', async () => {
    expect(await read('memo://listed')).toEqual(contents('memo://listed', '# Listed'))
  })

  it('is read through the agent once a result has linked it in the same context', async () => {
    const context = { contextId: 'links' }
    const before = await callTool([{ data: { resource: 'memo://hidden' } }], context)
    const { artifacts } = await callTool(calls('link'), context)
    const [link] = artifacts?.[0]?.parts ?? []
    expect(link).toEqual({ data: { resource: 'memo://hidden', name: 'hidden' }, mediaType: 'application/json' })
    expect([before, await callTool([link ?? {}], context)]).toEqual([
      expect.objectContaining({ state: 'FAILED', reason: 'MCP_SERVER_REFUSED' }),
      contents('memo://hidden', '# Hidden'),
    ])
  })
})

describe('the credentials of a request to the server', () => {
  it("are the Worker's, never the caller's", async () => {
    const token = await agent.issue('somebody')
    agent.server.dropSessions()
    agent.server.takeRequests()
    await agent.send(calls('nothing'), {}, { token })
    await agent.send(calls('nothing'), {}, { token: 'of-another-host' })
    expect(new Set(agent.server.takeRequests().credentials)).toEqual(new Set(['Bearer open-sesame']))
  })
})

describe('a failing server', () => {
  const unreachable = {
    state: 'FAILED',
    message: [{ text: 'The agent could not be reached. Try again later.', mediaType: 'text/plain' }],
    reason: 'AGENT_UNREACHABLE',
  }

  it('is called in a new session when it has dropped the old one, once for each call', async () => {
    const context = { contextId: 'dropped' }
    await callTool(calls('nothing'), context)
    agent.server.dropSessions()
    agent.server.takeRequests()
    agent.server.takeCalls()
    expect(await Promise.all([callTool(calls('nothing'), context), callTool(calls('nothing'), context)])).toEqual(
      Array(2).fill({ state: 'COMPLETED' }),
    )
    expect(agent.server.takeCalls()).toHaveLength(2)
    expect(agent.server.takeRequests().methods.filter(method => method === 'initialize')).toHaveLength(1)
  })

  it.each<[title: string, respond: (id: number) => Response | undefined, expected: object]>([
    ['closes the connection', () => undefined, { state: 'FAILED' }],
    ['is unreachable', () => new Response(null, { status: 521 }), unreachable],
    [
      'ends the response stream before the result',
      () => new Response(': hello\n\n', { headers: { 'Content-Type': 'text/event-stream' } }),
      {
        state: 'FAILED',
        message: [{ text: 'The connection to the agent was lost before its stream ended.', mediaType: 'text/plain' }],
        reason: 'AGENT_BROKE_OFF',
      },
    ],
    [
      'responds with an HTTP error',
      () => new Response('down', { status: 500 }),
      {
        state: 'FAILED',
        message: [{ text: "The tool's server is not ready. Try again later. It wrote: down", mediaType: 'text/plain' }],
        reason: 'MCP_SERVER_NOT_READY',
      },
    ],
    [
      'responds with HTML',
      () => new Response('<p>', { headers: { 'Content-Type': 'text/html' } }),
      {
        state: 'FAILED',
        message: [{ text: "The tool's server is not ready. Try again later.", mediaType: 'text/plain' }],
        reason: 'MCP_SERVER_NOT_READY',
      },
    ],
    [
      'responds with data that nests too deeply',
      id => {
        const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
        return new Response(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${deep}}}`, {
          headers: { 'Content-Type': 'application/json' },
        })
      },
      {
        state: 'FAILED',
        message: [{ text: 'The tool returned data that nests deeper than 64 levels.', mediaType: 'text/plain' }],
        reason: 'INVALID_AGENT_RESPONSE',
      },
    ],
  ])('fails the task when it %s, and completes the next call', async (_, respond, expected) => {
    agent.server.overrides.set('nothing', respond)
    expect(await callTool(calls('nothing'))).toMatchObject(expected)
    agent.server.overrides.delete('nothing')
    expect(await callTool(calls('nothing'))).toEqual({ state: 'COMPLETED' })
  })

  it('is described in the log only', () => {
    expect(agent.host.logged().map(line => JSON.parse(line))).toContainEqual({
      event: 'tool-call',
      'gen_ai.agent.id': 'tools',
      'calling_card.outcome': 'not-ready',
      'calling_card.detail': 'The MCP server answered with HTTP 500.',
      'calling_card.duration_ms': expect.any(Number),
    })
  })
})

describe('GET /agents/{id}/observed for an MCP server', () => {
  it('proposes the media types of its tools, and nothing about the interfaces of this host', async () => {
    await agent.send(calls('everything'))
    const response = await agent.host.fetch('/agents/tools/observed', { headers: { Authorization: `Bearer ${token}` } })
    const { proposals } = (await response.json()) as { proposals: JsonObject[] }
    expect(proposals).toEqual([
      expect.objectContaining({
        rule: 'observed-output-modes',
        seen: expect.objectContaining({ 'image/png': expect.any(Number), 'audio/wav': expect.any(Number) }),
      }),
    ])
  })
})
