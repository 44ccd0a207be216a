import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createToolExecutor, logToolCall, RunningTasks, throttleProgress } from '../../../src/mcp/agent/executor.ts'
import type { ToolOutcome } from '../../../src/mcp/agent/tool-outcome.ts'

const background = { store: async () => undefined, release: () => undefined }
const caller = (name: string) => ({ authenticated: true, name })

describe('createToolExecutor', () => {
  it('logs an unexpected error and reports none of its details to the caller', async () => {
    const logError = vi.spyOn(console, 'error').mockReturnValue(undefined)
    const publish = vi.fn<(event: unknown) => void>()
    const running = new RunningTasks()
    const tool = {
      name: 'look',
      call: async () => {
        throw new TypeError('x is not a function')
      },
    }
    const executor = createToolExecutor(tool, running, caller('alice'), background)
    const request = { taskId: 't', contextId: 'c', userMessage: {} }
    await executor.execute(request as never, { publish } as never)
    const events = JSON.stringify(publish.mock.calls)
    expect([events.includes('internal error of this host'), events.includes('not a function')]).toEqual([true, false])
    expect(JSON.parse(`${logError.mock.calls[0]}`)).toEqual({
      event: 'unexpected',
      'exception.stacktrace': expect.stringContaining('TypeError: x is not a function'),
    })
    expect(running.size).toBe(0)
  })
})

it('logs the outcome of a tool without its texts: as an error where the owner has to fix something', () => {
  const lines: [string, unknown][] = []
  for (const level of ['info', 'error'] as const)
    vi.spyOn(console, level).mockImplementation(line => void lines.push([level, JSON.parse(line)]))
  const rows: [ToolOutcome, level: string, outcome: string, detail?: string][] = [
    [{ result: { content: [] } }, 'info', 'done'],
    [{ result: { content: [], isError: true } }, 'info', 'tool-failed'],
    [{ refused: 'R' }, 'info', 'refused'],
    [{ invalid: 'I' }, 'info', 'invalid'],
    [{ notReady: 'HTTP 500', quote: 'Q' }, 'error', 'not-ready', 'HTTP 500'],
    [{ failure: { kind: 'timeout' } }, 'info', 'timeout'],
    [{ failure: { kind: 'unreachable' }, detail: 'DNS' }, 'error', 'unreachable', 'DNS'],
  ]
  for (const [outcome] of rows) logToolCall('weather', outcome, 7)
  const fields = { event: 'tool-call', 'gen_ai.agent.id': 'weather', 'calling_card.duration_ms': 7 }
  expect(lines).toEqual(
    rows.map(([, level, outcome, detail]) => [
      level,
      { ...fields, 'calling_card.outcome': outcome, ...(detail && { 'calling_card.detail': detail }) },
    ]),
  )
})

describe('RunningTasks', () => {
  it('allows 16 running tools for an agent and 12 for a caller, and another one when a task has ended', () => {
    const tasks = new RunningTasks()
    const begin = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) => tasks.begin(`${name}${index}`, 'c', caller(name))).map(begun =>
        'exceeded' in begun ? begun.exceeded : 'begun',
      )
    expect([begin('alice', 13).at(-1), begin('bob', 5).at(-1), tasks.size]).toEqual(['caller', 'agent', 16])
    tasks.end('alice0')
    tasks.end('alice0')
    expect([begin('carol', 2), tasks.size]).toEqual([['begun', 'agent'], 16])
  })

  it('cancels the task with the given id and no other', () => {
    const tasks = new RunningTasks()
    const begun = ['a', 'b'].map(id => tasks.begin(id, `context of ${id}`, caller('alice')))
    expect([tasks.cancel('a'), tasks.cancel('x')]).toEqual(['context of a', undefined])
    expect(begun.map(task => 'controller' in task && task.controller.signal.aborted)).toEqual([true, false])
  })
})

describe('throttleProgress', () => {
  beforeEach(() => void vi.useFakeTimers())

  it('describes the progress by the message of the server and the percentage', () => {
    const textOf = (progress: Parameters<ReturnType<typeof throttleProgress>>[0]) => {
      const reports: string[] = []
      throttleProgress(report => reports.push(report))(progress)
      return reports
    }
    expect([
      ...[{ progress: 3 }, { progress: 1, total: 3 }, { progress: 1, total: 0 }].map(textOf),
      ...[
        { progress: 1, message: 'Looking' },
        { progress: 1, total: 4, message: ' Looking ' },
      ].map(textOf),
      textOf({ progress: 1, message: 'x'.repeat(2_000) }),
    ]).toEqual([['3'], ['33 %'], ['1'], ['Looking'], ['Looking (25 %)'], ['x'.repeat(1_000)]])
  })

  it('reports twenty updates at once and then one a second', () => {
    let reports = 0
    const update = throttleProgress(() => reports++)
    const counts = [0, 999, 1, 5_000, 60_000].map(elapsedMs => {
      vi.advanceTimersByTime(elapsedMs)
      for (let progress = 0; progress < 100; progress++) update({ progress })
      return reports
    })
    expect(counts).toEqual([20, 20, 21, 26, 46])
  })
})
