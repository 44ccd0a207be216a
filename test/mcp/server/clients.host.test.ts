import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { type CalledHost, useSharedHost } from '../../support/called-host.ts'
import { agentCard } from '../../support/cards/cards.ts'
import { token as adminToken, startSharedUpstream } from '../../support/host.ts'
import { startToolServer, type ToolServer } from '../../support/mcp-server.ts'
import { agentPath, createOfficialAgents } from '../../support/sdk/agents.ts'
import { upstreamPorts } from '../../support/shared-hosts.ts'
import type { UpstreamServer } from '../../support/upstream.ts'
import {
  connectAll,
  type McpResponse,
  mcpSender,
  type TestClient,
  type TestClients,
  tasksExtension,
} from './clients.ts'
import { createScriptedAgent } from './scripted-agent.ts'

const scripted = createScriptedAgent()
let called: CalledHost
let official: UpstreamServer
let tools: ToolServer
let send: ReturnType<typeof mcpSender>
const connected: Record<string, TestClients> = {}
const tokens: Record<string, string> = {}

/** What ends the calls of the tool `wait`, by their texts; and the texts of those that were canceled. */
const finishTool = new Map<string, () => void>()
const canceled: string[] = []

const requestedSchema = { type: 'object' as const, properties: { city: { type: 'string' as const } } }
const skill = {
  id: 'rain',
  name: 'Rain',
  description: 'Tells the rain',
  tags: ['weather'],
  examples: ['Does it rain?'],
}

