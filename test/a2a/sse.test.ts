import { createParser } from 'eventsource-parser'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { CallError } from '../../src/a2a/call-error.ts'
import { relaySse } from '../../src/a2a/sse.ts'
import { SseFramer } from '../../src/a2a/sse-events.ts'
import { MAX_EVENT_BYTES } from '../../src/limits.ts'
import '../support/workers/identity-transform-stream.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const readText = async (reader: ReadableStreamDefaultReader<Uint8Array>) =>
  new TextDecoder().decode((await reader.read()).value)

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

describe('relaySse', () => {
  it('relays each event before the next one arrives', async () => {
    const agent = startAgent()
    const reader = relaySse(agent.body, options).getReader()
    for (const event of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\r\n\r\n']) {
      agent.send(event)
      expect(await readText(reader)).toBe(event)
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

  it('ends with an error event after the last whole event when the agent breaks off', async () => {
    const rows: [chunks: string[], relayed: string][] = [
      [['data: 1\n\nda', 'ta: {"half":'], 'data: 1\n\n'],
      // Half a character, nothing, and half of a line ending.
      [['data: 1\n\ndata: B\u00fc'], 'data: 1\n\n'],
      [[], ''],
      [['data: 1\n\n: half'], 'data: 1\n\n: half\n\n'],
      [['data: 1\r\n\r', '\ndata: 2'], 'data: 1\r\n\r\n'],
    ]
    for (const [chunks, relayed] of rows) {
      const agent = startAgent()
      const text = new Response(relaySse(agent.body, options)).text()
      for (const part of chunks) agent.send(part)
      while (agent.pulls() === 0) await Promise.resolve()
      agent.fail()
      expect(await text).toBe(`${relayed}${options.lastEvent({ kind: 'broken-off' })}`)
      expect(parseEvents(await text).at(-1)).toBe(brokenOffError)
    }
  })

  it('sends heartbeat comments until the agent has been silent for too long, then an error event', async () => {
    vi.useFakeTimers(clock)
    const agent = startAgent()
    agent.send('data: 1\n\n')
    const body = relaySse(agent.body, { ...options, idleSeconds: 0.05, heartbeatSeconds: 0.02 })
    const text = new Response(body).text()
    await vi.advanceTimersByTimeAsync(50)
    expect(await text).toBe(`data: 1\n\n:\n\n:\n\ndata: ${silentError}\n\n`)
    await agent.cancelled
  })

  it('restarts the idle timeout with every byte of the agent', async () => {
    vi.useFakeTimers(clock)
    const agent = startAgent()
    const reader = relaySse(agent.body, { ...options, idleSeconds: 0.05, heartbeatSeconds: 0.03 }).getReader()
    for (let beat = 0; beat < 4; beat++) {
      const heartbeat = readText(reader)
      await vi.advanceTimersByTimeAsync(30)
      expect(await heartbeat).toBe(':\n\n')
      agent.send(': alive\n\n')
      expect(await readText(reader)).toBe(': alive\n\n')
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
  })

  it('sends heartbeats while the agent sends an event in small parts', async () => {
    vi.useFakeTimers(clock)
    const agent = startAgent()
    const reader = relaySse(agent.body, { ...options, heartbeatSeconds: 0.03 }).getReader()
    const read = readText(reader)
    for (const part of ['da', 'ta', ': ', '1']) {
      agent.send(part)
      await vi.advanceTimersByTimeAsync(10)
    }
    expect(await read).toBe(':\n\n')
    agent.send('\n\n')
    expect(await readText(reader)).toBe('data: 1\n\n')
    await reader.cancel()
  })

  it('does not count the time in which its reader does not read as silence', async () => {
    vi.useFakeTimers(clock)
    const agent = startAgent()
    const reader = relaySse(agent.body, { ...options, idleSeconds: 5, heartbeatSeconds: 1 }).getReader()
    agent.send('data: 1\n\n')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await readText(reader)).toBe('data: 1\n\n')
    const onRead = vi.fn()
    const next = readText(reader).then(onRead)
    await vi.advanceTimersByTimeAsync(999)
    expect(onRead).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    await next
    expect(onRead).toHaveBeenCalledWith(':\n\n')
    await reader.cancel()
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
})

describe('relaySse with a check', () => {
  type Check = NonNullable<Parameters<typeof relaySse>[1]['check']>

  /** Relays a stream that arrives in these chunks, and returns what passes and what the check has seen. */
  const relayChecked = async (chunks: readonly Uint8Array[], check: Check = () => undefined) => {
    const seen: (string | undefined)[] = []
    const body = new ReadableStream({
      type: 'bytes',
      start: controller => {
        for (const chunk of chunks) controller.enqueue(chunk.slice())
        controller.close()
        controller.byobRequest?.respond(0)
      },
    })
    const watched = relaySse(body, {
      ...options,
      check: data => {
        seen.push(data)
        return check(data)
      },
    })
    return { text: Buffer.from(await new Response(watched).arrayBuffer()).toString(), seen }
  }
  const relayText = (text: string, check?: Check) => relayChecked([encode(text)], check)

  it('passes every byte unchanged and checks the data that a parser finds, wherever the stream is cut', async () => {
    const line = fc.constantFrom(
      'data: {"text":"Bücher"}',
      'data:x',
      'data',
      'event: x',
      ': comment',
      'id: 1',
      'x',
      'dat',
    )
    const end = fc.constantFrom('\n', '\r\n', '\r')
    const stream = fc.array(fc.tuple(line, end, fc.boolean()), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(stream, fc.array(fc.nat(9), { minLength: 1 }), async (lines, cuts) => {
        const text = `${lines.map(([content, ends, blank]) => content + ends + (blank ? ends : '')).join('')}\n\n`
        const bytes = encode(text)
        const chunks: Uint8Array[] = []
        for (let at = 0, cut = 0; at < bytes.length; cut++) {
          const next = at + (cuts[cut % cuts.length] ?? 0) + 1
          chunks.push(bytes.subarray(at, next))
          at = next
        }
        const relayed = await relayChecked(chunks)
        expect(relayed).toEqual({ text, seen: parseEvents(text) })
      }),
    )
  })

  it('reads the data of events', async () => {
    const rows: [text: string, expected: string[]][] = [
      ['data: {\ndata:  "a": 1}\n\n', ['{\n "a": 1}']],
      [': hi\nevent: x\nid: 1\nretry: 5\ndata: 1\n: ho\n\n', ['1']],
      ['\ufeffdata: 1\n\n', ['1']],
      ['data: 1\n\ndata: 2', ['1', '2']],
      ['database: 1\ndata_x\n\n', []],
      [': a\n\n:\n\n', []],
    ]
    for (const [text, seen] of rows) expect(await relayText(text)).toEqual({ text, seen })
  })

  it('checks the events of a chunk without a pause unless a check is asynchronous', async () => {
    const order: string[] = []
    await relayText('data: 1\n\ndata: 2\n\n', data => {
      order.push(`check ${data}`)
      queueMicrotask(() => order.push(`after ${data}`))
      return undefined
    })
    expect(order).toEqual(['check 1', 'check 2', 'after 1', 'after 2'])
  })

  it('passes an event only when its check is done', async () => {
    const agent = startAgent()
    const checked = Promise.withResolvers<undefined>()
    const reader = relaySse(agent.body, { ...options, check: () => checked.promise }).getReader()
    agent.send('data: 1\n\n')
    const onRead = vi.fn()
    const read = reader.read().then(onRead)
    await new Promise(setImmediate)
    expect(onRead).not.toHaveBeenCalled()
    checked.resolve(undefined)
    await read
    expect(onRead).toHaveBeenCalledOnce()
    await reader.cancel()
  })

  it('replaces the data of an event, all of its lines, and leaves it out if its new text is empty', async () => {
    const replaced = async (text: string, by: string) =>
      (await relayText(text, data => (data?.includes('2') ? { text: by } : undefined))).text
    expect(await replaced('data: 1\n\ndata: 2\n\ndata: 3\n\n', 'new')).toBe('data: 1\n\ndata: new\n\ndata: 3\n\n')
    const lines = ': a\nevent: x\r\ndata: \r\nid: 1\r\ndata:2\r\n\r\n'
    expect(await replaced(lines, 'new')).toBe(': a\nevent: x\r\ndata: new\r\nid: 1\r\n\r\n')
    expect(await replaced('data:2', 'new')).toBe('data: new')
    const events = 'data: 1\n\nevent: end\ndata: 2\n\ndata: 3\n\n'
    expect(await replaced(events, '')).toBe('data: 1\n\ndata: 3\n\n')
  })

  it('is aborted for both ends when the check of an event fails unexpectedly', async () => {
    const agent = startAgent()
    const failure = new Error('unexpected')
    const reader = relaySse(agent.body, { ...options, check: () => Promise.reject(failure) }).getReader()
    agent.send('data: 1\n\n')
    await expect(reader.read()).rejects.toBe(failure)
    expect(await agent.cancelled).toBe(failure)
  })

  it('marks an event as an error, or as none', async () => {
    const marked = async (text: string, eventType: 'error' | 'message') =>
      (await relayText(text, () => ({ text: 'new', eventType }))).text
    expect([
      await marked('data: 1\n\n', 'error'),
      await marked('event:x\nid: 1\ndata: 1\n\n', 'error'),
      await marked('event: error\r\ndata: 1\r\n\r\n', 'message'),
    ]).toEqual(['event: error\ndata: new\n\n', 'id: 1\nevent: error\ndata: new\n\n', 'data: new\r\n\r\n'])
  })

  it('ends with an error event in place of the first bad one, and cancels the stream of the agent', async () => {
    const agent = startAgent()
    const check: Check = data => (data === 'bad' ? { kind: 'invalid-response', status: 200 } : undefined)
    const text = new Response(relaySse(agent.body, { ...options, check })).text()
    agent.send('data: 1\n\ndata: bad\n\ndata: 3\n\n')
    expect(await text).toBe(`data: 1\n\ndata: {"kind":"invalid-response","status":200}\n\n`)
    await agent.cancelled
  })

  const large = `data: "${'x'.repeat(MAX_EVENT_BYTES)}"\n\n`

  it('passes an event that is too large to be checked if the check lets it, and checks the next', async () => {
    const { text, seen } = await relayText(`data: 1\n\n${large}data: 2\n\n`)
    expect(text === `data: 1\n\n${large}data: 2\n\n`).toBe(true)
    expect(seen.map(data => data?.length)).toEqual([1, undefined, 1])
  })

  it('ends before an event that is too large if the check refuses it', async () => {
    const tooLarge = { kind: 'response-too-large', maxBytes: MAX_EVENT_BYTES } as const
    const { text } = await relayText(`data: 1\n\n${large}`, data => (data === undefined ? tooLarge : undefined))
    expect(text.length).toBe(`data: 1\n\n${options.lastEvent(tooLarge)}`.length)
    expect(text.endsWith(options.lastEvent(tooLarge))).toBe(true)
  })

  it('checks an event of the largest size as a whole', async () => {
    const data = 'x'.repeat(MAX_EVENT_BYTES - 100)
    const { seen } = await relayText(`data: ${data}\n\n`)
    expect(seen.map(each => each?.length)).toEqual([data.length])
  })
})

const bytesOf = (pieces: ReturnType<SseFramer['push']>) => pieces.flatMap(({ bytes }) => bytes)

describe('SseFramer', () => {
  it('passes an endless line on instead of filling memory', () => {
    const events = new SseFramer()
    const chunk = encode('x'.repeat(1000))
    let passed = 0
    for (let round = 0; round < 1000; round++)
      passed += bytesOf(events.push(chunk)).reduce((sum, part) => sum + part.length, 0)
    expect([passed, events.isMidEvent, events.flush()]).toEqual([1_000_000, true, []])
  })

  it('withholds an event up to its limit', () => {
    const kindsOf = (limit: number) => {
      const events = new SseFramer(limit)
      const chunks = ['data: 1', '2\n\ndata: 3\n\n']
      return chunks.flatMap(chunk => events.push(encode(chunk))).map(({ kind }) => kind)
    }
    expect([kindsOf(10), kindsOf(9)]).toEqual([['events'], ['oversized', 'events']])
    const pushed = [7, 6].map(limit => new SseFramer(limit).push(encode('data: 1')).map(({ kind }) => kind))
    expect(pushed).toEqual([[], ['oversized']])
  })
})
