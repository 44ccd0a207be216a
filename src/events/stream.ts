import { EVENT_STREAM_SECONDS, HEARTBEAT_SECONDS } from '../limits.ts'
import { sseId, sseStart, toSse, toVisibleEvent } from './changes.ts'
import { type ChangePage, PING, PONG, type Socket } from './feed.ts'

/** Where a stream begins, and what its reader may read. */
export type StreamOptions = {
  /** The last change that the reader has. */
  after: number
  /** Returns globs of the agents that the reader may read now; undefined once its credentials are no longer valid. */
  cover: () => Promise<readonly string[] | undefined>
}

const encoder = new TextEncoder()

/**
 * Writes the changes that a socket brings as server-sent events, no faster than the reader takes them: the next page is requested when
 * the last one is written. Everything is freed when either end closes, and after `EVENT_STREAM_SECONDS`.
 */
export const openEventStream = async (socket: Socket, options: StreamOptions): Promise<ReadableStream<Uint8Array>> => {
  const covered = await options.cover()
  const { readable, writable } = new IdentityTransformStream()
  new EventStream(socket, writable.getWriter(), options, covered ?? []).start()
  return readable
}

class EventStream {
  readonly #socket: Socket
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>
  readonly #options: StreamOptions
  #covered: readonly string[]
  /** The last change that the reader has, or may not see. */
  #last: number
  #stopTimer = (): void => undefined
  #beats = 0
  /** Whether the other end of the socket has answered the last ping. */
  #isAlive = true
  #isWriting = false

  constructor(
    socket: Socket,
    writer: WritableStreamDefaultWriter<Uint8Array>,
    options: StreamOptions,
    covered: readonly string[],
  ) {
    this.#socket = socket
    this.#writer = writer
    this.#options = options
    this.#covered = covered
    this.#last = options.after
  }

  start(): void {
    const end = () => this.#end()
    this.#socket.accept()
    this.#socket.addEventListener('message', ({ data }) => void this.#receive(String(data)).catch(end))
    this.#socket.addEventListener('close', end)
    this.#socket.addEventListener('error', end)
    // This is how a disconnected reader shows.
    this.#writer.closed.catch(end)
    const timer = setInterval(() => void this.#beat().catch(end), HEARTBEAT_SECONDS * 1000)
    this.#stopTimer = () => clearInterval(timer)
    void this.#write(sseStart(this.#last)).then(() => this.#socket.send(String(this.#last)), end)
  }

  async #receive(message: string): Promise<void> {
    if (message === PONG) {
      this.#isAlive = true
      return
    }
    const { changes, last } = JSON.parse(message) as ChangePage
    const events = changes.flatMap(change => {
      const event = toVisibleEvent(change, this.#covered)
      return event ? [toSse(change.number, event)] : []
    })
    this.#last = last
    if (events.length > 0) await this.#write(events.join(''))
    this.#socket.send(String(last))
  }

  async #beat(): Promise<void> {
    this.#beats++
    const isOver = this.#beats * HEARTBEAT_SECONDS >= EVENT_STREAM_SECONDS
    const covered = isOver || !this.#isAlive ? undefined : await this.#options.cover()
    if (covered === undefined) return this.#end()
    this.#covered = covered
    this.#isAlive = false
    this.#socket.send(PING)
    if (!this.#isWriting) await this.#write(sseId(this.#last))
  }

  async #write(text: string): Promise<void> {
    this.#isWriting = true
    await this.#writer.write(encoder.encode(text))
    this.#isWriting = false
  }

  #end(): void {
    this.#stopTimer()
    try {
      this.#socket.close(1000)
    } catch {
      // It is closed already.
    }
    // A reader that does not read would never let the stream close.
    const ending = this.#isWriting ? this.#writer.abort() : this.#writer.close()
    ending.catch(() => undefined)
  }
}
