import { beforeEach, describe, expect, it, vi } from 'vitest'
import { MAX_UNREAD_BYTES } from '../../../src/limits.ts'
import { BoundedEventStream, type CallerIdentity, Quota, type QuotaExceeded } from '../../../src/mcp/agent/quotas.ts'

const alice: CallerIdentity = { authenticated: true, name: 'alice' }
const bob: CallerIdentity = { authenticated: true, name: 'bob' }
const first: CallerIdentity = { authenticated: false, name: 'first' }
const second: CallerIdentity = { authenticated: false, name: 'second' }
const third: CallerIdentity = { authenticated: false, name: 'third' }

/** Returns how many of 16 units each caller acquires, one caller after the other, and the quota that stops it. */
const acquireAll = (...callers: CallerIdentity[]): [count: number, exceeded: QuotaExceeded][] => {
  const quota = new Quota(16)
  return callers.map(caller => {
    for (let count = 0; ; count++) {
      const exceeded = quota.acquire(caller)
      if (exceeded) return [count, exceeded]
    }
  })
}

const bytes = (text: string) => new TextEncoder().encode(text)
const passTime = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

const openStream = () => {
  const onClosed = vi.fn()
  return { stream: new BoundedEventStream(onClosed), onClosed }
}

describe('Quota', () => {
  it('gives each caller a share', () => {
    const counts = (...callers: CallerIdentity[]) => acquireAll(...callers).flat()
    // An authenticated caller gets at most three quarters, an address a quarter, all anonymous callers together half.
    expect(counts(alice, bob)).toEqual([12, 'caller', 4, 'agent'])
    expect(counts(first, alice)).toEqual([4, 'caller', 12, 'caller'])
    expect(counts(first, second, third, alice)).toEqual([4, 'caller', 4, 'caller', 0, 'anonymous', 8, 'agent'])
    expect(counts(alice, first, bob)).toEqual([12, 'caller', 4, 'caller', 0, 'agent'])
  })

  it('distinguishes an authenticated caller from an address of the same name', () => {
    const quota = new Quota(4)
    quota.acquire({ authenticated: false, name: 'x' })
    expect([
      quota.acquire({ authenticated: true, name: 'x' }),
      quota.acquire({ authenticated: false, name: 'x' }),
    ]).toEqual([undefined, 'caller'])
  })

  it('makes a released unit available again', () => {
    const quota = new Quota(4)
    expect([1, 2, 3, 4].map(() => quota.acquire(alice))).toEqual([undefined, undefined, undefined, 'caller'])
    quota.release(alice)
    expect([quota.acquire(bob), quota.acquire(bob), quota.acquire(bob)]).toEqual([undefined, undefined, 'agent'])
  })
})

describe('BoundedEventStream', () => {
  beforeEach(() => void vi.useFakeTimers())

  it('delivers events written before and after the client starts to read', async () => {
    const { stream, onClosed } = openStream()
    stream.write(bytes('ab'))
    const text = new Response(stream.body).text()
    await passTime(0)
    stream.write(bytes('cd'))
    stream.write(bytes('ef'))
    stream.end(bytes('!'))
    expect([await text, onClosed.mock.calls.length]).toEqual(['abcdef!', 1])
  })

  it('accepts only a last event while more than 2 MiB are unread', async () => {
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

  it('closes when its last event has been read, and not before, or at once without events', async () => {
    const empty = openStream()
    empty.stream.end()
    expect(empty.onClosed).toHaveBeenCalledOnce()
    const { stream, onClosed } = openStream()
    stream.write(bytes('a'))
    stream.end()
    expect(onClosed).not.toHaveBeenCalled()
    await new Response(stream.body).text()
    expect(onClosed).toHaveBeenCalledOnce()
  })

  it('closes when the client disconnects, and drops every later event', async () => {
    const { stream, onClosed } = openStream()
    stream.write(bytes('abc'))
    await stream.body.cancel()
    expect([onClosed.mock.calls.length, stream.write(bytes('d'))]).toEqual([1, true])
    stream.end()
    expect(onClosed).toHaveBeenCalledOnce()
  })

  it('fails when the client reads nothing for 30 seconds, even while events are written', async () => {
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

  it('gives the client another 30 seconds with each event that it reads', async () => {
    const { stream, onClosed } = openStream()
    const reader = stream.body.getReader()
    for (const text of ['a', 'b', 'c']) stream.write(bytes(text))
    for (const text of ['a', 'b', 'c']) {
      await passTime(20_000)
      expect((await reader.read()).value).toEqual(bytes(text))
    }
    expect(onClosed).not.toHaveBeenCalled()
  })

  it('waits for events for as long as the tool runs', async () => {
    const { stream } = openStream()
    const read = stream.body.getReader().read()
    await passTime(15 * 60_000)
    stream.write(bytes('a'))
    expect((await read).value).toEqual(bytes('a'))
  })
})
