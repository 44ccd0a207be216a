import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { sdks } from '../../e2e/calls/sdks.ts'
import type { TestTool } from '../../support/mcp-server.ts'
import { type BridgedAgent, calls, message, startBridgedAgent, type Task } from './bridged-agent.ts'

let agent: BridgedAgent
let alice: string

/** The functions that complete the pending calls of the tool `speak`, by text; and the texts of cancelled calls. */
const pending = new Map<string, () => void>()
const cancelled = new Set<string>()

/** A tool that repeats a text. It reports its progress for `steps`, and waits if the text begins with `wait`. */
const speak: TestTool = {
  inputSchema: { properties: { text: { type: 'string' } }, required: ['text'] },
  run: async ({ text }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? ''
    if (text === 'steps')
      for (const params of [{ progress: 1 }, { progress: 2, total: 2, message: 'Nearly' }])
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...params } })
    if (`${text}`.startsWith('wait'))
      await new Promise<void>(resolve => {
        pending.set(`${text}`, resolve)
        mcpReq.signal.addEventListener('abort', () => cancelled.add(`${text}`))
      })
    return { content: [{ type: 'text', text: `${text}` }] }
  },
}

beforeAll(async () => {
  agent = await startBridgedAgent('task-tools', { speak })
  alice = await agent.issue('alice')
})
afterAll(() => agent.close())

const say = (text: string) => calls('speak', { text })

/** Waits until the server has received a call with this text. */
const untilStarted = async (text: string) => vi.waitFor(() => expect(pending.has(text)).toBe(true), { timeout: 5_000 })

const listTasks = async (token?: string): Promise<Task[]> => {
  const { result } = await agent.call('ListTasks', { includeArtifacts: true }, { token })
  return (result as { tasks: Task[] }).tasks
}

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

describe('a task', () => {
  it('has its progress, its artifact and its completion in its stream', async () => {
    const events = await agent.stream('SendStreamingMessage', message(say('steps')))
    expect(events.map(summarize)).toEqual([
      'WORKING',
      'WORKING 1',
      'WORKING Nearly (100 %)',
      'artifact steps',
      'COMPLETED',
    ])
  })

  it('runs on when the caller disconnects', async () => {
    const controller = new AbortController()
    const response = agent.send(say('wait: gone'), {}, { token: alice, signal: controller.signal })
    await untilStarted('wait: gone')
    controller.abort()
    await expect(response).rejects.toThrow()
    pending.get('wait: gone')?.()
    const states = async () => (await listTasks(alice)).map(({ status }) => status.state)
    await vi.waitFor(async () => expect(await states()).toContain('TASK_STATE_COMPLETED'), { timeout: 5_000 })
  })

  it('rejects calls that it does not allow', async () => {
    const push = 'CreateTaskPushNotificationConfig'
    const rows: [title: string, method: string, params: (id: string) => JsonObject, code: number][] = [
      ['a message to a finished task', 'SendMessage', taskId => message(say('x'), { taskId }), -32004],
      ['a message to an unknown task', 'SendMessage', () => message(say('x'), { taskId: 'x' }), -32001],
      ['push notifications', push, taskId => ({ taskId, url: 'https://hook.example.com/' }), -32003],
      ['a long context id', 'SendMessage', () => message(say('x'), { contextId: 'c'.repeat(257) }), -32602],
    ]
    const { id, status } = await agent.send(say('x'), { contextId: 'c'.repeat(256) })
    expect(status.state).toBe('TASK_STATE_COMPLETED')
    for (const [title, method, params, code] of rows)
      expect((await agent.call(method, params(id))).error, title).toMatchObject({ code })
  })

  it('has the context of its message, and is created without looking up the tasks that this refers to', async () => {
    const task = await agent.send(say('x'), { contextId: 'talk', referenceTaskIds: ['forged-line'] })
    expect(task).toMatchObject({ contextId: 'talk' })
    expect(agent.host.logged().join()).not.toContain('forged-line')
  })

  it('belongs to its caller, whatever tenant a call names: no other can read, list or cancel it', async () => {
    const bob = await agent.issue('bob')
    const more = { configuration: { returnImmediately: true } }
    const { id } = await agent.send(say('wait: mine'), more, { token: alice })
    await untilStarted('wait: mine')
    const codes = []
    for (const token of [bob, undefined])
      for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'])
        codes.push(((await agent.call(method, { id }, { token })).error as { code: number }).code)
    const ids = (await listTasks(alice)).map(task => task.id)
    expect([codes, ids.includes(id), await listTasks(bob), await listTasks()]).toEqual([
      Array(6).fill(-32001),
      true,
      [],
      [],
    ])
    const { result } = await agent.call('CancelTask', { id, tenant: 'x' }, { token: alice })
    expect((result as Task).status.state).toBe('TASK_STATE_CANCELED')
  })
})

it('fetches the card again when the server announces that its tools have changed', async () => {
  const changing = await startBridgedAgent('task-changes', { speak })
  await changing.send(say('x'))
  changing.server.tools.new_tool = { run: () => ({ content: [] }) }
  await changing.server.announce()
  await vi.waitFor(
    async () => {
      const card = await agent.host.fetch('/agents/task-changes/.well-known/agent-card.json')
      expect(await card.text()).toContain('new-tool')
    },
    { timeout: 10_000, interval: 100 },
  )
  await changing.close()
})

it.each(sdks.filter(({ binding, legacyCompat }) => binding === 'JSONRPC' && !legacyCompat))(
  'official clients read the card, call, stream and cancel: $title',
  async sdk => {
    const { origin } = agent.host.url
    const { card, send, get, stream, cancel, resubscribe } = await sdk.connect(`${origin}/agents/task-tools/`)
    expect(card.skills).toEqual(['speak'])
    for (const endpoint of card.endpoints) expect(endpoint).toContain(` ${origin}/agents/task-tools`)
    const { id, ...sent } = await send('edge')
    expect(sent).toEqual({ state: 'completed', text: 'edge', historyLength: 1 })
    expect(await get(id)).toEqual({ id, ...sent })
    expect(await Array.fromAsync(stream('edge'))).toEqual(['working', 'edge', 'completed'])

    const waiting = `wait: ${sdk.title}`
    const running = await send(waiting, { returnImmediately: true })
    await untilStarted(waiting)
    const events = resubscribe(running.id)
    const states = [(await events.next()).value]
    expect(await cancel(running.id)).toMatchObject({ id: running.id, state: 'canceled' })
    for await (const event of events) states.push(event)
    expect(states).toEqual(['working', 'canceled'])
    await vi.waitFor(() => expect(cancelled).toContain(waiting), { timeout: 5_000 })
  },
)
