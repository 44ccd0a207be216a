import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { EventStream, UnreadEvents } from '../../src/mcp-bridge/quotas.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const bytes = (text: string) => new TextEncoder().encode(text)

/** A stream with room for so many bytes, and how many of it are free. */
const streamOf = (room: number) => {
  const state = { free: room }
  const stream = new EventStream({
    take: size => {
      if (size > state.free) return false
      state.free -= size
      return true
    },
    give: size => {
      state.free += size
    },
  })
  return { stream, state }
}

describe('a stream of events', () => {
  it('has what was written, before it was read and after', async () => {
    const { stream, state } = streamOf(10)
    stream.write(bytes('ab'))
    const text = new Response(stream.body).text()
    await vi.advanceTimersByTimeAsync(0)
    stream.write(bytes('cd'))
    stream.write(bytes('ef'))
    stream.end(bytes('!'))
    expect([await text, state.free]).toEqual(['abcdef!', 10])
  })

  it('takes no more than there is room for, until it is read', async () => {
    const { stream, state } = streamOf(4)
    expect(['abc', 'de', 'f'].map(text => stream.write(bytes(text)))).toEqual([true, false, true])
    await stream.body.getReader().read()
    expect([state.free, stream.write(bytes('ghi'))]).toEqual([3, true])
  })

  it('has room for its last event always', async () => {
    const { stream } = streamOf(0)
    stream.end(bytes('!'))
    expect(await new Response(stream.body).text()).toBe('!')
  })

  it('gives its room back where its reader leaves, and takes everything from then on', async () => {
    const { stream, state } = streamOf(4)
    stream.write(bytes('abc'))
    await stream.body.cancel()
    expect([state.free, stream.write(bytes('abcdef')), state.free]).toEqual([4, true, 4])
  })

  it('breaks off where its reader takes nothing for half a minute, whatever is written', async () => {
    const { stream, state } = streamOf(4)
    const reader = stream.body.getReader()
    stream.write(bytes('ab'))
    await vi.advanceTimersByTimeAsync(29_999)
    stream.write(bytes('c'))
    expect(state.free).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(state.free).toBe(4)
    await expect(reader.read()).rejects.toThrow('not read')
  })

  it('waits for events as long as its tool takes', async () => {
    const { stream } = streamOf(4)
    const read = stream.body.getReader().read()
    await vi.advanceTimersByTimeAsync(15 * 60_000)
    stream.write(bytes('a'))
    expect((await read).value).toEqual(bytes('a'))
  })
})

it('bounds what waits to be read of all streams together, 16 MiB, and a quarter of that of one address', () => {
  const unread = new UnreadEvents()
  const written = (known: boolean, name: string) => {
    const stream = unread.stream({ known, name })
    return [3, 1, 1].map(size => stream.write(new Uint8Array(size * 1024 * 1024)))
  }
  expect([written(false, 'here'), written(false, 'here'), written(false, 'there'), written(true, 'alice')]).toEqual([
    [true, true, false],
    [false, false, false],
    [true, true, false],
    [true, true, true],
  ])
})
