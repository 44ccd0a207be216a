import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import type { BridgeCall } from '../../src/mcp-bridge/bridge-call.ts'
import { McpAgent } from '../../src/mcp-bridge/mcp-agent.ts'
import { TaskTable } from '../../src/mcp-bridge/task-table.ts'
import { startToolServer, type ToolServer } from '../support/mcp-server.ts'
import { openStorage, type TestStorage } from '../support/storage.ts'
import { calls, message } from './bridged-agent.ts'

let server: ToolServer
let letGo: (() => void)[] = []

beforeAll(async () => {
  // What is logged is tested where the Worker runs.
  for (const level of ['info', 'error'] as const) vi.spyOn(console, level).mockReturnValue(undefined)
  server = await startToolServer({
    answer: { run: () => ({ content: [{ type: 'text', text: '42' }] }) },
    wait: { run: () => new Promise(resolve => letGo.push(() => resolve({ content: [] }))) },
  })
})
afterAll(() => server.close())

/** An object in Node, and its clock in the hands of the test. */
let stored: TestStorage
let agent: McpAgent
const waited: Promise<unknown>[] = []
const start = () => {
  const ctx = { storage: stored.storage, waitUntil: (promise: Promise<unknown>) => void waited.push(promise) }
  return new McpAgent(ctx as never, { ALLOWED_ORIGINS: server.origin } as Env)
}

/** Waits, in the time of the world, until something holds: the object's own clock stands still. */
const until = async (holds: () => unknown): Promise<void> => {
  for (let tries = 0; ; tries++)
    try {
      return void (await holds())
    } catch (error) {
      if (tries >= 250) throw error
      await new Promise(resolve => setTimeout(resolve, 20))
    }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 })
  stored = openStorage()
  agent = start()
  server.takeRequests()
})
afterEach(() => {
  vi.useRealTimers()
  for (const go of letGo) go()
  letGo = []
})

const send = (method: string, params: JsonObject, more: Partial<BridgeCall> = {}, to = agent): Promise<Response> => {
  const commission: BridgeCall = {
    agent: 'tools',
    caller: 'alice',
    address: '',
    upstream: { url: server.url },
    timeoutSeconds: 5,
    version: '1.0',
    streams: false,
    request: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    id: '1',
    ...more,
  }
  return to.fetch(new Request('https://x.internal/', { method: 'POST', body: JSON.stringify(commission) }))
}

const ask = async (...call: Parameters<typeof send>): Promise<JsonObject> =>
  (await (await send(...call)).json()) as JsonObject

const use = (name: string, more: Partial<BridgeCall> = {}) =>
  ask('SendMessage', message(calls(name), { configuration: { returnImmediately: name === 'wait' } }), {
    tool: { name, arguments: '{}', inputSchema: {}, field: 'message.parts[0].data.arguments' },
    ...more,
  })

const idOf = ({ result }: JsonObject) => (result as { task: { id: string } }).task.id
const methods = () => server.takeRequests().methods

