import { logUnexpected } from '../../http/index.ts'
import { MAX_CALLER_EVENT_STREAMS, MAX_CALLER_REPLAYS, MAX_EVENT_STREAMS, REPLAY_PERIOD_SECONDS } from '../../limits.ts'
import type { StoredChange } from '../tables/index.ts'
import { openChangeFeed, writePage } from './change-feed.ts'
import { openWebhookQueue } from './webhook-queue.ts'

/** Changes in one message of a socket. */
const PAGE_SIZE = 100

/** The reason why a stream is refused. */
export type Refusal =
  | { refused: 'too-many-streams'; ofCaller: boolean }
  | { refused: 'expired'; oldest: number }
  | { refused: 'unknown-event' | 'unknown-agent' | 'too-many-replays' }

/** One end of a WebSocket. */
export type Socket = NonNullable<Response['webSocket']>

/** The message by which the other end checks that a socket is open. The runtime responds: the object hibernates. */
export const PING = 'ping'
export const PONG = 'pong'

/**
 * The state of a socket while the object hibernates. `view` is the agent whose changes the stream has, empty for all,
 * and globs of the agents that its reader may read, separated by spaces: streams with the same view are sent the same
 * pages. A stream that is not waiting is behind, or has not requested the next page yet.
 */
type SocketState = { view: string; isWaiting: boolean }

/**
 * Creates what sends the changes of the Registry to event streams and to the webhook. Each stream has a WebSocket,
 * which hibernates: an object with open streams and no changes uses neither memory nor time. A stream is sent one page,
 * and the next one on request: one that nobody reads costs nothing. New changes are sent at once, missed ones a page at
 * a time.
 */
