import { MAX_CALLER_EVENT_STREAMS, MAX_EVENT_STREAMS } from '../limits.ts'
import type { StoredChange, WebhookHealth } from '../registry/records.ts'
import { ChangeTable } from './change-table.ts'
import { WebhookQueue } from './webhook-queue.ts'

/** Changes in one message of a socket. */
const PAGE_SIZE = 100

/** Why a stream is refused. */
export type Refusal =
  | { refused: 'too-many-streams'; ofCaller: boolean }
  | { refused: 'expired'; oldest: number }
  | { refused: 'unknown-event' | 'unknown-agent' }

/** A message to a stream: changes, of which the last has the number `last`. */
export type ChangePage = { changes: StoredChange[]; last: number }

/** One end of a WebSocket. */
export type Socket = NonNullable<Response['webSocket']>

/** The message by which the other end checks that a socket is still open. The runtime answers it, and the object stays hibernated. */
export const PING = 'ping'
export const PONG = 'pong'

/** What the object keeps of a socket while it hibernates: `after` is the last change that the stream has; null while it is being sent some. */
type SocketState = { agent?: string; after: number | null }

/**
 * The changes of the Registry, as they are sent to event streams and to the webhook. Each stream has a WebSocket, which hibernates: an
 * object with open streams and no changes uses neither memory nor time. A stream is sent one page, and the next one when it asks for it,
 * so a slow reader costs nothing here.
 */
export class EventFeed {
  readonly #ctx: DurableObjectState
  readonly #changes: ChangeTable
  readonly #webhook: WebhookQueue

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx
    this.#changes = new ChangeTable(ctx.storage.sql)
    this.#webhook = new WebhookQueue(ctx.storage.sql, this.#changes, env)
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG))
  }

  /**
   * Stores changes that the Registry has committed, and sends them on; to the webhook only those after `imported`. Returns the number of
   * the newest that is stored.
   */
  async append(changes: readonly StoredChange[], imported = 0): Promise<number> {
    const isDelivering = this.#webhook.prepare(imported)
    if (changes.length > 0) {
      this.#changes.append(changes)
      if (isDelivering) await this.#ctx.storage.setAlarm(Date.now())
      this.#broadcast()
    }
    return this.#changes.newest()
  }

  /** Returns the state of the webhook; null without one. */
  health(): WebhookHealth | null {
    return this.#webhook.health()
  }

  /**
   * Opens the socket of a stream. `Last-Event-ID` of the response is the change after which it begins; a stream that is refused gets a
   * 409 with the reason. The query has `caller`, `after` if the client resumes, and for the stream of one agent `agent` and `visible`:
   * `now` if the caller may read the agent, else which changes must be stored of it, `any` or `public`.
   */
  connect(query: URLSearchParams): Response {
    const agent = query.get('agent') ?? undefined
    const caller = `caller:${query.get('caller')}`
    const refusal = this.#refuseBeyondLimits(caller) ?? this.#refuseUnknown(query, agent)
    if (refusal) return Response.json(refusal, { status: 409 })
    const after = this.#startAfter(query.get('after'), agent)
    const { 0: client, 1: server } = new WebSocketPair()
    this.#ctx.acceptWebSocket(server, [caller])
    saveState(server, { ...(agent !== undefined && { agent }), after: null })
    return new Response(null, { status: 101, webSocket: client, headers: { 'Last-Event-ID': String(after) } })
  }

  /** Sends a stream what follows the last change that it has, now or when there is something. */
  advance(socket: Socket, message: string): void {
    const { agent } = stateOf(socket)
    const after = Number(message)
    if (after < this.#changes.floor() && agent === undefined) socket.close(1008, 'too far behind')
    else this.#send(socket, { ...(agent !== undefined && { agent }), after })
  }

  /** Delivers to the webhook, and sets the alarm for the rest. */
  async deliver(): Promise<void> {
    const pause = await this.#webhook.deliver()
    if (pause !== undefined) await this.#ctx.storage.setAlarm(Date.now() + pause)
  }

  /** A stream without a backlog begins after the newest change, so that the ids of a quiet agent do not expire. */
  #startAfter(lastEventId: string | null, agent: string | undefined): number {
    const hasBacklog = lastEventId !== null && this.#changes.after(Number(lastEventId), 1, agent).length > 0
    return hasBacklog ? Number(lastEventId) : this.#changes.newest()
  }

  #broadcast(): void {
    for (const socket of this.#ctx.getWebSockets()) {
      const state = stateOf(socket)
      try {
        if (state.after !== null) this.#send(socket, state)
      } catch {
        // The socket has just closed. All others are sent the change.
      }
    }
  }

  #send(socket: Socket, { agent, after }: SocketState): void {
    const changes = after === null ? [] : this.#changes.after(after, PAGE_SIZE, agent)
    const last = changes.at(-1)?.number
    saveState(socket, { ...(agent !== undefined && { agent }), after: last === undefined ? after : null })
    if (last !== undefined) socket.send(JSON.stringify({ changes, last } satisfies ChangePage))
  }

  #refuseBeyondLimits(caller: string): Refusal | undefined {
    const ofCaller = this.#ctx.getWebSockets(caller).length >= MAX_CALLER_EVENT_STREAMS
    if (!ofCaller && this.#ctx.getWebSockets().length < MAX_EVENT_STREAMS) return undefined
    return { refused: 'too-many-streams', ofCaller }
  }

  #refuseUnknown(query: URLSearchParams, agent: string | undefined): Refusal | undefined {
    const after = query.get('after')
    if (after !== null && Number(after) > this.#changes.newest()) return { refused: 'unknown-event' }
    const floor = this.#changes.floor()
    if (after !== null && Number(after) < floor) return { refused: 'expired', oldest: floor }
    const visible = query.get('visible')
    if (agent !== undefined && visible !== 'now' && !this.#changes.knows(agent, visible === 'public'))
      return { refused: 'unknown-agent' }
    return undefined
  }
}

const stateOf = (socket: Socket): SocketState => socket.deserializeAttachment() as SocketState

const saveState = (socket: Socket, state: SocketState): void => socket.serializeAttachment(state)
