import { createParser } from 'eventsource-parser'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { CallError } from '../../src/a2a/errors.ts'
import { relaySse, SseFramer } from '../../src/a2a/sse.ts'
import '../support/workers/identity-transform-stream.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: readonly Uint8Array[]) => Buffer.concat(bytes).toString()

const parseEvents = (text: string) => {
  const events: string[] = []
  createParser({ onEvent: ({ data }) => events.push(data) }).feed(text)
  return events
}

/** Returns an agent's stream that the test controls. */
const startAgent = () => {
  const cancelled = Promise.withResolvers<unknown>()
  let pulls = 0
  let controller: ReadableByteStreamController
  const body = new ReadableStream(
    {
      type: 'bytes',
      start: given => {
        controller = given
      },
      pull: () => {
        pulls++
      },
      cancel: reason => cancelled.resolve(reason),
    },
    { highWaterMark: 0 },
  )
  return {
    body,
    cancelled: cancelled.promise,
    pulls: () => pulls,
    send: (text: string) => controller.enqueue(encode(text)),
    close: () => {
      controller.close()
      controller.byobRequest?.respond(0)
    },
    fail: () => controller.error(new Error('connection lost')),
  }
}

const options = {
  idleSeconds: 5,
  heartbeatSeconds: 5,
  lastEvent: (error: CallError) => `data: ${JSON.stringify(error)}\n\n`,
}
const brokenOffError = '{"kind":"broken-off"}'
const silentError = '{"kind":"silent","seconds":0.05}'

/** Only the timers of a relay are faked, because streams need the others. */
const clock = { toFake: ['setTimeout', 'clearTimeout', 'Date'] } satisfies Parameters<typeof vi.useFakeTimers>[0]
afterEach(() => vi.useRealTimers())

describe('relaySse', () => {
  it('relays each event before the next one arrives', async () => {
    const agent = startAgent()
    const reader = relaySse(agent.body, options).getReader()
    for (const event of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\r\n\r\n']) {
      agent.send(event)
      expect(decode([(await reader.read()).value ?? encode('')])).toBe(event)
    }
    agent.close()
    expect(await reader.read()).toEqual({ done: true, value: undefined })
  })

  it('reads from the agent only when its reader reads', async () => {
    const agent = startAgent()
    const reader = relaySse(agent.body, options).getReader()
    agent.send('data: 1\n\n')
    agent.send('data: 2\n\n')
    await reader.read()
    expect(agent.pulls()).toBe(0)
    await reader.cancel()
  })

  it.each([
    ['a whole event', ['data: 1\n\n'], 'data: 1\n\n'],
    ['half an event', ['data: 1\n\nda', 'ta: {"half":'], 'data: 1\n\n'],
    ['an event whose blank line is missing', ['data: 1\n\ndata: 2\n'], 'data: 1\n\n'],
    ['half a character', ['data: 1\n\ndata: B\u00fc'], 'data: 1\n\n'],
    ['no event', [], ''],
    ['lines that end in CR LF', ['data: 1\r\n\r', '\ndata: 2'], 'data: 1\r\n\r\n'],
  ])(
    'ends with an error event after the last whole event when the agent breaks off after %s',
    async (_, chunks, relayed) => {
      const agent = startAgent()
      const stream = relaySse(agent.body, options)
      const reader = stream.getReader()
      let text = ''
      const reading = (async () => {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) return
          text += new TextDecoder().decode(value)
        }
      })()
      for (const part of chunks) agent.send(part)
      while (agent.pulls() === 0) await Promise.resolve()
      agent.fail()
      await reading
      expect(text).toBe(`${relayed}${options.lastEvent({ kind: 'broken-off' })}`)
      expect(parseEvents(text).at(-1)).toBe(brokenOffError)
    },
  )

  it('ends with an error event when the agent falls silent, and cancels its stream', async () => {
    const agent = startAgent()
    agent.send('data: 1\n\ndata: {"half')
    const text = await new Response(relaySse(agent.body, { ...options, idleSeconds: 0.05 })).text()
    expect(parseEvents(text)).toEqual(['1', silentError])
    await agent.cancelled
  })

  it('sends heartbeat comments until the agent has been silent for too long', async () => {
    vi.useFakeTimers(clock)
    const agent = startAgent()
    agent.send('data: 1\n\n')
    const body = relaySse(agent.body, { ...options, idleSeconds: 0.05, heartbeatSeconds: 0.02 })
    const text = new Response(body).text()
    await vi.advanceTimersByTimeAsync(50)
    expect(await text).toBe(`data: 1\n\n:\n\n:\n\ndata: ${silentError}\n\n`)
  })

  it('restarts the idle timeout with every byte of the agent', async () => {
    vi.useFakeTimers(clock)
    const agent = startAgent()
    const reader = relaySse(agent.body, { ...options, idleSeconds: 0.05, heartbeatSeconds: 0.03 }).getReader()
    for (let beat = 0; beat < 4; beat++) {
      const heartbeat = reader.read()
      await vi.advanceTimersByTimeAsync(30)
      expect(decode([(await heartbeat).value ?? encode('')])).toBe(':\n\n')
      agent.send(': alive\n\n')
      expect(decode([(await reader.read()).value ?? encode('')])).toBe(': alive\n\n')
    }
    await reader.cancel()
  })

  it('flushes a partial event when the agent ends its stream', async () => {
    const agent = startAgent()
    agent.send('data: 1\n\ndata: 2\n')
    agent.close()
    expect(await new Response(relaySse(agent.body, options)).text()).toBe('data: 1\n\ndata: 2\n')
  })

  it('cancels the stream of the agent when the reader cancels while it waits for an event', async () => {
    const agent = startAgent()
    const reader = relaySse(agent.body, options).getReader()
    const waiting = reader.read()
    await reader.cancel('gone')
    expect([await agent.cancelled, await waiting]).toEqual(['gone', { done: true, value: undefined }])
  })

  it.each([
    ['the agent ends its stream', (agent: ReturnType<typeof startAgent>) => agent.close()],
    ['the agent breaks off', (agent: ReturnType<typeof startAgent>) => agent.fail()],
    ['the reader cancels', (_: ReturnType<typeof startAgent>, reader: ReadableStreamDefaultReader) => reader.cancel()],
  ])('stops its timer when %s', async (_, end) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const agent = startAgent()
      const reader = relaySse(agent.body, options).getReader()
      agent.send('data: 1\n\n')
      await reader.read()
      expect(vi.getTimerCount()).toBe(1)
      const closed = reader.closed
      while (agent.pulls() === 0) await Promise.resolve()
      void end(agent, reader)
      while (!(await reader.read()).done);
      await closed
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('does not count the time in which its reader does not read as silence', async () => {
    vi.useFakeTimers(clock)
    try {
      const agent = startAgent()
      const reader = relaySse(agent.body, { ...options, idleSeconds: 5, heartbeatSeconds: 1 }).getReader()
      agent.send('data: 1\n\n')
      await vi.advanceTimersByTimeAsync(60_000)
      const read = async () => decode([(await reader.read()).value ?? encode('')])
      expect(await read()).toBe('data: 1\n\n')
      const onRead = vi.fn()
      const next = read().then(onRead)
      await vi.advanceTimersByTimeAsync(999)
      expect(onRead).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(1)
      await next
      expect(onRead).toHaveBeenCalledWith(':\n\n')
      await reader.cancel()
    } finally {
      vi.useRealTimers()
    }
  })

  it.each([
    ['between its lines', ': alive\n', ':\n'],
    ['between the lines of a long event', `data: ${'x'.repeat(70_000)}\n`, ':\n'],
    ['not within a line', `data: ${'x'.repeat(70_000)}`, ''],
    ['not after a CR that an LF may follow', ': alive\r', ''],
  ])('sends heartbeats in a partly relayed event: %s', async (_, partial, heartbeat) => {
    vi.useFakeTimers(clock)
    const agent = startAgent()
    agent.send(partial)
    const body = relaySse(agent.body, { ...options, idleSeconds: 0.05, heartbeatSeconds: 0.03 })
    const text = new Response(body).text()
    await vi.advanceTimersByTimeAsync(50)
    expect(await text).toBe(`${partial}${heartbeat}\n\ndata: ${silentError}\n\n`)
  })

  it('separates a partly relayed event from the error event', async () => {
    const agent = startAgent()
    const long = `data: ${'x'.repeat(70_000)}`
    agent.send(long)
    const text = await new Response(relaySse(agent.body, { ...options, idleSeconds: 0.05 })).text()
    expect(text).toBe(`${long}\n\ndata: ${silentError}\n\n`)
  })
})

