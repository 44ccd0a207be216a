import { beforeEach, describe, expect, it, vi } from 'vitest'
import {
  MAX_CALLER_EVENT_STREAMS,
  MAX_CALLER_REPLAYS,
  MAX_EVENT_STREAMS,
  MAX_STORED_CHANGES,
} from '../../../src/limits.ts'
import { createEventFeed, type Socket } from '../../../src/registry/events/feed.ts'
import { Events } from '../../../src/registry/events/start.ts'
import type { StoredChange } from '../../../src/registry/tables/change-table.ts'
import { openStorage, type TestStorage } from '../../support/storage.ts'

/** Queries, values that were read and written, and messages, since `resetWork`. */
const work = { queries: 0, parsed: 0, serialized: 0, sent: 0 }
const resetWork = () => Object.assign(work, { queries: 0, parsed: 0, serialized: 0, sent: 0 })

/** A hibernating socket, which keeps nothing but its attachment. */
class FakeSocket {
  readonly messages: string[] = []
  closed: number | undefined
  #attachment: unknown
  serializeAttachment = (state: unknown) => {
    this.#attachment = structuredClone(state)
  }
  deserializeAttachment = () => {
    work.parsed++
    return structuredClone(this.#attachment)
  }
  send = (message: string) => {
    work.sent++
    this.messages.push(message)
  }
  close = (code: number) => {
    this.closed = code
  }
}

let sockets: { socket: FakeSocket; tag: string }[]
let recorded: number
let storage: TestStorage
let env: Env
let feed: ReturnType<typeof createEventFeed>

const getWebSockets = (tag?: string) =>
  sockets.filter(each => tag === undefined || each.tag === tag).map(each => each.socket)

const createState = () =>
  ({
    storage: storage.storage,
    setWebSocketAutoResponse: () => undefined,
    acceptWebSocket: (socket: FakeSocket, [tag = '']: string[]) => sockets.push({ socket, tag }),
    getWebSockets,
  }) as unknown as DurableObjectState

/** Starts the object anew, as after hibernation. */
const wake = () => {
  feed = createEventFeed(createState(), env)
}

beforeEach(() => {
  sockets = []
  recorded = 0
  storage = openStorage()
  const { sql } = storage.storage
  const exec = sql.exec.bind(sql)
  sql.exec = (...query: Parameters<typeof exec>) => {
    work.queries++
    return exec(...query)
  }
  const { parse, stringify } = JSON
  vi.spyOn(JSON, 'parse').mockImplementation(text => {
    work.parsed++
    return parse(text)
  })
  vi.spyOn(JSON, 'stringify').mockImplementation(value => {
    work.serialized++
    return stringify(value)
  })
  vi.useFakeTimers()
  env = { WEBHOOK_URL: '' } as Env
  vi.stubGlobal('WebSocketRequestResponsePair', class {})
  vi.stubGlobal(
    'WebSocketPair',
    class {
      0 = {}
      1 = new FakeSocket()
    },
  )
  // Node's Response has neither status 101 nor a socket.
  const NodeResponse = Response
  vi.stubGlobal(
    'Response',
    class extends NodeResponse {
      constructor(body: BodyInit | null, { status, ...init }: ResponseInit = {}) {
        super(body, { ...init, status: status === 101 ? 200 : (status ?? 200) })
      }
    },
  )
  wake()
})

const record = (...ids: string[]) => {
  const changes = ids.map((id): StoredChange => {
    return { number: ++recorded, id, seq: 1, kind: 'changed', publicKind: 'changed', at: 0 }
  })
  return feed.append(changes)
}
const connect = async (query: Record<string, string> = {}) => {
  const response = feed.fetch({ url: `https://events/?${new URLSearchParams({ caller: 'a', covered: '', ...query })}` })
  const socket = sockets.at(-1)?.socket
  if (response.status !== 200 || !socket) return { refusal: await response.json() }
  const request = (after: number) => feed.webSocketMessage(socket as unknown as Socket, String(after))
  /** Requests what follows a change, and waits until there is nothing more to send. */
  const next = async (after: number) => {
    request(after)
    await vi.runAllTimersAsync()
  }
  return { socket, request, next, response }
}
/** Lets one turn of the event loop pass. */
const turn = async () => {
  vi.advanceTimersToNextTimer()
  await Promise.resolve()
}
/** Opens streams of as many callers, which have requested what follows a change. */
const connectMany = async (count: number, after: number, query: Record<string, string> = {}) => {
  const streams = await Promise.all(
    Array.from({ length: count }, (_, caller) => connect({ caller: `${caller} of ${count}`, ...query })),
  )
  for (const { request } of streams) request?.(after)
  return streams
}
/** Returns the numbers of the changes in each message. */
const numbersOf = (socket?: FakeSocket) =>
  socket?.messages.map(message => [...message.matchAll(/^id: (\d+)$/gm)].map(([, number]) => Number(number)))
const lastOf = (socket?: FakeSocket) => socket?.messages.map(message => Number(message.split('\n', 1)[0]))

describe('the feed', () => {
  it('sends a socket what is new once it waits for it, also after hibernation', async () => {
    await record('a')
    const { socket, next, response } = await connect()
    expect(response?.headers.get('Last-Event-ID')).toBe('1')
    await next?.(1)
    wake()
    await record('b', 'c')
    await record('d')
    expect(numbersOf(socket)).toEqual([[2, 3]])
    await next?.(3)
    expect(numbersOf(socket)).toEqual([[2, 3], [4]])
  })

  it('sends at most 100 changes in a message, the rest when it is asked for', async () => {
    await record(...Array.from({ length: 250 }, () => 'a'))
    const { socket, next } = await connect({ after: '10' })
    for (const after of [10, 110, 210]) await next?.(after)
    const ranges = numbersOf(socket)?.map(numbers => `${numbers[0]}-${numbers.at(-1)}`)
    expect(ranges).toEqual(['11-110', '111-210', '211-250'])
  })

  it('sends the socket of one agent nothing of others', async () => {
    await record('a', 'b')
    const { socket, next } = await connect({ agent: 'a', visible: 'now', after: '0' })
    await next?.(0)
    await next?.(2)
    await record('b')
    await record('b', 'a', 'b')
    expect(numbersOf(socket)).toEqual([[1], [5]])
    expect(lastOf(socket)).toEqual([2, 6])
    const upToDate = await connect({ agent: 'a', visible: 'now', after: '5' })
    await upToDate.next?.(5)
    expect(upToDate.socket?.messages).toEqual([])
  })

  it('refuses an id that no change has or that is no longer stored, and closes a stream that falls behind so far', async () => {
    await record('a')
    expect(await connect({ after: '2' })).toEqual({ refusal: { refused: 'unknown-event' } })
    const { socket, next } = await connect({ after: '1' })
    await record(...Array.from({ length: MAX_STORED_CHANGES + 4 }, () => 'a'))
    expect(await connect({ after: '4' })).toEqual({ refusal: { refused: 'expired', oldest: 5 } })
    expect((await connect({ after: '5' })).response?.status).toBe(200)
    await next?.(1)
    expect(socket?.closed).toBe(1008)
  })

  it('refuses the stream of an agent that neither exists nor has changes that the reader could have seen', async () => {
    await feed.append([{ number: ++recorded, id: 'hidden', seq: 1, kind: 'registered', at: 0 }])
    await record('shown')
    const refusal = { refused: 'unknown-agent' }
    expect(await connect({ agent: 'other', visible: 'any' })).toEqual({ refusal })
    expect(await connect({ agent: 'hidden', visible: 'public' })).toEqual({ refusal })
    for (const [agent, visible] of Object.entries({ hidden: 'any', shown: 'public', other: 'now' }))
      expect((await connect({ agent, visible })).response?.status, agent).toBe(200)
  })

  it('begins a stream that has missed nothing after the newest change', async () => {
    await record('quiet', 'b', 'b')
    const startAfter = async (query: Record<string, string>) =>
      Number((await connect({ visible: 'now', ...query })).response?.headers.get('Last-Event-ID'))
    expect(await startAfter({ agent: 'quiet', after: '1' })).toBe(3)
    expect(await startAfter({ agent: 'b', after: '1' })).toBe(1)
    expect(await startAfter({ after: '1' })).toBe(1)
  })

  it('sends a change to all others when one socket has just closed', async () => {
    const [closed, open] = [await connect(), await connect()]
    for (const { next } of [closed, open]) await next?.(0)
    const send = () => {
      throw new TypeError('closed')
    }
    Object.assign(closed.socket ?? {}, { send })
    expect(await record('a')).toBe(1)
    expect(numbersOf(open.socket)).toEqual([[1]])
    expect([closed, open].map(({ socket }) => socket?.closed)).toEqual([1011, undefined])
  })

  it('sends all others their page when the page of one stream fails, and closes that one', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue()
    await record('a', 'a', 'b')
    storage.storage.sql.exec('DELETE FROM changes WHERE number = 1')
    const fail = () => {
      throw new Error('No.')
    }
    const expired = await connect({ caller: 'expired' })
    Object.assign(expired.socket ?? {}, { close: fail })
    const unread = await connect({ caller: 'unread', agent: 'unread', visible: 'now' })
    const { sql } = storage.storage
    const exec = sql.exec.bind(sql)
    sql.exec = (query: string, ...values: SqlStorageValue[]) =>
      values.includes('unread') ? fail() : exec(query, ...values)
    const others = await Promise.all(['d', 'e'].map(caller => connect({ caller })))
    expired.request?.(0)
    for (const { request } of [unread, ...others]) request?.(1)
    await vi.runAllTimersAsync()
    expect(others.map(({ socket }) => numbersOf(socket))).toEqual([[[2, 3]], [[2, 3]]])
    expect(unread.socket?.closed).toBe(1011)
    expect(logged).toHaveBeenCalledTimes(2)
    // The next replay starts as usual.
    await others[0]?.next?.(2)
    expect(numbersOf(others[0]?.socket)).toEqual([[2, 3], [3]])
  })

  it('bounds the sockets of one caller, and of all', async () => {
    for (let count = 0; count < MAX_CALLER_EVENT_STREAMS; count++) await connect()
    expect(await connect()).toEqual({ refusal: { refused: 'too-many-streams', ofCaller: true } })
    expect((await connect({ caller: 'b' })).response?.status).toBe(200)
    const others = Array.from({ length: MAX_EVENT_STREAMS - sockets.length }, () => new FakeSocket())
    sockets.push(...others.map(socket => ({ socket, tag: '' })))
    expect(await connect({ caller: 'c' })).toEqual({ refusal: { refused: 'too-many-streams', ofCaller: false } })
  })

  it('sends an internal change only to those who may read the agent, and the number of it to all', async () => {
    const views = [{}, { covered: 'b* a' }, { covered: 'b*' }]
    const streams = await Promise.all(views.map(connect))
    for (const { request } of streams) request?.(0)
    await feed.append([{ number: ++recorded, id: 'a', seq: 1, kind: 'changed', at: 0 }])
    expect(streams.map(({ socket }) => numbersOf(socket))).toEqual([[[]], [[1]], [[]]])
    expect(streams.map(({ socket }) => lastOf(socket))).toEqual([[1], [1], [1]])
  })

  it('queries and serializes a change once for all streams that see the same, however many there are', async () => {
    await record('a')
    const streams = await connectMany(1000, 1)
    resetWork()
    await record('b')
    // The queue of the webhook, the new change, and what is older than the limit; the change as it is stored, and as it
    // is sent.
    expect(work).toEqual({ queries: 3, parsed: 0, serialized: 2, sent: 1000 })
    expect(new Set(streams.flatMap(({ socket }) => socket?.messages)).size).toBe(1)
    resetWork()
    for (const { request } of streams) request?.(2)
    expect(work).toEqual({ queries: 0, parsed: 1000, serialized: 0, sent: 0 })
    for (const query of [{ covered: '*' }, { covered: 'a b*' }, { agent: 'b', visible: 'now' }, { agent: 'other' }])
      await connectMany(100, 2, { visible: 'now', ...query })
    resetWork()
    await record('b')
    expect(work).toEqual({ queries: 3, parsed: 0, serialized: 5, sent: 1300 })
  })

  it('replays a page for one stream at a time, behind new changes and the requests of others', async () => {
    await record(...Array.from({ length: 300 }, () => 'a'))
    const live = await connect({ caller: 'live' })
    live.request?.(300)
    const behind = await connectMany(200, 0, { after: '0' })
    const pages = () => behind.map(({ socket }) => socket?.messages.length ?? 0)
    resetWork()
    await record('b')
    expect(numbersOf(live.socket)).toEqual([[301]])
    expect(work).toMatchObject({ queries: 3, sent: 1 })
    await turn()
    expect(pages().slice(0, 2)).toEqual([1, 0])
    // The first stream requests its next page, and all others have their turn before.
    behind[0]?.request?.(100)
    for (let count = 1; count < 200; count++) await turn()
    expect(new Set(pages())).toEqual(new Set([1]))
    await turn()
    expect(pages().slice(0, 2)).toEqual([2, 1])
    // Nobody else reads: there is nothing more to do.
    expect(vi.getTimerCount()).toBe(0)
  })

  it(`lets one caller resume ${MAX_CALLER_REPLAYS} streams a minute that have missed changes`, async () => {
    await record('a', 'b')
    const resume = async (query: Record<string, string>) => {
      const { refusal } = await connect(query)
      sockets = []
      return refusal
    }
    for (let replay = 0; replay < MAX_CALLER_REPLAYS; replay++) expect(await resume({ after: '1' })).toBeUndefined()
    const refused = { refused: 'too-many-replays' }
    expect(await resume({ after: '1' })).toEqual(refused)
    expect(await resume({ after: '0', agent: 'a', visible: 'now' })).toEqual(refused)
    // They have missed nothing, or count by themselves.
    for (const query of [{}, { after: '2' }, { after: '1', agent: 'a', visible: 'now' }, { after: '1', caller: 'b' }])
      expect(await resume(query)).toBeUndefined()
    vi.advanceTimersByTime(60_000)
    expect(await resume({ after: '1' })).toBeUndefined()
  })

  it('sets an alarm for the webhook, and none without one', async () => {
    await record('a')
    expect(storage.alarm).toBeNull()
    env = { ...env, WEBHOOK_URL: 'https://10.0.0.1/' }
    vi.spyOn(console, 'error').mockReturnValue()
    wake()
    await record('b')
    expect(storage.alarm).toBeLessThanOrEqual(Date.now())
    vi.spyOn(console, 'warn').mockReturnValue()
    await feed.alarm()
    expect(storage.alarm).toBeGreaterThan(Date.now())
    expect(feed.health()).toMatchObject({ pending: 1, failingSince: expect.any(Number) })
  })
})

