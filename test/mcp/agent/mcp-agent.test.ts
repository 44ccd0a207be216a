import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { McpAgent } from '../../../src/index.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import type { BridgeCall } from '../../../src/mcp/agent/tool-call.ts'
import { startToolServer, type ToolServer } from '../../support/mcp-server.ts'
import { openStorage, type TestStorage } from '../../support/storage.ts'
import { calls, message } from './bridged-agent.ts'
import { bridgeRequest } from './node-agent.ts'

let server: ToolServer
/** Functions that complete the pending calls of the tool `wait`. */
let completions: (() => void)[] = []

beforeAll(async () => {
  server = await startToolServer({
    answer: { run: () => ({ content: [{ type: 'text', text: '42' }] }) },
    wait: { run: () => new Promise(resolve => completions.push(() => resolve({ content: [] }))) },
  })
})
afterAll(async () => {
  // Calls that are still open fail, which is logged.
  vi.spyOn(console, 'info').mockReturnValue(undefined)
  await server.close()
})

/** A Durable Object in Node, whose clock the test sets. */
let state: TestStorage
let agent: McpAgent
const startAgent = () => {
  const ctx = { storage: state.storage, waitUntil: () => undefined }
  return new McpAgent(ctx as never, { ALLOWED_ORIGINS: server.origin } as Env)
}

/** Retries `assert` in real time until it passes; `vi.waitFor` would advance the object's clock, which stands still. */
const until = async (assert: () => unknown): Promise<void> => {
  for (let tries = 0; ; tries++)
    try {
      return void (await assert())
    } catch (error) {
      if (tries >= 250) throw error
      await new Promise(resolve => setTimeout(resolve, 20))
    }
}

beforeEach(() => {
  // The tests over HTTP check the log.
  for (const level of ['info', 'error'] as const) vi.spyOn(console, level).mockReturnValue(undefined)
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 })
  state = openStorage()
  agent = startAgent()
  server.takeRequests()
})
afterEach(() => {
  vi.useRealTimers()
  for (const complete of completions) complete()
  completions = []
})

const send = async (method: string, params: JsonObject, more: Partial<BridgeCall> = {}, target = agent) =>
  target.fetch(bridgeRequest(server, method, params, more))

const sendForJson = async (...call: Parameters<typeof send>): Promise<JsonObject> =>
  (await (await send(...call)).json()) as JsonObject

const callTool = (name: string, more: Partial<BridgeCall> = {}) =>
  sendForJson('SendMessage', message(calls(name), { configuration: { returnImmediately: name === 'wait' } }), {
    tool: { name, arguments: '{}' },
    ...more,
  })

const idOf = ({ result }: JsonObject) => (result as { task: { id: string } }).task.id
const takeMethods = () => server.takeRequests().methods

