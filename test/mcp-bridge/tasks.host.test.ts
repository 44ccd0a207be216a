import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { sdks } from '../e2e/calls/sdks.ts'
import type { TestTool } from '../support/mcp-server.ts'
import { type BridgedAgent, calls, message, message0, startBridgedAgent, type Task } from './bridged-agent.ts'

let agent: BridgedAgent
let alice: string
let bob: string

/** The pending calls of the tool `wait` by name, with the function that completes each; and the names of cancelled calls. */
const pending = new Map<string, () => void>()
const cancelled = new Set<string>()

const wait: TestTool = {
  inputSchema: { properties: { name: { type: 'string' } }, required: ['name'] },
  run: ({ name }, { mcpReq }) =>
    new Promise(resolve => {
      pending.set(String(name), () => resolve({ content: [{ type: 'text', text: `${name} done` }] }))
      mcpReq.signal.addEventListener('abort', () => cancelled.add(String(name)))
    }),
}

const echo: TestTool = {
  inputSchema: { properties: { text: { type: 'string' } }, required: ['text'] },
  run: ({ text = '' }) => ({ content: [{ type: 'text', text: String(text) }] }),
}

const steps: TestTool = {
  run: async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? ''
    for (const params of [{ progress: 1 }, { progress: 1, total: 2 }, { progress: 2, total: 2, message: 'Nearly' }])
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...params } })
    return { content: [{ type: 'text', text: 'done' }] }
  },
}

beforeAll(async () => {
  agent = await startBridgedAgent('task-tools', { steps, wait, echo })
  alice = await agent.issue('alice')
  bob = await agent.issue('bob')
})
afterAll(() => agent.close())

/** Waits until the server has received a call of `wait`. */
const untilStarted = async (name: string) => vi.waitFor(() => expect(pending.has(name)).toBe(true), { timeout: 5_000 })

/** Starts a task that runs until its test completes it. */
const startTask = (name: string, token?: string): Promise<Task> =>
  agent.send(calls('wait', { name }), { configuration: { returnImmediately: true } }, { token })

const stateOf = async (id: string, token?: string) => {
  const { result } = await agent.call('GetTask', { id }, { token })
  return (result as Task | undefined)?.status.state
}
const untilCompleted = (id: string) =>
  vi.waitFor(async () => expect(await stateOf(id)).toBe('TASK_STATE_COMPLETED'), { timeout: 5_000 })
const untilCancelled = (name: string) => vi.waitFor(() => expect(cancelled).toContain(name), { timeout: 5_000 })

