import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ResponseSemaphore } from '../../src/mcp-bridge/quotas.ts'
import { type CutShort, callHeader, mostBytes, ResponseMonitor } from '../../src/mcp-bridge/tool-client.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A server whose streams are in the hands of the test, and a call that is watched. */
const watched = (large = new ResponseSemaphore()) => {
  const streams: ReadableStreamDefaultController<Uint8Array>[] = []
  const sent: (string | null)[] = []
  const why: CutShort[] = []
  const watch = new ResponseMonitor(large)
  const hold = large.hold({ known: false, name: 'here' })
  const leave = hold.use()
  const forget = watch.watch('1', { cutShort: reason => void why.push(reason), hold })
  const fetch = watch.watched(async (_, init) => {
    sent.push(new Headers(init?.headers).get(callHeader))
    return new Response(new ReadableStream({ start: controller => void streams.push(controller) }))
  })
  const open = async (init: RequestInit) => {
    const { body } = await fetch('https://mcp.example/', init)
    void body?.pipeTo(new WritableStream()).catch(() => undefined)
    return streams.at(-1) as ReadableStreamDefaultController<Uint8Array>
  }
  return {
    why,
    forget,
    leave,
    sent,
    call: () => open({ method: 'POST', headers: { [callHeader]: '1' } }),
    resume: () => open({ method: 'GET', headers: { 'Last-Event-ID': '7' } }),
  }
}

const bytes = (text: string) => new TextEncoder().encode(text)
const passed = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

describe('a call whose stream is over', () => {
  it('is given up half a second later, where the stream cannot be taken up again', async () => {
    const { why, call } = watched()
    const stream = await call()
    stream.enqueue(bytes('data: {"id":7}\n\n'))
    stream.close()
    await passed(499)
    expect(why).toEqual([])
    await passed(1)
    expect(why).toEqual([{ failed: 'broken-off' }])
  })

  it('is given up, however it ended', async () => {
    const { why, call } = watched()
    ;(await call()).error(new Error('gone'))
    await passed(500)
    expect(why).toEqual([{ failed: 'broken-off' }])
  })

  it('is not, where its answer has come', async () => {
    const { why, call, forget } = watched()
    const stream = await call()
    stream.close()
    forget()
    await passed(20_000)
    expect(why).toEqual([])
  })

  it.each([['id: 7\n'], ['data: {}\n\ni', 'd: 7\n']])(
    'is waited for where its events have ids: %j',
    async (...texts) => {
      const { why, call } = watched()
      const stream = await call()
      for (const text of texts) stream.enqueue(bytes(text))
      stream.close()
      await passed(9_999)
      expect(why).toEqual([])
      await passed(1)
      expect(why).toEqual([{ failed: 'broken-off' }])
    },
  )

  it('is waited for as long as its stream is taken up again', async () => {
    const { why, call, resume } = watched()
    const stream = await call()
    stream.enqueue(bytes('id: 7\n\n'))
    stream.close()
    await passed(1_000)
    const again = await resume()
    await passed(60_000)
    expect(why).toEqual([])
    again.close()
    await passed(10_000)
    expect(why).toEqual([{ failed: 'broken-off' }])
  })
})

it('gives a call up whose answer is too large, and reads no more of it', async () => {
  const { why, call } = watched()
  const stream = await call()
  stream.enqueue(new Uint8Array(mostBytes))
  await passed(0)
  expect(why).toEqual([])
  stream.enqueue(new Uint8Array(1))
  await passed(0)
  expect(why).toEqual([{ failed: 'too-large', most: mostBytes }])
})

it('reads no more of a large answer until it is its turn, and gives it up where that does not come', async () => {
  const large = new ResponseSemaphore()
  const [first, second, third] = [watched(large), watched(large), watched(large)]
  const [one, two, three] = await Promise.all([first.call(), second.call(), third.call()])
  const chunk = new Uint8Array(256 * 1024)
  const send = async (stream: typeof one) => {
    for (const each of [chunk, new Uint8Array(1), new Uint8Array(1), new Uint8Array(1)]) stream.enqueue(each)
    await passed(0)
    // What waits in front of the reader.
    return 1 - (stream.desiredSize ?? 0)
  }
  expect([await send(one), await send(two), await send(three)]).toEqual([0, 2, 2])
  await passed(15_000)
  first.leave()
  await passed(0)
  expect([1 - (two.desiredSize ?? 0), 1 - (three.desiredSize ?? 0)]).toEqual([0, 2])
  await passed(15_000)
  expect([first.why, second.why, third.why]).toEqual([[], [], [{ failed: 'crowded' }]])
})

it('tells the server nothing of the header by which it knows a call', async () => {
  const { call, sent } = watched()
  await call()
  expect(sent).toEqual([null])
})
