import type { Message } from '@a2a-js/sdk'
import { A2AError, TaskNotFoundError } from '@a2a-js/sdk/errors'
import type { ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server'
import { describe, expect, it, vi } from 'vitest'
import { withoutRefusals } from '../../examples/echo-agent/app.ts'
import { EchoExecutor, skills } from '../../examples/echo-agent/executor.ts'

it('the echo agent streams a text word by word, a long one in a hundred chunks', async () => {
  const streamText = async (text: string) => {
    const chunks: [chunk: string, isLast: boolean][] = []
    await skills.stream?.(text, {
      setStatus: () => undefined,
      addText: (chunk, isLast) => void chunks.push([chunk, isLast]),
      sleep: async () => undefined,
    })
    return chunks
  }
  const words = Array.from({ length: 5_000 }, (_, index) => `w${index}`).join(' ')
  const chunks = await streamText(words)
  expect([chunks.length, chunks.map(([chunk]) => chunk).join('')]).toEqual([100, words])
  expect([await streamText('one'), (await streamText('one  two ')).map(([, isLast]) => isLast)]).toEqual([
    [['one', true]],
    [false, true],
  ])
})

it('the log of the echo agent has its failures, but no calls that it refuses, which the SDK logs as unhandled errors', () => {
  const log = vi.fn()
  const failures = [new Error('a bug'), new A2AError('a bug of the SDK')]
  for (const error of [new TaskNotFoundError(), ...failures]) withoutRefusals(log)('Unhandled:', error)
  expect(log.mock.calls).toEqual(failures.map(failure => ['Unhandled:', failure]))
})

describe('the open tasks of the echo agent', () => {
  const startAskTask = async (executor: EchoExecutor, taskId: string) => {
    const events: unknown[] = []
    const userMessage = { parts: [{ content: { $case: 'text', value: 'ask' } }] } as unknown as Message
    const request = { taskId, contextId: 'c', userMessage } as RequestContext
    await executor.execute(request, { publish: (event: unknown) => events.push(event) } as unknown as ExecutionEventBus)
    return events
  }

  it('can be cancelled, except for those before the newest two hundred', async () => {
    const executor = new EchoExecutor()
    const tasks = []
    for (let count = 0; count < 201; count++) tasks.push(await startAskTask(executor, `t${count}`))
    const cancellations = []
    for (const [count, events] of tasks.entries()) {
      const before = events.length
      await executor.cancelTask(`t${count}`)
      cancellations.push(events.length - before)
    }
    expect(cancellations).toEqual([0, ...Array.from({ length: 200 }, () => 1)])
  })
})
