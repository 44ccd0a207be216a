import { createParser } from 'eventsource-parser'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { CallError } from '../../src/a2a/errors.ts'
import { relaySse, SseFramer } from '../../src/a2a/sse.ts'
import '../support/workers/identity-transform-stream.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: readonly Uint8Array[]) => Buffer.concat(bytes).toString()

const eventsOf = (text: string) => {
  const events: string[] = []
  createParser({ onEvent: ({ data }) => events.push(data) }).feed(text)
  return events
}

/** An agent's stream in the hands of the test. */
const source = () => {
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

const watch = {
  idleSeconds: 5,
  heartbeatSeconds: 5,
  lastEvent: (why: CallError) => `data: ${JSON.stringify(why)}\n\n`,
}
const brokeOff = '{"kind":"broken-off"}'
const wentSilent = '{"kind":"silent","seconds":0.05}'

/** The timers of a relay; streams themselves need the others. */
const clock = { toFake: ['setTimeout', 'clearTimeout', 'Date'] } satisfies Parameters<typeof vi.useFakeTimers>[0]
afterEach(() => vi.useRealTimers())

describe('a stream of events', () => {
  it('hands each event on before the next one comes', async () => {
    const agent = source()
    const reader = relaySse(agent.body, watch).getReader()
    for (const event of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\r\n\r\n']) {
      agent.send(event)
      expect(decode([(await reader.read()).value ?? encode('')])).toBe(event)
    }
    agent.close()
    expect(await reader.read()).toEqual({ done: true, value: undefined })
  })

  it('asks the agent for nothing before it is asked itself', async () => {
    const agent = source()
    const reader = relaySse(agent.body, watch).getReader()
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
    ['nothing', [], ''],
    ['lines that end in CR LF', ['data: 1\r\n\r', '\ndata: 2'], 'data: 1\r\n\r\n'],
  ])('that breaks off after %s ends after the last whole event with one that says so', async (_, sent, passed) => {
    const agent = source()
    const stream = relaySse(agent.body, watch)
    const reader = stream.getReader()
    let text = ''
    const reading = (async () => {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        text += new TextDecoder().decode(value)
      }
    })()
    for (const part of sent) agent.send(part)
    while (agent.pulls() === 0) await Promise.resolve()
    agent.fail()
    await reading
    expect(text).toBe(`${passed}${watch.lastEvent({ kind: 'broken-off' })}`)
    expect(eventsOf(text).at(-1)).toBe(brokeOff)
  })

  it('that goes silent ends in the same way, and the agent is told', async () => {
    const agent = source()
    agent.send('data: 1\n\ndata: {"half')
    const text = await new Response(relaySse(agent.body, { ...watch, idleSeconds: 0.05 })).text()
    expect(eventsOf(text)).toEqual(['1', wentSilent])
    await agent.cancelled
  })

  it('is kept alive by comments in a silence, but never for longer than the agent may be silent', async () => {
    vi.useFakeTimers(clock)
    const agent = source()
    agent.send('data: 1\n\n')
    const body = relaySse(agent.body, { ...watch, idleSeconds: 0.05, heartbeatSeconds: 0.02 })
    const text = new Response(body).text()
    await vi.advanceTimersByTimeAsync(50)
    expect(await text).toBe(`data: 1\n\n:\n\n:\n\ndata: ${wentSilent}\n\n`)
  })

  it('begins its patience anew with every sign of life', async () => {
    vi.useFakeTimers(clock)
    const agent = source()
    const reader = relaySse(agent.body, { ...watch, idleSeconds: 0.05, heartbeatSeconds: 0.03 }).getReader()
    for (let beat = 0; beat < 4; beat++) {
      const heartbeat = reader.read()
      await vi.advanceTimersByTimeAsync(30)
      expect(decode([(await heartbeat).value ?? encode('')])).toBe(':\n\n')
      agent.send(': alive\n\n')
      expect(decode([(await reader.read()).value ?? encode('')])).toBe(': alive\n\n')
    }
    await reader.cancel()
  })

  it('passes what is kept back when it ends by itself', async () => {
    const agent = source()
    agent.send('data: 1\n\ndata: 2\n')
    agent.close()
    expect(await new Response(relaySse(agent.body, watch)).text()).toBe('data: 1\n\ndata: 2\n')
  })

  it('cancels the agent when its caller leaves, also while it waits for an event', async () => {
    const agent = source()
    const reader = relaySse(agent.body, watch).getReader()
    const waiting = reader.read()
    await reader.cancel('gone')
    expect([await agent.cancelled, await waiting]).toEqual(['gone', { done: true, value: undefined }])
  })

  it('cancels the agent when the platform reports that the caller has disconnected', async () => {
    const agent = source()
    const caller = new AbortController()
    const reader = relaySse(agent.body, { ...watch, signal: caller.signal }).getReader()
    agent.send('data: 1\n\n')
    await reader.read()
    caller.abort('disconnected')
    expect(await agent.cancelled).toBe('disconnected')
  })

  it.each([
    ['ends by itself', (agent: ReturnType<typeof source>) => agent.close()],
    ['breaks off', (agent: ReturnType<typeof source>) => agent.fail()],
    ['is left by its caller', (_: ReturnType<typeof source>, reader: ReadableStreamDefaultReader) => reader.cancel()],
  ])('stops its clock when it %s', async (_, end) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const agent = source()
      const reader = relaySse(agent.body, watch).getReader()
      agent.send('data: 1\n\n')
      await reader.read()
      expect(vi.getTimerCount()).toBe(1)
      const over = reader.closed
      while (agent.pulls() === 0) await Promise.resolve()
      void end(agent, reader)
      while (!(await reader.read()).done);
      await over
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('takes it for no silence of its agent while its caller does not read', async () => {
    vi.useFakeTimers(clock)
    try {
      const agent = source()
      const reader = relaySse(agent.body, { ...watch, idleSeconds: 5, heartbeatSeconds: 1 }).getReader()
      agent.send('data: 1\n\n')
      await vi.advanceTimersByTimeAsync(60_000)
      const read = async () => decode([(await reader.read()).value ?? encode('')])
      expect(await read()).toBe('data: 1\n\n')
      const seen = vi.fn()
      const next = read().then(seen)
      await vi.advanceTimersByTimeAsync(999)
      expect(seen).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(1)
      await next
      expect(seen).toHaveBeenCalledWith(':\n\n')
      await reader.cancel()
    } finally {
      vi.useRealTimers()
    }
  })

  it.each([
    ['between its lines', ': alive\n', ':\n'],
    ['between the lines of a long event', `data: ${'x'.repeat(70_000)}\n`, ':\n'],
    ['not amid a line', `data: ${'x'.repeat(70_000)}`, ''],
    ['not where half of a line end may be missing', ': alive\r', ''],
  ])('meets a silence in an event that has passed in part: %s', async (_, sent, beat) => {
    vi.useFakeTimers(clock)
    const agent = source()
    agent.send(sent)
    const body = relaySse(agent.body, { ...watch, idleSeconds: 0.05, heartbeatSeconds: 0.03 })
    const text = new Response(body).text()
    await vi.advanceTimersByTimeAsync(50)
    expect(await text).toBe(`${sent}${beat}\n\ndata: ${wentSilent}\n\n`)
  })

  it('sets an event that has passed in part apart from the one that ends it', async () => {
    const agent = source()
    const long = `data: ${'x'.repeat(70_000)}`
    agent.send(long)
    const text = await new Response(relaySse(agent.body, { ...watch, idleSeconds: 0.05 })).text()
    expect(text).toBe(`${long}\n\ndata: ${wentSilent}\n\n`)
  })
})

describe('events that come in parts', () => {
  it('are kept back until they are whole, wherever they are cut', () => {
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
          passed.push(...events.push(bytes.subarray(at, next)).map(part => part.slice()))
          at = next
          const soFar = decode(passed)
          // Apart from comments, what has passed ends where an event does.
          if (!events.isMidEvent && soFar !== '') expect(soFar).toMatch(/(\r\n|\n|\r)(\r\n|\n|\r)$/)
        }
        expect(decode([...passed, ...events.flush()])).toBe(text)
      }),
    )
  })

  it('do not fill memory: a line without end passes on', () => {
    const events = new SseFramer()
    const chunk = encode('x'.repeat(1000))
    let passed = 0
    for (let round = 0; round < 1000; round++) passed += events.push(chunk).reduce((sum, part) => sum + part.length, 0)
    expect([passed, events.isMidEvent, events.flush()]).toEqual([1_000_000, true, []])
  })

  it('pass at once and uncopied where they are whole', () => {
    const chunk = encode('data: 1\n\ndata: 2\n\n')
    expect(new SseFramer().push(chunk)[0]?.buffer).toBe(chunk.buffer)
  })
})