describe('the object Events', () => {
  const caller = 'caller:a'
  /** Opens streams of one caller, as many as it may have. */
  const openAll = async (events: Events) => {
    for (let count = 0; count < MAX_CALLER_EVENT_STREAMS; count++)
      expect((await events.fetch(new Request('https://events/?caller=a&covered='))).status).toBe(200)
    return getWebSockets(caller)
  }
  const send = (events: Events, from: readonly FakeSocket[], after: number) =>
    Promise.all(from.map(socket => events.webSocketMessage(socket as unknown as Socket, String(after))))
  /** Ends connections as the runtime does, whose getWebSockets has a socket until its handler has returned. */
  const disconnect = async (events: Events, closed: readonly FakeSocket[], handler: 'Close' | 'Error' = 'Close') => {
    for (const socket of closed) {
      await events[`webSocket${handler}`](socket as unknown as Socket)
      sockets = sockets.filter(each => each.socket !== socket)
    }
  }
  const change = (number: number): StoredChange => {
    return { number, id: 'a', seq: 1, kind: 'changed', publicKind: 'changed', at: 0 }
  }

  it('forgets the streams whose sockets end', async () => {
    const events = new Events(createState(), env)
    for (const handler of ['Close', 'Error'] as const) {
      await send(events, await openAll(events), 0)
      expect((await events.fetch(new Request('https://events/?caller=a'))).status).toBe(409)
      await disconnect(events, getWebSockets(caller), handler)
    }
    resetWork()
    await events.append([change(1)], 0)
    // The change is stored: no page is written, as nobody waits for one.
    expect(work).toEqual({ queries: 3, parsed: 0, serialized: 1, sent: 0 })
  })

  it('sends nothing to a stream that closes before its turn', async () => {
    const events = new Events(createState(), env)
    await events.append([change(1)], 0)
    const all = await openAll(events)
    await send(events, all, 0)
    // The first one is among them, whose turn has begun.
    await disconnect(events, all.slice(0, -1))
    resetWork()
    await vi.runAllTimersAsync()
    expect(work).toMatchObject({ queries: 2, sent: 1 })
    await send(events, all.slice(-1), 1)
    resetWork()
    await events.append([change(2)], 0)
    expect(work).toMatchObject({ queries: 3, sent: 1 })
  })
})
