import { beforeEach, describe, expect, it, vi } from 'vitest'
import { MAX_UNREAD_BYTES } from '../../src/limits.ts'
import { BoundedEventStream } from '../../src/mcp-bridge/quotas.ts'

beforeEach(() => void vi.useFakeTimers())

const bytes = (text: string) => new TextEncoder().encode(text)
const passTime = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

const openStream = () => {
  const onClosed = vi.fn()
  return { stream: new BoundedEventStream(onClosed), onClosed }
}

describe('a stream of events', () => {
  it('has the events that were written before and after its reader came', async () => {
    const { stream, onClosed } = openStream()
    stream.write(bytes('ab'))
    const text = new Response(stream.body).text()
    await passTime(0)
    stream.write(bytes('cd'))
    stream.write(bytes('ef'))
    stream.end(bytes('!'))
    expect([await text, onClosed.mock.calls.length]).toEqual(['abcdef!', 1])
  })

  it('accepts no event while more than 2 MiB are unread, except its last one', async () => {
    const { stream } = openStream()
    const large = new Uint8Array(MAX_UNREAD_BYTES)
    expect([large, bytes('a'), bytes('b')].map(event => stream.write(event))).toEqual([true, true, false])
    const reader = stream.body.getReader()
    await reader.read()
    expect(stream.write(bytes('c'))).toBe(true)
    stream.write(large)
    stream.end(bytes('!'))
    const rest: (number | undefined)[] = []
    for (let next = await reader.read(); !next.done; next = await reader.read()) rest.push(next.value.byteLength)
    expect(rest).toEqual([1, 1, MAX_UNREAD_BYTES, 1])
  })

  it('is closed when its last event was read, and not before', async () => {
    const { stream, onClosed } = openStream()
    stream.write(bytes('a'))
    stream.end()
    expect(onClosed).not.toHaveBeenCalled()
    await new Response(stream.body).text()
    expect(onClosed).toHaveBeenCalledOnce()
  })

  it('is closed at once where it ends without events', () => {
    const { stream, onClosed } = openStream()
    stream.end()
    expect(onClosed).toHaveBeenCalledOnce()
  })

  it('is closed when its reader leaves, and drops every event from then on', async () => {
    const { stream, onClosed } = openStream()
    stream.write(bytes('abc'))
    await stream.body.cancel()
    expect([onClosed.mock.calls.length, stream.write(bytes('d'))]).toEqual([1, true])
    stream.end()
    expect(onClosed).toHaveBeenCalledOnce()
  })

  it('fails where its reader reads nothing for half a minute, even while events are written', async () => {
    const { stream, onClosed } = openStream()
    const reader = stream.body.getReader()
    stream.write(bytes('ab'))
    await passTime(29_999)
    stream.write(bytes('c'))
    expect(onClosed).not.toHaveBeenCalled()
    await passTime(1)
    expect(onClosed).toHaveBeenCalledOnce()
    await expect(reader.read()).rejects.toThrow('did not read')
  })

  it('gives its reader another half a minute with each event that it reads', async () => {
    const { stream, onClosed } = openStream()
    const reader = stream.body.getReader()
    for (const text of ['a', 'b', 'c']) stream.write(bytes(text))
    for (const text of ['a', 'b', 'c']) {
      await passTime(20_000)
      expect((await reader.read()).value).toEqual(bytes(text))
    }
    expect(onClosed).not.toHaveBeenCalled()
  })

  it('waits for events as long as the tool takes', async () => {
    const { stream } = openStream()
    const read = stream.body.getReader().read()
    await passTime(15 * 60_000)
    stream.write(bytes('a'))
    expect((await read).value).toEqual(bytes('a'))
  })
})
