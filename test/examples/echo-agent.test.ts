import type { Message } from '@a2a-js/sdk'
import type { ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server'
import { describe, expect, it } from 'vitest'
import { EchoExecutor } from '../../examples/echo-agent/executor.ts'
import { skills } from '../../examples/echo-agent/skills.ts'

/** What is said of a text, piece by piece, where no time passes. */
const said = async (text: string) => {
  const pieces: [string, boolean][] = []
  await skills.stream?.(text, {
    status: () => undefined,
    say: (...piece) => void pieces.push(piece),
    wait: async () => undefined,
  })
  return pieces
}

describe('the stream of the echo agent', () => {
  it.each([
    ['one', [['one', true]]],
    [
      'one two',
      [
        ['one', false],
        [' two', true],
      ],
    ],
    [
      'one  two ',
      [
        ['one', false],
        [' two', true],
      ],
    ],
  ])('says %j word by word', async (text, pieces) => {
    expect(await said(text)).toEqual(pieces)
  })

  it('says the whole of a long text in a hundred pieces', async () => {
    const text = Array.from({ length: 5_000 }, (_, index) => `w${index}`).join(' ')
    const pieces = await said(text)
    expect([pieces.length, pieces.map(([piece]) => piece).join(''), pieces.filter(([, last]) => last)]).toEqual([
      100,
      text,
      [pieces.at(-1)],
    ])
  })
})

describe('the tasks that the echo agent waits for', () => {
  const ask = async (executor: EchoExecutor, taskId: string) => {
    const events: unknown[] = []
    const userMessage = { parts: [{ content: { $case: 'text', value: 'ask' } }] } as unknown as Message
    const request = { taskId, contextId: 'c', userMessage } as RequestContext
    await executor.execute(request, { publish: (event: unknown) => events.push(event) } as unknown as ExecutionEventBus)
    return events
  }

  it('are kept in mind until they are answered or cancelled, the newest two hundred', async () => {
    const executor = new EchoExecutor()
    const tasks = []
    for (let count = 0; count < 201; count++) tasks.push(await ask(executor, `t${count}`))
    const ends = []
    for (const [count, events] of tasks.entries()) {
      const before = events.length
      await executor.cancelTask(`t${count}`)
      ends.push(events.length - before)
    }
    expect(ends).toEqual([0, ...Array.from({ length: 200 }, () => 1)])
  })
})
