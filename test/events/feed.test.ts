import { beforeEach, describe, expect, it, vi } from 'vitest'
import { EventFeed, type Socket } from '../../src/events/feed.ts'
import { MAX_CALLER_EVENT_STREAMS, MAX_EVENT_STREAMS, MAX_STORED_CHANGES } from '../../src/limits.ts'
import type { StoredChange } from '../../src/registry/records.ts'
import { openStorage, type TestStorage } from '../support/storage.ts'

/** A hibernating socket, which keeps nothing but its attachment. */
class FakeSocket {
  readonly pages: { changes: StoredChange[]; last: number }[] = []
  closed: number | undefined
  #attachment = ''
  serializeAttachment = (state: unknown) => {
    this.#attachment = JSON.stringify(state)
  }
  deserializeAttachment = () => JSON.parse(this.#attachment)
  send = (message: string) => void this.pages.push(JSON.parse(message))
  close = (code: number) => {
    this.closed = code
  }
}

let sockets: { socket: FakeSocket; tag: string }[]
let recorded: number
let storage: TestStorage
let env: Env
let feed: EventFeed

/** Starts the object anew, as after hibernation. */
const wake = () => {
  const ctx = {
    storage: storage.storage,
    setWebSocketAutoResponse: () => undefined,
    acceptWebSocket: (socket: FakeSocket, [tag = '']: string[]) => sockets.push({ socket, tag }),
    getWebSockets: (tag?: string) =>
      sockets.filter(each => tag === undefined || each.tag === tag).map(each => each.socket),
  }
  feed = new EventFeed(ctx as unknown as DurableObjectState, env)
}

beforeEach(() => {
  sockets = []
  recorded = 0
  storage = openStorage()
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
  const response = feed.connect(new URLSearchParams({ caller: 'a', ...query }))
  const socket = sockets.at(-1)?.socket
  if (response.status !== 200 || !socket) return { refusal: await response.json() }
  return { socket, next: (after: number) => feed.advance(socket as unknown as Socket, String(after)), response }
}
const numbersOf = (socket?: FakeSocket) => socket?.pages.map(({ changes }) => changes.map(({ number }) => number))

describe('the feed', () => {
  it('sends a socket what is new once it waits for it, also after hibernation', async () => {
    await record('a')
    const { socket, next, response } = await connect()
    expect(response?.headers.get('Last-Event-ID')).toBe('1')
    next?.(1)
    wake()
    await record('b', 'c')
    await record('d')
    expect(numbersOf(socket)).toEqual([[2, 3]])
    next?.(3)
    expect(numbersOf(socket)).toEqual([[2, 3], [4]])
  })

  it('sends at most 100 changes in a message, the rest when it is asked for', async () => {
    await record(...Array.from({ length: 250 }, () => 'a'))
    const { socket, next } = await connect({ after: '10' })
    for (const after of [10, 110, 210]) next?.(after)
    expect(numbersOf(socket)?.map(numbers => [numbers[0], numbers.at(-1)])).toEqual([
      [11, 110],
      [111, 210],
      [211, 250],
    ])
  })

  it('sends the socket of one agent nothing of others', async () => {
    await record('a', 'b')
    const { socket, next } = await connect({ agent: 'a', visible: 'now', after: '0' })
    next?.(0)
    next?.(1)
    await record('b')
    await record('a')
    expect(numbersOf(socket)).toEqual([[1], [4]])
  })

  it('returns the number of the newest change that it has, and ignores those that it has already', async () => {
    expect(await feed.append([])).toBe(0)
    expect(await record('a', 'b')).toBe(2)
    recorded = 0
    expect(await record('a', 'b', 'c')).toBe(3)
    const { socket, next } = await connect({ after: '0' })
    next?.(0)
    expect(numbersOf(socket)).toEqual([[1, 2, 3]])
  })

  it('refuses an id that is higher than that of any change', async () => {
    await record('a')
    expect(await connect({ after: '2' })).toEqual({ refusal: { refused: 'unknown-event' } })
  })

  it('refuses an id before the oldest change that is stored, and closes a stream that falls behind so far', async () => {
    await record('a')
    const { socket, next } = await connect({ after: '1' })
    await record(...Array.from({ length: MAX_STORED_CHANGES + 4 }, () => 'a'))
    expect(await connect({ after: '4' })).toEqual({ refusal: { refused: 'expired', oldest: 5 } })
    expect((await connect({ after: '5' })).response?.status).toBe(200)
    next?.(1)
    expect(socket?.closed).toBe(1008)
  })

  it('refuses the stream of an agent that neither exists nor has changes that the reader could have seen', async () => {
    await feed.append([{ number: ++recorded, id: 'hidden', seq: 1, kind: 'registered', at: 0 }])
    await record('shown')
    const refusal = { refused: 'unknown-agent' }
    expect(await connect({ agent: 'other', visible: 'any' })).toEqual({ refusal })
    expect(await connect({ agent: 'hidden', visible: 'public' })).toEqual({ refusal })
    for (const [agent, visible] of [
      ['hidden', 'any'],
      ['shown', 'public'],
      ['other', 'now'],
    ] as const)
      expect((await connect({ agent, visible })).response?.status).toBe(200)
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
    for (const { next } of [closed, open]) next?.(0)
    Object.assign(closed.socket ?? {}, {
      send: () => {
        throw new TypeError('closed')
      },
    })
    expect(await record('a')).toBe(1)
    expect(numbersOf(open.socket)).toEqual([[1]])
  })

  it('bounds the sockets of one caller, and of all', async () => {
    for (let count = 0; count < MAX_CALLER_EVENT_STREAMS; count++) await connect()
    expect(await connect()).toEqual({ refusal: { refused: 'too-many-streams', ofCaller: true } })
    expect((await connect({ caller: 'b' })).response?.status).toBe(200)
    sockets.push(...Array.from({ length: MAX_EVENT_STREAMS }, () => ({ socket: new FakeSocket(), tag: '' })))
    expect(await connect({ caller: 'c' })).toEqual({ refusal: { refused: 'too-many-streams', ofCaller: false } })
  })

  it('sets an alarm for the webhook, and none without one', async () => {
    await record('a')
    expect(storage.alarm).toBeNull()
    Object.assign(env, { WEBHOOK_URL: 'https://10.0.0.1/' })
    await record('b')
    expect(storage.alarm).toBeLessThanOrEqual(Date.now())
    vi.spyOn(console, 'warn').mockReturnValue()
    await feed.deliver()
    expect(storage.alarm).toBeGreaterThan(Date.now())
    expect(feed.health()).toMatchObject({ pending: 1, failingSince: expect.any(Number) })
  })
})
