import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { type BoundTool, ToolRun } from '../../../src/mcp/agent/executor.ts'
import type { TestTool } from '../../support/mcp-server.ts'
import { calls, message, type Task } from './bridged-agent.ts'
import { type NodeAgent, startNodeAgent } from './node-agent.ts'

const requestedSchema = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const, minLength: 2 }, days: { type: 'integer' as const } },
  required: ['city'],
}

/** A tool that asks for these values, and returns the answer as its text. */
const asks = (...elicitations: object[]): TestTool => ({
  run: async (_, { mcpReq }) => {
    const answers = []
    for (const elicitation of elicitations)
      answers.push(await mcpReq.elicitInput(elicitation as never, { timeout: 60 * 60 * 1000 }))
    return { content: [{ type: 'text', text: JSON.stringify(answers) }] }
  },
})

const elicitation = { message: 'Where to?', requestedSchema }
const confirmation = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } }

/** Withdraws the question of the tool `patient`, and lets it end. */
const withdrawal = new AbortController()
const release = Promise.withResolvers<void>()

let agent: NodeAgent
beforeAll(async () => {
  agent = await startNodeAgent({
    ask: asks(elicitation),
    ask_twice: asks(elicitation, confirmation),
    open_file: asks({ mode: 'url', message: 'Open.', url: 'file:///etc/passwd', elicitationId: 'e1' }),
    patient: {
      run: async (_, { mcpReq }) => {
        const { signal } = withdrawal
        const answer = await mcpReq.elicitInput(elicitation, { signal }).catch(() => 'no answer')
        await release.promise
        return { content: [{ type: 'text', text: `${answer}` }] }
      },
    },
    capable: {
      run: async (_, { mcpReq }) => ({
        content: [{ type: 'text', text: await mcpReq.elicitInput(elicitation).then(String, error => error.message) }],
      }),
    },
  })
})
afterAll(() => agent.server.close())
beforeEach(() => {
  for (const level of ['info', 'error'] as const) vi.spyOn(console, level).mockReturnValue(undefined)
})

const stateOf = ({ status }: Task) => status.state.replace('TASK_STATE_', '')
const resultOf = ({ artifacts }: Task) => JSON.parse(String(artifacts?.[0]?.parts[0]?.text))
const accepted = (content: object) => [{ action: 'accept', content }]

