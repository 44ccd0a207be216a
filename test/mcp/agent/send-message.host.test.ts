import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { sharedHost, token } from '../../support/host.ts'
import type { TestTool } from '../../support/mcp-server.ts'
import { type BridgedAgent, calls, message, message0, startBridgedAgent, type Task } from './bridged-agent.ts'

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
    draw: { run: () => ({ content: [{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }] }) },
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
beforeEach(() => void agent.server.takeRequests())

/** Registers another agent with the same server. */
const register = async (id: string, manifest: JsonObject, more: JsonObject = {}, host = agent.host) => {
  const upstream = { mcp: agent.server.url, ...more }
  expect((await host.put(id, { ...manifest, upstream })).status).toBe(201)
  agent.server.takeRequests()
}

const anyone = { callers: 'anyone' }
const asText = (text: string) => [{ text, mediaType: 'text/plain' }]
const said = { artifacts: [{ name: 'say_it', parts: asText('You said edge.') }] }

describe('a message', () => {
  it('calls a tool, whose number arguments and whose id of the call stay as written', async () => {
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

  it('of A2A 0.3 calls a tool, and waits for it unless `blocking` is false', async () => {
    const part = { kind: 'text', text: 'edge' }
    const send = async (configuration: JsonObject) => {
      const params = message0([part], { metadata: { skillId: 'say-it' }, configuration })
      return (await agent.call('message/send', params, { version: '0.3' })).result
    }
    expect(await send({})).toMatchObject({
      ...{ kind: 'task', status: { state: 'completed' }, history: [{ kind: 'message', role: 'user', parts: [part] }] },
      artifacts: [{ name: 'say_it', parts: [{ kind: 'text', text: 'You said edge.' }] }],
    })
    expect(await send({ blocking: false })).toMatchObject({
      status: { state: expect.stringMatching(/^(?:submitted|working)$/) },
    })
  })

  it('calls the default tool, and gets a result of any media type: MCP declares none', async () => {
    await register('send-chat', anyone, { secret: 'AGENT_TOKEN', defaultTool: 'say-it' })
    const configuration = { acceptedOutputModes: ['image/png'] }
    expect(await agent.send([{ text: 'edge' }], { configuration }, { agent: 'send-chat' })).toMatchObject(said)
  })

  it('fails the task, and notifies the server, when the tool is silent for as long as the host waits', async () => {
    const host = sharedHost('short-timeouts')
    await register('send-silent', anyone, {}, host)
    const response = await host.fetch('/agents/send-silent', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: message(calls('silent')) }),
    })
    const { result } = (await response.json()) as { result: { task: Task } }
    expect(result.task.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { parts: asText('The agent did not respond within 0.5 seconds.') },
    })
    await vi.waitFor(() => expect(agent.server.takeRequests().methods).toContain('notifications/cancelled'))
  })

  it('that calls no tool is rejected without a request to the server, in the format of each version', async () => {
    const field = 'message.parts[0].data.skillId'
    expect((await agent.call('SendMessage', message(calls('x')))).error).toMatchObject({
      code: -32602,
      data: [{ reason: 'INVALID_PARAMS' }, { fieldViolations: [{ field }] }],
    })
    const params = message0([{ kind: 'data', data: { skillId: 'x' } }])
    await expect(agent.stream('message/stream', params, { version: '0.3' })).rejects.toThrow('-32602')
    expect(agent.server.takeRequests().methods).toEqual([])
  })
})

describe('the credentials of a call', () => {
  it('are required if the host has a secret for the server', async () => {
    await register('send-locked', {}, { secret: 'AGENT_TOKEN' })
    const options = { agent: 'send-locked' }
    const { error } = await agent.call('SendMessage', message(calls('say_it', { text: 'hello' })), options)
    expect(error).toMatchObject({ code: -32000, data: [{ reason: 'UNAUTHENTICATED' }] })
    expect(agent.server.takeRequests().methods).toEqual([])
  })

  it('never reach the server, which gets those of the host', async () => {
    const token = await agent.issue('somebody')
    await agent.send(calls('draw'), {}, { token })
    await agent.send(calls('draw'), {}, { token: 'of-another-host' })
    expect(new Set(agent.server.takeRequests().credentials)).toEqual(new Set(['Bearer the-hosts-own-secret']))
  })
})

it('reads a resource that the card lists, or that a result has linked in the same context', async () => {
  const read = async (part: JsonObject) => {
    const { status, artifacts } = await agent.send([part], { contextId: 'links' })
    return artifacts?.[0]?.parts[0]?.text ?? status.message?.metadata?.reason
  }
  const hidden = { data: { resource: 'memo://hidden' } }
  const before = [await read({ data: { resource: 'memo://listed' } }), await read(hidden)]
  await agent.send(calls('link'), { contextId: 'links' })
  expect([...before, await read(hidden)]).toEqual(['# Listed', 'MCP_SERVER_REFUSED', '# Hidden'])
})

it('proposes the media types of its tools, and nothing about the interfaces of this host', async () => {
  await agent.send(calls('draw'))
  const headers = { Authorization: `Bearer ${token}` }
  const response = await agent.host.fetch('/agents/send-tools/observed', { headers })
  const { proposals } = (await response.json()) as { proposals: JsonObject[] }
  expect(proposals).toEqual([
    expect.objectContaining({
      rule: 'observed-output-modes',
      seen: expect.objectContaining({ 'image/png': expect.any(Number) }),
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
    const data = { skillId: 'say_it', arguments: { text: 'edge' } }
    const v03 = { message: { messageId: 'm', role: 'ROLE_USER', content: [{ data: { data } }] } }
    const bodies: [string, Json][] = [
      ['', message([{ data }])],
      ['v1/', v03],
    ]
    for (const [prefix, body] of bodies) {
      const { id } = await sendForTask(`${prefix}message:send`, body)
      const found = JSON.parse((await send(`${prefix}tasks/${id}`)).text)
      expect(found).toMatchObject({ id, status: { state: 'TASK_STATE_COMPLETED' } })
      expect(found.artifacts[0].parts[0].text).toBe('You said edge.')
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
