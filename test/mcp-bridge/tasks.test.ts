import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { sdks } from '../e2e/calls/sdks.ts'
import type { TestTool } from '../support/mcp-server.ts'
import { type BridgedAgent, calls, message, message0, startBridgedAgent, type Task } from './bridged-agent.ts'

let agent: BridgedAgent
let alice: string
let bob: string

/** The calls of `wait`: how to let each go, by the name that it was given; and those that were cancelled. */
const waiting = new Map<string, () => void>()
const cancelled = new Set<string>()

const wait: TestTool = {
  inputSchema: { properties: { name: { type: 'string' } }, required: ['name'] },
  run: ({ name }, { mcpReq }) =>
    new Promise(resolve => {
      waiting.set(String(name), () => resolve({ content: [{ type: 'text', text: `${name} went` }] }))
      mcpReq.signal.addEventListener('abort', () => cancelled.add(String(name)))
    }),
}

const echo: TestTool = {
  inputSchema: { properties: { text: { type: 'string' } }, required: ['text'] },
  run: ({ text = '' }) => ({ content: [{ type: 'text', text: String(text) }] }),
}

beforeAll(async () => {
  agent = await startBridgedAgent(
    {
      steps: {
        run: async (_, { mcpReq }) => {
          const progressToken = mcpReq._meta?.progressToken ?? ''
          for (const params of [
            { progress: 1 },
            { progress: 1, total: 2 },
            { progress: 2, total: 2, message: 'Nearly' },
          ])
            await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...params } })
          return { content: [{ type: 'text', text: 'done' }] }
        },
      },
      wait,
      echo,
    },
    {
      only: {
        speak: {
          ...echo,
          run: ({ text = '' }, context) =>
            text === 'wait' ? wait.run({ name: 'client' }, context) : echo.run({ text }, context),
        },
      },
    },
  )
  alice = await agent.issue('alice')
  bob = await agent.issue('bob')
})
afterAll(() => agent.close())

/** Waits until a call of `wait` has come to the server. */
const started = async (name: string) => vi.waitFor(() => expect(waiting.has(name)).toBe(true), { timeout: 5_000 })

/** Begins a task that waits. */
const begin = (name: string, token?: string): Promise<Task> =>
  agent.send(calls('wait', { name }), { configuration: { returnImmediately: true } }, { token })

const stateOf = async (id: string, token?: string) => {
  const { result } = await agent.call('GetTask', { id }, { token })
  return (result as Task | undefined)?.status.state
}

/** What a stream tells of, in short. */
const told = (event: JsonObject): string => {
  const { task, statusUpdate, artifactUpdate } = event as {
    task?: Task
    statusUpdate?: { status: Task['status'] }
    artifactUpdate?: { artifact: { parts: JsonObject[] } }
  }
  const status = task?.status ?? statusUpdate?.status
  if (artifactUpdate) return `artifact ${artifactUpdate.artifact.parts[0]?.text}`
  return [status?.state.replace('TASK_STATE_', ''), status?.message?.parts[0]?.text].filter(Boolean).join(' ')
}

describe('a stream', () => {
  it('tells how far the tool is, what it made, and that it is done', async () => {
    const events = await Array.fromAsync(agent.stream('SendStreamingMessage', message(calls('steps'))), told)
    expect(events).toEqual([
      'WORKING',
      'WORKING 1',
      'WORKING 50 %',
      'WORKING Nearly (100 %)',
      'artifact done',
      'COMPLETED',
    ])
  })

  it('tells the same in v0.3', async () => {
    const params = message0([{ kind: 'data', data: { tool: 'steps' } }])
    const events = await Array.fromAsync(agent.stream('message/stream', params, { version: '0.3' }))
    expect(events.map(({ kind, status, final }) => [kind, (status as JsonObject | undefined)?.state, final])).toEqual([
      ['task', 'working', undefined],
      ['status-update', 'working', false],
      ['status-update', 'working', false],
      ['status-update', 'working', false],
      ['artifact-update', undefined, undefined],
      ['status-update', 'completed', true],
    ])
  })

  it('may be left: the tool goes on, and what it makes is kept', async () => {
    const events = agent.stream('SendStreamingMessage', message(calls('wait', { name: 'left' })))
    const { task } = (await events.next()).value as { task: Task }
    await started('left')
    await events.return(undefined)
    waiting.get('left')?.()
    await vi.waitFor(async () => expect(await stateOf(task.id)).toBe('TASK_STATE_COMPLETED'), { timeout: 5_000 })
    expect(cancelled).not.toContain('left')
  })

  it('may be taken up again', async () => {
    const { id } = await begin('again')
    await started('again')
    const events = agent.stream('SubscribeToTask', { id })
    expect(told((await events.next()).value as JsonObject)).toBe('WORKING')
    waiting.get('again')?.()
    expect(await Array.fromAsync(events, told)).toEqual(['artifact again went', 'COMPLETED'])
  })
})

