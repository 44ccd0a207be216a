import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { sharedHost, token } from '../support/host.ts'
import type { TestTool } from '../support/mcp-server.ts'
import { type BridgedAgent, calls, message, message0, startBridgedAgent, type Task } from './bridged-agent.ts'

const pixel = 'iVBORw0KGgo='
const described = { title: 'A', description: 'All of it', size: 7 }
const pdf = { uri: 'https://files.example/a.pdf', name: 'a.pdf', mimeType: 'application/pdf' }

let agent: BridgedAgent

beforeAll(async () => {
  const tools: Record<string, TestTool> = {
    say_it: {
      inputSchema: { properties: { text: { type: 'string', minLength: 2 } }, required: ['text'] },
      run: ({ text = '' }) => ({ content: [{ type: 'text', text: `You said ${text}.` }] }),
    },
    add: {
      inputSchema: { properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
      run: ({ a, b }) => ({ content: [], structuredContent: { sum: Number(a) + Number(b) } }),
    },
    everything: {
      run: () => ({
        content: [
          { type: 'text', text: 'first' },
          { type: 'image', data: pixel, mimeType: 'image/png' },
          { type: 'resource_link', ...pdf, ...described },
          { type: 'resource_link', uri: 'memo://b', name: 'b', ...described },
          { type: 'resource', resource: { uri: 'memo://c', text: '# c', mimeType: 'text/markdown' } },
        ],
      }),
    },
    nothing: { run: () => ({ content: [] }) },
    silent: { run: () => new Promise(() => undefined) },
    ask: {
      run: async (_, { mcpReq }) => {
        const requestedSchema = { type: 'object' as const, properties: { city: { type: 'string' as const } } }
        const answer = await mcpReq.elicitInput({ message: 'Where to?', requestedSchema })
        return { content: [{ type: 'text', text: JSON.stringify(answer) }] }
      },
    },
    link: { run: () => ({ content: [{ type: 'resource_link', uri: 'memo://hidden', name: 'hidden' }] }) },
  }
  const resources = { 'memo://listed': '# Listed', 'memo://hidden': '# Hidden' }
  agent = await startBridgedAgent('send-tools', tools, resources)
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

const asText = (text: string) => [{ text, mediaType: 'text/plain' }]

describe('SendMessage to an agent that is an MCP server', () => {
  it('calls the tool that the data or the metadata names', async () => {
    const rows: [parts: Json, more?: JsonObject][] = [
      [calls('say_it', { text: 'edge' })],
      [[{ text: 'edge' }], { metadata: { skillId: 'say-it' } }],
    ]
    for (const [parts, more] of rows)
      expect(await callTool(parts, more)).toEqual({
        state: 'COMPLETED',
        artifacts: [{ name: 'say_it', parts: asText('You said edge.') }],
      })
    expect(agent.server.takeCalls()).toEqual(Array(2).fill(['say_it', { text: 'edge' }]))
  })

  it('calls the tool of a message of A2A 0.3, and waits for it unless `blocking` is false', async () => {
    const data = { kind: 'data', data: { skillId: 'say_it', arguments: { text: 'edge' } } }
    const rows: [part: JsonObject, more: JsonObject, state: RegExp][] = [
      [data, {}, /^completed$/],
      [{ kind: 'text', text: 'edge' }, { metadata: { skillId: 'say-it' } }, /^completed$/],
      [data, { configuration: { acceptedOutputModes: ['text/plain'] } }, /^completed$/],
      [data, { configuration: { blocking: false } }, /^(?:submitted|working)$/],
    ]
    for (const [part, more, state] of rows) {
      const { result } = await agent.call('message/send', message0([part], more), { version: '0.3' })
      expect(result, JSON.stringify([part, more])).toMatchObject({
        ...{ kind: 'task', status: { state: expect.stringMatching(state) } },
        history: [{ kind: 'message', role: 'user', parts: [part] }],
        ...(`${state}`.includes('completed') && {
          artifacts: [{ name: 'say_it', parts: [{ kind: 'text', text: 'You said edge.' }] }],
        }),
      })
    }
  })

  it('preserves numbers in arguments and the id of the call as written', async () => {
    const parts = '[{"data":{"skillId":"add","arguments":{"a":1e2,"b":0.50}}}]'
    const params = `{"message":{"messageId":"m","role":"ROLE_USER","parts":${parts}}}`
    const response = await agent.host.fetch('/agents/send-tools', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
      body: `{"jsonrpc":"2.0","id":12345678901234567890,"method":"SendMessage","params":${params}}`,
    })
    const text = await response.text()
    expect(text).toContain('"sum":100.5')
    expect(text).toContain('"id":12345678901234567890')
  })

  it('returns the result of the tool in A2A 0.3', async () => {
    const params = message0([{ kind: 'data', data: { skillId: 'everything' } }])
    const { result } = await agent.call('message/send', params, { version: '0.3' })
    const parts = [
      { kind: 'text', text: 'first' },
      { kind: 'file', file: { bytes: pixel, mimeType: 'image/png' } },
      { kind: 'file', file: { uri: 'https://files.example/a.pdf', name: 'a.pdf', mimeType: 'application/pdf' } },
      { kind: 'data', data: { resource: 'memo://b', name: 'b', ...described } },
      { kind: 'text', text: '# c', metadata: { uri: 'memo://c' } },
    ]
    expect(result).toMatchObject({ artifacts: [{ parts }] })
  })

  it('fails the task with what the server writes about the arguments', async () => {
    const upstream = { mcp: `${agent.server.origin}/tool-box` }
    expect((await agent.host.put('send-tool-box', { callers: 'anyone', upstream })).status).toBe(201)
    const { status } = await agent.send(calls('divide', { dividend: 1 }), {}, { agent: 'send-tool-box' })
    const text = "Input validation error: Invalid arguments for tool divide: data must have required property 'divisor'"
    expect(status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { parts: asText(text), metadata: { reason: 'TOOL_FAILED' } },
    })
  })

  it('fails the task, and notifies the server, when the tool is silent for as long as the host waits', async () => {
    const host = sharedHost('short-timeouts')
    const upstream = { mcp: agent.server.url }
    expect((await host.put('send-silent', { callers: 'anyone', upstream })).status).toBe(201)
    const response = await host.fetch('/agents/send-silent', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: message(calls('silent')) }),
    })
    const { result } = (await response.json()) as { result: { task: Task } }
    expect(result.task.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: {
        parts: asText('The agent did not respond within 0.5 seconds.'),
        metadata: { reason: 'AGENT_TIMEOUT' },
      },
    })
    await vi.waitFor(() => expect(agent.server.takeRequests().methods).toContain('notifications/cancelled'))
  })
})

