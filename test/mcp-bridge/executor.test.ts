import { expect, it, vi } from 'vitest'
import { RunningTasks, ToolExecutor } from '../../src/mcp-bridge/executor.ts'

it('logs an error of this host, and tells the caller nothing of it', async () => {
  const logged = vi.spyOn(console, 'error').mockReturnValue(undefined)
  const publish = vi.fn<(event: unknown) => void>()
  const running = new RunningTasks()
  const tool = {
    name: 'look',
    call: async () => {
      throw new TypeError('x is not a function')
    },
  }
  const executor = new ToolExecutor(tool, running, { authenticated: true, name: 'alice' })
  const request = { taskId: 't', contextId: 'c', userMessage: {} }
  await executor.execute(request as never, { publish } as never)
  const events = JSON.stringify(publish.mock.calls)
  expect([events.includes('internal error of this host'), events.includes('not a function')]).toEqual([true, false])
  expect(JSON.parse(`${logged.mock.calls[0]}`)).toEqual({
    event: 'unexpected',
    error: expect.stringContaining('TypeError: x is not a function'),
  })
  expect(running.size).toBe(0)
})