/** Summarizes an event of a stream. */
const summarize = (event: JsonObject): string => {
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
  it('reports the progress, the artifact and the completion of a task', async () => {
    const events = await Array.fromAsync(agent.stream('SendStreamingMessage', message(calls('steps'))), summarize)
    expect(events).toEqual([
      'WORKING',
      'WORKING 1',
      'WORKING 50 %',
      'WORKING Nearly (100 %)',
      'artifact done',
      'COMPLETED',
    ])
  })

  it('reports the same in A2A 0.3', async () => {
    const params = message0([{ kind: 'data', data: { skillId: 'steps' } }])
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

  it('may be closed by the client: the tool runs on and its result is stored', async () => {
    const events = agent.stream('SendStreamingMessage', message(calls('wait', { name: 'disconnected' })))
    const { task } = (await events.next()).value as { task: Task }
    await untilStarted('disconnected')
    await events.return(undefined)
    pending.get('disconnected')?.()
    await untilCompleted(task.id)
    expect(cancelled).not.toContain('disconnected')
  })

  it('may be resumed with SubscribeToTask', async () => {
    const { id } = await startTask('again')
    await untilStarted('again')
    const events = agent.stream('SubscribeToTask', { id })
    expect(summarize((await events.next()).value as JsonObject)).toBe('WORKING')
    pending.get('again')?.()
    expect(await Array.fromAsync(events, summarize)).toEqual(['artifact again done', 'COMPLETED'])
  })
})

describe('a task', () => {
  it('is returned at once with `returnImmediately`, and can be read later', async () => {
    const { id, status } = await startTask('later')
    await untilStarted('later')
    pending.get('later')?.()
    await untilCompleted(id)
    expect(status.state).toBe('TASK_STATE_WORKING')
  })

  it('runs on when the caller disconnects', async () => {
    const controller = new AbortController()
    const response = agent.send(calls('wait', { name: 'gone' }), {}, { token: alice, signal: controller.signal })
    await untilStarted('gone')
    controller.abort()
    await expect(response).rejects.toThrow()
    pending.get('gone')?.()
    await vi.waitFor(
      async () => {
        const { result } = await agent.call('ListTasks', { includeArtifacts: true }, { token: alice })
        expect(JSON.stringify(result)).toContain('gone done')
      },
      { timeout: 5_000 },
    )
  })

  it('can be cancelled: the server is notified, and the streams of the task end', async () => {
    const { id } = await startTask('cancelled')
    await untilStarted('cancelled')
    const events = agent.stream('SubscribeToTask', { id })
    await events.next()
    const { result } = await agent.call('CancelTask', { id })
    expect((result as Task).status.state).toBe('TASK_STATE_CANCELED')
    expect(await Array.fromAsync(events, summarize)).toEqual(['CANCELED'])
    await untilCancelled('cancelled')
    expect(await stateOf(id)).toBe('TASK_STATE_CANCELED')
  })

  it('rejects calls that it does not allow', async () => {
    const push = 'CreateTaskPushNotificationConfig'
    const rows: [title: string, method: string, params: (id: string) => JsonObject, code: number][] = [
      ['the cancellation of a finished task', 'CancelTask', id => ({ id }), -32002],
      ['a subscription to a finished task', 'SubscribeToTask', id => ({ id }), -32004],
      ['a message to a finished task', 'SendMessage', taskId => message(calls('steps'), { taskId }), -32004],
      ['a message to an unknown task', 'SendMessage', () => message(calls('steps'), { taskId: 'x' }), -32001],
      ['a read of an unknown task', 'GetTask', () => ({ id: 'x' }), -32001],
      ['push notifications', push, taskId => ({ taskId, url: 'https://hook.example.com/' }), -32003],
      ['a long context id', 'SendMessage', () => message(calls('steps'), { contextId: 'c'.repeat(257) }), -32602],
      ['a long task id', 'GetTask', () => ({ id: 'x'.repeat(3_000_000) }), -32001],
      ['no message id', 'SendMessage', () => ({ message: { role: 'ROLE_USER', parts: calls('steps') } }), -32602],
    ]
    const { id } = await agent.send(calls('steps'))
    for (const [title, method, params, code] of rows)
      expect((await agent.call(method, params(id))).error, title).toMatchObject({ code })
    const longest = await agent.send(calls('steps'), { contextId: 'c'.repeat(256) })
    expect(longest.status.state).toBe('TASK_STATE_COMPLETED')
  })

  it('accepts no further message while it runs', async () => {
    const { id } = await startTask('busy')
    await untilStarted('busy')
    const { error } = await agent.call('SendMessage', message(calls('steps'), { taskId: id }))
    pending.get('busy')?.()
    expect(error).toMatchObject({ code: -32004, message: expect.stringContaining('leave `message.taskId` out') })
  })

  it('has the context of its message, and is created without looking up the tasks that this refers to', async () => {
    const task = await agent.send(calls('steps'), { contextId: 'talk', referenceTaskIds: ['forged-line'] })
    expect(task).toMatchObject({ contextId: 'talk' })
    expect(agent.host.logged().join()).not.toContain('forged-line')
  })

  it('belongs to its caller: no other caller can read, list or cancel it', async () => {
    const { id } = await startTask('mine', alice)
    await untilStarted('mine')
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
    pending.get('mine')?.()
  })

  it('belongs to the same caller whatever tenant a call names', async () => {
    const { id } = await startTask('tenant', alice)
    await untilStarted('tenant')
    const { result } = await agent.call('CancelTask', { id, tenant: 'x' }, { token: alice })
    expect((result as Task).status.state).toBe('TASK_STATE_CANCELED')
    await untilCancelled('tenant')
  })

  it('is listed in pages', async () => {
    const carol = await agent.issue('carol')
    for (const text of ['one', 'two', 'three']) await agent.send(calls('echo', { text }), {}, { token: carol })
    const texts: Json[] = []
    let pageToken: Json = ''
    let totalSize: Json = 0
    do {
      const params = { pageSize: 2, pageToken, includeArtifacts: true }
      const { result } = await agent.call('ListTasks', params, { token: carol })
      const page = result as { tasks: Task[]; nextPageToken: string; totalSize: number }
      texts.push(page.tasks.map(({ artifacts }) => artifacts?.[0]?.parts[0]?.text ?? null))
      ;({ nextPageToken: pageToken, totalSize } = page)
    } while (pageToken)
    expect([texts, totalSize]).toEqual([[['three', 'two'], ['one']], 3])
    expect((await agent.call('ListTasks', { pageToken: 'x' }, { token: carol })).error).toMatchObject({ code: -32602 })
  })
})

describe('the card', () => {
  it('is fetched again when the server announces that its tools have changed', async () => {
    await agent.send(calls('steps'))
    agent.server.tools.new_tool = { run: () => ({ content: [] }) }
    await agent.server.announce()
    await vi.waitFor(
      async () => {
        const card = await agent.host.fetch('/agents/task-tools/.well-known/agent-card.json')
        expect(await card.text()).toContain('new-tool')
      },
      { timeout: 10_000, interval: 100 },
    )
    expect((await agent.send(calls('new_tool'))).status.state).toBe('TASK_STATE_COMPLETED')
  })
})

describe('official clients', () => {
  let only: BridgedAgent
  beforeAll(async () => {
    const run: TestTool['run'] = ({ text = '' }, context) =>
      text === 'wait' ? wait.run({ name: 'client' }, context) : echo.run({ text }, context)
    only = await startBridgedAgent('task-only', { speak: { ...echo, run } })
  })
  afterAll(() => only.close())

  it.each(sdks.filter(({ binding, legacyCompat }) => binding === 'JSONRPC' && !legacyCompat))(
    'read the card, call, stream and cancel: $title',
    async sdk => {
      const { origin } = agent.host.url
      const { card, send, get, stream, cancel, resubscribe } = await sdk.connect(`${origin}/agents/task-only/`)
      expect(card.skills).toEqual(['speak'])
      for (const endpoint of card.endpoints) expect(endpoint).toContain(` ${origin}/agents/task-only`)
      const { id, ...sent } = await send('edge')
      expect(sent).toEqual({ state: 'completed', text: 'edge', historyLength: 1 })
      expect(await get(id)).toEqual({ id, ...sent })
      expect(await Array.fromAsync(stream('edge'))).toEqual(['working', 'edge', 'completed'])

      pending.delete('client')
      const running = await send('wait', { returnImmediately: true })
      await untilStarted('client')
      const events = resubscribe(running.id)
      const states = [(await events.next()).value]
      expect(await cancel(running.id)).toMatchObject({ id: running.id, state: 'canceled' })
      for await (const event of events) states.push(event)
      expect(states).toEqual(['working', 'canceled'])
    },
  )
})