describe('SendMessage with an invalid tool call', () => {
  it('is rejected without a request to the server, in the format of each version, also for a stream', async () => {
    const field = 'message.parts[0].data.skillId'
    expect((await agent.call('SendMessage', message(calls('x')))).error).toMatchObject({
      code: -32602,
      data: [{ reason: 'INVALID_PARAMS' }, { fieldViolations: [{ field }] }],
    })
    const params = message0([{ kind: 'data', data: { skillId: 'x' } }])
    const error = { code: -32602, data: { reason: 'INVALID_PARAMS', fieldViolations: [{ field }] } }
    expect((await agent.call('message/send', params, { version: '0.3' })).error).toMatchObject(error)
    await expect(agent.stream('message/stream', params, { version: '0.3' }).next()).rejects.toThrow('-32602')
    expect(agent.server.takeRequests().methods).toEqual([])
  })

  it('calls no tool for a caller without a token if the host has a secret for the server', async () => {
    const upstream = { mcp: agent.server.url, secret: 'AGENT_TOKEN' }
    expect((await agent.host.put('send-locked', { upstream })).status).toBe(201)
    agent.server.takeRequests()
    const options = { agent: 'send-locked' }
    const { error } = await agent.call('SendMessage', message(calls('say_it', { text: 'hello' })), options)
    expect(error).toMatchObject({ code: -32000, data: [{ reason: 'UNAUTHENTICATED' }] })
    expect(agent.server.takeRequests().methods).toEqual([])
  })
})

