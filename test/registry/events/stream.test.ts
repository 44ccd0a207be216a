import '../../support/workers/identity-transform-stream.ts'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Socket } from '../../../src/registry/events/feed.ts'
import { openEventStream } from '../../../src/registry/events/stream.ts'

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
  /** Receives a page that is complete up to a change. */
  page = (last: number, events = '') => this.receive(`${last}\n${events}`)
}

let socket: FakeSocket
let isValid: boolean | Promise<boolean>
beforeEach(() => {
  vi.useFakeTimers()
  socket = new FakeSocket()
  isValid = true
})

const open = async () => {
  const stream = openEventStream(socket as unknown as Socket, { after: 3, isValid: async () => isValid })
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
    socket.page(5, 'id: 4\n\nid: 5\n\n')
    await vi.advanceTimersByTimeAsync(0)
    expect(socket.sent).toEqual(['3'])
    expect(await read()).toBe('id: 4\n\nid: 5\n\n')
    await vi.advanceTimersByTimeAsync(0)
    expect(socket.sent).toEqual(['3', '5'])
  })

  it('requests the next page at once if its reader may see nothing of one', async () => {
    await open()
    socket.page(4)
    await vi.advanceTimersByTimeAsync(0)
    expect(socket.sent).toEqual(['3', '4'])
  })

  it('sends the id that its reader resumes from every 15 seconds, past the changes that it may not see', async () => {
    const { read } = await open()
    expect(await beat(read)).toBe('id: 3\n\n')
    socket.page(4)
    expect(await beat(read)).toBe('id: 4\n\n')
    expect(socket.sent).toEqual(['3', 'ping', '4', 'ping'])
  })

  it('ends when its token is no longer valid, at the next heartbeat', async () => {
    const { read } = await open()
    expect(await beat(read)).toBe('id: 3\n\n')
    isValid = false
    expect(await beat(read)).toBeUndefined()
    expect(socket.isOpen).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ends when the other end no longer answers', async () => {
    const { read } = await open()
    expect(await beat(read, false)).toBe('id: 3\n\n')
    expect(await beat(read, false)).toBeUndefined()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ends when its first request to the other end fails', async () => {
    socket.send = () => {
      throw new TypeError('closed')
    }
    const { read } = await open()
    expect(await read()).toBeUndefined()
    expect([socket.isOpen, vi.getTimerCount()]).toEqual([false, 0])
  })

  it('ends once, whatever it is still waiting for', async () => {
    const { read } = await open()
    const checking = Promise.withResolvers<boolean>()
    isValid = checking.promise
    await vi.advanceTimersByTimeAsync(15_000)
    socket.dispatchEvent(new Event('close'))
    checking.resolve(true)
    await vi.advanceTimersByTimeAsync(0)
    expect(await read()).toBeUndefined()
    expect(socket.sent).toEqual(['3'])
  })

  it('is aborted while its reader has not taken a page, although it has taken a heartbeat since', async () => {
    const { read } = await open()
    await vi.advanceTimersByTimeAsync(15_000)
    socket.page(4, 'id: 4\n\n')
    expect(await read()).toBe('id: 3\n\n')
    await vi.advanceTimersByTimeAsync(0)
    socket.dispatchEvent(new Event('close'))
    await expect(read()).rejects.toBeUndefined()
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

  it.each([
    ['reads nothing', async () => undefined],
    ['stops to read', async (read: () => Promise<string | undefined>) => beat(read)],
  ])('ends when its reader %s for a minute, and buffers one page until then', async (_, begin) => {
    const { read } = await open()
    await begin(read)
    socket.page(5, 'id: 5\n\n')
    for (const isOpen of [true, true, true, false]) {
      await vi.advanceTimersByTimeAsync(15_000)
      socket.receive('pong')
      expect(socket.isOpen).toBe(isOpen)
    }
    expect(socket.sent.filter(message => message !== 'ping')).toEqual(['3'])
    expect(vi.getTimerCount()).toBe(0)
    await expect(read()).rejects.toBeUndefined()
  })

  it('goes on as long as its reader takes something, however slowly', async () => {
    const { read } = await open()
    for (let number = 4; number < 14; number++) {
      socket.page(number, `id: ${number}\n\n`)
      for (let beats = 0; beats < 3; beats++) {
        await vi.advanceTimersByTimeAsync(15_000)
        socket.receive('pong')
      }
      expect(await read()).toBe(`id: ${number}\n\n`)
    }
    expect(socket.isOpen).toBe(true)
  })
})