describe('McpAgent', () => {
  it('stays awake while a tool runs, then closes its session, then deletes expired tasks', async () => {
    const id = idOf(await callTool('wait'))
    await until(() => expect(completions).toHaveLength(1))
    expect(state.alarms).toEqual([1_030_000])
    vi.setSystemTime(1_030_000)
    await agent.alarm()
    expect(state.alarms).toEqual([1_030_000, 1_060_000])

    completions[0]?.()
    await until(async () => {
      const { result } = await sendForJson('GetTask', { id })
      expect(result).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } })
    })
    vi.setSystemTime(1_060_000)
    await agent.alarm()
    expect([state.alarms.at(-1), takeMethods().includes('DELETE')]).toEqual([1_090_000, false])

    // Five minutes after the call.
    vi.setSystemTime(1_329_999)
    await agent.alarm()
    expect([state.alarms.at(-1), takeMethods().includes('DELETE')]).toEqual([1_330_000, false])
    vi.setSystemTime(1_330_000)
    await agent.alarm()
    await until(() => expect(takeMethods()).toContain('DELETE'))
    const day = 24 * 60 * 60 * 1000
    expect(state.alarms.at(-1)).toBe(1_030_000 + day)

    vi.setSystemTime(1_030_000 + day)
    await agent.alarm()
    expect((await sendForJson('GetTask', { id })).error).toMatchObject({ code: -32001 })
  })

  it('has its tasks after a restart, those that ran as failed', async () => {
    const done = idOf(await callTool('answer'))
    const running = idOf(await callTool('wait'))
    const restarted = startAgent()
    const stateOf = async (id: string) => (await sendForJson('GetTask', { id }, {}, restarted)).result
    expect([await stateOf(done), await stateOf(running)]).toMatchObject([
      { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ text: '42' }] }] },
      {
        status: { state: 'TASK_STATE_FAILED', message: { parts: [{ text: expect.stringContaining('interrupted') }] } },
      },
    ])
  })

  it('logs that its card cannot be refreshed when the tools have changed', async () => {
    await callTool('answer')
    const logged = expect.stringContaining('"event":"refresh-failed","gen_ai.agent.id":"tools"')
    await until(() => expect(takeMethods()).toContain('GET'))
    await server.announce()
    await until(() => expect(console.error).toHaveBeenCalledWith(logged))
  })

  it('calls a tool without arguments if they are no object', async () => {
    const { result } = await callTool('answer', { tool: { name: 'answer', arguments: '[1]' } })
    expect(result).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } })
  })

  it('fails a message that calls no tool, without a request to the server', async () => {
    const { result } = await sendForJson('SendMessage', message([{ text: 'Rome' }]))
    const parts = [{ text: 'Agent execution error: This message calls no tool.' }]
    expect([result, takeMethods()]).toMatchObject([
      { task: { status: { state: 'TASK_STATE_FAILED', message: { parts } } } },
      [],
    ])
  })

  it('reports an upstream that cannot be called without the details', async () => {
    const rows: [upstream: BridgeCall['upstream'], reason: string][] = [
      [{ url: 'http://127.0.0.1:1/mcp' }, 'AGENT_UNREACHABLE'],
      [{ url: 'https://mcp.example/', service: 'NOBODY' }, 'AGENT_MISCONFIGURED'],
    ]
    for (const [upstream, reason] of rows) {
      const { result } = await callTool('answer', { upstream })
      const status = { state: 'TASK_STATE_FAILED', message: { metadata: { reason } } }
      expect(result, upstream.url).toMatchObject({ task: { status } })
      expect(JSON.stringify(result)).not.toMatch(/127\.0|mcp\.|NOBODY|NOTHING/)
    }
  })

  const anonymous = (address: string): Partial<BridgeCall> => ({ caller: '', address })

  it('runs 4 tools at once for an address, and those of other callers', async () => {
    for (let count = 0; count < 4; count++) await callTool('wait', anonymous('203.0.113.1'))
    const rejected = await callTool('answer', anonymous('203.0.113.1'))
    expect(rejected.result).toMatchObject({
      task: { status: { state: 'TASK_STATE_REJECTED', message: { metadata: { reason: 'RESOURCE_EXHAUSTED' } } } },
    })
    expect((await callTool('answer')).result).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } })
  })

  it('stores no address', async () => {
    await callTool('answer', anonymous('203.0.113.1'))
    const rows = state.storage.sql.exec('SELECT * FROM tasks').toArray()
    expect([rows.length, JSON.stringify(rows)]).toEqual([1, expect.not.stringContaining('203.0.113')])
  })

  it('opens 8 streams at once for a caller, and another one when one has been read', async () => {
    const options = { ...anonymous('203.0.113.1'), streams: true }
    const stream = () =>
      send('SendStreamingMessage', message(calls('answer')), {
        ...options,
        tool: { name: 'answer', arguments: '{}' },
      })
    const open: Response[] = []
    for (let count = 0; count < 8; count++) open.push(await stream())
    expect(new Set(open.map(({ headers }) => headers.get('Content-Type')))).toEqual(new Set(['text/event-stream']))
    expect(await (await stream()).json()).toMatchObject({
      id: 1,
      error: { code: -32000, message: 'Too many calls. Try again in 10 seconds.' },
    })
    expect(await open[0]?.text()).toContain('TASK_STATE_COMPLETED')
    open.push(await stream())
    expect(open.at(-1)?.headers.get('Content-Type')).toBe('text/event-stream')
    for (const response of open.slice(1)) await response.body?.cancel()
  })
})