const bytesOf = (pieces: ReturnType<SseFramer['push']>) => pieces.flatMap(({ bytes }) => bytes)

describe('SseFramer', () => {
  it('keeps events back until they are whole, wherever they are cut', () => {
    const line = fc.constantFrom('data: {"text":"Bücher"}', 'event: x', ': comment', 'id: 1', 'data', 'x')
    const end = fc.constantFrom('\n', '\r\n', '\r')
    const stream = fc.array(fc.tuple(line, end, fc.boolean()), { maxLength: 12 })
    fc.assert(
      fc.property(stream, fc.array(fc.nat(9), { minLength: 1 }), (lines, cuts) => {
        const text = lines.map(([content, ends, blank]) => content + ends + (blank ? ends : '')).join('')
        const bytes = encode(text)
        const events = new SseFramer()
        const passed: Uint8Array[] = []
        for (let at = 0, cut = 0; at < bytes.length; cut++) {
          const next = at + (cuts[cut % cuts.length] ?? 0) + 1
          passed.push(...bytesOf(events.push(bytes.subarray(at, next))).map(part => part.slice()))
          at = next
          const soFar = decode(passed)
          // Apart from comments, the output ends where an event does.
          if (!events.isMidEvent && soFar !== '') expect(soFar).toMatch(/(\r\n|\n|\r)(\r\n|\n|\r)$/)
        }
        expect(decode([...passed, ...bytesOf(events.flush())])).toBe(text)
      }),
    )
  })

  it('passes an endless line on instead of filling memory', () => {
    const events = new SseFramer()
    const chunk = encode('x'.repeat(1000))
    let passed = 0
    for (let round = 0; round < 1000; round++)
      passed += bytesOf(events.push(chunk)).reduce((sum, part) => sum + part.length, 0)
    expect([passed, events.isMidEvent, events.flush()]).toEqual([1_000_000, true, []])
  })

  it('passes whole events on at once and without a copy', () => {
    const chunk = encode('data: 1\n\ndata: 2\n\n')
    expect(bytesOf(new SseFramer().push(chunk))[0]?.buffer).toBe(chunk.buffer)
  })
})
