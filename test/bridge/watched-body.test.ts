import { expect, it, vi } from 'vitest'
import { watchedBody } from '../../src/bridge/watched-body.ts'

it('tells once of the end of a body that is cancelled while a read of it is pending', async () => {
  const end = vi.fn()
  const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) })
  const reader = watchedBody(silent, { chunk: () => undefined, end }).getReader()
  const pending = reader.read()
  await reader.cancel()
  await pending
  await new Promise(resolve => setImmediate(resolve))
  expect(end).toHaveBeenCalledTimes(1)
})