describe('a question of a server', () => {
  it('becomes the state INPUT_REQUIRED, and is answered by the next message of the caller', async () => {
    const task = await agent.callTool('ask')
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: {
        role: 'ROLE_AGENT',
        parts: [{ text: 'Where to?' }, { data: { requestedSchema } }],
        metadata: { reason: 'MCP_ELICITATION' },
      },
    })
    expect(await agent.answer(task, { text: 'Rome' }, { caller: 'bob' })).toMatchObject({ error: { code: -32001 } })
    expect(stateOf(await agent.read(task))).toBe('INPUT_REQUIRED')
    const done = await agent.answer(task, { data: { city: 'Rome', days: 3 } })
    expect([done.id, stateOf(done), resultOf(done)]).toEqual([
      task.id,
      'COMPLETED',
      accepted({ city: 'Rome', days: 3 }),
    ])
  })

  it('is repeated after an answer that it does not allow, and may follow another one', async () => {
    const task = await agent.callTool('ask_twice')
    const again = await agent.answer(task, { data: { city: 'X', days: 'three' } })
    const problems = 'city must be at least 2 characters long.\ndays must be of type integer.'
    expect([stateOf(again), again.status.message?.parts[0]?.text]).toEqual([
      'INPUT_REQUIRED',
      `${problems}\n\nWhere to?`,
    ])
    const second = await agent.answer(task, { text: 'Rome' })
    expect([stateOf(second), second.status.message?.parts[0]?.text]).toEqual(['INPUT_REQUIRED', 'Sure?'])
    const done = await agent.answer(task, { text: 'yes' })
    expect(resultOf(done)).toEqual([...accepted({ city: 'Rome' }), ...accepted({})])
  })

  it('is cancelled if it asks to open another scheme than http', async () => {
    expect(resultOf(await agent.callTool('open_file'))).toEqual([{ action: 'cancel' }])
  })

  it('ends the stream of the first message, and the stream of the answer begins with the task', async () => {
    const tool = { name: 'ask', arguments: '{}' }
    const states = (events: JsonObject[]) =>
      events.map(event => {
        const { task, statusUpdate } = event as { task?: Task; statusUpdate?: Task }
        return task ? `task ${stateOf(task)}` : statusUpdate ? stateOf(statusUpdate) : 'artifact'
      })
    const first = await agent.stream('SendStreamingMessage', message(calls('ask')), { tool })
    const { id } = (first[0] as { task: Task }).task
    const second = await agent.stream('SendStreamingMessage', message([{ text: 'Rome' }], { taskId: id }))
    expect([states(first), states(second)]).toEqual([
      ['task WORKING', 'INPUT_REQUIRED'],
      ['task WORKING', 'artifact', 'COMPLETED'],
    ])
  })

  it('ends with the cancellation of the task', async () => {
    const task = await agent.callTool('ask')
    const { result } = await agent.call('CancelTask', { id: task.id })
    expect(stateOf(result as Task)).toBe('CANCELED')
    expect(await agent.answer(task, { text: 'Rome' })).toMatchObject({ error: { code: -32004 } })
  })

  it('may be withdrawn by the server, and the result of the tool is stored', async () => {
    const task = await agent.callTool('patient')
    withdrawal.abort('The server has waited long enough.')
    const { status } = await agent.untilState(task, 'TASK_STATE_WORKING')
    expect(status.message?.parts[0]?.text).toBe('The question is no longer open.')
    expect(await agent.answer(task, { text: 'Rome' })).toMatchObject({
      error: { code: -32004, message: expect.stringContaining('leave `message.taskId` out') },
    })
    release.resolve()
    const done = await agent.untilState(task, 'TASK_STATE_COMPLETED')
    expect(done.artifacts?.[0]?.parts[0]?.text).toBe('no answer')
  })

  it('is cancelled when nobody answers for ten minutes, which do not count as silence of the tool', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const task = await agent.callTool('ask')
      await vi.advanceTimersByTimeAsync(10 * 60 * 1000 - 1)
      expect(stateOf(await agent.read(task))).toBe('INPUT_REQUIRED')
      await vi.advanceTimersByTimeAsync(1)
      vi.useRealTimers()
      expect(resultOf(await agent.untilState(task, 'TASK_STATE_COMPLETED'))).toEqual([{ action: 'cancel' }])
    } finally {
      vi.useRealTimers()
    }
  })

  it('is impossible in a session that all callers share, and the server knows it', async () => {
    const upstream = { url: agent.server.url, session: 'shared' as const }
    const { artifacts } = await agent.callTool('capable', { upstream })
    expect(artifacts?.[0]?.parts[0]?.text).toMatch(/does not support .*elicitation/)
  })

  it('is cancelled while another call of a context runs, because two people may have chosen the same one', async () => {
    const anonymous = { caller: '', address: '203.0.113.9' }
    const task = await agent.callTool('ask', anonymous)
    const other = await agent.callTool('ask', anonymous, {}, { contextId: task.contextId })
    expect([other.contextId, resultOf(other)]).toEqual([task.contextId, [{ action: 'cancel' }]])
    expect(stateOf(await agent.answer(task, { text: 'Rome' }, anonymous))).toBe('COMPLETED')
  })

  it('reaches an authenticated caller while another of its calls runs', async () => {
    const tasks = [await agent.callTool('ask'), await agent.callTool('ask')]
    expect(tasks.map(stateOf)).toEqual(['INPUT_REQUIRED', 'INPUT_REQUIRED'])
    for (const task of tasks) expect(stateOf(await agent.answer(task, { text: 'Rome' }))).toBe('COMPLETED')
  })
})

describe('the questions of one call', () => {
  /** Runs a tool, and returns the statuses that it reports. */
  const run = async (call: BoundTool['call']) => {
    const statuses: [state: string, message: string | undefined][] = []
    const reporter = {
      publishStatus: (state: string, message?: object) => void statuses.push([state, JSON.stringify(message)]),
      publishArtifact: () => undefined,
      end: () => undefined,
    }
    const { signal } = new AbortController()
    const context = { context: 'c', signal, reporter, background: reporter, onEnd: () => undefined }
    await new ToolRun({ ...context, tool: { name: 'look', call } }).start()
    return statuses
  }

  it('hide its progress while one is open', async () => {
    const statuses = await run(async ({ onElicitation, onProgress }) => {
      onProgress({ progress: 1, message: 'before' })
      const withdrawal = new AbortController()
      const answer = onElicitation(elicitation, withdrawal.signal)
      await setImmediate()
      onProgress({ progress: 2, message: 'meanwhile' })
      withdrawal.abort()
      await answer
      onProgress({ progress: 3, message: 'after' })
      return { result: { content: [] } }
    })
    expect(statuses).toEqual([
      ['TASK_STATE_WORKING', expect.stringContaining('before')],
      ['TASK_STATE_INPUT_REQUIRED', expect.stringContaining('Where to?')],
      ['TASK_STATE_WORKING', expect.stringContaining('no longer open')],
      ['TASK_STATE_WORKING', expect.stringContaining('after')],
      ['TASK_STATE_COMPLETED', undefined],
    ])
  })

  it('are at most 50, however quickly the server withdraws them: each is stored', async () => {
    const answers: string[] = []
    const statuses = await run(async ({ onElicitation }) => {
      for (let asked = 0; asked < 60; asked++) {
        const withdrawal = new AbortController()
        const answer = onElicitation(elicitation, withdrawal.signal)
        await setImmediate()
        withdrawal.abort()
        answers.push((await answer).action)
      }
      return { result: { content: [] } }
    })
    expect(answers).toEqual(Array(60).fill('cancel'))
    expect(statuses.filter(([state]) => state === 'TASK_STATE_INPUT_REQUIRED')).toHaveLength(50)
    expect(statuses.at(-1)?.[0]).toBe('TASK_STATE_COMPLETED')
  })
})
