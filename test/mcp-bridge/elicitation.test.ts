import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { type BoundTool, ToolRun } from '../../src/mcp-bridge/tool-run.ts'
import type { TestTool } from '../support/mcp-server.ts'
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
const link = { mode: 'url', message: 'Sign in.', url: 'https://login.example/', elicitationId: 'e1' }

/** Withdraws the last question, and lets the tool `patient` end. */
let withdraw: () => void = () => undefined
let release: () => void = () => undefined

const createWithdrawal = (): AbortSignal => {
  const controller = new AbortController()
  withdraw = () => controller.abort('The server has waited long enough.')
  return controller.signal
}

let agent: NodeAgent
beforeAll(async () => {
  agent = await startNodeAgent({
    ask: asks(elicitation),
    ask_twice: asks(elicitation, confirmation),
    sign_in: asks(link),
    sign_in_elsewhere: asks({ ...link, url: 'file:///etc/passwd' }),
    impatient: {
      run: async (_, { mcpReq }) => {
        await mcpReq.elicitInput(elicitation, { signal: createWithdrawal() })
        return { content: [] }
      },
    },
    patient: {
      run: async (_, { mcpReq }) => {
        const answer = await mcpReq.elicitInput(elicitation, { signal: createWithdrawal() }).catch(() => 'no answer')
        await new Promise<void>(resolve => {
          release = resolve
        })
        return { content: [{ type: 'text', text: `${answer}` }] }
      },
    },
    samples: {
      run: async (_, { mcpReq }) => {
        const params = { messages: [], maxTokens: 1 }
        return mcpReq.send({ method: 'sampling/createMessage', params }).then(
          () => ({ content: [] }),
          error => ({ isError: true, content: [{ type: 'text', text: `${error.message}` }] }),
        )
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
  it('becomes the state INPUT_REQUIRED, with the question as text and its schema as data', async () => {
    const task = await agent.callTool('ask')
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: {
        role: 'ROLE_AGENT',
        parts: [{ text: 'Where to?' }, { data: { requestedSchema } }],
        metadata: { reason: 'MCP_ELICITATION' },
      },
    })
    expect(stateOf(await agent.read(task))).toBe('INPUT_REQUIRED')
  })

  it('is answered by the next message of the task', async () => {
    const rows: [part: JsonObject, answers: object[]][] = [
      [{ data: { city: 'Rome', days: 3 } }, accepted({ city: 'Rome', days: 3 })],
      [{ text: ' Rome ' }, accepted({ city: 'Rome' })],
      [{ data: { action: 'decline' } }, [{ action: 'decline' }]],
      [{ text: 'Cancel' }, [{ action: 'cancel' }]],
    ]
    for (const [part, answers] of rows) {
      const task = await agent.callTool('ask')
      const done = await agent.answer(task, part)
      expect([done.id, stateOf(done), resultOf(done)]).toEqual([task.id, 'COMPLETED', answers])
    }
  })

  it('is repeated after an answer that it does not allow', async () => {
    const task = await agent.callTool('ask')
    const rows: [part: JsonObject, problem: string][] = [
      [{ data: { days: 3 } }, 'city is required.'],
      [
        { data: { city: 'X', days: 'three' } },
        'city must be at least 2 characters long.\ndays must be of type integer.',
      ],
      [{ url: 'https://a.example/' }, 'Answer with data'],
    ]
    for (const [part, problem] of rows) {
      const again = await agent.answer(task, part)
      const texts = [expect.stringContaining(problem), expect.stringContaining('Where to?')]
      const text = again.status.message?.parts[0]?.text
      expect([stateOf(again), text, text]).toEqual(['INPUT_REQUIRED', ...texts])
    }
    expect(stateOf(await agent.answer(task, { data: { city: 'Rome' } }))).toBe('COMPLETED')
  })

  it('may follow another one, and then the tool ends with the answers to both', async () => {
    const task = await agent.callTool('ask_twice')
    const second = await agent.answer(task, { text: 'Rome' })
    expect([stateOf(second), second.status.message?.parts[0]?.text]).toEqual(['INPUT_REQUIRED', 'Sure?'])
    const done = await agent.answer(task, { text: 'yes' })
    expect(resultOf(done)).toEqual([...accepted({ city: 'Rome' }), ...accepted({})])
    expect(done.history).toHaveLength(5)
  })

  it('may ask to open a web page, which any text confirms', async () => {
    const task = await agent.callTool('sign_in')
    expect(task.status.message?.parts[1]).toMatchObject({ url: 'https://login.example/' })
    expect(resultOf(await agent.answer(task, { text: 'done' }))).toEqual([{ action: 'accept' }])
  })

  it('is cancelled if it asks to open another scheme than http', async () => {
    expect(resultOf(await agent.callTool('sign_in_elsewhere'))).toEqual([{ action: 'cancel' }])
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

  it('reaches clients of A2A 0.3 in its form', async () => {
    const tool = { name: 'ask', arguments: '{}' }
    const ask = (part: JsonObject, more: JsonObject = {}, bound: object = {}) =>
      agent.call(
        'message/send',
        { message: { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [part], ...more } },
        { version: '0.3', ...bound },
      )
    const { result } = await ask({ kind: 'text', text: 'x' }, {}, { tool })
    expect(result).toMatchObject({ kind: 'task', status: { state: 'input-required' } })
    const answered = await ask({ kind: 'data', data: { city: 'Rome' } }, { taskId: (result as Task).id })
    expect(answered.result).toMatchObject({ status: { state: 'completed' } })
  })

  it('can be answered by the caller of the task only', async () => {
    const task = await agent.callTool('ask')
    expect(await agent.answer(task, { text: 'Rome' }, { caller: 'bob' })).toMatchObject({ error: { code: -32001 } })
    expect(stateOf(await agent.read(task))).toBe('INPUT_REQUIRED')
  })

  it('ends with the cancellation of the task', async () => {
    const task = await agent.callTool('ask')
    const { result } = await agent.call('CancelTask', { id: task.id })
    expect(stateOf(result as Task)).toBe('CANCELED')
    expect(await agent.answer(task, { text: 'Rome' })).toMatchObject({ error: { code: -32004 } })
  })

  it('ends with the tool, whose outcome is stored although nobody waits for it', async () => {
    const task = await agent.callTool('impatient')
    expect(stateOf(task)).toBe('INPUT_REQUIRED')
    withdraw()
    const failed = await agent.untilState(task, 'TASK_STATE_FAILED')
    expect(JSON.stringify(failed.status.message)).toContain('The server has waited long enough.')
  })

  it('may be withdrawn by the server, and the result of the tool is stored', async () => {
    const task = await agent.callTool('patient')
    withdraw()
    const { status } = await agent.untilState(task, 'TASK_STATE_WORKING')
    expect(status.message?.parts[0]?.text).toBe('The question is no longer open.')
    expect(await agent.answer(task, { text: 'Rome' })).toMatchObject({ error: { code: -32004 } })
    release()
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

  it('reaches a caller without a token in the context of the call, which the answer need not name', async () => {
    const anonymous = { caller: '', address: '203.0.113.9' }
    const task = await agent.callTool('ask', anonymous)
    const other = await agent.callTool('ask', anonymous)
    expect([stateOf(task), stateOf(other)]).toEqual(['INPUT_REQUIRED', 'INPUT_REQUIRED'])
    const [city, otherCity] = [{ text: 'Rome' }, { text: 'Oslo' }]
    expect(resultOf(await agent.answer(other, otherCity, anonymous))).toEqual(accepted({ city: 'Oslo' }))
    expect(resultOf(await agent.answer(task, city, anonymous))).toEqual(accepted({ city: 'Rome' }))
  })

  it('is cancelled while another call of a context runs, because two people may have chosen the same one', async () => {
    const anonymous = { caller: '', address: '203.0.113.9' }
    const task = await agent.callTool('ask', anonymous)
    const other = await agent.callTool('ask', anonymous, {}, { contextId: task.contextId })
    expect([other.contextId, resultOf(other)]).toEqual([task.contextId, [{ action: 'cancel' }]])
    expect(stateOf(await agent.answer(task, { text: 'Rome' }, anonymous))).toBe('COMPLETED')
  })
})

describe('the questions of one call', () => {
  it('hide its progress while one is open', async () => {
    const messages: unknown[] = []
    const reporter = {
      publishStatus: (state: string, message?: object) => void messages.push([state, JSON.stringify(message)]),
      publishArtifact: () => undefined,
      end: () => undefined,
    }
    const call: BoundTool['call'] = async ({ onElicitation, onProgress }) => {
      onProgress({ progress: 1, message: 'before' })
      const withdrawal = new AbortController()
      const answer = onElicitation({ message: 'Where to?', requestedSchema }, withdrawal.signal)
      await setImmediate()
      onProgress({ progress: 2, message: 'meanwhile' })
      withdrawal.abort()
      await answer
      onProgress({ progress: 3, message: 'after' })
      return { result: { content: [] } }
    }
    const { signal } = new AbortController()
    await new ToolRun(
      { name: 'look', call },
      { context: 'c', signal, reporter, background: reporter, onEnd: () => undefined },
    ).start()
    expect(messages).toEqual([
      ['TASK_STATE_WORKING', expect.stringContaining('before')],
      ['TASK_STATE_INPUT_REQUIRED', expect.stringContaining('Where to?')],
      ['TASK_STATE_WORKING', expect.stringContaining('no longer open')],
      ['TASK_STATE_WORKING', expect.stringContaining('after')],
      ['TASK_STATE_COMPLETED', undefined],
    ])
  })

  it('are at most 50, however quickly the server withdraws them: each is stored', async () => {
    const states: string[] = []
    const reporter = {
      publishStatus: (state: string) => void states.push(state),
      publishArtifact: () => undefined,
      end: () => undefined,
    }
    const answers: string[] = []
    const call: BoundTool['call'] = async ({ onElicitation }) => {
      for (let asked = 0; asked < 60; asked++) {
        const withdrawal = new AbortController()
        const answer = onElicitation({ message: 'Where to?', requestedSchema }, withdrawal.signal)
        await setImmediate()
        withdrawal.abort()
        answers.push((await answer).action)
      }
      return { result: { content: [] } }
    }
    const { signal } = new AbortController()
    const context = { context: 'c1', signal, reporter, background: reporter, onEnd: () => undefined }
    await new ToolRun({ name: 'flood', call }, context).start()
    expect(answers).toEqual(Array(60).fill('cancel'))
    expect(states.filter(state => state === 'TASK_STATE_INPUT_REQUIRED')).toHaveLength(50)
    expect(states.at(-1)).toBe('TASK_STATE_COMPLETED')
  })
})

describe('a request for sampling', () => {
  it('is declined: the failure of the tool has the reason', async () => {
    const { status } = await agent.callTool('samples')
    expect([status.state, status.message?.parts[0]?.text]).toEqual([
      'TASK_STATE_FAILED',
      expect.stringContaining('sampling'),
    ])
  })
})