beforeAll(async () => {
  called = await useSharedHost('signing')
  called.agent.respond(scripted.respond)
  official = await startSharedUpstream()
  official.listenWith(createOfficialAgents(official.origin))
  tools = await startToolServer(
    {
      add_up: {
        title: 'Add',
        inputSchema: { properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
        outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
        annotations: { readOnlyHint: true, idempotentHint: true },
        run: ({ a, b }) => {
          const structuredContent = { sum: Number(a) + Number(b) }
          return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
        },
      },
      draw: { run: () => ({ content: [{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }] }) },
      wait: {
        run: async ({ text }, { mcpReq }) => {
          const progressToken = mcpReq._meta?.progressToken ?? ''
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress: 1, message: 'Ink' },
          })
          const { promise, resolve } = Promise.withResolvers<void>()
          finishTool.set(`${text}`, resolve)
          mcpReq.signal.addEventListener('abort', () => canceled.push(`${text}`))
          await promise
          return { content: [{ type: 'text', text: `${text}` }] }
        },
      },
      fails: { run: () => ({ content: [{ type: 'text', text: 'No ink' }], isError: true }) },
      ask: {
        outputSchema: { type: 'object', properties: { action: { type: 'string' } }, required: ['action'] },
        run: async (_, { mcpReq }) => {
          const answer = await mcpReq.elicitInput({ message: 'Where to?', requestedSchema })
          return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer as never }
        },
      },
    },
    undefined,
    { ports: upstreamPorts() },
  )
  const rpc = { url: `${called.agent.origin}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }
  const card = agentCard(called.agent.origin, {
    supportedInterfaces: [rpc],
    defaultInputModes: ['text/plain', 'application/json', 'image/*'],
    defaultOutputModes: ['text/plain', 'application/json', 'image/*', 'text/csv'],
    skills: [skill],
  })
  const open = { callers: 'anyone', route: 'gateway' }
  const secret = 'AGENT_TOKEN'
  for (const [id, manifest] of Object.entries<JsonObject>({
    'mcp-1': { card, upstream: { secret } },
    'mcp-0': { upstream: { card: `${official.origin}${agentPath('0.3 over JSON-RPC')}/card.json` } },
    'mcp-tools': { upstream: { mcp: tools.url, secret } },
  })) {
    await called.register(id, { ...open, ...manifest })
    connected[id] = await connectAll(new URL(`/agents/${id}/mcp`, called.host.url))
  }
  for (const scope of ['read', 'write']) tokens[scope] = (await called.issue({ scopes: [scope] })).token
  send = mcpSender(called.host)
})
afterAll(async () => {
  await Promise.all(Object.values(connected).flatMap(clients => clients.map(({ client }) => client.close())))
  await Promise.all([called.close(), official.close(), tools.close()])
})

/** Does the same with each official client, and expects the same of all. */
const eachClient = async (id: string, run: (client: TestClient) => Promise<unknown>, expected: unknown) => {
  for (const client of connected[id] ?? []) expect(await run(client), client.name).toEqual(expected)
}
const contentOf = ({ content }: JsonObject) => content
const text = (text: string) => ({ type: 'text', text })
const ids = expect.objectContaining({ type: 'text', text: expect.stringMatching(/^contextId: \S+, taskId: \S+$/) })

describe('an official client', () => {
  it('lists the skills as tools, their examples as prompts, and the card as resources', async () => {
    const list = async ({ client }: TestClient) => [
      (await client.listTools()).tools.map(({ name, title, description, annotations }) => ({
        ...{ name, title, description, annotations },
      })),
      (await client.listPrompts()).prompts.map(({ name, title }) => [name, title]),
      (await client.getPrompt({ name: 'rain-1' })).messages,
      (await client.listResources()).resources
        .map(({ uri }) => uri)
        .toSorted()
        .slice(0, 3),
      JSON.parse(((await client.readResource({ uri: 'card://mcp-1/0.3' })).contents[0] as { text: string }).text).name,
    ]
    await eachClient('mcp-1', list, [
      [
        {
          ...{ name: 'rain', title: 'Rain', annotations: { openWorldHint: true } },
          description: 'Tells the rain\n\nExamples:\n- Does it rain?',
        },
      ],
      [['rain-1', 'Rain']],
      [{ role: 'user', content: text('Does it rain?') }],
      ['card://mcp-1', 'card://mcp-1/0.3', 'card://mcp-1/1.0'],
      'Weather',
    ])
  })

  it('calls an agent of A2A 1.0 with a message, data and files', async () => {
    const files = [
      { name: 'a.png', mimeType: 'image/png', data: 'aGk=' },
      { mimeType: 'image/gif', url: 'https://files.example/b.gif' },
    ]
    const args = { message: 'Hello', data: { at: 'sea' }, files, contextId: 'c-mine' }
    await eachClient('mcp-1', ({ call }) => call('rain', args), {
      content: [
        text('Hello'),
        text('{"at":"sea"}'),
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
        { type: 'resource_link', uri: 'https://files.example/b.gif', name: 'b.gif', mimeType: 'image/gif' },
        text('contextId: c-mine'),
      ],
      structuredContent: { at: 'sea', text: 'Hello', contextId: 'c-mine' },
      _meta: expect.objectContaining({ contextId: 'c-mine' }),
    })
    expect(scripted.take().at(-1)).toMatchObject({ params: { message: { metadata: { skillId: 'rain' } } } })
  })

  it('calls an agent of A2A 0.3', async () => {
    await eachClient('mcp-0', async ({ call }) => contentOf(await call('main', { message: 'task' })), [
      text('It rains'),
      text('{"rain":1}'),
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'resource_link', uri: 'https://files.example/a.csv', name: 'a.csv', mimeType: 'text/csv' },
      ids,
    ])
  })

  it('gets the progress of an agent that streams', async () => {
    const run = async ({ call }: TestClient) => {
      const messages: unknown[] = []
      const result = await call('rain', { message: 'steps' }, message => messages.push(message))
      return [messages, contentOf(result)]
    }
    await eachClient('mcp-1', run, [
      [undefined, 'First', 'Second', undefined],
      [text('It rains'), ids],
    ])
  })

  it('gets a failed task and an error of the agent as errors', async () => {
    for (const [message, content] of [
      ['fail', [text('No station there'), ids]],
      ['error', [text('The station is on fire')]],
    ] as const)
      await eachClient(
        'mcp-1',
        ({ call }) => call('rain', { message }),
        expect.objectContaining({ isError: true, content }),
      )
  })

  it('answers a question of the agent: as an elicitation in 2026-07-28, and before that by its taskId', async () => {
    const [modern, ...others] = connected['mcp-1'] as TestClients
    expect(contentOf(await modern.call('rain', { message: 'ask' }))).toEqual([text('Here'), ids])
    for (const { name, call } of others) {
      const asking = await call('rain', { message: 'ask' })
      const { taskId } = asking._meta as JsonObject
      const how = `The agent asks for this. To answer, call this tool again with taskId "${taskId}" and the answer as message.`
      expect(contentOf(asking), name).toEqual([text('Where?'), text(how), ids])
      const answered = await call('rain', { message: 'There', taskId: taskId as string })
      expect(contentOf(answered), name).toEqual([text('There'), ids])
    }
  })

  it("calls the tools of an MCP server with the server's own schemas, names and annotations", async () => {
    const list = async ({ client, call }: TestClient) => [
      (await client.listTools()).tools.map(({ name }) => name),
      (await client.listTools()).tools.find(({ name }) => name === 'add_up'),
      await call('add_up', { a: 1, b: 2.5 }),
      contentOf(await call('draw', {})),
      await call('fails', {}),
    ]
    await eachClient('mcp-tools', list, [
      ['add_up', 'draw', 'wait', 'fails', 'ask'],
      {
        ...{ name: 'add_up', title: 'Add', description: 'The tool add_up of a test' },
        inputSchema: expect.objectContaining({ required: ['a', 'b'] }),
        outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
        annotations: { readOnlyHint: true, idempotentHint: true },
      },
      expect.objectContaining({ content: [text('{"sum":3.5}')], structuredContent: { sum: 3.5 } }),
      [{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }],
      expect.objectContaining({ content: [text('No ink')], isError: true }),
    ])
    const [modern, legacy] = connected['mcp-tools'] as TestClients
    const answer = (city: string) => [text(`{"action":"accept","content":{"city":"${city}"}}`)]
    expect(contentOf(await modern.call('ask', {}))).toEqual(answer('Here'))
    const asking = await legacy.call('ask', {})
    const { taskId } = asking._meta as { taskId: string }
    const how = `The agent asks for this. To answer, call this tool again with the same arguments and taskId "${taskId}" and the answer as message.`
    // A client validates what is no error against the schema of the tool.
    expect(asking).toMatchObject({ isError: true, content: [text('Where to?'), {}, text(how), ids] })
    expect(JSON.parse((asking.content as [object, { text: string }])[1].text)).toMatchObject({ requestedSchema })
    expect(contentOf(await legacy.call('ask', { taskId, message: 'Rome' }))).toEqual(answer('Rome'))
  })
})

const longCapabilities: JsonObject = { extensions: { [tasksExtension]: {} }, elicitation: {} }

it('gets a handle for a task that takes long, by which a client reads it, answers it and cancels it', async () => {
  const request = async (method: string, params: JsonObject, path = '/agents/mcp-1/mcp') => {
    const { result, error } = await send(path, method, params, { capabilities: longCapabilities })
    return error ?? result
  }
  /** Uses a tool of the MCP server, which has its own task at this host. */
  const useTool = (method: string, params: JsonObject) => request(method, params, '/agents/mcp-tools/mcp')
  const startTool = async (text: string) => {
    const created = await useTool('tools/call', { name: 'wait', arguments: { text } })
    expect(created).toMatchObject({ resultType: 'task', status: 'working', statusMessage: 'Ink' })
    return `${created.taskId}`
  }
  const start = async (contextId: string) => {
    const created = await request('tools/call', { name: 'rain', arguments: { message: 'wait', contextId } })
    expect(created).toMatchObject({ resultType: 'task', status: 'working', statusMessage: 'On it', ttlMs: 86_400_000 })
    const task = [...scripted.tasks.values()].find(task => task.contextId === contextId)
    return { taskId: `${created.taskId}`, id: task?.id ?? '' }
  }
  scripted.take()
  const [asking, waiting, ...tools] = await Promise.all([
    ...[start('c-asks'), start('c-waits')],
    ...[startTool('ends'), startTool('stops')],
  ] as const)
  expect(scripted.take()[0]).toMatchObject({
    ...{ method: 'SendMessage', params: { configuration: { returnImmediately: true } } },
  })
  const { taskId } = asking
  expect(await request('tasks/get', { taskId })).toMatchObject({ taskId, status: 'working', statusMessage: 'On it' })

  scripted.ask(asking.id)
  const { inputRequests, ...asked } = await request('tasks/get', { taskId })
  const [[key = '', question]] = Object.entries(inputRequests as JsonObject) as [[string, JsonObject]]
  expect([asked.status, question]).toMatchObject([
    'input_required',
    { method: 'elicitation/create', params: { message: 'Which day?' } },
  ])
  const answer = { action: 'accept', content: { answer: 'Today' } }
  scripted.take()
  for (const name of ['another', key]) await request('tasks/update', { taskId, inputResponses: { [name]: answer } })
  expect(scripted.take().map(({ method }) => method)).toEqual(['GetTask', 'GetTask', 'SendMessage'])
  expect(await request('tasks/get', { taskId })).toMatchObject({
    ...{ resultType: 'complete', taskId, status: 'completed' },
    result: { content: [text('Today'), ids], _meta: { taskId: asking.id, state: 'TASK_STATE_COMPLETED' } },
  })

  scripted.take()
  expect(await request('tasks/cancel', { taskId: waiting.taskId })).toMatchObject({ resultType: 'complete' })
  expect(scripted.take()).toMatchObject([{ method: 'CancelTask', params: { id: waiting.id } }])
  expect(await request('tasks/get', { taskId: waiting.taskId })).toMatchObject({ status: 'cancelled' })

  finishTool.get('ends')?.()
  const ended = () => useTool('tasks/get', { taskId: tools[0] })
  await vi.waitFor(async () => expect(await ended()).toMatchObject({ status: 'completed' }), { interval: 10 })
  expect((await ended()).result).toMatchObject({ content: [text('ends')] })
  await useTool('tasks/cancel', { taskId: tools[1] })
  expect(await useTool('tasks/get', { taskId: tools[1] })).toMatchObject({ status: 'cancelled' })
  await vi.waitFor(() => expect(canceled).toEqual(['stops']), { interval: 10 })

  const failed = await request('tools/call', { name: 'rain', arguments: { message: 'fail' } })
  expect(failed).toMatchObject({ resultType: 'complete', isError: true })
})

describe('POST /mcp', () => {
  const call = (name: string, args: JsonObject, token?: string): Promise<McpResponse> =>
    send('/mcp', 'tools/call', { name, arguments: args }, { token })
  const toolNames = async (token?: string) =>
    ((await send('/mcp', 'tools/list', {}, { token })).result.tools as JsonObject[]).map(({ name }) => name)

  it('finds agents by words and tags, reads a card in a dialect, calls an agent and checks a card', async () => {
    const [{ client, call }] = await connectAll(new URL('/mcp', called.host.url))
    const found = async (args: JsonObject) => {
      const { structuredContent } = await call('find_agents', args)
      return (structuredContent as { agents: { id: string }[] }).agents.map(({ id }) => id)
    }
    expect(await found({ query: 'rain', tags: ['weather'] })).toEqual(['mcp-1'])
    expect(await found({ query: 'rain', tags: ['snow'] })).toEqual([])
    expect(await found({ tags: ['weather'], modes: ['image/png'] })).toContain('mcp-1')
    const { structuredContent } = await call('get_agent', { agent: 'mcp-1', dialect: '0.3' })
    expect(structuredContent).toMatchObject({ protocolVersion: '0.3.0', name: 'Weather' })
    expect(structuredContent).not.toHaveProperty('supportedInterfaces')
    const answer = await call('call_agent', { agent: 'mcp-1', skill: 'rain', message: 'Hello', data: { a: 1 } })
    expect(contentOf(answer)).toEqual([text('Hello'), text('{"a":1}'), text('contextId: c-echo')])
    expect(scripted.take().at(-1)).toMatchObject({ params: { message: { metadata: { skillId: 'rain' } } } })
    const asked = await call('call_agent', { agent: 'mcp-1', message: 'ask' })
    expect(contentOf(asked)).toEqual([text('Here'), ids])
    const checked = await call('check_card', { card: { name: 'A' } })
    expect(checked.structuredContent).toMatchObject({ valid: false })
    await client.close()
  })

  it('has its tools that write for a token that may', async () => {
    const reading = ['find_agents', 'get_agent', 'call_agent', 'check_card']
    for (const token of [undefined, tokens.read]) expect(await toolNames(token)).toEqual(reading)
    expect(await toolNames(tokens.write)).toEqual([...reading, 'register_card', 'roll_back'])
    const card = (description: string) => ({ name: 'New', description, url: 'https://a.example/a2a' })
    expect((await call('register_card', { agent: 'mcp-new', card: card('One') }, tokens.read)).error?.code).toBe(-32602)
    for (const description of ['One', 'Two'])
      expect(
        (await call('register_card', { agent: 'mcp-new', card: card(description) }, tokens.write)).result,
      ).toMatchObject({
        structuredContent: { id: 'mcp-new' },
      })
    const described = async () => (await call('get_agent', { agent: 'mcp-new' })).result.structuredContent as JsonObject
    expect(await described()).toMatchObject({ description: 'Two' })
    const revisions = await called.send('/agents/mcp-new/revisions', { method: 'GET', token: adminToken })
    const { seq } = (revisions.body as { revisions: { seq: number }[] }).revisions.at(-1) ?? {}
    expect((await call('roll_back', { agent: 'mcp-new', seq: seq ?? 0 }, tokens.write)).result.isError).toBeUndefined()
    expect(await described()).toMatchObject({ description: 'One' })
    const refused = (await call('register_card', { agent: 'mcp-new', card: { name: 7 } }, tokens.write)).result
    expect(refused).toMatchObject({ isError: true, content: [text(expect.stringContaining('/name'))] })
  })
})