it('calls the default tool with a message that only has text, unless that names another one', async () => {
  const upstream = { mcp: agent.server.url, secret: 'AGENT_TOKEN', defaultTool: 'say-it' }
  expect((await agent.host.put('send-chat', { callers: 'anyone', upstream })).status).toBe(201)
  const chat = { agent: 'send-chat' }
  const add = { text: '{"skill": "add", "arguments": {"a": 1, "b": 2}}' }
  // MCP declares no media types: a tool may return any.
  const images = { configuration: { acceptedOutputModes: ['image/png'] } }
  const tasks = [await agent.send([{ text: 'edge' }], {}, chat), await agent.send([add], {}, chat)]
  expect([...tasks, await agent.send(calls('everything'), images, chat)]).toMatchObject([
    { artifacts: [{ parts: asText('You said edge.') }] },
    { artifacts: [{ parts: [{ data: { sum: 3 }, mediaType: 'application/json' }] }] },
    { status: { state: 'TASK_STATE_COMPLETED' } },
  ])
})

it('puts the question of a tool to the caller, whose next message answers it', async () => {
  for (const part of [{ data: { city: 'Rome' } }, { text: 'Rome' }]) {
    const task = await agent.send(calls('ask'))
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: 'Where to?' }, { data: { requestedSchema: {} } }] },
    })
    const done = await agent.send([part], { taskId: task.id })
    expect([done.id, done.status.state, done.artifacts?.[0]?.parts]).toEqual([
      task.id,
      'TASK_STATE_COMPLETED',
      asText('{"action":"accept","content":{"city":"Rome"}}'),
    ])
  }
})

it('reads a resource that the card lists, or that a result has linked in the same context', async () => {
  const contents = (name: string, text: string) => ({
    state: 'COMPLETED',
    artifacts: [
      {
        name: 'resource',
        parts: [{ text, mediaType: 'text/markdown', filename: name, metadata: { uri: `memo://${name}` } }],
      },
    ],
  })
  expect(await callTool([{ data: { resource: 'memo://listed' } }])).toEqual(contents('listed', '# Listed'))
  const context = { contextId: 'links' }
  const before = await callTool([{ data: { resource: 'memo://hidden' } }], context)
  const { artifacts } = await callTool(calls('link'), context)
  const [link] = artifacts?.[0]?.parts ?? []
  expect(link).toEqual({ data: { resource: 'memo://hidden', name: 'hidden' }, mediaType: 'application/json' })
  expect([before, await callTool([link ?? {}], context)]).toEqual([
    expect.objectContaining({ state: 'FAILED', reason: 'MCP_SERVER_REFUSED' }),
    contents('hidden', '# Hidden'),
  ])
})

it("sends the server the host's credentials, never those of a caller", async () => {
  const token = await agent.issue('somebody')
  agent.server.dropSessions()
  agent.server.takeRequests()
  await agent.send(calls('nothing'), {}, { token })
  await agent.send(calls('nothing'), {}, { token: 'of-another-host' })
  expect(new Set(agent.server.takeRequests().credentials)).toEqual(new Set(['Bearer the-hosts-own-secret']))
})