describe('a task', () => {
  it('is told of at once where that is asked for, and found later', async () => {
    const { id, status } = await begin('later')
    await started('later')
    waiting.get('later')?.()
    await vi.waitFor(async () => expect(await stateOf(id)).toBe('TASK_STATE_COMPLETED'), { timeout: 5_000 })
    expect(status.state).toBe('TASK_STATE_WORKING')
  })

  it('goes on though whoever waits for it leaves', async () => {
    const leaving = new AbortController()
    const asked = agent.send(calls('wait', { name: 'gone' }), {}, { token: alice, signal: leaving.signal })
    await started('gone')
    leaving.abort()
    await expect(asked).rejects.toThrow()
    waiting.get('gone')?.()
    await vi.waitFor(
      async () => {
        const { result } = await agent.call('ListTasks', { includeArtifacts: true }, { token: alice })
        expect(JSON.stringify(result)).toContain('gone went')
      },
      { timeout: 5_000 },
    )
  })

  it('can be cancelled: the server is told, and a stream of it ends', async () => {
    const { id } = await begin('cancelled')
    await started('cancelled')
    const events = agent.stream('SubscribeToTask', { id })
    await events.next()
    const { result } = await agent.call('CancelTask', { id })
    expect((result as Task).status.state).toBe('TASK_STATE_CANCELED')
    expect(await Array.fromAsync(events, told)).toEqual(['CANCELED'])
    await vi.waitFor(() => expect(cancelled).toContain('cancelled'), { timeout: 5_000 })
    expect(await stateOf(id)).toBe('TASK_STATE_CANCELED')
  })

  it.each<[method: string, params: (id: string) => JsonObject, code: number]>([
    ['CancelTask', id => ({ id }), -32002],
    ['SubscribeToTask', id => ({ id }), -32004],
    ['SendMessage', taskId => message(calls('steps'), { taskId }), -32004],
    ['SendMessage', () => message(calls('steps'), { taskId: 'x' }), -32001],
    ['GetTask', () => ({ id: 'x' }), -32001],
    ['CreateTaskPushNotificationConfig', taskId => ({ taskId, url: 'https://hook.example.com/' }), -32003],
    ['SendMessage', () => message(calls('steps'), { contextId: 'c'.repeat(257) }), -32602],
    ['GetTask', () => ({ id: 'x'.repeat(3_000_000) }), -32001],
    ['SendMessage', () => ({ message: { role: 'ROLE_USER', parts: calls('steps') } }), -32602],
  ])('that is done: %s', async (method, params, code) => {
    const { id } = await agent.send(calls('steps'))
    expect((await agent.call(method, params(id))).error).toMatchObject({ code })
  })

  it('that runs takes no further message', async () => {
    const { id } = await begin('busy')
    await started('busy')
    const { error } = await agent.call('SendMessage', message(calls('steps'), { taskId: id }))
    waiting.get('busy')?.()
    expect(error).toMatchObject({ code: -32004, message: expect.stringContaining('leave `message.taskId` out') })
  })

  it('does not look up others that its message refers to', async () => {
    await agent.send(calls('steps'), { referenceTaskIds: ['forged-line'] })
    expect(agent.host.logged().join()).not.toContain('forged-line')
  })

  it('keeps its context where the message names one', async () => {
    expect(await agent.send(calls('steps'), { contextId: 'talk' })).toMatchObject({ contextId: 'talk' })
  })

  it('belongs to its caller: others find none of that id, and cannot list or cancel it', async () => {
    const { id } = await begin('mine', alice)
    await started('mine')
    const ids = async (token?: string) => {
      const { result } = await agent.call('ListTasks', {}, { token })
      return (result as { tasks: Task[] }).tasks.map(task => task.id)
    }
    const codes = []
    for (const token of [bob, undefined])
      for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'])
        codes.push(((await agent.call(method, { id }, { token })).error as { code: number }).code)
    expect([await stateOf(id, alice), codes, (await ids(alice)).includes(id), await ids(bob), await ids()]).toEqual([
      'TASK_STATE_WORKING',
      Array(6).fill(-32001),
      true,
      [],
      [],
    ])
    waiting.get('mine')?.()
  })

  it("is nobody else's by a tenant that the call names", async () => {
    const { id } = await begin('tenant', alice)
    await started('tenant')
    const { result } = await agent.call('CancelTask', { id, tenant: 'x' }, { token: alice })
    expect((result as Task).status.state).toBe('TASK_STATE_CANCELED')
    await vi.waitFor(() => expect(cancelled).toContain('tenant'), { timeout: 5_000 })
  })

  it('is listed by pages', async () => {
    const carol = await agent.issue('carol')
    for (const text of ['one', 'two', 'three']) await agent.send(calls('echo', { text }), {}, { token: carol })
    const texts: Json[] = []
    let pageToken: Json = ''
    let totalSize: Json = 0
    do {
      const { result } = await agent.call(
        'ListTasks',
        { pageSize: 2, pageToken, includeArtifacts: true },
        { token: carol },
      )
      const page = result as { tasks: Task[]; nextPageToken: string; totalSize: number }
      texts.push(page.tasks.map(({ artifacts }) => artifacts?.[0]?.parts[0]?.text ?? null))
      ;({ nextPageToken: pageToken, totalSize } = page)
    } while (pageToken)
    expect([texts, totalSize]).toEqual([[['three', 'two'], ['one']], 3])
    expect((await agent.call('ListTasks', { pageToken: 'x' }, { token: carol })).error).toMatchObject({ code: -32602 })
  })
})

