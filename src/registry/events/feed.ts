import { logUnexpected } from '../../http/index.ts'
import { MAX_CALLER_EVENT_STREAMS, MAX_CALLER_REPLAYS, MAX_EVENT_STREAMS, REPLAY_PERIOD_SECONDS } from '../../limits.ts'
import type { StoredChange } from '../tables/index.ts'
import { type ChangeFeed, openChangeFeed, writePage } from './change-feed.ts'
import { openWebhookQueue, type WebhookHealth } from './webhook-queue.ts'

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
 * The changes of the Registry, as they are sent to event streams and to the webhook. Each stream has a WebSocket, which
 * hibernates: an object with open streams and no changes uses neither memory nor time. A stream is sent one page, and
 * the next one on request: one that nobody reads costs nothing. New changes are sent at once, missed ones a page at a
 * time.
 */
export class EventFeed {
  readonly #ctx: DurableObjectState
  readonly #changes: ChangeFeed
  readonly #webhook: ReturnType<typeof openWebhookQueue>
  /** The streams that have all changes and wait for new ones, by their views. */
  readonly #waiting = new Map<string, Set<Socket>>()
  /** The streams that are behind, and the last change that each has: the one to be sent a page next is the first. */
  readonly #behind = new Map<Socket, number>()
  #isReplaying = false
  /** The replays of each caller since `#replaysSince`, in memory only: an object that hibernates is not busy. */
  readonly #replays = new Map<string, number>()
  #replaysSince = 0

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx
    this.#changes = openChangeFeed(ctx.storage.sql)
    this.#webhook = openWebhookQueue(ctx.storage.sql, this.#changes, env)
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG))
    for (const socket of ctx.getWebSockets()) {
      const { view, isWaiting } = stateOf(socket)
      if (isWaiting) this.#addWaiting(socket, view)
    }
  }

  /** Stores and sends changes; to the webhook only those after `imported`. Returns the number of the newest one. */
  async append(changes: readonly StoredChange[], imported = 0): Promise<number> {
    const isDelivering = this.#webhook.prepare(imported)
    const added = this.#changes.append(changes)
    if (added.length > 0) {
      this.#broadcast(added)
      if (isDelivering) await this.#ctx.storage.setAlarm(Date.now())
    }
    return this.#changes.newest()
  }

  /** Returns the state of the webhook; null without one. */
  health(): WebhookHealth | null {
    return this.#webhook.health()
  }

  /**
   * Opens the socket of a stream. `Last-Event-ID` of the response is the change after which it begins; a stream that is
   * refused gets a 409 with the reason. The query has `caller`, `covered` with globs of the agents that the caller may
   * read, separated by spaces, and `after` if the client resumes; for the stream of one agent also `agent` and
   * `visible`: `now` if the caller may read the agent, else which changes must be stored of it, `any` or `public`.
   */
  fetch({ url }: Pick<Request, 'url'>): Response {
    const query = new URL(url).searchParams
    const agent = query.get('agent') ?? ''
    const caller = `caller:${query.get('caller')}`
    const after = this.#startAfter(query.get('after'), agent)
    const refusal =
      this.#refuseBeyondLimits(caller) ?? this.#refuseUnknown(query, agent) ?? this.#refuseReplay(caller, after)
    if (refusal) return Response.json(refusal, { status: 409 })
    const { 0: client, 1: server } = new WebSocketPair()
    this.#ctx.acceptWebSocket(server, [caller])
    saveState(server, { view: `${agent} ${query.get('covered') ?? ''}`, isWaiting: false })
    return new Response(null, { status: 101, webSocket: client, headers: { 'Last-Event-ID': String(after) } })
  }

  /** Sends a stream what follows the last change that it has, when it is its turn or when there is something. */
  webSocketMessage(socket: Socket, message: string): void {
    const after = Number(message)
    if (after >= this.#changes.newest()) this.#wait(socket, stateOf(socket).view)
    else {
      this.#behind.set(socket, after)
      if (!this.#isReplaying) void this.#replay()
    }
  }

  webSocketError(socket: Socket): void {
    this.webSocketClose(socket)
  }

  /** Removes a stream whose socket has closed. */
  webSocketClose(socket: Socket): void {
    this.#behind.delete(socket)
    const { view } = stateOf(socket)
    const sockets = this.#waiting.get(view)
    sockets?.delete(socket)
    if (sockets?.size === 0) this.#waiting.delete(view)
  }

  /** Delivers to the webhook, and sets the alarm for the rest. */
  async alarm(): Promise<void> {
    const pause = await this.#webhook.deliver()
    if (pause !== undefined) await this.#ctx.storage.setAlarm(Date.now() + pause)
  }

  /** A stream without a backlog begins after the newest change, so that the ids of a quiet agent do not expire. */
  #startAfter(lastEventId: string | null, agent: string): number {
    const hasBacklog = lastEventId !== null && this.#changes.after(Number(lastEventId), 1, agent).length > 0
    return hasBacklog ? Number(lastEventId) : this.#changes.newest()
  }

  /** Sends new changes to all streams that have waited for them: one page for each view. */
  #broadcast(added: readonly StoredChange[]): void {
    for (const [view, sockets] of this.#waiting) {
      const [agent] = view.split(' ')
      const changes = agent ? added.filter(({ id }) => id === agent) : added
      if (changes.length === 0) continue
      this.#waiting.delete(view)
      const page = this.#writePage(changes.slice(0, PAGE_SIZE), view)
      for (const socket of sockets) sendPage(socket, view, page)
    }
  }

  /** Sends one page to each stream that is behind, in turn, and lets other work run. A stream that fails is closed. */
  async #replay(): Promise<void> {
    this.#isReplaying = true
    for (const [socket, after] of this.#behind) {
      await new Promise(resolve => setTimeout(resolve, 0))
      // It may have closed in the meantime.
      if (!this.#behind.delete(socket)) continue
      try {
        this.#sendNext(socket, after)
      } catch (error) {
        logUnexpected(error)
        closeFailed(socket)
      }
    }
    this.#isReplaying = false
  }

  #sendNext(socket: Socket, after: number): void {
    const { view } = stateOf(socket)
    const [agent] = view.split(' ')
    const isExpired = after < this.#changes.floor()
    const changes = isExpired ? [] : this.#changes.after(after, PAGE_SIZE, agent)
    if (isExpired) socket.close(1008, 'too far behind')
    else if (changes.length > 0) sendPage(socket, view, this.#writePage(changes, view))
    else this.#wait(socket, view)
  }

  /** Writes a page of a view: all of its changes up to the newest one, or `PAGE_SIZE` of them. */
  #writePage(changes: readonly StoredChange[], view: string): string {
    const last = changes.length < PAGE_SIZE ? undefined : changes.at(-1)?.number
    return writePage(last ?? this.#changes.newest(), changes, view.split(' ').slice(1))
  }

  #wait(socket: Socket, view: string): void {
    saveState(socket, { view, isWaiting: true })
    this.#addWaiting(socket, view)
  }

  #addWaiting(socket: Socket, view: string): void {
    const sockets = this.#waiting.get(view)
    if (sockets) sockets.add(socket)
    else this.#waiting.set(view, new Set([socket]))
  }

  #refuseBeyondLimits(caller: string): Refusal | undefined {
    const ofCaller = this.#ctx.getWebSockets(caller).length >= MAX_CALLER_EVENT_STREAMS
    if (!ofCaller && this.#ctx.getWebSockets().length < MAX_EVENT_STREAMS) return undefined
    return { refused: 'too-many-streams', ofCaller }
  }

  #refuseUnknown(query: URLSearchParams, agent: string): Refusal | undefined {
    const after = query.get('after')
    if (after !== null && Number(after) > this.#changes.newest()) return { refused: 'unknown-event' }
    const floor = this.#changes.floor()
    if (after !== null && Number(after) < floor) return { refused: 'expired', oldest: floor }
    const visible = query.get('visible')
    if (agent !== '' && visible !== 'now' && !this.#changes.knows(agent, visible === 'public'))
      return { refused: 'unknown-agent' }
    return undefined
  }

  #refuseReplay(caller: string, after: number): Refusal | undefined {
    if (after >= this.#changes.newest()) return undefined
    const now = Date.now()
    // The number of callers is bounded too.
    if (now - this.#replaysSince >= REPLAY_PERIOD_SECONDS * 1000 || this.#replays.size >= MAX_EVENT_STREAMS) {
      this.#replays.clear()
      this.#replaysSince = now
    }
    const replays = (this.#replays.get(caller) ?? 0) + 1
    if (replays > MAX_CALLER_REPLAYS) return { refused: 'too-many-replays' }
    this.#replays.set(caller, replays)
    return undefined
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