describe('the object of an agent', () => {
  it('is woken while a tool runs, then closes its session, then forgets', async () => {
    const id = idOf(await use('wait'))
    await until(() => expect(letGo).toHaveLength(1))
    expect(stored.alarms).toEqual([1_030_000])
    vi.setSystemTime(1_030_000)
    await agent.alarm()
    expect(stored.alarms).toEqual([1_030_000, 1_060_000])

    letGo[0]?.()
    await until(async () => {
      const { result } = await ask('GetTask', { id })
      expect(result).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } })
    })
    vi.setSystemTime(1_060_000)
    await agent.alarm()
    expect([stored.alarms.at(-1), methods().includes('DELETE')]).toEqual([1_090_000, false])

    vi.setSystemTime(1_090_000)
    await agent.alarm()
    await until(() => expect(methods()).toContain('DELETE'))
    const day = 24 * 60 * 60 * 1000
    expect(stored.alarms.at(-1)).toBe(1_030_000 + day)

    vi.setSystemTime(1_030_000 + day)
    await agent.alarm()
    expect((await ask('GetTask', { id })).error).toMatchObject({ code: -32001 })
  })

  it('finds its tasks when it comes back, and says of those that ran that they have failed', async () => {
    const done = idOf(await use('answer'))
    const running = idOf(await use('wait'))
    const later = start()
    const stateOf = async (id: string) => (await ask('GetTask', { id }, {}, later)).result
    expect([await stateOf(done), await stateOf(running)]).toMatchObject([
      { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ text: '42' }] }] },
      {
        status: { state: 'TASK_STATE_FAILED', message: { parts: [{ text: expect.stringContaining('interrupted') }] } },
      },
    ])
  })

  it('leaves a server that its manifest names no more', async () => {
    await use('answer')
    methods()
    await use('answer', { upstream: { url: `${server.url}?again` } })
    await until(() => expect(methods()).toEqual(expect.arrayContaining(['initialize', 'DELETE'])))
  })

  it.each<[upstream: BridgeCall['upstream'], reason: string]>([
    [{ url: 'http://127.0.0.1:1/mcp' }, 'AGENT_UNREACHABLE'],
    [{ url: 'https://mcp.internal/' }, 'AGENT_UNREACHABLE'],
    [{ url: 'https://mcp.example/', service: 'NOBODY' }, 'AGENT_MISCONFIGURED'],
    [{ url: 'https://mcp.example/', secret: 'NOTHING' }, 'AGENT_MISCONFIGURED'],
  ])('says of %j that it cannot be called, and not why', async (upstream, reason) => {
    const { result } = await use('answer', { upstream })
    expect(result).toMatchObject({
      task: { status: { state: 'TASK_STATE_FAILED', message: { metadata: { reason } } } },
    })
    expect(JSON.stringify(result)).not.toMatch(/127\.0|mcp\.|NOBODY|NOTHING/)
  })

  const rejected = (words: string) => ({
    result: {
      task: {
        status: {
          state: 'TASK_STATE_REJECTED',
          message: { parts: [{ text: expect.stringContaining(words) }], metadata: { reason: 'RESOURCE_EXHAUSTED' } },
        },
      },
    },
  })
  const completed = { result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } } }
  const stranger = (address: string): Partial<BridgeCall> => ({ caller: '', address })

  it('runs so many tools at once for a caller, and rejects one more; others have theirs run', async () => {
    for (let count = 0; count < 12; count++) await use('wait')
    expect([await use('answer'), await use('answer', { caller: 'bob' })]).toMatchObject([
      rejected('for you'),
      completed,
    ])
  })

  it('runs a quarter of that for an address, and half for all callers that it does not know', async () => {
    for (let count = 0; count < 4; count++) await use('wait', stranger('203.0.113.1'))
    const first = await use('answer', stranger('203.0.113.1'))
    for (let count = 0; count < 4; count++) await use('wait', stranger('203.0.113.2'))
    const others = await use('answer', stranger('203.0.113.3'))
    expect([first, others, await use('answer')]).toMatchObject([
      rejected('for you'),
      rejected('callers without a token'),
      completed,
    ])
  })

  it('keeps a task, whatever callers do that it does not know', async () => {
    const id = idOf(await use('answer'))
    const rows = new TaskTable(stored.storage)
    const task = { owner: '', context: 'c', state: 'TASK_STATE_COMPLETED', changed: Date.now() + 1, task: {} }
    for (let count = 0; count < 200; count++) rows.save({ ...task, id: `${count}`, principal: `${count % 50}` })
    await use('answer', stranger('203.0.113.1'))
    expect((await ask('GetTask', { id })).result).toMatchObject({ id })
  })

  it('keeps no address', async () => {
    await use('answer', stranger('203.0.113.1'))
    const rows = stored.storage.sql.exec('SELECT * FROM tasks').toArray()
    expect([rows.length, JSON.stringify(rows)]).toEqual([1, expect.not.stringContaining('203.0.113')])
  })

  it('rejects arguments that the schema does not allow before the server hears of the call', async () => {
    const inputSchema = { properties: { text: { type: 'string' } }, required: ['text'] }
    const tool = { name: 'answer', arguments: '{}', inputSchema, field: 'message.parts[0].data.arguments' }
    expect(await use('answer', { tool })).toMatchObject({
      id: 1,
      error: { code: -32602, message: '`message.parts[0].data.arguments.text` is required.' },
    })
    expect(methods()).toEqual([])
  })

  it('rejects them as an event where a client of A2A 0.3 reads a stream', async () => {
    const tool = {
      name: 'answer',
      arguments: '{}',
      inputSchema: { required: ['text'] },
      field: 'message.parts[0].data',
    }
    const response = await send('message/stream', {}, { version: '0.3', streams: true, tool })
    expect([response.headers.get('Content-Type'), await response.text()]).toEqual([
      'text/event-stream',
      expect.stringMatching(/^data: \{.*-32602.*\}\n\n$/),
    ])
  })

  it('opens so many streams at once for a caller, and one more when one was read', async () => {
    const as = { ...stranger('203.0.113.1'), streams: true }
    const stream = () =>
      send('SendStreamingMessage', message(calls('answer')), {
        ...as,
        tool: { name: 'answer', arguments: '{}', inputSchema: {}, field: '' },
      })
    const open: Response[] = []
    for (let count = 0; count < 8; count++) open.push(await stream())
    expect(new Set(open.map(({ headers }) => headers.get('Content-Type')))).toEqual(new Set(['text/event-stream']))
    expect(await (await stream()).json()).toMatchObject({
      id: 1,
      error: { code: -32000, message: expect.stringContaining('Too many calls') },
    })
    expect(await open[0]?.text()).toContain('TASK_STATE_COMPLETED')
    expect(await (await stream()).text()).toContain('TASK_STATE_COMPLETED')
    for (const response of open.slice(1)) await response.body?.cancel()
  })
})