describe('the card', () => {
  it('says what the server says, again where that says that its tools have changed', async () => {
    await agent.send(calls('steps'))
    agent.server.tools.new_tool = { run: () => ({ content: [] }) }
    await agent.server.announce()
    await vi.waitFor(
      async () => {
        const card = await agent.host.fetch('/agents/tools/.well-known/agent-card.json')
        expect(await card.text()).toContain('new-tool')
      },
      { timeout: 10_000, interval: 100 },
    )
    expect((await agent.send(calls('new_tool'))).status.state).toBe('TASK_STATE_COMPLETED')
  })
})

describe.each(sdks.filter(({ binding, compatible }) => binding === 'JSONRPC' && !compatible))('$title', sdk => {
  const connect = () => sdk.connect(new URL('/agents/only/', agent.host.url).href)

  it('finds the tool in the card, and where it is called at this host', async () => {
    const { card } = await connect()
    expect(card.skills).toEqual(['speak'])
    for (const endpoint of card.endpoints) expect(endpoint).toContain(` ${agent.host.url.origin}/agents/only`)
  })

  it('calls it with a text, and gets the task', async () => {
    const { send, get } = await connect()
    const { id, ...sent } = await send('edge')
    expect(sent).toEqual({ state: 'completed', said: 'edge', history: 1 })
    expect(await get(id)).toEqual({ id, ...sent })
  })

  it('streams', async () => {
    const { stream } = await connect()
    expect(await Array.fromAsync(stream('edge'))).toEqual(['working', 'edge', 'completed'])
  })

  it('cancels', async () => {
    const { send, cancel, resubscribe } = await connect()
    waiting.delete('client')
    const { id } = await send('wait', { atOnce: true })
    await started('client')
    const events = resubscribe(id)
    const states = [(await events.next()).value]
    expect(await cancel(id)).toMatchObject({ id, state: 'canceled' })
    for await (const event of events) states.push(event)
    expect(states).toEqual(['working', 'canceled'])
  })
})