describe('a failing server', () => {
  it('is called in a new session when it has dropped the old one, once for each call', async () => {
    const context = { contextId: 'dropped' }
    await callTool(calls('nothing'), context)
    agent.server.dropSessions()
    agent.server.takeRequests()
    agent.server.takeCalls()
    const tasks = [callTool(calls('nothing'), context), callTool(calls('nothing'), context)]
    expect(await Promise.all(tasks)).toEqual(Array(2).fill({ state: 'COMPLETED' }))
    expect(agent.server.takeCalls()).toHaveLength(2)
    expect(agent.server.takeRequests().methods.filter(method => method === 'initialize')).toHaveLength(1)
  })

  it('fails the task with its text, is described in the log only, and completes the next call', async () => {
    const respond: [respond: () => Response | undefined, message?: Json, reason?: string][] = [
      [() => undefined],
      [
        () => new Response('down', { status: 500 }),
        asText("The tool's server is not ready. Try again later. It wrote: down"),
        'MCP_SERVER_NOT_READY',
      ],
    ]
    for (const [response, message = expect.anything(), reason = expect.any(String)] of respond) {
      agent.server.overrides.set('nothing', response)
      expect(await callTool(calls('nothing'))).toEqual({ state: 'FAILED', message, reason })
      agent.server.overrides.delete('nothing')
      expect(await callTool(calls('nothing'))).toEqual({ state: 'COMPLETED' })
    }
    expect(agent.host.events()).toContainEqual({
      event: 'tool-call',
      'gen_ai.agent.id': 'send-tools',
      'calling_card.outcome': 'not-ready',
      'calling_card.detail': 'The MCP server answered with HTTP 500.',
      'calling_card.duration_ms': expect.any(Number),
    })
  })
})

it('proposes the media types of its tools, and nothing about the interfaces of this host', async () => {
  await agent.send(calls('everything'))
  const headers = { Authorization: `Bearer ${token}` }
  const response = await agent.host.fetch('/agents/send-tools/observed', { headers })
  const { proposals } = (await response.json()) as { proposals: JsonObject[] }
  expect(proposals).toEqual([
    expect.objectContaining({
      rule: 'observed-output-modes',
      seen: expect.objectContaining({ 'image/png': expect.any(Number), 'text/markdown': expect.any(Number) }),
    }),
  ])
})

describe('over HTTP+JSON, where calls are translated for the agent', () => {
  const send = async (path: string, body?: Json) => {
    const response = await agent.host.fetch(`/agents/send-tools/a2a/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  }
  const sendForTask = async (path: string, body?: Json): Promise<Task> => JSON.parse((await send(path, body)).text).task

  it('a message of each version calls a tool, and its task is found', async () => {
    const data = { skillId: 'say_it', arguments: { text: 'hi' } }
    const v03 = { message: { messageId: 'm', role: 'ROLE_USER', content: [{ data: { data } }] } }
    const bodies: [string, Json][] = [
      ['', message(calls('say_it', { text: 'hi' }))],
      ['v1/', v03],
    ]
    for (const [prefix, body] of bodies) {
      const task = await sendForTask(`${prefix}message:send`, body)
      const completed = { status: { state: 'TASK_STATE_COMPLETED' } }
      expect(task).toMatchObject({ ...completed, artifacts: [{ parts: [{ text: 'You said hi.' }] }] })
      const found = JSON.parse((await send(`${prefix}tasks/${task.id}`)).text)
      expect(found).toMatchObject({ ...completed, id: task.id })
    }
  })

  it('a stream ends with the task, a question is answered, and an unknown tool is refused', async () => {
    const { status, text } = await send('message:stream', message(calls('say_it', { text: 'hi' })))
    expect([status, text.trimEnd().split('\n').at(-1)]).toEqual([200, expect.stringContaining('TASK_STATE_COMPLETED')])
    const asked = await sendForTask('message:send', message(calls('ask')))
    const done = await sendForTask('message:send', message([{ text: 'Rome' }], { taskId: asked.id }))
    expect([asked.status.state, done.status.state, done.artifacts?.[0]?.parts[0]?.text]).toEqual([
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_COMPLETED',
      expect.stringContaining('Rome'),
    ])
    const refused = await send('message:send', message(calls('shout')))
    expect([refused.status, JSON.parse(refused.text).error.status]).toEqual([400, 'INVALID_ARGUMENT'])
  })
})