export const createEventFeed = (ctx: DurableObjectState, env: Env) => {
  const stored = openChangeFeed(ctx.storage.sql)
  const webhook = openWebhookQueue(ctx.storage.sql, stored, env)
  /** The streams that have all changes and wait for new ones, by their views. */
  const waiting = new Map<string, Set<Socket>>()
  /** The streams that are behind, and the last change that each has: the one to be sent a page next is the first. */
  const behind = new Map<Socket, number>()
  let isReplaying = false
  /** The replays of each caller since `replaysSince`, in memory only: an object that hibernates is not busy. */
  const replays = new Map<string, number>()
  let replaysSince = 0

  const addWaiting = (socket: Socket, view: string): void => {
    const sockets = waiting.get(view)
    if (sockets) sockets.add(socket)
    else waiting.set(view, new Set([socket]))
  }

  const wait = (socket: Socket, view: string): void => {
    saveState(socket, { view, isWaiting: true })
    addWaiting(socket, view)
  }

  /** Writes a page of a view: all of its changes up to the newest one, or `PAGE_SIZE` of them. */
  const writeView = (changes: readonly StoredChange[], view: string): string => {
    const last = changes.length < PAGE_SIZE ? undefined : changes.at(-1)?.number
    return writePage(last ?? stored.newest(), changes, view.split(' ').slice(1))
  }

  const sendNext = (socket: Socket, after: number): void => {
    const { view } = stateOf(socket)
    const [agent] = view.split(' ')
    const isExpired = after < stored.floor()
    const changes = isExpired ? [] : stored.after(after, PAGE_SIZE, agent)
    if (isExpired) socket.close(1008, 'too far behind')
    else if (changes.length > 0) sendPage(socket, view, writeView(changes, view))
    else wait(socket, view)
  }

  /** Sends one page to each stream that is behind, in turn, and lets other work run. A stream that fails is closed. */
  const replay = async (): Promise<void> => {
    isReplaying = true
    for (const [socket, after] of behind) {
      await new Promise(resolve => setTimeout(resolve, 0))
      // It may have closed in the meantime.
      if (!behind.delete(socket)) continue
      try {
        sendNext(socket, after)
      } catch (error) {
        logUnexpected(error)
        closeFailed(socket)
      }
    }
    isReplaying = false
  }

  /** Sends new changes to all streams that have waited for them: one page for each view. */
  const broadcast = (added: readonly StoredChange[]): void => {
    for (const [view, sockets] of waiting) {
      const [agent] = view.split(' ')
      const changes = agent ? added.filter(({ id }) => id === agent) : added
      if (changes.length === 0) continue
      waiting.delete(view)
      const page = writeView(changes.slice(0, PAGE_SIZE), view)
      for (const socket of sockets) sendPage(socket, view, page)
    }
  }

  /** A stream without a backlog begins after the newest change, so that the ids of a quiet agent do not expire. */
  const startAfter = (lastEventId: string | null, agent: string): number => {
    const hasBacklog = lastEventId !== null && stored.after(Number(lastEventId), 1, agent).length > 0
    return hasBacklog ? Number(lastEventId) : stored.newest()
  }

  const refuseBeyondLimits = (caller: string): Refusal | undefined => {
    const ofCaller = ctx.getWebSockets(caller).length >= MAX_CALLER_EVENT_STREAMS
    if (!ofCaller && ctx.getWebSockets().length < MAX_EVENT_STREAMS) return undefined
    return { refused: 'too-many-streams', ofCaller }
  }

  const refuseUnknown = (query: URLSearchParams, agent: string): Refusal | undefined => {
    const after = query.get('after')
    if (after !== null && Number(after) > stored.newest()) return { refused: 'unknown-event' }
    const floor = stored.floor()
    if (after !== null && Number(after) < floor) return { refused: 'expired', oldest: floor }
    const visible = query.get('visible')
    if (agent !== '' && visible !== 'now' && !stored.knows(agent, visible === 'public'))
      return { refused: 'unknown-agent' }
    return undefined
  }

  const refuseReplay = (caller: string, after: number): Refusal | undefined => {
    if (after >= stored.newest()) return undefined
    const now = Date.now()
    // The number of callers is bounded too.
    if (now - replaysSince >= REPLAY_PERIOD_SECONDS * 1000 || replays.size >= MAX_EVENT_STREAMS) {
      replays.clear()
      replaysSince = now
    }
    const count = (replays.get(caller) ?? 0) + 1
    if (count > MAX_CALLER_REPLAYS) return { refused: 'too-many-replays' }
    replays.set(caller, count)
    return undefined
  }

  /** Removes a stream whose socket has closed. */
  const removeStream = (socket: Socket): void => {
    behind.delete(socket)
    const { view } = stateOf(socket)
    const sockets = waiting.get(view)
    sockets?.delete(socket)
    if (sockets?.size === 0) waiting.delete(view)
  }

  ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG))
  for (const socket of ctx.getWebSockets()) {
    const { view, isWaiting } = stateOf(socket)
    if (isWaiting) addWaiting(socket, view)
  }

  return {
    /** Stores and sends changes; to the webhook only those after `imported`. Returns the number of the newest one. */
    append: async (changes: readonly StoredChange[], imported = 0): Promise<number> => {
      const isDelivering = webhook.prepare(imported)
      const added = stored.append(changes)
      if (added.length > 0) {
        broadcast(added)
        if (isDelivering) await ctx.storage.setAlarm(Date.now())
      }
      return stored.newest()
    },
    /** Returns the state of the webhook; null without one. */
    health: webhook.health,
    /**
     * Opens the socket of a stream. `Last-Event-ID` of the response is the change after which it begins; a stream that
     * is refused gets a 409 with the reason. The query has `caller`, `covered` with globs of the agents that the caller
     * may read, separated by spaces, and `after` if the client resumes; for the stream of one agent also `agent` and
     * `visible`: `now` if the caller may read the agent, else which changes must be stored of it, `any` or `public`.
     */
    fetch: ({ url }: Pick<Request, 'url'>): Response => {
      const query = new URL(url).searchParams
      const agent = query.get('agent') ?? ''
      const caller = `caller:${query.get('caller')}`
      const after = startAfter(query.get('after'), agent)
      const refusal = refuseBeyondLimits(caller) ?? refuseUnknown(query, agent) ?? refuseReplay(caller, after)
      if (refusal) return Response.json(refusal, { status: 409 })
      const { 0: client, 1: server } = new WebSocketPair()
      ctx.acceptWebSocket(server, [caller])
      saveState(server, { view: `${agent} ${query.get('covered') ?? ''}`, isWaiting: false })
      return new Response(null, { status: 101, webSocket: client, headers: { 'Last-Event-ID': String(after) } })
    },
    /** Sends a stream what follows the last change that it has, when it is its turn or when there is something. */
    webSocketMessage: (socket: Socket, message: string): void => {
      const after = Number(message)
      if (after >= stored.newest()) wait(socket, stateOf(socket).view)
      else {
        behind.set(socket, after)
        if (!isReplaying) void replay()
      }
    },
    webSocketError: removeStream,
    webSocketClose: removeStream,
    /** Delivers to the webhook, and sets the alarm for the rest. */
    alarm: async (): Promise<void> => {
      const pause = await webhook.deliver()
      if (pause !== undefined) await ctx.storage.setAlarm(Date.now() + pause)
    },
  }
}

const stateOf = (socket: Socket): SocketState => socket.deserializeAttachment() as SocketState

const saveState = (socket: Socket, state: SocketState): void => socket.serializeAttachment(state)

const sendPage = (socket: Socket, view: string, page: string): void => {
  try {
    saveState(socket, { view, isWaiting: false })
    socket.send(page)
  } catch {
    // The socket has most likely just closed. All others are sent the page.
    closeFailed(socket)
  }
}

const closeFailed = (socket: Socket): void => {
  try {
    socket.close(1011, 'failed')
  } catch {
    // It is closed already.
  }
}
