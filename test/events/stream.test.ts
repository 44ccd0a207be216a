import '../support/workers/identity-transform-stream.ts'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Socket } from '../../src/events/feed.ts'
import { openEventStream } from '../../src/events/stream.ts'
import type { StoredChange } from '../../src/registry/records.ts'

const change = (number: number, more: Partial<StoredChange> = {}): StoredChange => ({
  ...{ number, id: 'weather', seq: number, kind: 'changed', publicKind: 'changed', at: 0 },
  ...more,
})

/** One end of a socket, whose other end is the test. */
class FakeSocket extends EventTarget {
  readonly sent: string[] = []
  isOpen = true
  accept = () => undefined
  send = (message: string) => void this.sent.push(message)
  close = () => {
    this.isOpen = false
  }
  receive = (data: string) => this.dispatchEvent(new MessageEvent('message', { data }))
  page = (...changes: StoredChange[]) => this.receive(JSON.stringify({ changes, last: changes.at(-1)?.number }))
}

let socket: FakeSocket
let covered: readonly string[] | undefined
beforeEach(() => {
  vi.useFakeTimers()
  socket = new FakeSocket()
  covered = []
})

const open = async () => {
  const stream = await openEventStream(socket as unknown as Socket, { after: 3, cover: async () => covered })
  const reader = stream.getReader() as ReadableStreamDefaultReader<Uint8Array>
  const read = async () => {
    const { value } = await reader.read()
    return value && new TextDecoder().decode(value)
  }
  expect(await read()).toBe('retry: 3000\nid: 3\n\n')
  await vi.advanceTimersByTimeAsync(0)
  return { read, reader }
}
/** Lets heartbeats pass, each of which is answered unless `answers` is false. */
const beat = async (read: () => Promise<string | undefined>, answers = true) => {
  const reading = read()
  await vi.advanceTimersByTimeAsync(15_000)
  if (answers && socket.sent.at(-1) === 'ping') socket.receive('pong')
  return reading
}

describe('an event stream', () => {
  it('requests the next page only when its reader has read the last one', async () => {
    const { read } = await open()
    expect(socket.sent).toEqual(['3'])
    socket.page(change(4), change(5))
    await vi.advanceTimersByTimeAsync(0)
    expect(socket.sent).toEqual(['3'])
    expect(await read()).toMatch(/^id: 4\n.*id: 5\n/s)
    await vi.advanceTimersByTimeAsync(0)
    expect(socket.sent).toEqual(['3', '5'])
  })

  it('requests the next page at once if its reader may see nothing of one', async () => {
    await open()
    socket.page({ ...change(4), publicKind: undefined } as unknown as StoredChange)
    await vi.advanceTimersByTimeAsync(0)
    expect(socket.sent).toEqual(['3', '4'])
  })

  it('sends the id that its reader resumes from every 15 seconds, past the changes that it may not see', async () => {
    const { read } = await open()
    expect(await beat(read)).toBe('id: 3\n\n')
    socket.page({ ...change(4), publicKind: undefined } as unknown as StoredChange)
    expect(await beat(read)).toBe('id: 4\n\n')
    expect(socket.sent).toEqual(['3', 'ping', '4', 'ping'])
  })

  it('ends when its token is no longer valid, at the next heartbeat', async () => {
    const { read } = await open()
    expect(await beat(read)).toBe('id: 3\n\n')
    covered = undefined
    expect(await beat(read)).toBeUndefined()
    expect(socket.isOpen).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('shows what its token covers now', async () => {
    const { read } = await open()
    const { publicKind, ...internal } = change(4)
    covered = ['*']
    await beat(read)
    socket.page(internal)
    expect(await read()).toMatch(/^id: 4\n/)
  })

  it('ends when the other end no longer answers', async () => {
    const { read } = await open()
    expect(await beat(read, false)).toBe('id: 3\n\n')
    expect(await beat(read, false)).toBeUndefined()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ends when the other end closes', async () => {
    const { read } = await open()
    socket.dispatchEvent(new Event('close'))
    expect(await read()).toBeUndefined()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ends after 15 minutes', async () => {
    const { read } = await open()
    let beats = 0
    while ((await beat(read)) !== undefined) beats++
    expect(beats).toBe(59)
    expect(socket.isOpen).toBe(false)
  })

  it('frees socket and timer when its reader disconnects', async () => {
    const { reader } = await open()
    await reader.cancel()
    await vi.advanceTimersByTimeAsync(15_000)
    expect(socket.isOpen).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ends after 15 minutes even if its reader reads nothing', async () => {
    await open()
    socket.page(change(4))
    for (let beats = 0; beats < 60; beats++) {
      await vi.advanceTimersByTimeAsync(15_000)
      socket.receive('pong')
    }
    expect(socket.isOpen).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  })
})
